//! Sites, names and cookies around the service: proxies that change them, other programs on the same name, and other
//! sites that want its visitors to sign in.

use std::io::Write;

use portico_tests::{Answer, Builder, Client, Fixtures, PASSWORD, Portico, Session, administrator, raw};
use serde_json::json;

/// Sends a request with these headers and no others.
#[track_caller]
fn ask(server: &Portico, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let request = raw::with_headers(method, path, headers, body);
    let mut connection = raw::connect(&server.address());
    connection.write_all(request.as_bytes()).expect("send");
    // An issuer may be away.
    raw::read_answer_allowing_5xx(&mut connection, request.as_bytes())
}

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn home_lan(scheme: &str) -> Builder {
    Builder::default()
        .argument("--public-url")
        .argument(format!("{scheme}://home.lan"))
}

/// Adds an app with the session's cookie.
#[track_caller]
fn add_app(server: &Portico, session: &Session, path: &str, host: &str, origin: &str) -> Answer {
    let headers = [
        ("host", host),
        ("origin", origin),
        ("cookie", session.cookie.as_str()),
        JSON,
    ];
    let app =
        json!({"name": "An app", "iconUrl": "/icon.svg", "description": null, "href": null, "pingUrl": null});
    ask(server, "POST", path, &headers, &app.to_string())
}

#[test]
fn behind_proxies_that_change_the_host_browsers_may_make_changes() {
    for (server, host, origin) in [
        (Portico::start(), "home.lan:80", "http://home.lan"),
        (Portico::start(), "home.lan:443", "https://home.lan"),
        (home_lan("http").start(), "127.0.0.1:7575", "http://home.lan"),
        (
            home_lan("http").argument("--compat-homarr").start(),
            "127.0.0.1:7575",
            "http://home.lan",
        ),
    ] {
        let session = administrator(&server);
        for path in ["/api/apps", "/api/trpc/app.create"] {
            add_app(&server, &session, path, host, origin).assert_status(200);
        }
        // A form of a page.
        let page = ask(
            &server,
            "GET",
            "/profile",
            &[("host", host), ("cookie", &session.cookie)],
            "",
        );
        let page = page.assert_status(200);
        let form_cookie = page.header("set-cookie").expect("the cookie of forms");
        let cookie = format!(
            "{}; {}",
            session.cookie,
            form_cookie.split(';').next().expect("a cookie")
        );
        let html = page.text();
        let token = html
            .split("name=\"form-token\" value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("a token");
        let headers = [("host", host), ("origin", origin), ("cookie", &*cookie), FORM];
        let signed_out = ask(
            &server,
            "POST",
            "/sign-out",
            &headers,
            &format!("form-token={token}"),
        );
        assert_eq!(
            (signed_out.status, signed_out.header("location")),
            (303, Some("/sign-in?note=signed-out")),
            "{signed_out}"
        );
    }
}

#[test]
fn a_refusal_of_another_origin_names_both_hosts_and_the_setting_and_is_logged_once() {
    let server = Portico::start();
    let session = administrator(&server);
    for origin in ["http://home.lan:8080", "http://home.lan"] {
        let refused = add_app(&server, &session, "/api/apps", "127.0.0.1:7575", origin);
        let message = refused.assert_refused(403, "FORBIDDEN").json()["message"].to_string();
        for word in [origin, "127.0.0.1:7575", "--public-url"] {
            assert!(message.contains(word), "{message}");
        }
    }
    server.wait_for_log(0, "http://home.lan:8080");
    let log = server.log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("another site")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("WARN") && lines[0].contains("--public-url"),
        "{lines:?}"
    );
    assert!(session.app_names().is_empty());
}

