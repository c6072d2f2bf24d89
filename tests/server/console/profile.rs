//! The profile: what users set for themselves.

use portico_tests::{Client, Fixtures, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

use super::{Browser, escaped};

const HOSTILE: &str = "\"><script>alert('1')</script>";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000000000000000";

#[test]
fn people_change_what_is_theirs_without_javascript() {
    let server = Portico::start();
    let root = administrator(&server);
    let bob = root.user("bob").id;
    let board = root.board_of("kitchen", true, &json!([]));
    let browser = Browser::of(&server, "bob");
    let page = browser.open("/profile");
    let wrong = [("section", "person"), ("name", HOSTILE), ("email", "nowhere")];
    let page = browser.submit(&page, "/profile", &wrong);
    page.assert_status(422)
        .assert_shows(&format!("value=\"{}\"", escaped(HOSTILE)))
        .assert_hides("<script>alert");
    assert_eq!(
        page.problem("email").as_deref(),
        Some("must be an email address such as name@example.com")
    );
    for fields in [
        &[
            ("section", "person"),
            ("name", "robert"),
            ("email", "r@example.com"),
        ][..],
        &[
            ("section", "appearance"),
            ("colorScheme", "light"),
            ("firstDayOfWeek", "0"),
            ("pingIconsEnabled", "yes"),
        ],
        &[
            ("section", "boards"),
            ("homeBoardId", &board),
            ("mobileHomeBoardId", ""),
        ],
        &[("section", "search"), ("defaultSearchEngineId", "")],
    ] {
        let page = browser.submit(&page, "/profile", fields);
        assert_eq!(page.path, "/profile?note=saved", "{fields:?}: {}", page.html);
    }
    let user = root.query("user.getById", &json!({ "userId": bob })).data();
    assert_eq!(
        (
            &user["name"],
            &user["email"],
            &user["firstDayOfWeek"],
            &user["pingIconsEnabled"]
        ),
        (&json!("robert"), &json!("r@example.com"), &json!(0), &json!(true))
    );
    assert_eq!(
        (
            &user["homeBoardId"],
            &user["mobileHomeBoardId"],
            &user["openSearchInNewTab"]
        ),
        (&json!(board), &Value::Null, &json!(false))
    );
    let page = browser.open("/profile");
    page.assert_shows("data-colors=\"light\"");
    browser
        .submit(
            &page,
            "/profile",
            &[("section", "boards"), ("homeBoardId", "gone")],
        )
        .assert_status(422)
        .assert_shows("Board not found");
}

#[test]
fn a_picture_is_uploaded_refused_with_the_reason_and_removed() {
    let server = Portico::start();
    let root = administrator(&server);
    let bob = root.user("bob").id;
    let browser = Browser::of(&server, "bob");
    let upload = |content: &[u8], token: &str| {
        let mut body = format!(
            "--B\r\nContent-Disposition: form-data; name=\"form-token\"\r\n\r\n{token}\r\n--B\r\nContent-Disposition: \
             form-data; name=\"section\"\r\n\r\npicture\r\n--B\r\nContent-Disposition: form-data; name=\"picture\"; \
             filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--B--\r\n");
        let headers = [("content-type", "multipart/form-data; boundary=B")];
        browser.send("POST", "/profile", &headers, Some(&body))
    };
    let token = browser.open("/profile").token();
    assert_eq!(upload(PNG, "00").status, 403);
    for (content, reason) in [
        (
            [PNG, &vec![0; 300_000]].concat(),
            "The picture has 301 kB; it may have at most 262 kB",
        ),
        (
            b"<svg onload=alert(1)>".to_vec(),
            "This is no PNG, JPEG, GIF or WebP",
        ),
        (Vec::new(), "Please choose a file first"),
    ] {
        let answer = upload(&content, &token);
        assert_eq!(answer.status, 422);
        assert!(answer.text().contains(reason), "{reason}");
    }
    let answer = upload(PNG, &token);
    assert_eq!(answer.header("location"), Some("/profile?note=saved"));
    let user = root.query("user.getById", &json!({ "userId": bob })).data();
    assert!(
        user["image"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,")
    );
    let page = browser.open("/profile");
    page.assert_shows("src=\"data:image/png;base64,");
    let page = browser.submit(&page, "/profile", &[("section", "picture"), ("remove", "yes")]);
    page.assert_shows("Saved.").assert_hides("data:image/png");
}

#[test]
fn a_password_is_changed_and_the_session_goes_on() {
    let server = Portico::start();
    administrator(&server).user("bob");
    let browser = Browser::of(&server, "bob");
    let other = Browser::of(&server, "bob");
    let page = browser.open("/profile/password");
    let change = |previous, password, repeated| {
        let fields = [
            ("previousPassword", previous),
            ("password", password),
            ("repeated", repeated),
        ];
        browser.submit(&page, "/profile/password", &fields)
    };
    for (answer, field, problem) in [
        (
            change("not this one", "a new password", "a new password"),
            "previousPassword",
            "The previous password is wrong",
        ),
        (
            change(PASSWORD, "short", "short"),
            "password",
            "must have at least 8 characters, got 5",
        ),
        (
            change(PASSWORD, "a new password", "another"),
            "repeated",
            "The two passwords are not the same",
        ),
    ] {
        answer.assert_status(422).assert_hides("a new password");
        assert_eq!(answer.problem(field).as_deref(), Some(problem));
    }
    let page = change(PASSWORD, "a new password", "a new password");
    page.assert_status(200).assert_shows("Your password is changed.");
    browser.open("/profile").assert_status(200);
    assert!(other.open("/profile").path.starts_with("/sign-in"));
}

#[test]
fn what_a_new_key_may_do_is_ticked_and_nothing_ticked_means_all() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user_with("bob", "app-modify-all");
    let browser = Browser::of(&server, "bob");
    let page = browser.open("/profile/keys");
    page.assert_shows("value=\"app-modify-all\"")
        .assert_shows("value=\"app-create\"")
        // What bob does not have, no key of his has.
        .assert_hides("value=\"app-full-all\"")
        .assert_hides("value=\"admin\"");
    for (fields, said) in [
        (&[][..], "all that its user may"),
        (&[("permissions", "app-create")], "Create apps"),
        (&[("permissions", "none")], "no permission"),
        (&[("readOnly", "yes")], "only read"),
        (
            &[
                ("readOnly", "yes"),
                ("permissions", "app-create"),
                ("permissions", "none"),
            ],
            "only read, Create apps",
        ),
    ] {
        let fields: Vec<_> = [("name", "a key"), ("lasts", "week")]
            .iter()
            .chain(fields)
            .copied()
            .collect();
        let page = browser.submit(&page, "/profile/keys", &fields);
        page.assert_status(200)
            .assert_shows("id=\"api-key\"")
            .assert_shows(&format!(">{said}</td>"));
    }
}

#[test]
fn own_keys_and_sessions_are_listed_and_ended() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user("bob");
    let browser = Browser::of(&server, "bob");
    let page = browser.open("/profile/keys");
    let page = browser.submit(&page, "/profile/keys", &[("name", HOSTILE), ("lasts", "week")]);
    page.assert_status(200)
        .assert_shows("id=\"api-key\"")
        .assert_shows(&escaped(HOSTILE))
        .assert_hides("<script>alert");
    let page = browser.open("/profile/keys");
    page.assert_hides("id=\"api-key\"");
    let (_, rest) = page
        .html
        .split_once("href=\"/profile/keys/")
        .expect("a link to delete");
    let path = format!("/profile/keys/{}", rest.split('"').next().unwrap());
    assert_eq!(
        Browser::of(&server, "root").open(&path).answer.status,
        404,
        "another's key"
    );
    let page = browser.open(&path);
    assert_eq!(
        browser.submit(&page, &path, &[]).path,
        "/profile/keys?note=deleted"
    );

    let other = Browser::of(&server, "bob");
    let page = browser.open("/profile/sessions");
    page.assert_shows("This browser")
        .assert_shows("Another browser or program");
    let page = browser.submit(&page, "/profile/sessions", &[]);
    page.assert_shows("Ended.")
        .assert_hides("Another browser or program");
    assert!(other.open("/profile").path.starts_with("/sign-in"));
}

#[test]
fn people_delete_their_own_account_but_the_last_administrator_does_not() {
    let server = Portico::start();
    let root = administrator(&server);
    let bob = root.user("bob").id;
    let browser = Browser::of(&server, "bob");
    let page = browser.open("/profile/delete");
    let page = browser.submit(&page, "/profile/delete", &[]);
    page.assert_status(422);
    assert_eq!(page.problem("sure").as_deref(), Some("Please tick this first"));
    let page = browser.submit(&page, "/profile/delete", &[("sure", "yes")]);
    assert_eq!(page.path, "/sign-in?note=account-deleted");
    let answer = root.query("user.getById", &json!({ "userId": bob }));
    assert_eq!(answer.status, 404);
    let browser = Browser::of(&server, "root").in_german();
    let page = browser.open("/profile/delete");
    let page = browser.submit(&page, "/profile/delete", &[("sure", "yes")]);
    page.assert_status(422)
        .assert_shows("Der letzte Administrator kann nicht gelöscht werden");
}
