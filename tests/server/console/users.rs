//! Users, invites, groups and API keys, as administrators manage them.

use portico_tests::{Builder, Client, Fixtures, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

use super::{Browser, escaped, page::Page};

const HOSTILE: &str = "\"><script>alert('1')</script>";

#[test]
fn a_user_is_created_changed_disabled_and_deleted_without_javascript() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/users/new");
    let wrong = [("username", HOSTILE), ("password", "short"), ("email", "nowhere")];
    let page = browser.submit(&page, "/users/new", &wrong);
    page.assert_status(422)
        .assert_shows(&format!("value=\"{}\"", escaped(HOSTILE)))
        .assert_hides("value=\"short\"")
        .assert_hides("<script>alert");
    assert_eq!(
        page.problem("password").as_deref(),
        Some("must have at least 8 characters, got 5")
    );
    assert_eq!(
        page.problem("email").as_deref(),
        Some("must be an email address such as name@example.com")
    );
    let fields = [("username", HOSTILE), ("password", PASSWORD), ("email", "")];
    let page = browser.submit(&page, "/users/new", &fields);
    assert_eq!(page.path, "/users?note=created");
    page.assert_shows(&escaped(HOSTILE)).assert_hides("<script>alert");
    browser.open("/users?q=root").assert_hides(&escaped(HOSTILE));

    let id = root.query("user.search", &json!({ "query": "script" })).data()[0]["id"].clone();
    let path = format!("/users/{}", id.as_str().unwrap());
    let page = browser.open(&path);
    page.assert_status(200)
        .assert_shows(&escaped(HOSTILE))
        .assert_hides("<script>alert");
    let page = browser.submit(
        &page,
        &path,
        &[("section", "person"), ("name", "x"), ("email", "")],
    );
    page.assert_status(422).assert_shows("value=\"x\"");
    let person = [
        ("section", "person"),
        ("name", "bob"),
        ("email", "bob@example.com"),
    ];
    let page = browser.submit(&page, &path, &person);
    page.assert_status(200)
        .assert_shows("Saved.")
        .assert_shows("value=\"bob\"");
    let page = browser.submit(&page, &path, &[("section", "disabled"), ("disabled", "yes")]);
    page.assert_shows("tag bad").assert_shows("Enable");
    browser
        .open("/users?disabled=yes")
        .assert_shows(">bob</a>")
        .assert_hides(">root</a>");
    let page = browser.submit(&page, &path, &[("section", "disabled"), ("disabled", "no")]);
    page.assert_hides("tag bad");
    let page = browser.submit(
        &page,
        &path,
        &[("section", "password"), ("password", "another one")],
    );
    page.assert_shows("Saved.");

    let page = browser.open(&format!("{path}/delete"));
    page.assert_shows("What goes with the user");
    let page = browser.submit(&page, &format!("{path}/delete"), &[]);
    assert_eq!(page.path, "/users?note=deleted");
    browser.open(&path).assert_status(404);
}

#[test]
fn what_is_wrong_with_the_groups_of_a_user_or_an_invite_has_their_label() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let many = [("groupIds", "none"); 1001];
    for (path, fields) in [
        ("/users/new", [("username", "ada"), ("password", PASSWORD)]),
        ("/invites", [("expires", "day"), ("until", "2999-01-01")]),
    ] {
        let page = browser.open(path);
        let refused = browser.submit(&page, path, &[&fields[..], &many[..]].concat());
        refused
            .assert_status(422)
            .assert_shows("<li>Groups: must have")
            .assert_hides("groupIds:");
    }
}

#[test]
fn administrators_are_not_offered_to_disable_or_delete_themselves() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let own = root.query("user.search", &json!({ "query": "root" })).data()[0]["id"].clone();
    let path = format!("/users/{}", own.as_str().unwrap());
    let page = browser.open(&path);
    page.assert_shows("This is you.")
        .assert_hides("value=\"disabled\"")
        .assert_hides(&format!("{path}/delete"));
    assert_eq!(browser.open(&format!("{path}/delete")).path, "/profile/delete");
    let page = browser.submit(&page, &path, &[("section", "disabled"), ("disabled", "yes")]);
    page.assert_status(422)
        .assert_shows("The last administrator cannot be disabled");
}

