//! The audit log and the configuration.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

use super::{Browser, escaped};

const HOSTILE: &str = "<script>alert(1)</script>";

#[test]
fn the_audit_log_is_filtered_by_user_procedure_outcome_and_day() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user("bob");
    root.user("bobby");
    let bob = Browser::of(&server, "bob");
    bob.open("/users").assert_status(403);
    let browser = Browser::of(&server, "root");
    browser
        .open("/audit")
        .assert_shows(">Create a user</a>")
        .assert_shows(">bobby</a>")
        .assert_shows("<time datetime=\"")
        .assert_shows(">root</a>");
    browser
        .open("/audit?who=bob")
        .assert_shows("user.getPaginated")
        .assert_hides(">Create a user</a>");
    browser
        .open("/audit?who=bo")
        .assert_shows("Which one?")
        .assert_shows(">bobby</a>");
    browser
        .open("/audit?who=%3Cscript%3E")
        .assert_shows("No user is called &#60;script&#62;.");
    browser
        .open("/audit?outcome=FORBIDDEN")
        .assert_shows("not permitted</span>")
        .assert_hides(">Create a user</a>");
    browser
        .open("/audit?procedure=user.create")
        .assert_shows(">Create a user</a>");
    browser
        .open("/audit?until=2000-01-01")
        .assert_shows("No entry fits.");
    browser
        .open("/audit?from=soon")
        .assert_shows("A day must be written as");
}

#[test]
fn the_audit_log_names_keys_invites_and_the_readers_own_sessions() {
    let server = Portico::start();
    let root = administrator(&server);
    let key = json!({ "userId": root.user_id, "name": "Backup of the NAS" });
    root.mutate("apiKeys.create", &key).data();
    let invite = json!({ "expirationDate": "2100-01-01T00:00:00Z", "note": "Aunt Ada" });
    root.mutate("invite.createInvite", &invite).data();
    let browser = Browser::of(&server, "root");
    let page = browser.open("/audit");
    page.assert_shows("href=\"/keys\">Backup of the NAS</a>")
        .assert_shows("href=\"/invites\">Aunt Ada</a>");
}

#[test]
fn a_document_is_shown_as_a_difference_before_it_is_applied() {
    let server = Portico::start();
    let root = administrator(&server);
    root.app("old");
    let browser = Browser::of(&server, "root");
    let page = browser.open("/state");
    for (document, problem) in [
        ("", "Please paste a document or choose a file"),
        ("a: 1", "This is no document"),
        ("apps: [", "The document cannot be read"),
        (
            "{\"apps\": [{\"name\": \"\"}]}",
            "apps[0].name: must not be empty",
        ),
        ("apps: 1\napps: 2", "stands twice"),
    ] {
        let fields = [("section", "show"), ("document", document)];
        let page = browser.submit(&page, "/state", &fields);
        page.assert_status(422).assert_shows(problem);
    }
    let document = format!("apps:\n- name: \"{HOSTILE}\"\n");
    let fields = [("section", "show"), ("document", &*document), ("prune", "yes")];
    let page = browser.submit(&page, "/state", &fields);
    page.assert_status(200)
        .assert_shows("1 entry is created")
        .assert_shows("1 entry is removed")
        .assert_shows("Nothing has been changed yet.")
        .assert_hides("<script>alert");
    assert_eq!(root.app_names(), ["old"]);
    let fields = [("section", "edit"), ("document", &*document), ("prune", "yes")];
    browser
        .submit(&page, "/state", &fields)
        .assert_status(200)
        .assert_shows("name=\"prune\" value=\"yes\" checked")
        .assert_hides("<script>alert");
    let fields = [("section", "apply"), ("document", &*document), ("prune", "yes")];
    let page = browser.submit(&page, "/state", &fields);
    page.assert_shows("1 entry was created")
        .assert_shows("1 entry was removed");
    assert_eq!(root.app_names(), [HOSTILE]);
    let administrators = "groups: []\nusers: []";
    let fields = [
        ("section", "show"),
        ("document", administrators),
        ("prune", "yes"),
    ];
    let page = browser.open("/state");
    browser.submit(&page, "/state", &fields).assert_status(422);
}

#[test]
fn the_present_state_is_downloaded_and_applying_it_changes_nothing() {
    let server = Portico::start();
    let root = administrator(&server);
    root.app("nas");
    let browser = Browser::of(&server, "root");
    let download = browser.open("/state/export.json");
    assert_eq!(
        download.answer.header("content-disposition"),
        Some("attachment; filename=\"portico-state.json\"")
    );
    let state: Value = serde_json::from_str(&download.html).unwrap();
    assert_eq!(state["apps"][0]["name"], json!("nas"));
    let page = browser.open("/state");
    let fields = [
        ("section", "show"),
        ("document", &*download.html),
        ("prune", "yes"),
    ];
    browser
        .submit(&page, "/state", &fields)
        .assert_status(200)
        .assert_shows("Nothing to change");
}

#[test]
fn keys_of_a_document_that_nothing_reads_are_named() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/state");
    let document = "apps:\n- name: nas\n  hreff: https://nas.example\nbords: []\n<b>: 1\n";
    for (section, heading) in [("show", "1 entry is created"), ("apply", "1 entry was created")] {
        let fields = [("section", section), ("document", document)];
        browser
            .submit(&page, "/state", &fields)
            .assert_status(200)
            .assert_shows(heading)
            .assert_shows("probably misspelt")
            .assert_shows("apps[0].hreff")
            .assert_shows("bords")
            .assert_shows(&escaped("<b>"));
    }
    assert_eq!(root.app_names(), ["nas"]);
    let fields = [("section", "show"), ("document", "apps:\n- name: nas\n")];
    browser
        .submit(&page, "/state", &fields)
        .assert_status(200)
        .assert_hides("misspelt");
}
