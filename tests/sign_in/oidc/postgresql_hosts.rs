//! Sign-ins at several hosts on one PostgreSQL.

use portico_tests::postgresql::Postgresql;
use portico_tests::{Portico, administrator};

use super::{
    browser::Browser,
    harness::{Issuer, settings, start_url, user},
};

/// The URL that a proxy in front of all hosts has.
const PUBLIC: &str = "http://127.0.0.1:7575";

/// The issuer, a database, and two hosts on it.
fn start() -> (Issuer, Postgresql, [Portico; 2]) {
    start_on(Postgresql::shared())
}

fn start_on(postgresql: Postgresql) -> (Issuer, Postgresql, [Portico; 2]) {
    let issuer = Issuer::start();
    let url = postgresql.create_database("home");
    let more = [
        ("PORTICO_DATABASE", url.as_str()),
        ("PORTICO_PUBLIC_URL", PUBLIC),
        ("PORTICO_SIGN_IN_THROTTLE", "on"),
    ];
    let hosts = [settings(&issuer, &more).start(), settings(&issuer, &more).start()];
    administrator(&hosts[0]);
    (issuer, postgresql, hosts)
}

/// The way back, to this host.
fn to(callback: &str, host: &Portico) -> String {
    assert!(callback.starts_with(PUBLIC), "{callback}");
    callback.replacen(PUBLIC, &format!("http://{}", host.address()), 1)
}

#[test]
#[ignore = "make test-all"]
fn a_sign_in_that_began_at_one_host_ends_once_at_another() {
    let (_issuer, postgresql, [one, two]) = start();
    for _ in 0..15 {
        let browser = Browser::new();
        let callback = browser.at_issuer(&format!("{}?returnTo=/boards", start_url(&one)), "1");
        let page = browser.get(&to(&callback, &two));
        page.assert_redirect("/boards");
        assert_eq!(browser.cookie("portico_oidc"), None);
        let token = browser.cookie("portico_session").expect("a session");
        assert_eq!(user(&one, &token)["name"], "ada");
        browser.set_cookie("portico_oidc", "made up");
    }
    let left = "SELECT count(*) FROM shared_record WHERE kind = 'sign-ins' AND ends_at > 0";
    assert_eq!(postgresql.run("home", left), "0");
}

#[test]
#[ignore = "make test-all"]
fn a_sign_in_is_of_one_browser_and_good_once_at_all_hosts() {
    let (_issuer, _postgresql, [one, two]) = start();
    let (browser, other) = (Browser::new(), Browser::new());
    let callback = browser.at_issuer(&start_url(&one), "1");
    other
        .get(&to(&callback, &two))
        .assert_refused(401, "UNAUTHORIZED");
    two.wait_for_log(0, "the state is unknown");
    // Another tab, which begins at the other host.
    let second = browser.at_issuer(&start_url(&two), "1");
    browser.get(&to(&callback, &two)).assert_redirect("/");
    // A callback that was used begins no session: it leads home who has one, and is refused to who has none.
    let session = browser.cookie("portico_session");
    browser.get(&to(&callback, &one)).assert_redirect("/");
    assert_eq!(browser.cookie("portico_session"), session);
    let without = Browser::new();
    without.set_cookie("portico_oidc", &browser.cookie("portico_oidc").expect("a cookie"));
    without
        .get(&to(&callback, &one))
        .assert_refused(401, "UNAUTHORIZED");
    browser.get(&to(&second, &one)).assert_redirect("/");
}

#[test]
#[ignore = "make test-all"]
fn the_database_holds_nothing_that_completes_a_sign_in() {
    let (_issuer, postgresql, [one, _]) = start();
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&one), "1");
    let secret = browser.cookie("portico_oidc").expect("a cookie");
    let state = super::browser::parameter(&callback, "state").expect("a state");
    let kept = postgresql.run(
        "home",
        "SELECT encode(key, 'escape'), convert_from(value, 'UTF8') FROM shared_record WHERE kind = 'sign-ins'",
    );
    assert!(kept.contains("returnTo"), "{kept}");
    for text in [&secret, &state] {
        assert!(!kept.contains(text.as_str()), "{kept}");
    }
}

#[test]
#[ignore = "make test-all"]
fn without_the_database_a_sign_in_neither_begins_nor_ends_and_then_it_does() {
    let (_issuer, postgresql, [one, two]) = start_on(Postgresql::start());
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&one), "1");
    postgresql.crash();
    assert_eq!(Browser::new().get(&start_url(&one)).status, 503);
    assert_eq!(browser.get(&to(&callback, &two)).status, 503);
    postgresql.start_again();
    browser.get(&to(&callback, &two)).assert_redirect("/");
}
