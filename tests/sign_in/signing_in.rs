//! Signing in and out, what a session is worth, and what a foreign site cannot do with it.

use portico_tests::{Client, Fixtures, NO_INPUT, PASSWORD, Portico, administrator};
use serde_json::json;

#[test]
fn signing_in_gives_a_token_and_a_cookie_for_the_same_session() {
    let server = Portico::start();
    let admin = administrator(&server);
    let body = json!({"username": " ROOT ", "password": PASSWORD, "provider": "credentials"});
    let answer = server.anonymous().post("/api/auth/sign-in", &body);
    let given = answer.assert_status(200).json();
    assert_eq!(given["user"], json!({"id": admin.user_id, "name": "root"}));
    let expires = given["expiresAt"].as_str().expect("a date");
    assert!(
        expires.len() == "2999-12-31T00:00:00.000Z".len() && expires.ends_with('Z'),
        "{expires}"
    );

    let cookie = answer
        .header("set-cookie")
        .expect("a cookie")
        .to_ascii_lowercase();
    let attributes: Vec<_> = cookie.split(';').map(str::trim).collect();
    assert!(attributes.contains(&"httponly"), "{cookie}");
    assert!(attributes.contains(&"samesite=lax"), "{cookie}");
    assert!(attributes.contains(&"path=/"), "{cookie}");

    // 128 bits take 22 characters of base64 at least.
    assert!(
        given["token"].as_str().is_some_and(|token| token.len() >= 22),
        "a short token"
    );
    let session = server.sign_in("root", PASSWORD);
    assert_ne!(
        given["token"],
        session.token.as_str(),
        "each session has a token of its own"
    );
    let by_cookie = session.get("/api/auth/session").assert_status(200).json();
    assert_eq!(session.bearer().get("/api/auth/session").json(), by_cookie);
    assert_eq!(
        session
            .bearer()
            .in_api_key_header()
            .get("/api/auth/session")
            .json(),
        by_cookie
    );
    let user = json!({
        "id": admin.user_id, "name": "root", "email": "root@example.com", "image": null,
        "provider": "credentials", "colorScheme": "dark",
    });
    for (key, value) in user.as_object().expect("an object") {
        assert_eq!(by_cookie["user"][key], *value, "{key}");
    }
    assert_eq!(by_cookie["user"].as_object().map(serde_json::Map::len), Some(7));
    assert!(by_cookie["expiresAt"].is_string(), "{by_cookie}");
}

/// What a refusal reveals is in `credentials/answers.rs`.
#[test]
fn a_sign_in_that_lacks_something_is_refused_by_its_name() {
    let server = Portico::start();
    administrator(&server);
    let post = |body: &str| server.anonymous().send_text("POST", "/api/auth/sign-in", body);
    post("{\"username\": \"root\"}").assert_bad_field("password");
    post("{\"username\": 5, \"password\": \"x\"}").assert_bad_field("username");
    post("{\"username\"").assert_refused(400, "BAD_REQUEST");
    post("{\"username\": \"root\", \"password\": \"x\", \"provider\": \"none\"}")
        .assert_bad_field("provider");
}

#[test]
fn signing_out_ends_this_session_and_no_other() {
    let server = Portico::start();
    let session = administrator(&server);
    let other = server.sign_in("root", PASSWORD);
    assert_eq!(session.post("/api/auth/sign-out", &json!({})).status, 200);
    for client in [&session as &dyn Client, &session.bearer()] {
        client
            .get("/api/auth/session")
            .assert_refused(401, "UNAUTHORIZED");
        client
            .query("app.all", &NO_INPUT)
            .assert_refused(401, "UNAUTHORIZED");
    }
    other.get("/api/auth/session").assert_status(200);
    // A token signs itself out as well.
    assert_eq!(other.bearer().post("/api/auth/sign-out", &json!({})).status, 200);
    other.get("/api/auth/session").assert_refused(401, "UNAUTHORIZED");
    server
        .anonymous()
        .get("/api/auth/session")
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_foreign_site_cannot_use_the_cookie() {
    let server = Portico::start();
    let session = administrator(&server);
    let own = format!("http://{}", server.address());
    let json_body = ("content-type", "application/json");
    let app = br#"{"name": "An app", "iconUrl": "/icon.svg"}"#;
    let foreign: [&[(&str, &str)]; 5] = [
        &[("sec-fetch-site", "cross-site")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://127.0.0.1:1")],
        &[
            ("sec-fetch-site", "cross-site"),
            ("origin", "https://evil.example"),
        ],
    ];
    for headers in foreign {
        let mut headers = headers.to_vec();
        headers.push(json_body);
        for path in ["/api/trpc/app.create", "/api/apps"] {
            session
                .send("POST", path, &headers, Some(app))
                .assert_refused(403, "FORBIDDEN");
            // A header that a browser never adds by itself proves that no foreign site is at work.
            session
                .bearer()
                .send("POST", path, &headers, Some(app))
                .assert_status(200);
        }
        let batch = br#"{"0": {"name": "An app", "iconUrl": "/icon.svg"}}"#;
        let answer = session.send("POST", "/api/trpc/app.create?batch=1", &headers, Some(batch));
        assert_eq!(answer.status, 403, "{answer}");
        let answer = session.send("POST", "/api/auth/sign-out", &headers, Some(b"{}"));
        assert_eq!(answer.status, 403, "{answer}");
    }
    let refused = session.app_names().len();
    assert_eq!(
        refused,
        foreign.len() * 2,
        "only what came with the token was written"
    );

    let at_home: [&[(&str, &str)]; 4] = [
        &[("sec-fetch-site", "same-origin"), ("origin", &own)],
        &[("sec-fetch-site", "none")],
        &[("origin", &own)],
        &[],
    ];
    for headers in at_home {
        let mut headers = headers.to_vec();
        headers.push(json_body);
        session
            .send("POST", "/api/trpc/app.create", &headers, Some(app))
            .assert_status(200);
        session
            .send("POST", "/api/apps", &headers, Some(app))
            .assert_status(200);
    }
    session.get("/api/auth/session").assert_status(200);
}

#[test]
fn a_key_wins_over_a_cookie() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let key = alice.key.authorization();
    let answer = admin.send("GET", "/api/users", &[("authorization", &key)], None);
    answer.assert_refused(403, "FORBIDDEN");
    let answer = admin.send("GET", "/api/users", &[("apikey", &alice.key.key)], None);
    answer.assert_refused(403, "FORBIDDEN");
}