#[test]
fn a_group_gives_permissions_to_members_found_by_search() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/groups/new");
    let page = browser.submit(&page, "/groups/new", &[("name", "")]);
    page.assert_status(422);
    assert_eq!(
        page.problem("name").as_deref(),
        Some("must have 1 to 64 characters, got 0")
    );
    let page = browser.submit(&page, "/groups/new", &[("name", HOSTILE)]);
    page.assert_status(200)
        .assert_shows("Created.")
        .assert_shows(&escaped(HOSTILE))
        .assert_hides("<script>alert");
    let path = page.path.split('?').next().unwrap().to_owned();
    let permissions = [
        ("section", "permissions"),
        ("permissions", "app-create"),
        ("permissions", "board-view-all"),
    ];
    let page = browser.submit(&page, &path, &permissions);
    page.assert_shows("Saved.")
        .assert_shows("value=\"app-create\" checked");
    let own = root.query("user.search", &json!({ "query": "root" })).data()[0]["id"].clone();
    let page = browser.open(&format!("{path}?q=ROO"));
    page.assert_shows("Add root");
    let add = [
        ("section", "add"),
        ("userId", own.as_str().unwrap()),
        ("q", "roo"),
    ];
    let page = browser.submit(&page, &path, &add);
    page.assert_shows("Remove root").assert_shows("1 member");
    browser
        .open("/groups")
        .assert_shows("Create apps")
        .assert_shows("1 member");
    let page = browser.submit(&page, &path, &[("section", "name"), ("name", "family")]);
    page.assert_shows("<h1 class=\"broken\">family</h1>");
    let page = browser.open(&format!("{path}/delete"));
    page.assert_shows("Its 1 member loses what the group permitted.");
    let page = browser.submit(&page, &format!("{path}/delete"), &[]);
    assert_eq!(page.path, "/groups?note=deleted");
    browser.open(&path).assert_status(404);
    let groups = root.query("group.getAll", &Value::Null).data();
    let admins = groups.as_array().unwrap()[0]["id"].as_str().unwrap();
    let path = format!("/groups/{admins}");
    let page = browser.open(&path);
    browser
        .submit(&page, &path, &[("section", "permissions")])
        .assert_status(422)
        .assert_shows("This would take admin from the last administrator");
}

#[test]
fn two_tabs_that_choose_home_boards_keep_each_others_choice() {
    let server = Portico::start();
    let root = administrator(&server);
    let group = root.group("family", &[]);
    let [kitchen, garden, attic] = ["kitchen", "garden", "attic"].map(|name| root.board(name, true));
    let browser = Browser::of(&server, "root");
    for path in ["/manage/visibility".to_owned(), format!("/groups/{group}")] {
        let choose = |page: &Page, home: &str, mobile: &str| {
            let read = |field: &str| {
                let (_, rest) = page.html.split_once(&format!("name=\"was-{field}\" value=\""))?;
                rest.split('"').next()
            };
            let fields = [
                ("section", "home"),
                ("was-homeBoardId", read("homeBoardId").expect("what was read")),
                (
                    "was-mobileHomeBoardId",
                    read("mobileHomeBoardId").expect("what was read"),
                ),
                ("homeBoardId", home),
                ("mobileHomeBoardId", mobile),
            ];
            browser.submit(page, &path, &fields)
        };
        let chosen = |page: &Page, board: &str| page.html.contains(&format!("value=\"{board}\" selected"));
        let stale = browser.open(&path);
        choose(&stale, &kitchen, "").assert_shows("Saved.");
        let page = choose(&stale, "", &attic);
        page.assert_shows("Saved.");
        assert!(chosen(&page, &kitchen) && chosen(&page, &attic), "{}", page.html);
        // What both changed is said by its name; what was not edited is shown as it is stored.
        let both = choose(&stale, &garden, "");
        both.assert_status(422)
            .assert_shows("On large screens: This was changed meanwhile, to: kitchen.");
        assert!(chosen(&both, &garden) && chosen(&both, &attic), "{}", both.html);
        let page = choose(&both, &garden, &attic);
        page.assert_shows("Saved.");
        assert!(chosen(&page, &garden) && chosen(&page, &attic), "{}", page.html);
    }
}

