//! Auth.js as its web client (next-auth 5, `react.js`) and scripts use it.

use portico_model::time::{Clock as _, SystemClock};
use portico_tests::second_factor::{code_at, wrong_code};
use portico_tests::{Answer, Client, PASSWORD, Portico, escape};
use serde_json::json;

use super::with_administrator;

/// `react.js`, `signIn`: a form, and the address in the answer.
fn sign_in(server: &Portico, form: &str, headers: &[(&str, &str)]) -> Answer {
    let base = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-auth-return-redirect", "1"),
    ];
    let headers = [&base[..], headers].concat();
    server.anonymous().send(
        "POST",
        "/api/auth/callback/credentials",
        &headers,
        Some(form.as_bytes()),
    )
}

fn form(password: &str, callback: &str) -> String {
    format!(
        "name=root&password={}&callbackUrl={}",
        escape(password),
        escape(callback)
    )
}

#[test]
fn the_web_client_finds_its_providers_and_its_session() {
    let (server, admin, _) = with_administrator();
    let json = [("content-type", "application/json")];
    // react.js:136: by id.
    let providers = server
        .anonymous()
        .send("GET", "/api/auth/providers", &json, None)
        .json();
    let origin = format!("http://{}", server.address());
    assert_eq!(providers["credentials"]["type"], "credentials");
    assert_eq!(
        providers["credentials"]["callbackUrl"],
        format!("{origin}/api/auth/callback/credentials")
    );
    assert_eq!(
        providers.as_object().map(serde_json::Map::len),
        Some(1),
        "only those that are on"
    );
    // Signed out it is null, and no error.
    let session = server.anonymous().send("GET", "/api/auth/session", &json, None);
    assert_eq!(session.assert_status(200).text(), "null");
    let session = admin.get("/api/auth/session").assert_status(200).json();
    assert_eq!(session["user"]["name"], "root");
    assert!(session["expires"].is_string() && session["expires"] == session["expiresAt"]);
}

#[test]
fn a_sign_in_leads_where_the_client_wants_on_this_host_only() {
    let (server, ..) = with_administrator();
    let origin = format!("http://{}", server.address());
    for (callback, url) in [
        (format!("{origin}/boards"), format!("{origin}/boards")),
        ("/manage?x=1".to_owned(), format!("{origin}/manage?x=1")),
        ("https://evil.example/".to_owned(), origin.clone()),
        ("//evil.example/".to_owned(), origin.clone()),
        (format!("{origin}.evil.example/"), origin.clone()),
        ("/\\evil.example".to_owned(), origin.clone()),
    ] {
        let answer = sign_in(&server, &form(PASSWORD, &callback), &[]);
        assert_eq!(
            answer.assert_status(200).json(),
            json!({"url": url}),
            "{callback}"
        );
    }
    let wrong = sign_in(&server, &form("wrong password", "/"), &[]);
    let url = format!("{origin}/auth/login?error=CredentialsSignin&code=credentials");
    assert_eq!(wrong.assert_status(200).json(), json!({"url": url}));
    assert_eq!(wrong.header("set-cookie"), None);
    // A browser finds the page of signing in there.
    let page = server.anonymous().get(&url[origin.len()..]);
    let location = page.assert_status(303).header("location");
    assert_eq!(location, Some("/sign-in?next=%2F&note=sign-in-failed"));
    let page = server.anonymous().get("/auth/login?callbackUrl=%2Fboards%2F1");
    let location = page.assert_status(303).header("location");
    assert_eq!(location, Some("/sign-in?next=%2Fboards%2F1"));
}

