//! Attacks on sign-in by OpenID Connect.

use portico_tests::Client;

use super::{
    browser::{Browser, Page, with_parameter},
    harness::{Issuer, settings, signed_in, start, start_url, users},
};

/// Refused, without a word about the reason, and without a session.
#[track_caller]
fn assert_out(browser: &Browser, page: &Page) {
    page.assert_refused(401, "UNAUTHORIZED");
    let message = page.json()["message"].to_string();
    assert!(message.contains("not confirmed"), "{message}");
    for reason in ["state", "nonce", "code", "token", "cookie", "issuer"] {
        assert!(!message.contains(reason), "it says why: {message}");
    }
    assert_eq!(browser.cookie("portico_session"), None);
}

#[test]
fn a_state_that_began_no_sign_in_is_refused() {
    let (issuer, server, administrator) = start(&[]);
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    let (path, _) = callback.split_once('?').expect("a query");
    for url in [
        with_parameter(&callback, "state", "wrong"),
        with_parameter(&callback, "state", ""),
        path.to_owned(),
        format!("{path}?code=a"),
        format!("{callback}&state=again"),
        format!("{callback}&code=again"),
        format!("{path}?state=%ff&code=%"),
    ] {
        assert_out(&browser, &browser.get(&url));
    }
    assert_eq!(issuer.asked("/token"), 0);
    assert_eq!(users(&administrator), ["root"]);
    // None of that ended the sign-in.
    browser.get(&callback).assert_redirect("/");
}

#[test]
fn coming_back_is_good_once_and_only_in_the_browser_that_began() {
    let (issuer, server, administrator) = start(&[]);
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    let other = Browser::new();
    assert_out(&other, &other.get(&callback));
    // A browser with a pending sign-in of its own cannot use this one either.
    other.at_issuer(&start_url(&server), "1");
    assert_out(&other, &other.get(&callback));
    other.set_cookie("portico_oidc", "made up");
    assert_out(&other, &other.get(&callback));
    assert_eq!(issuer.asked("/token"), 0);
    assert_eq!(users(&administrator), ["root"]);

    let cookie = browser.cookie("portico_oidc").expect("its cookie");
    browser.get(&callback).assert_redirect("/");
    assert_eq!(issuer.asked("/token"), 1);
    // The same request again, with the cookie, comes too late.
    browser.forget_cookies();
    browser.set_cookie("portico_oidc", &cookie);
    assert_out(&browser, &browser.get(&callback));
    assert_eq!(issuer.asked("/token"), 1, "the issuer is asked once");
}

#[test]
fn a_code_of_another_sign_in_is_worth_nothing() {
    let (_issuer, server, _) = start(&[]);
    let victim = Browser::new();
    let stolen = victim.at_issuer(&start_url(&server), "1");
    let code = super::browser::parameter(&stolen, "code").expect("a code");

    // PKCE: the verifier of the thief's sign-in is another one.
    let thief = Browser::new();
    let callback = thief.at_issuer(&start_url(&server), "1");
    assert_out(&thief, &thief.get(&with_parameter(&callback, "code", &code)));
    // And a code that was redeemed is not redeemed again.
    let (browser, again) = (Browser::new(), Browser::new());
    let callback = browser.at_issuer(&start_url(&server), "1");
    let code = super::browser::parameter(&callback, "code").expect("a code");
    browser.get(&callback).assert_redirect("/");
    let callback = again.at_issuer(&start_url(&server), "1");
    assert_out(&again, &again.get(&with_parameter(&callback, "code", &code)));
}

#[test]
fn a_browser_that_the_issuer_refused_or_that_comes_from_another_issuer_is_refused() {
    let (issuer, server, _) = start(&[]);
    for change in ["error=access_denied", "iss=https%3A%2F%2Fevil.example"] {
        let browser = Browser::new();
        let callback = browser.at_issuer(&start_url(&server), "1");
        let callback = match change.split_once('=') {
            Some(("iss", other)) => with_parameter(&callback, "iss", other),
            _ => format!("{callback}&{change}"),
        };
        assert_out(&browser, &browser.get(&callback));
        assert_out(&browser, &browser.get(&callback));
    }
    assert_eq!(issuer.asked("/token"), 0);
}

