//! Uploaded pictures: what is taken, how it is served, and how many there may be.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_storage::memory::MemoryStorage;
use portico_tests::{
    Client, Fixtures, Portico, TestService, administrator, administrator_of,
    clock::{DAY, MINUTE, TestClock},
    procedures::picture,
};
use serde_json::json;

fn uri(file: &[u8]) -> String {
    format!("data:application/octet-stream;base64,{}", STANDARD.encode(file))
}

#[test]
fn a_picture_is_served_to_everyone_for_ever_and_runs_nothing() {
    let server = Portico::start();
    let editor = administrator(&server).user_with("editor", "app-create");
    let created = editor
        .post("/api/pictures", &json!({"image": picture("one")}))
        .json();
    let again = editor
        .mutate("picture.create", &json!({"image": picture("one")}))
        .data();
    assert_eq!(created, again);
    let url = created["url"].as_str().expect("a URL");
    assert_eq!(
        url,
        format!("/api/pictures/{}", created["id"].as_str().expect("an id"))
    );

    let anonymous = server.anonymous();
    let served = anonymous.get(url);
    served.assert_status(200);
    assert!(served.body.starts_with(b"GIF89a"));
    for (name, value) in [
        ("content-type", "image/gif"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("x-content-type-options", "nosniff"),
        (
            "content-security-policy",
            "default-src 'none'; sandbox; frame-ancestors 'none'",
        ),
    ] {
        assert_eq!(served.header(name), Some(value), "{name}");
    }
    let etag = served.header("etag").expect("an ETag");
    let current = anonymous.send("GET", url, &[("if-none-match", etag)], None);
    assert!(current.assert_status(304).body.is_empty());
    for missing in ["0".repeat(64), "x".into(), "%00".into(), "..%2Fx".into()] {
        let answer = anonymous.get(&format!("/api/pictures/{missing}"));
        answer.assert_refused(404, "NOT_FOUND");
    }
    anonymous
        .send("DELETE", url, &[], None)
        .assert_refused(405, "METHOD_NOT_SUPPORTED");
}

#[test]
fn only_pictures_are_taken_by_what_their_bytes_are() {
    let server = Portico::start();
    let admin = administrator(&server);
    let too_wide = [
        &b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..],
        &9000_u32.to_be_bytes(),
        &[0, 0, 0, 1, 8, 6, 0, 0, 0, 0, 0, 0, 0],
    ];
    for refused in [
        uri(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        uri(b"<html><script>alert(1)</script>"),
        uri(b""),
        uri(&too_wide.concat()),
        uri(&[&b"GIF89a"[..], &vec![0; 1 << 20]].concat()),
        "data:image/gif;base64,****".into(),
        "https://example.com/x.png".into(),
        String::new(),
    ] {
        let answer = admin.mutate("picture.create", &json!({"image": refused}));
        answer.assert_bad_field("image");
    }
    // Refused before it is decoded, or before it is read.
    for megabytes in [8, 17] {
        let image = format!("data:image/gif;base64,{}", "A".repeat(megabytes << 20));
        let answer = admin.mutate("picture.create", &json!({"image": image}));
        assert!([400, 413].contains(&answer.status), "{}", answer.status);
    }
    let nobody = admin.user("nobody");
    let refused = nobody.mutate("picture.create", &json!({"image": picture("x")}));
    refused.assert_refused(403, "FORBIDDEN");
}

#[test]
fn what_a_camera_says_is_not_served() {
    let server = Portico::start();
    let admin = administrator(&server);
    let exif = [
        &b"\xff\xd8\xff\xe1\0\x14Exif\0\0"[..],
        b"Lviv 49.8397",
        b"\xff\xd9",
    ]
    .concat();
    let created = admin
        .mutate("picture.create", &json!({"image": uri(&exif)}))
        .data();
    let served = server.anonymous().get(created["url"].as_str().expect("a URL"));
    assert_eq!(served.header("content-type"), Some("image/jpeg"));
    assert!(!String::from_utf8_lossy(&served.body).contains("Lviv"));
}

#[test]
fn one_uploader_cannot_fill_the_store_and_what_nothing_uses_goes_after_a_day() {
    let clock = TestClock::stopped_now();
    let storage = Arc::new(MemoryStorage::new());
    let listening = TestService::over(storage).clock(clock.clone()).listen();
    let admin = administrator_of(&listening.client);
    let (one, other) = (
        admin.user_with("one", "app-create"),
        admin.user_with("other", "app-create"),
    );
    let mut urls = Vec::new();
    for number in 0..50 {
        let image = json!({"image": picture(&format!("picture {number}"))});
        urls.push(one.mutate("picture.create", &image).data()["url"].clone());
    }
    let more = json!({"image": picture("one more")});
    one.mutate("picture.create", &more)
        .assert_refused(409, "CONFLICT");
    other.mutate("picture.create", &more).assert_status(200);
    // What is used does not count.
    one.mutate("app.create", &json!({"name": "NAS", "iconUrl": urls[0]}))
        .assert_status(200);
    one.mutate("picture.create", &json!({"image": picture("now")}))
        .assert_status(200);

    clock.advance(DAY + MINUTE);
    other
        .mutate("picture.create", &json!({"image": picture("the next day")}))
        .assert_status(200);
    let status = |url: &serde_json::Value| listening.client.get(url.as_str().expect("a URL")).status;
    assert_eq!((status(&urls[0]), status(&urls[1])), (200, 404));
}
