//! The audit log and the configuration.

use portico_tests::{Builder, Client, Fixtures, PASSWORD, Portico, administrator};
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
fn the_audit_log_names_what_a_procedure_of_another_name_changed() {
    let server = Portico::start();
    let root = administrator(&server);
    let bob = root.user("bob").id;
    let (app, group) = (root.app("wiki"), root.group("family", &[]));
    let board = root.board("kitchen", false);
    let browser = Browser::of(&server, "root");
    for (procedure, input, link) in [
        (
            "gate.update",
            json!({ "id": app, "addresses": [], "isOpen": true }),
            format!("href=\"/apps/{app}/edit\">wiki</a>"),
        ),
        (
            "secondFactor.deleteOfUser",
            json!({ "userId": bob }),
            format!("href=\"/users/{bob}\">bob</a>"),
        ),
        (
            "extras.saveOfUser",
            json!({ "id": bob, "extras": null }),
            format!("href=\"/users/{bob}\">bob</a>"),
        ),
        (
            "extras.saveOfBoard",
            json!({ "id": board, "extras": null }),
            format!("href=\"/boards/{board}\">kitchen</a>"),
        ),
        (
            "board.setDefaultHome",
            json!({ "groupId": group, "homeBoardId": board, "mobileHomeBoardId": null }),
            format!("href=\"/groups/{group}\">family</a>"),
        ),
    ] {
        root.mutate(procedure, &input).assert_status(200);
        browser
            .open(&format!("/audit?procedure={procedure}"))
            .assert_shows(&link)
            .assert_hides("<code");
    }
}

#[test]
fn the_audit_log_says_which_session_was_ended_by_its_browser_and_address() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user("bob");
    let bob = server.sign_in("bob", PASSWORD);
    let other = server.sign_in("bob", PASSWORD);
    let sessions = bob.query("session.getAll", &Value::Null).data();
    let sessions = sessions.as_array().expect("a list");
    let first = sessions.iter().find(|session| session["current"] == false);
    let id = first.expect("another session")["id"].clone();
    bob.mutate("session.delete", &json!({ "id": id }))
        .assert_status(200);
    drop(other);
    let page = Browser::of(&server, "root").open("/audit?procedure=session.delete");
    page.assert_shows(">End a session</a>")
        .assert_shows(">bob</a>")
        .assert_shows(", 127.0.0.1</span>")
        .assert_hides(id.as_str().expect("an id"));
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
        (
            "a: 1",
            "This is not a document: it must have one or more of the keys groups, users",
        ),
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

#[test]
fn who_sees_what_is_chosen_at_the_first_start_or_later_and_shown_with_apps_and_users() {
    let server = Portico::start();
    let browser = Browser::new(&server);
    let page = browser.open("/start");
    page.assert_shows("Who sees which app?");
    let fields = [
        ("username", "root"),
        ("password", PASSWORD),
        ("email", ""),
        ("appVisibility", "boards"),
    ];
    assert_eq!(browser.submit(&page, "/start", &fields).path, "/welcome");
    let root = server.sign_in("root", PASSWORD);
    assert_eq!(
        root.query("site.get", &Value::Null).data()["appVisibility"],
        "boards"
    );
    let app = root.app("Jellyfin");
    let board = root.board_of("Kitchen", false, &json!([{ "kind": "app", "appId": app }]));
    let grace = root.user("grace");
    let of_app = format!("/apps/{app}/edit");
    let of_user = format!("/users/{}", grace.id);
    let share = format!("/manage/boards/{board}/share");
    browser
        .open(&of_app)
        .assert_shows("Those who see these boards")
        .assert_shows(&share);
    browser.open(&of_user).assert_shows("No app: none is on a board");
    let input = json!({ "boardId": board, "users": [grace.id], "groups": [] });
    root.mutate("board.share", &input).assert_status(200);
    browser.open(&of_app).assert_shows(&of_user);
    browser
        .open(&of_user)
        .assert_shows("1 app, through boards:")
        .assert_shows("shared with the user");
    let page = browser.open("/manage/visibility");
    let page = browser.submit(&page, "/manage/visibility", &[("appVisibility", "everyone")]);
    assert_eq!(page.path, "/manage/visibility?note=saved");
    browser.open(&of_app).assert_shows("Everyone who signs in.");
    browser
        .open(&of_user)
        .assert_shows("The only app, as everyone does.");
    let page = browser.submit(&page, "/manage/visibility", &[("appVisibility", "x")]);
    page.assert_status(422);
    // What people see first: of everyone, and before it of a group.
    let grafana = root.app("Grafana");
    let second = root.board_of("Second", true, &json!([{ "kind": "app", "appId": grafana }]));
    let family = root.group("family", &[]);
    let input = json!({ "groupId": family, "userId": grace.id });
    root.mutate("group.addMember", &input).assert_status(200);
    let reader = Browser::of(&server, "grace");
    let of_group = format!("/groups/{family}");
    for (path, chosen, shown, other) in [
        ("/manage/visibility", &second, "Grafana", "Jellyfin"),
        (&of_group[..], &board, "Jellyfin", "Grafana"),
    ] {
        let page = browser.open(path);
        let sent = [
            ("section", "home"),
            ("homeBoardId", &chosen[..]),
            ("mobileHomeBoardId", ""),
        ];
        browser.submit(&page, path, &sent).assert_status(200);
        reader.open("/").assert_shows(shown).assert_hides(other);
    }
    Browser::new(&server)
        .open("/")
        .assert_shows("Grafana")
        .assert_shows("/sign-in");
    let page = browser.open(&of_group);
    let sent = [
        ("section", "home"),
        ("homeBoardId", "gone"),
        ("mobileHomeBoardId", ""),
    ];
    browser.submit(&page, &of_group, &sent).assert_status(422);
    // A person who changes apps and is not an administrator does not see with whom boards are shared.
    root.user_with("editor", "app-modify-all");
    let editor = Browser::of(&server, "editor");
    editor.open(&of_app).assert_status(200).assert_hides("Seen by");
    editor.open("/manage/visibility").assert_status(403);
}

#[test]
fn what_the_host_has_fixed_is_shown_and_not_asked() {
    let server = Builder::default().argument("--app-visibility=boards").start();
    Browser::new(&server)
        .open("/start")
        .assert_hides("Who sees which app?");
    let browser = Browser::of_administrator(&server);
    browser
        .open("/manage/visibility")
        .assert_shows("The setting --app-visibility of this host says that people see only");
}