#[test]
fn a_callback_without_the_issuer_that_the_issuer_promises_is_refused() {
    let (issuer, server, administrator) = start(&[]);
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    assert!(callback.contains("&iss="), "{callback}");
    let (path, query) = callback.split_once('?').expect("a query");
    let kept: Vec<_> = query
        .split('&')
        .filter(|pair| !pair.starts_with("iss="))
        .collect();
    assert_out(&browser, &browser.get(&format!("{path}?{}", kept.join("&"))));
    server.wait_for_log(0, "the callback has no iss");
    assert_eq!(issuer.asked("/token"), 0);
    assert_eq!(users(&administrator), ["root"]);
}

#[test]
fn a_used_callback_leads_home_for_those_who_are_signed_in_and_changes_nothing() {
    let (issuer, server, _) = start(&[]);
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    browser.get(&callback).assert_redirect("/");
    let session = browser.cookie("portico_session");
    for _ in 0..3 {
        let page = browser.get(&callback);
        page.assert_redirect("/");
        assert!(page.cookies.is_empty(), "{page:?}");
    }
    assert_eq!(browser.cookie("portico_session"), session);
    assert_eq!(issuer.asked("/token"), 1);
    // Another person's callback does not sign in someone who is signed in.
    let other = Browser::new();
    let stolen = other.at_issuer(&start_url(&server), "1");
    browser.get(&stolen).assert_redirect("/");
    assert_eq!(browser.cookie("portico_session"), session);
    assert_eq!(issuer.asked("/token"), 1);
}

#[test]
fn the_log_says_why_a_callback_is_refused() {
    let (_issuer, server, _) = start(&[]);
    let browser = Browser::new();
    let other = Browser::new();
    for (change, stranger, reason) in [
        ("state=made-up", false, "the state is unknown"),
        (
            "state=made-up&error=invalid_scope",
            false,
            r#"answers "invalid_scope""#,
        ),
        ("", true, "or of another browser"),
        (
            "iss=https://evil.example",
            false,
            r#"iss of the callback is "https://evil.example""#,
        ),
        (
            "error=access_denied&error_description=Not%20today%0Aforged",
            false,
            r#"the issuer answers "access_denied": "Not today\nforged""#,
        ),
        (
            "state=a&state=b",
            false,
            "the query of the callback cannot be read",
        ),
    ] {
        let callback = browser.at_issuer(&start_url(&server), "1");
        let (path, query) = callback.split_once('?').expect("a query");
        let names: Vec<_> = change
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .collect();
        let kept = query.split('&').filter(|pair| {
            let (name, _) = pair.split_once('=').expect("a pair");
            !names.iter().any(|(changed, _)| *changed == name)
        });
        let query: Vec<_> = kept.chain([change]).filter(|pair| !pair.is_empty()).collect();
        let url = format!("{path}?{}", query.join("&"));
        let said = server.log().len();
        let browser = if stranger { &other } else { &browser };
        assert_out(browser, &browser.get(&url));
        server.wait_for_log(said, "a sign-in by OpenID Connect failed: ");
        server.wait_for_log(said, reason);
        let code = super::browser::parameter(&callback, "code").expect("a code");
        let state = super::browser::parameter(&callback, "state").expect("a state");
        let log = server.log();
        assert!(!log.contains(&code) && !log.contains(&state), "{log}");
    }
}

#[test]
fn head_neither_begins_nor_ends_a_sign_in() {
    let issuer = Issuer::start();
    let server = settings(&issuer, &[("PORTICO_SIGN_IN_THROTTLE", "on")]).start();
    portico_tests::administrator(&server);
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    for url in [&start_url(&server), &callback, &format!("{callback}&a=b")] {
        for _ in 0..12 {
            let page = browser.head(url);
            assert_eq!(page.status, 405, "{page:?}");
            assert!(page.cookies.is_empty() && page.location.is_none(), "{page:?}");
        }
    }
    let answer = server
        .anonymous()
        .send("HEAD", "/api/auth/oidc/callback", &[], None);
    assert_eq!(answer.header("allow"), Some("GET"));
    browser.get(&callback).assert_redirect("/");
}

