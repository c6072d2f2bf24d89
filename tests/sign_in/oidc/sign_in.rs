//! Sign-ins that succeed.

use portico_tests::{Client, PASSWORD};
use serde_json::json;

use super::{
    browser::{Browser, parameter},
    harness::{Issuer, ada, settings, sign_in, signed_in, start, start_url, user, users},
};

#[test]
fn a_user_of_the_issuer_gets_a_session_and_is_the_same_user_the_next_time() {
    let (issuer, server, administrator) = start(&[]);
    let browser = Browser::new();
    let begun = browser.get(&start_url(&server));
    let way = begun.location.clone().expect("the issuer");
    assert!(way.starts_with(&format!("{}/auth?", issuer.url)), "{way}");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "portico"),
        ("code_challenge_method", "S256"),
        ("scope", "openid profile email"),
    ] {
        assert_eq!(parameter(&way, name).as_deref(), Some(value), "{way}");
    }
    let back = format!("http://{}/api/auth/oidc/callback", server.address());
    assert_eq!(parameter(&way, "redirect_uri"), Some(back));
    let [cookie] = &begun.cookies[..] else {
        panic!("{begun:?}");
    };
    assert!(
        cookie.starts_with("portico_oidc=")
            && cookie.ends_with("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );

    let callback = browser.at_issuer(&start_url(&server), "1");
    let page = browser.get(&callback);
    page.assert_redirect("/");
    assert!(page.body.is_empty());
    let token = browser.cookie("portico_session").expect("a session");
    let first = user(&server, &token);
    assert_eq!(first["provider"], "oidc");
    assert_eq!(
        (&first["name"], &first["email"]),
        (&json!("ada"), &json!("ada@example.com"))
    );
    assert_eq!(first["image"], "https://example.com/ada.png");
    assert_eq!(first["permissions"], json!([]));

    // Name, email and picture follow the issuer; the subject identifies the user.
    issuer.knows(json!({"1": {"preferred_username": "Lovelace", "email": "l@example.com"}}));
    let again = user(&server, &signed_in(&server, "1"));
    assert_eq!(again["id"], first["id"]);
    assert_eq!(
        (&again["name"], &again["email"], &again["image"]),
        (&json!("lovelace"), &json!("l@example.com"), &json!(null))
    );
    assert_eq!(users(&administrator), ["lovelace", "root"]);
    let id = first["id"].as_str().expect("an id");
    let shown = administrator.get(&format!("/api/users/{id}")).json();
    assert_eq!(shown["emailVerified"], json!(null));
}

#[test]
fn claims_of_userinfo_may_be_in_the_token_as_well() {
    let (issuer, server, _) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    let mut known = ada();
    known["groups"] = json!(["no group"]);
    issuer.knows(json!({ "1": known }));
    signed_in(&server, "1");
    assert_eq!(issuer.asked("/me"), 1);
    issuer.behaves(json!({"claimsInToken": true}));
    assert_eq!(
        user(&server, &signed_in(&server, "1"))["email"],
        "ada@example.com"
    );
    assert_eq!(issuer.asked("/me"), 1, "all was said");
}

#[test]
fn another_claim_may_hold_the_name() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_NAME_CLAIM", "email")]);
    assert_eq!(user(&server, &signed_in(&server, "1"))["name"], "ada@example.com");

    // Without a name, or with one that breaks the rules of names, there is no user to create.
    issuer.knows(json!({"2": {"preferred_username": "eve"}, "3": {"email": "\u{7}@example.com"}}));
    for subject in ["2", "3"] {
        let (_, page) = sign_in(&server, subject);
        page.assert_refused(403, "FORBIDDEN");
    }
    server.wait_for_log(0, "there is no claim email");
    server.wait_for_log(0, "a provider's user cannot sign in: name ");
    assert_eq!(users(&administrator), ["ada@example.com", "root"]);
}

#[test]
fn several_tabs_can_sign_in_at_once() {
    let (_issuer, server, _) = start(&[]);
    let browser = Browser::new();
    let one = browser.at_issuer(&format!("{}?returnTo=/one", start_url(&server)), "1");
    let two = browser.at_issuer(&format!("{}?returnTo=/two%3Fa%3Db%23c", start_url(&server)), "1");
    browser.get(&one).assert_redirect("/one");
    assert!(
        browser.cookie("portico_oidc").is_some(),
        "one is still on the way"
    );
    let first = browser.cookie("portico_session").expect("a session");
    let page = browser.get(&two);
    page.assert_redirect("/two?a=b#c");
    assert_eq!(browser.cookie("portico_oidc"), None);
    // A user who signs in again in the same browser has one session.
    assert_ne!(browser.cookie("portico_session"), Some(first.clone()));
    server
        .key(&first)
        .get("/api/auth/session")
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn behind_tls_cookies_and_the_way_back_are_for_tls() {
    let issuer = Issuer::start();
    let server = settings(&issuer, &[("PORTICO_PUBLIC_URL", "https://portico.example")]).start();
    portico_tests::administrator(&server);
    let begun = Browser::new().get(&start_url(&server));
    let way = begun.location.clone().expect("the issuer");
    assert_eq!(
        parameter(&way, "redirect_uri").as_deref(),
        Some("https://portico.example/api/auth/oidc/callback")
    );
    assert!(
        begun.cookies[0].starts_with("__Host-portico_oidc=") && begun.cookies[0].ends_with("; Secure"),
        "{begun:?}"
    );
}

#[test]
fn no_external_user_signs_in_before_the_first_administrator_exists() {
    let issuer = Issuer::start();
    let server = settings(&issuer, &[]).start();
    server.wait_for_log(0, "OpenID Connect: the issuer answers");
    issuer.forget();
    let page = Browser::new().get(&start_url(&server));
    page.assert_refused(403, "FORBIDDEN");
    assert_eq!(issuer.asked("/.well-known/openid-configuration"), 0);
    let open = server.anonymous().get("/api/trpc/onboard.currentStep").data();
    assert_eq!(open["current"], "user");

    portico_tests::administrator(&server);
    signed_in(&server, "1");
    let open = server.anonymous().get("/api/trpc/onboard.currentStep").data();
    assert_eq!(open["current"], "finish");
    server.sign_in("root", PASSWORD);
}