#[test]
fn cookies_of_other_programs_hide_none() {
    let server = Builder::default().argument("--compat-homarr").start();
    let session = administrator(&server);
    let token = session.cookie.split_once('=').expect("a cookie").1;
    // One header with all cookies, as browsers send it. The bytes are those of Latin-1 and of UTF-8.
    for odd in [&b"theme=caf\xe9"[..], b"theme=caf\xc3\xa9", b"\xff\xfe", b"theme"] {
        let send = |method: &str, path: &str, cookies: &[&[u8]], body: &str| {
            let head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", server.address());
            let rest = format!(
                "\r\ncontent-type: application/x-www-form-urlencoded\r\nconnection: close\r\ncontent-length: \
                 {}\r\n\r\n{body}",
                body.len()
            );
            let cookies = [&[odd], cookies, &[odd]].concat().join(&b"; "[..]);
            let request = [head.as_bytes(), b"cookie: ", &cookies, rest.as_bytes()].concat();
            raw::send(&server.address(), &request)
        };
        let page = send("GET", "/sign-in", &[], "");
        let form_cookie = page.header("set-cookie").expect("the cookie of forms");
        let form_cookie = form_cookie.split(';').next().expect("a cookie").as_bytes();
        let html = page.text();
        let token_of_form = html.split("name=\"form-token\" value=\"").nth(1).expect("a form");
        let token_of_form = token_of_form.split('"').next().expect("a token");
        let form = format!(
            "form-token={token_of_form}&username=root&password={}",
            portico_tests::escape(PASSWORD)
        );
        let signed_in = send("POST", "/sign-in", &[form_cookie], &form);
        assert_eq!(signed_in.status, 303, "{signed_in}");
        // The session, under Portico's name and under that of Auth.js.
        let own = session.cookie.clone().into_bytes();
        let alias = format!("authjs.session-token={token}").into_bytes();
        for cookie in [own, alias] {
            let found = send("GET", "/api/auth/session", &[&cookie], "");
            assert_eq!(found.json()["user"]["name"], "root", "{found}");
        }
    }
}

#[test]
fn another_site_cannot_sign_its_visitor_in() {
    let server = home_lan("http").argument("--compat-homarr").start();
    let root = administrator(&server);
    let invite = root.invite();
    let account = json!({"username": "root", "password": PASSWORD}).to_string();
    let password = portico_tests::escape(PASSWORD);
    let sign_in = format!("username=root&password={password}");
    let register = format!(
        "username=grace&email=grace@example.com&password={password}&invite={}&token={}",
        invite.id, invite.token
    );
    let auth_js = format!("name=root&password={password}");
    for (path, kind, body) in [
        ("/api/auth/sign-in", JSON, account.as_str()),
        ("/sign-in", FORM, &sign_in),
        ("/register", FORM, &register),
        ("/api/auth/callback/credentials", FORM, &auth_js),
    ] {
        for foreign in [
            ("origin", "http://evil.home.lan"),
            ("origin", "null"),
            ("sec-fetch-site", "same-site"),
        ] {
            let refused = ask(
                &server,
                "POST",
                path,
                &[("host", "home.lan"), foreign, kind],
                body,
            );
            assert_eq!(refused.status, 403, "{path} {foreign:?}: {refused}");
            assert_eq!(refused.header("set-cookie"), None, "{path}");
        }
        // Before anything else: the body is not waited for.
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: home.lan\r\norigin: http://evil.home.lan\r\ncontent-type: {}\r\n\
             connection: close\r\ncontent-length: 100\r\n\r\n",
            kind.1
        );
        assert_eq!(
            raw::send(&server.address(), head.as_bytes()).status,
            403,
            "{path}"
        );
        // From this site, and without an origin, they are read. (A form needs its token.)
        for own in [&[("origin", "http://home.lan")][..], &[]] {
            let headers = [&[("host", "home.lan"), kind][..], own].concat();
            let answer = ask(&server, "POST", path, &headers, body);
            // A wrong password is also 302 to clients of Homarr, but sets no session.
            let is_session = |cookie: &str| cookie.starts_with("portico_session=");
            let is_done =
                [200, 302].contains(&answer.status) && answer.header("set-cookie").is_some_and(is_session);
            let is_without_token = answer.text().contains("another session");
            assert!(is_done || is_without_token, "{path} {own:?}: {answer}");
        }
    }
    let users = root.get("/api/users").json();
    assert_eq!(users.as_array().map(Vec::len), Some(1), "{users}");
}

/// Opens a page as a browser, through a proxy that is trusted.
#[track_caller]
fn open(server: &Portico, path: &str, headers: &[(&str, &str)]) -> (u16, Option<String>, String) {
    let headers = [&[("accept", "text/html")], headers].concat();
    let answer = ask(server, "GET", path, &headers, "");
    (
        answer.status,
        answer.header("location").map(Into::into),
        answer.text(),
    )
}