#[test]
fn the_link_of_an_invite_is_shown_once_and_registers_a_user() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/invites");
    for day in ["soon", "2020-01-01"] {
        let page = browser.submit(&page, "/invites", &[("until", day)]);
        page.assert_status(422);
        assert!(page.problem("until").is_some(), "{day}");
    }
    let page = browser.submit(&page, "/invites", &[("lasts", "week"), ("until", "")]);
    page.assert_status(200).assert_shows("The invite is ready");
    let (_, rest) = page.html.split_once("value=\"http://").expect("a link");
    let link = rest.split('"').next().unwrap().replace("&#38;", "&");
    let path = &link[link.find('/').unwrap()..];
    browser
        .open("/invites")
        .assert_hides("token=")
        .assert_shows("1 open invite");

    let guest = Browser::new(&server);
    let page = guest.open(path);
    let (_, query) = path.split_once('?').unwrap();
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| *key == name).unwrap().1;
        found.replace("%2D", "-").replace("%5F", "_")
    };
    let (invite, token) = (value("invite"), value("token"));
    let fields = [
        ("username", "guest"),
        ("password", PASSWORD),
        ("email", "guest@example.com"),
        ("invite", &invite),
        ("token", &token),
    ];
    assert_eq!(guest.submit(&page, "/register", &fields).path, "/");
    guest.open("/profile").assert_shows("value=\"guest\"");

    let page = browser.open("/invites");
    let page = browser.submit(&page, "/invites", &[("lasts", "day")]);
    let (_, rest) = page
        .html
        .split_once("href=\"/invites/")
        .expect("a link to delete");
    let path = format!("/invites/{}", rest.split('"').next().unwrap());
    let page = browser.open(&path);
    assert_eq!(browser.submit(&page, &path, &[]).path, "/invites?note=deleted");
    browser.open(&path).assert_status(404);
}

#[test]
fn lists_keep_their_place_while_a_record_is_made_or_deleted() {
    let server = Portico::start();
    let root = administrator(&server);
    let ada = root.user("ada").id;
    let crew = root.group("crew", &[]);
    let invite = root.invite().id;
    let browser = Browser::of(&server, "root");
    let fields = [
        ("username", "grace"),
        ("password", PASSWORD),
        ("email", ""),
        ("list", "/users?q=gr&disabled=no&page=2"),
    ];
    let page = browser.submit(&browser.open("/users/new"), "/users/new", &fields);
    assert_eq!(page.path, "/users?q=gr&disabled=no&page=2&note=created");
    for (list, record) in [
        ("/users?q=a&page=3", format!("/users/{ada}/delete")),
        ("/groups?page=2", format!("/groups/{crew}/delete")),
        ("/invites?page=4", format!("/invites/{invite}/delete")),
    ] {
        let page = browser.open(&format!(
            "{record}?list={}",
            list.replace('?', "%3F").replace('&', "%26")
        ));
        // Another list, or another site, is none.
        let page = browser.submit(&page, &record, &[("list", list)]);
        assert_eq!(page.path, format!("{list}&note=deleted"));
    }
    let zoe = root.user("zoe").id;
    let path = format!("/users/{zoe}/delete");
    let page = browser.open(&format!("{path}?list=%2Fusers%3Fq%3Dz"));
    page.assert_shows("name=\"list\" value=\"/users?q=z\"");
    let page = browser.submit(&page, &path, &[("list", "//evil.example/users?q=z")]);
    assert_eq!(page.path, "/users?note=deleted");
}