#[test]
fn another_site_cannot_sign_in_and_a_script_without_those_headers_can() {
    let (server, ..) = with_administrator();
    let origin = format!("http://{}", server.address());
    let good = form(PASSWORD, "/");
    for foreign in [
        ("origin", "http://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let refused = sign_in(&server, &good, &[foreign]);
        refused.assert_status(403);
        assert_eq!(refused.header("set-cookie"), None);
    }
    for own in [("origin", &*origin), ("sec-fetch-site", "same-origin")] {
        sign_in(&server, &good, &[own]).assert_status(200);
    }
    let session = sign_in(&server, &good, &[]);
    let cookies: Vec<_> = session
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie")
        .collect();
    let alias = cookies
        .iter()
        .find(|(_, cookie)| cookie.starts_with("authjs.session-token="))
        .expect("the cookie");
    assert!(
        alias.1.contains("HttpOnly") && alias.1.contains("SameSite=Lax"),
        "{alias:?}"
    );
    let cookie = alias.1.split(';').next().expect("the cookie");
    // The cookie authorises no change that another site asks for.
    let scheme = json!({"json": {"colorScheme": "light"}}).to_string();
    let change = |headers: &[(&str, &str)]| {
        let headers = [
            &[("content-type", "application/json"), ("cookie", cookie)],
            headers,
        ]
        .concat();
        let anonymous = server.anonymous();
        anonymous.send(
            "POST",
            "/api/trpc/user.changeColorScheme",
            &headers,
            Some(scheme.as_bytes()),
        )
    };
    change(&[]).assert_status(200);
    change(&[("origin", "http://evil.example")]).assert_status(403);

    // `react.js`, `signOut`: both cookies end.
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-auth-return-redirect", "1"),
        ("cookie", cookie),
    ];
    let out = server
        .anonymous()
        .send("POST", "/api/auth/signout", &headers, Some(b"callbackUrl=%2F"));
    let ended = out
        .assert_status(200)
        .headers
        .iter()
        .filter(|(_, value)| value.contains("Max-Age=0"))
        .count();
    assert_eq!(ended, 2, "{out}");
    change(&[]).assert_status(401);
}

#[test]
fn a_new_password_keeps_the_session_under_both_cookies() {
    let (server, ..) = with_administrator();
    let signed_in = sign_in(&server, &form(PASSWORD, "/"), &[]);
    let alias = |answer: &Answer| {
        let mut cookies = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
        let found = cookies.find(|(_, cookie)| cookie.starts_with("authjs.session-token="));
        found
            .and_then(|(_, cookie)| cookie.split(';').next())
            .expect("the cookie")
            .to_owned()
    };
    let cookie = alias(&signed_in);
    let session = server
        .anonymous()
        .send("GET", "/api/auth/session", &[("cookie", &cookie)], None)
        .json();
    let change = json!({"previousPassword": PASSWORD, "password": "another pass phrase"}).to_string();
    let path = format!(
        "/api/users/{}/changePassword",
        session["user"]["id"].as_str().expect("an id")
    );
    let headers = [("content-type", "application/json"), ("cookie", &*cookie)];
    let changed = server
        .anonymous()
        .send("PATCH", &path, &headers, Some(change.as_bytes()));
    changed.assert_status(200);
    let after = server
        .anonymous()
        .send("GET", "/api/auth/session", &[("cookie", &alias(&changed))], None);
    assert_eq!(after.json()["user"]["name"], "root");
}

#[test]
fn portico_s_own_pages_get_portico_s_own_forms() {
    let (server, admin, _) = with_administrator();
    let native = [("portico-native", "1")];
    let providers = server
        .anonymous()
        .send("GET", "/api/auth/providers", &native, None);
    assert!(providers.json().is_array());
    server
        .anonymous()
        .send("GET", "/api/auth/session", &native, None)
        .assert_status(401);
    let apps = admin.send("GET", "/api/trpc/app.all", &native, None);
    assert_eq!(apps.json(), json!({"result": {"data": []}}));
}

#[test]
fn a_user_with_a_second_factor_sends_its_code_in_the_form() {
    let (server, admin, _) = with_administrator();
    // By REST, because calls have the form of Homarr here.
    let made = admin
        .get("/api/secondFactors/own/secret")
        .assert_status(200)
        .json();
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    let input = json!({"secret": secret, "code": code_at(&secret, SystemClock.now())});
    let added = admin.post("/api/secondFactors/own/totp", &input);
    let recovery = added.assert_status(200).json()["recoveryCodes"][0].clone();
    let recovery = recovery.as_str().expect("a code");
    let form = form(PASSWORD, "/boards");
    let refused = sign_in(&server, &form, &[]);
    let url = refused.assert_status(200).json()["url"]
        .as_str()
        .expect("a URL")
        .to_owned();
    assert!(
        url.ends_with("/auth/login?error=CredentialsSignin&code=second_factor"),
        "{url}"
    );
    assert!(refused.header("set-cookie").is_none(), "{refused}");
    let wrong = wrong_code(&secret, SystemClock.now());
    let wrong = sign_in(&server, &format!("{form}&code={wrong}"), &[]);
    assert!(
        wrong.text().contains("code=second_factor") && wrong.header("set-cookie").is_none(),
        "{wrong}"
    );
    let done = sign_in(&server, &format!("{form}&code={recovery}"), &[]);
    assert!(done.header("set-cookie").is_some(), "{done}");
    assert!(
        done.json()["url"].as_str().expect("a URL").ends_with("/boards"),
        "{done}"
    );
}