#[test]
fn a_page_of_sign_in_opens_at_the_public_url() {
    let server = home_lan("https")
        .argument("--trusted-proxies")
        .argument("127.0.0.1")
        .environment("PORTICO_OIDC_ISSUER", "http://127.0.0.1:1")
        .environment("PORTICO_OIDC_CLIENT_ID", "portico")
        .environment("PORTICO_OIDC_CLIENT_SECRET", "a secret of the client")
        .start();
    administrator(&server);
    let pages = [
        "/sign-in?next=%2Fboards%2F1&note=session-ended",
        "/register?invite=a&token=b",
        "/new-password?token=a",
        "/api/auth/oidc/start?returnTo=%2Fboards%2F1",
    ];
    for path in pages {
        let there = format!("https://home.lan{path}");
        for elsewhere in [
            &[("host", "nas.lan:7575")][..],
            &[("host", "home.lan"), ("x-forwarded-proto", "http")],
            &[("host", "portico:7575"), ("x-forwarded-host", "nas.lan")],
        ] {
            let (status, location, _) = open(&server, path, elsewhere);
            assert_eq!(
                (status, location.as_deref()),
                (303, Some(&*there)),
                "{path} {elsewhere:?}"
            );
        }
        // At home, also behind a proxy that speaks TLS and does not say so, nobody is redirected there again.
        for home in [
            &[("host", "home.lan")][..],
            &[("host", "home.lan:443"), ("x-forwarded-proto", "https")],
            &[("host", "portico:7575"), ("x-forwarded-host", "home.lan")],
            &[("host", "portico:7575"), ("referer", "https://home.lan/sign-in")],
        ] {
            let (_, location, html) = open(&server, path, home);
            assert_ne!(location.as_deref(), Some(&*there), "{path} {home:?}");
            assert!(!html.contains("You have opened this page at"), "{path} {home:?}");
        }
        // At an address the page says it, with a link.
        for host in ["127.0.0.1:7575", "localhost", "[::1]:7575"] {
            let (status, location, html) = open(&server, path, &[("host", host)]);
            // A link of an invite that is not there says so.
            let expected = if path.starts_with("/register") { 403 } else { 200 };
            assert_eq!((status, location), (expected, None), "{path} {host}");
            let link = there.replace('&', "&#38;");
            assert!(
                html.contains(&format!("You have opened this page at {host}")),
                "{html}"
            );
            assert!(html.contains(&format!("href=\"{link}\"")), "{html}");
        }
    }
    // Other pages and programs work wherever they are.
    for path in ["/", "/api/health/live", "/api/auth/providers"] {
        let (_, location, _) = open(&server, path, &[("host", "nas.lan")]);
        assert!(
            location.is_none_or(|location| location.starts_with('/')),
            "{path}"
        );
    }
}

/// While there is no user, a request that is known to be a browser's is answered only at the public name, `localhost` and
/// IP addresses.
#[test]
fn the_first_administrator_is_created_at_the_public_url() {
    let server = home_lan("https").start();
    let (status, location, _) = open(&server, "/start", &[("host", "nas.lan:7575")]);
    assert_eq!(
        (status, location.as_deref()),
        (303, Some("https://home.lan/start"))
    );
    let home = [("host", "home.lan"), ("sec-fetch-site", "none")];
    let (status, _, html) = open(&server, "/start", &home);
    assert_eq!(status, 200, "{html}");
    assert!(!html.contains("You have opened this page at"), "{html}");
    let (status, _, html) = open(&server, "/start", &[("host", "127.0.0.1:7575")]);
    assert_eq!(status, 200, "{html}");
    assert!(html.contains("href=\"https://home.lan/start\""), "{html}");
}

/// htmx asks in the background, and may not follow a redirect to another origin. It opens the page that the answer names.
#[test]
fn a_boosted_link_opens_the_page_of_sign_in_at_the_public_url() {
    let server = home_lan("https").start();
    administrator(&server);
    let headers = [("host", "nas.lan:7575"), ("hx-request", "true")];
    let answer = ask(&server, "GET", "/sign-in?next=%2Fapps", &headers, "");
    assert_eq!(
        (
            answer.status,
            answer.header("hx-redirect"),
            answer.header("location"),
            answer.header("set-cookie"),
        ),
        (200, Some("https://home.lan/sign-in?next=%2Fapps"), None, None),
        "{answer}"
    );
}

#[test]
fn a_proxy_that_hides_the_name_makes_no_loop() {
    let server = home_lan("https").start();
    administrator(&server);
    let redirected = ask(&server, "GET", "/sign-in", &[("host", "portico:7575")], "");
    let there = redirected.header("location");
    assert_eq!(there, Some("https://home.lan/sign-in"), "{redirected}");
    let cookie = redirected
        .header("set-cookie")
        .and_then(|cookie| cookie.split(';').next());
    // The browser comes back by the same proxy.
    let headers = [("host", "portico:7575"), ("cookie", cookie.expect("a cookie"))];
    ask(&server, "GET", "/sign-in", &headers, "").assert_status(200);
    server.wait_for_log(0, "pass the header Host on unchanged");
}
