//! The session cookie, with TLS in front and without.

use portico_tests::{Builder, Client, PASSWORD, Portico, administrator};
use serde_json::json;

#[test]
fn behind_tls_the_cookie_is_for_tls_and_this_host_only() {
    let server = Builder::default()
        .environment("PORTICO_PUBLIC_URL", "https://portico.example")
        .start();
    let session = administrator(&server);
    let answer = server.anonymous().post(
        "/api/auth/sign-in",
        &json!({"username": "root", "password": PASSWORD}),
    );
    let cookie = answer.header("set-cookie").expect("a cookie");
    let (pair, attributes) = cookie.split_once("; ").expect("attributes");
    let (name, token) = pair.split_once('=').expect("a name");
    assert_eq!(name, "__Host-portico_session");
    assert_eq!(token, answer.json()["token"].as_str().expect("a token"));
    // `__Host-` wants Secure, the path / and no domain; 30 days.
    let attributes: Vec<_> = attributes.split("; ").collect();
    let expected = ["Path=/", "Max-Age=2592000", "HttpOnly", "SameSite=Lax", "Secure"];
    assert_eq!(attributes, expected);
    session.get("/api/auth/session").assert_status(200);

    // A cookie that was set without TLS is not a credential.
    let plain = format!("portico_session={token}");
    server
        .anonymous()
        .send("GET", "/api/auth/session", &[("cookie", &plain)], None)
        .assert_refused(401, "UNAUTHORIZED");
    let both = format!("portico_session=planted; {pair}");
    server
        .anonymous()
        .send("GET", "/api/auth/session", &[("cookie", &both)], None)
        .assert_status(200);
    server.key(token).get("/api/auth/session").assert_status(200);

    let answer = session.post("/api/auth/sign-out", &json!({}));
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert_eq!(
        cookie,
        "__Host-portico_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"
    );
    session
        .get("/api/auth/session")
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn without_tls_the_cookie_is_a_plain_one() {
    for server in [
        Portico::start(),
        Builder::default()
            .argument("--public-url")
            .argument("http://portico.example")
            .start(),
    ] {
        let session = administrator(&server);
        assert!(
            session.cookie.starts_with("portico_session="),
            "{}",
            session.cookie
        );
        session.get("/api/auth/session").assert_status(200);
        let token = format!("__Host-portico_session={}", session.token);
        server
            .anonymous()
            .send("GET", "/api/auth/session", &[("cookie", &token)], None)
            .assert_refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn a_service_that_others_can_reach_without_tls_says_so() {
    let warned = |builder: Builder| {
        let mut server = builder.start();
        let text = server.stop().text();
        text.lines()
            .any(|line| line.contains("WARN") && line.contains("--public-url"))
    };
    let open = || Builder::default().listen("0.0.0.0:0");
    assert!(warned(open()));
    let plain = open().environment("PORTICO_PUBLIC_URL", "http://portico.example");
    assert!(warned(plain));
    let secure = open().environment("PORTICO_PUBLIC_URL", "https://portico.example");
    assert!(!warned(secure));
    assert!(!warned(Builder::default()), "only this machine can reach it");
}

#[test]
fn sessions_last_as_long_as_the_settings_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("portico.toml");
    std::fs::write(
        &file,
        "[http]\nsession-idle = \"10m\"\nsession-lifetime = \"2h\"\n",
    )
    .expect("write it");
    let server = Builder::default()
        .environment("PORTICO_CONFIG", file.to_str().expect("a path"))
        .environment("PORTICO_SESSION_LIFETIME", "12h")
        .start();
    administrator(&server);
    let answer = server.anonymous().post(
        "/api/auth/sign-in",
        &json!({"username": "root", "password": PASSWORD}),
    );
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(
        cookie.contains("Max-Age=43200"),
        "the environment goes before the file: {cookie}"
    );
    let text = |value: &serde_json::Value| value.as_str().map(ToOwned::to_owned).expect("a date");
    let expires_at = portico_model::time::parse(&text(&answer.json()["expiresAt"])).expect("a date");
    let now = portico_model::time::Clock::now(&portico_model::time::SystemClock);
    let minutes = (expires_at - now) as f64 / 60_000.0;
    assert!((8.0..=10.0).contains(&minutes), "{minutes} minutes");
}

#[test]
fn settings_that_are_not_right_are_refused_by_name() {
    for (flag, value) in [
        ("--public-url", "portico.example"),
        ("--public-url", "https://portico.example/path"),
        ("--trusted-proxies", "proxy.example"),
        ("--session-idle", "7"),
        ("--session-lifetime", "1m"),
        ("--sign-in-throttle", "maybe"),
    ] {
        let mut command = portico_tests::command();
        let text = portico_tests::run(command.args(["serve", flag, value]), "").failed();
        assert!(text.contains(flag) && text.contains(value), "{text}");
    }
}