#[test]
fn a_link_for_a_new_password_is_shown_once_and_used_once() {
    let server = Portico::start();
    let root = administrator(&server);
    let ada = root.user("ada").id;
    let browser = Browser::of(&server, "root");
    let user = format!("/users/{ada}");
    let page = browser.open(&user);
    let page = browser.submit(&page, &user, &[("section", "link")]);
    page.assert_status(200).assert_shows("The link is ready");
    let (_, rest) = page.html.split_once("value=\"http://").expect("a link");
    let link = rest.split('"').next().unwrap();
    let path = &link[link.find('/').unwrap()..];
    let (_, token) = path
        .split_once("/new-password?token=")
        .expect("the page of the link");
    browser.open(&user).assert_hides("new-password?token=");

    let ada = Browser::new(&server);
    ada.open("/new-password")
        .assert_status(400)
        .assert_shows("This link is incomplete")
        .assert_hides("name=\"password\"");
    // A preview of the link uses nothing up.
    ada.open(path);
    let page = ada.open(path);
    page.assert_status(200).assert_shows(token);
    assert_eq!(page.answer.header("referrer-policy"), Some("strict-origin"));
    assert_eq!(page.answer.header("cache-control"), Some("no-store"));
    let send = |password: &str, repeated: &str| {
        let fields = [("token", token), ("password", password), ("repeated", repeated)];
        ada.submit(&page, "/new-password", &fields)
    };
    let refused = send("a new password", "another");
    refused.assert_status(422);
    assert!(refused.problem("repeated").is_some());
    let refused = send("short", "short");
    refused.assert_status(422).assert_hides("value=\"short\"");
    assert!(refused.problem("password").is_some());
    let done = send("a new password", "a new password");
    assert_eq!(done.path, "/sign-in?note=password-set");
    let fields = [("username", "ada"), ("password", "a new password")];
    assert_eq!(ada.submit(&done, "/sign-in", &fields).path, "/");
    let again = Browser::new(&server);
    let page = again.open(path);
    let fields = [
        ("token", token),
        ("password", "a third one"),
        ("repeated", "a third one"),
    ];
    again
        .submit(&page, "/new-password", &fields)
        .assert_status(422)
        .assert_shows("This link cannot be used");
    // Administrators have no such button for themselves.
    browser
        .open(&format!("/users/{}", root.user_id))
        .assert_hides("value=\"link\"");
}

#[test]
fn a_key_of_another_user_is_shown_once_and_deleted() {
    let server = Portico::start();
    let root = administrator(&server);
    let bob = root.user("bob").id;
    let browser = Browser::of(&server, "root");
    browser
        .open("/keys/new?q=bo")
        .assert_shows(&format!("/keys/new?user={bob}"));
    let page = browser.open(&format!("/keys/new?user={bob}"));
    page.assert_shows("For <bdi>bob</bdi>");
    let fields = [("user", &*bob), ("name", HOSTILE), ("lasts", "never")];
    let page = browser.submit(&page, "/keys/new", &fields);
    page.assert_status(200)
        .assert_shows("The key is ready")
        .assert_shows("id=\"api-key\"");
    let list = browser.open("/keys");
    list.assert_shows(&escaped(HOSTILE))
        .assert_shows(">bob<")
        .assert_hides("id=\"api-key\"")
        .assert_hides("<script>alert");
    let (_, rest) = list
        .html
        .split_once(&format!("href=\"/users/{bob}"))
        .expect("its user");
    let (_, rest) = rest.split_once("href=\"/keys/").expect("a link to delete");
    let path = format!("/keys/{}", rest.split('"').next().unwrap());
    let page = browser.open(&path);
    page.assert_shows(&escaped(HOSTILE)).assert_shows("bob");
    assert_eq!(browser.submit(&page, &path, &[]).path, "/keys?note=deleted");
    browser.open("/keys").assert_hides(&escaped(HOSTILE));
}

#[test]
fn pages_of_administrators_are_refused_to_others_and_ask_visitors_to_sign_in() {
    let server = Portico::start();
    let root = administrator(&server);
    let bob = root.user("bob").id;
    let browser = Browser::of(&server, "bob");
    let user = format!("/users/{bob}");
    for path in [
        "/users",
        "/users/new",
        &user,
        "/invites",
        "/groups",
        "/groups/new",
        "/keys",
        "/keys/new",
        "/audit",
        "/state",
        "/state/export.json",
    ] {
        browser.open(path).assert_status(403);
        let visitor = Browser::new(&server).open(path);
        assert!(visitor.path.starts_with("/sign-in"), "{path}: {}", visitor.path);
    }
    browser
        .open("/profile")
        .assert_status(200)
        .assert_hides("href=\"/users\"");
}

#[test]
fn the_link_of_an_invite_begins_with_the_public_url() {
    let server = Builder::default()
        .argument("--public-url")
        .argument("http://portico.example:8080")
        .start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/invites");
    let page = browser.submit(&page, "/invites", &[("lasts", "week"), ("until", "")]);
    page.assert_shows("value=\"http://portico.example:8080/register?invite=");
}