#[test]
fn no_browser_is_sent_to_another_host_afterwards() {
    let (_issuer, server, _) = start(&[]);
    for path in [
        "//evil.example",
        "%2F%2Fevil.example",
        "/%5Cevil.example",
        "/%09/evil.example",
        "/%0A/evil.example",
        "/%0d%0aSet-Cookie:%20a=b",
        "https%3A%2F%2Fevil.example",
        "evil.example",
        "%5C%5Cevil.example",
        "javascript:alert(1)",
        "%00",
        "",
        "/%C3%BC",
    ] {
        let browser = Browser::new();
        let page = browser.get(&format!("{}?returnTo={path}", start_url(&server)));
        page.assert_refused(400, "BAD_REQUEST");
        assert!(
            page.json()["issues"][0]["path"][0] == "returnTo",
            "{path}: {page:?}"
        );
    }
    let twice = format!("{}?returnTo=/a&returnTo=//evil.example", start_url(&server));
    Browser::new().get(&twice).assert_refused(400, "BAD_REQUEST");
}

#[test]
fn tries_are_limited_by_address_and_what_succeeds_costs_nothing() {
    let issuer = Issuer::start();
    let server = settings(&issuer, &[("PORTICO_SIGN_IN_THROTTLE", "on")]).start();
    portico_tests::administrator(&server);
    for _ in 0..12 {
        signed_in(&server, "1");
    }
    // Beginning is a try until it is completed; ten at once, and one more every five seconds, so that a slow
    // machine gets some more.
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    let refused = |url: &str, otherwise: u16| {
        let mut pages = (0..60).map(|_| Browser::new().get(url));
        let refused = pages.find(|page| {
            assert!([otherwise, 429].contains(&page.status), "{page:?}");
            page.status == 429
        });
        refused.expect("a refusal")
    };
    let page = refused(&start_url(&server), 303);
    page.assert_refused(429, "TOO_MANY_REQUESTS");
    assert!(page.retry_after.is_some(), "{page:?}");
    let made_up = format!(
        "http://{}/api/auth/oidc/callback?state=a&code=b",
        server.address()
    );
    refused(&made_up, 400).assert_refused(429, "TOO_MANY_REQUESTS");
    // A sign-in that began before succeeds.
    browser.get(&callback).assert_redirect("/");
    let answer = server.anonymous().get("/api/auth/providers");
    answer.assert_status(200);
}

#[test]
fn a_page_of_another_site_that_only_fetches_is_refused_and_uses_up_no_tries() {
    let issuer = Issuer::start();
    let server = settings(&issuer, &[("PORTICO_SIGN_IN_THROTTLE", "on")]).start();
    portico_tests::administrator(&server);
    let visitor = server.anonymous();
    for mode in ["no-cors", "cors", "same-origin", "websocket", "made up"] {
        for path in ["/api/auth/oidc/start", "/api/auth/oidc/callback?state=a&code=b"] {
            for _ in 0..15 {
                let answer = visitor.try_send("GET", path, &[("sec-fetch-mode", mode)], None);
                answer.expect("an answer").assert_refused(403, "FORBIDDEN");
            }
        }
    }
    for frame in ["iframe", "frame", "embed", "object", "fencedframe"] {
        for path in ["/api/auth/oidc/start", "/api/auth/oidc/callback?state=a&code=b"] {
            let headers = [
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-dest", frame),
            ];
            for _ in 0..15 {
                let answer = visitor.try_send("GET", path, &headers, None);
                answer.expect("an answer").assert_refused(403, "FORBIDDEN");
            }
        }
    }
    // A person who follows a link from another site, and a frame of the dashboard's own.
    for (site, destination) in [("cross-site", "document"), ("same-origin", "iframe")] {
        let headers = [
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-site", site),
            ("sec-fetch-dest", destination),
        ];
        let answer = visitor.try_send("GET", "/api/auth/oidc/start", &headers, None);
        answer.expect("an answer").assert_status(303);
    }
    let opened = visitor.try_send(
        "GET",
        "/api/auth/oidc/start",
        &[("sec-fetch-mode", "navigate")],
        None,
    );
    opened.expect("an answer").assert_status(303);
    signed_in(&server, "1");
}
