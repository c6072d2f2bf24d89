//! Signing out at the issuer too.

use portico_tests::{Client, Fixtures as _, Portico};
use serde_json::{Value, json};

use super::{
    browser::{Browser, Page, parameter},
    harness::{signed_in, start, start_url},
    linking::with_local,
};

fn url(server: &Portico) -> String {
    format!("http://{}/api/auth/oidc/sign-out", server.address())
}

fn sign_out_url(server: &Portico) -> Value {
    server.anonymous().get("/api/auth/providers").json()[1]["signOutUrl"].clone()
}

#[test]
fn who_signs_out_at_the_issuer_has_to_sign_in_there_again() {
    let (issuer, server, _) = start(&[("PORTICO_OIDC_SIGN_OUT", "on")]);
    assert_eq!(sign_out_url(&server), "/api/auth/oidc/sign-out");
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    browser.get(&callback).assert_redirect("/");
    // A second sign-in needs no password: the issuer has a session of its own.
    let is_asked = || {
        let way = browser.get(&start_url(&server)).location.expect("the issuer");
        let page = browser.get(&way);
        page.location.is_none_or(|next| next.contains("/interaction/"))
    };
    assert!(!is_asked());

    let led = browser.get(&url(&server));
    let way = led.location.clone().expect("the issuer");
    assert_eq!(led.status, 303);
    assert!(way.starts_with(&format!("{}/session/end?", issuer.url)), "{way}");
    assert_eq!(parameter(&way, "client_id").as_deref(), Some("portico"));
    assert_eq!(parameter(&way, "id_token_hint"), None);
    let back = format!("http://{}/sign-in?local", server.address());
    let sent = parameter(&way, "post_logout_redirect_uri").map(|uri| uri.replace("%3F", "?"));
    assert_eq!(sent.as_deref(), Some(&*back));
    let page = browser.get(&way);
    let (_, rest) = page
        .body
        .split_once("name=\"xsrf\" value=\"")
        .expect("the issuer asks");
    let xsrf = rest.split('"').next().expect("a token");
    let form = format!("xsrf={xsrf}&logout=yes");
    let done = browser.post(&format!("{}/session/end/confirm", issuer.url), &form);
    assert_eq!(done.location.as_deref(), Some(&*back), "{done:?}");
    assert!(is_asked(), "the issuer's session has ended");
}

#[test]
fn it_is_off_by_default_and_leads_only_to_an_endpoint_that_may_be_used() {
    let (_issuer, server, _) = start(&[]);
    assert_eq!(sign_out_url(&server), Value::Null);
    Browser::new().get(&url(&server)).assert_refused(404, "NOT_FOUND");
    for endpoint in [
        json!("http://issuer.example/session/end"),
        json!("javascript:alert(1)"),
        json!("/session/end"),
        json!(null),
    ] {
        let (issuer, server, root) = start(&[("PORTICO_OIDC_SIGN_OUT", "on")]);
        issuer.behaves(json!({"discovery": {"end_session_endpoint": endpoint}}));
        let refused = Browser::new().get(&url(&server));
        refused.assert_refused(503, "SERVICE_UNAVAILABLE");
        drop(root.app("a session of Portico goes on"));
    }
}

#[test]
fn people_sign_in_whatever_the_issuer_says_of_signing_out() {
    for (sign_out, endpoint) in [
        ("off", json!("http://issuer.example/session/end")),
        ("on", json!("/session/end")),
        ("off", json!(["x"])),
    ] {
        let (issuer, server, _) = start(&[("PORTICO_OIDC_SIGN_OUT", sign_out)]);
        issuer.behaves(json!({"discovery": {"end_session_endpoint": endpoint}}));
        let token = signed_in(&server, "1");
        assert!(!token.is_empty(), "{endpoint} with sign-out {sign_out}");
    }
}

#[test]
fn the_page_goes_on_to_the_issuer_for_those_who_came_from_there() {
    let (_issuer, server, administrator) = start(&[("PORTICO_OIDC_SIGN_OUT", "on")]);
    let browser = Browser::new();
    let out = sign_out(&server, &browser, &signed_in(&server, "1"));
    assert_led(&browser, &out);
    // Others do not know the issuer.
    let out = sign_out(&server, &browser, &administrator.token);
    out.assert_redirect("/sign-in?note=signed-out");
}

#[test]
fn people_who_are_linked_are_known_there_too() {
    let settings = [
        ("PORTICO_OIDC_SIGN_OUT", "on"),
        ("PORTICO_OIDC_LINKING", "verified"),
    ];
    let (_issuer, server, _, local) = with_local(&settings, true);
    let token = signed_in(&server, "1");
    let session = server.key(&token).get("/api/auth/session").json();
    assert_eq!(
        (&session["user"]["id"], &session["signOutUrl"]),
        (&local, &json!("/api/auth/oidc/sign-out"))
    );
    let browser = Browser::new();
    let out = sign_out(&server, &browser, &token);
    assert_led(&browser, &out);
}

/// Signs out on a page.
fn sign_out(server: &Portico, browser: &Browser, token: &str) -> Page {
    browser.set_cookie("portico_session", token);
    let page = browser.get(&format!("http://{}/profile", server.address()));
    assert_eq!(page.status, 200, "{page:?}");
    let (_, rest) = page
        .body
        .split_once("name=\"form-token\" value=\"")
        .expect("a form");
    let form = format!("form-token={}", rest.split('"').next().expect("a token"));
    browser.post(&format!("http://{}/sign-out", server.address()), &form)
}

/// Checks that signing out goes on at the issuer.
#[track_caller]
fn assert_led(browser: &Browser, out: &Page) {
    // By a page of its own: browsers send a form only to this host, redirects included.
    assert_eq!((out.status, out.location.as_deref()), (200, None), "{out:?}");
    let refresh = "http-equiv=\"refresh\" content=\"0;url=/api/auth/oidc/sign-out\"";
    assert!(out.body.contains(refresh), "{out:?}");
    assert!(
        out.body.contains("<a href=\"/api/auth/oidc/sign-out\""),
        "{out:?}"
    );
    assert_eq!(browser.cookie("portico_session"), None);
}
