//! Forms of pages that were opened before the person signed in again in the same browser.

use portico_tests::{Client, Fixtures, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

use super::Browser;

const AGAIN: &str = "You have signed in again since this page was opened";

/// The token of a page's form, after which the person signs out and in again.
#[track_caller]
fn old_token(browser: &Browser, path: &str) -> String {
    let page = browser.open(path);
    browser.submit(&page, "/sign-out", &[]);
    let sign_in = browser.open("/sign-in");
    let account = [("username", "root"), ("password", PASSWORD)];
    assert_eq!(browser.submit(&sign_in, "/sign-in", &account).path, "/");
    page.token()
}

#[test]
fn an_old_form_is_shown_again_with_what_was_typed_and_can_be_sent_then() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let token = old_token(&browser, "/apps/new");
    let fields = [("name", "typed"), ("href", "https://typed.example")];
    let page = browser.send_own_form("/apps/new", &token, &fields);
    page.assert_status(422)
        .assert_shows(AGAIN)
        .assert_shows("value=\"typed\"")
        .assert_shows("value=\"https://typed.example\"");
    assert_eq!(root.app_names(), [""; 0]);
    let page = browser.submit(&page, "/apps/new", &fields);
    assert_eq!(page.path, "/apps?note=created");
    assert_eq!(root.app_names(), ["typed"]);

    let token = old_token(&browser, "/state");
    for section in ["show", "apply"] {
        let fields = [("section", section), ("document", "apps:\n- name: other\n")];
        browser
            .send_own_form("/state", &token, &fields)
            .assert_status(422)
            .assert_shows("- name: other");
    }
    assert_eq!(root.app_names(), ["typed"]);
}

#[test]
fn an_old_form_shows_no_password_again_and_changes_none() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let token = old_token(&browser, "/profile/password");
    let fields = [
        ("previousPassword", PASSWORD),
        ("password", "another password"),
        ("repeated", "another password"),
    ];
    browser
        .send_own_form("/profile/password", &token, &fields)
        .assert_status(422)
        .assert_shows(AGAIN)
        .assert_hides("another password")
        .assert_hides(PASSWORD);
    Browser::of(&server, "root");
}

#[test]
fn the_page_of_an_old_form_without_fields_is_opened_again() {
    let server = Portico::start();
    let root = administrator(&server);
    let app = root.app("nas");
    let browser = Browser::of(&server, "root");
    let path = format!("/apps/{app}/delete");
    let token = old_token(&browser, &path);
    let page = browser.send_own_form(&path, &token, &[]);
    assert_eq!(page.path, format!("{path}?note=form-old"));
    page.assert_shows("nothing was changed");
    assert_eq!(root.app_names(), ["nas"]);
    let page = browser.send_own_form("/sign-out", &token, &[]);
    assert_eq!(page.path, "/?note=form-old");
    let page = browser.open(&path);
    browser.submit(&page, &path, &[]);
    assert_eq!(root.app_names(), [""; 0]);
}

#[test]
fn an_old_form_that_may_be_of_another_site_is_refused() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let token = old_token(&browser, "/apps/new");
    let fields = [("name", "typed")];
    browser
        .send_form("/apps/new", &token, &fields)
        .assert_status(403)
        .assert_hides("value=\"typed\"");
    let page = browser.open("/boards");
    page.assert_status(200);
    // Without a session there is nothing to lose.
    browser.forget("portico_session");
    let page = browser.send_own_form(
        "/sign-in",
        &token,
        &[("username", "root"), ("password", PASSWORD)],
    );
    page.assert_status(403);
    assert_eq!(root.query("app.all", &Value::Null).data(), json!([]));
}
