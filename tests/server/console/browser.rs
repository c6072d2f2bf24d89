//! The console in Chromium (`tests/clients/console`): pages, keyboard, colours, accessibility, and a life without
//! JavaScript.

use std::process::Command;

use portico_tests::{Builder, Client, Fixtures, PASSWORD, Portico, Session, administrator, free_port, node};
use serde_json::{Value, json};

use crate::demo::Demo;

/// Nextcloud has an icon that cannot be had.
const APPS: [&str; 20] = [
    "Nextcloud",
    "Own cloud",
    "Grafana",
    "Jellyfin",
    "Home Assistant",
    "Immich",
    "Vaultwarden",
    "Paperless",
    "Gitea",
    "Uptime Kuma",
    "Pi-hole",
    "Portainer",
    "Navidrome",
    "Mealie",
    "Linkding",
    "Syncthing",
    "Kavita",
    "Zigbee2MQTT",
    "Node-RED",
    "Proxmox",
];

/// A disc of a colour of its own.
fn icon(number: usize) -> String {
    if number == 0 {
        return "/no-such-icon.svg".into();
    }
    let hue = number * 360 / APPS.len();
    format!(
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 40'%3E%3Ccircle cx='20' cy='20' r='18' \
         fill='hsl({hue} 60%25 50%25)'/%3E%3C/svg%3E"
    )
}

/// A service with two users, apps, boards and a search engine, and an administrator's session.
fn furnished() -> (Portico, Session) {
    furnished_with(Builder::default())
}

fn furnished_with(builder: Builder) -> (Portico, Session) {
    let server = builder.start();
    let root = administrator(&server);
    root.user("grace");
    let here = format!("http://{}/api/health/live", server.address());
    for (number, name) in APPS.iter().enumerate() {
        let app = json!({
            "name": name, "iconUrl": icon(number), "href": here, "description": "What it is for",
        });
        root.mutate("app.create", &app).data();
    }
    let apps: Vec<Value> = root
        .query("app.all", &Value::Null)
        .data()
        .as_array()
        .unwrap()
        .clone();
    let items = json!([
        { "kind": "app", "appId": apps[0]["id"] },
        { "kind": "bookmarks", "appIds": [apps[1]["id"], apps[2]["id"]] },
    ]);
    let mut placed = items.as_array().expect("a list").clone();
    placed.push(json!({ "kind": "note", "text": "The router is\nhttps://router.example/", "size": "1x1" }));
    placed.push(json!({ "kind": "clock", "timeZone": "Europe/Berlin" }));
    let sections = json!([{ "items": placed }]);
    let board = json!({ "name": "Kitchen", "isPublic": true, "slug": "kitchen", "sections": sections });
    root.mutate("board.create", &board).data();
    let engine = json!({
        "name": "Library", "short": "lib", "urlTemplate": "https://library.example/?q=%s", "iconUrl": "/no-such-icon.svg",
    });
    root.mutate("searchEngine.create", &engine).data();
    (server, root)
}

/// The same, where the first two apps are up and down, and the third may not be checked; the administrator wants to know.
fn watched() -> (Portico, Session) {
    let checking = Builder::default()
        .argument("--ping-allow=127.0.0.1")
        .argument("--ping-time-limit=60");
    let (server, root) = furnished_with(checking);
    let apps = root.query("app.all", &Value::Null).data();
    let up = format!("http://{}/api/health/live", server.address());
    let down = format!("http://127.0.0.1:{}/", free_port());
    for (app, ping_url) in apps
        .as_array()
        .unwrap()
        .iter()
        .zip([&*up, &down, "http://10.0.0.1/"])
    {
        let change = json!({ "id": app["id"], "pingUrl": ping_url });
        root.mutate("app.update", &change).assert_status(200);
    }
    let input = json!({ "id": root.user_id, "pingIconsEnabled": true });
    root.mutate("user.changePingIconsEnabled", &input)
        .assert_status(200);
    (server, root)
}

/// The pages of a furnished service.
fn pages(root: &Session) -> Value {
    let first = |procedure: &str| {
        let list = root.query(procedure, &Value::Null).data();
        list[0]["id"].as_str().expect("an id").to_owned()
    };
    let (app, board, engine) = (
        first("app.all"),
        first("board.getVisible"),
        first("searchEngine.getSelectable"),
    );
    let grace = root.query("user.search", &json!({ "query": "grace" })).data();
    let grace = grace[0]["id"].as_str().expect("an id").to_owned();
    let group = root.group("family", &["app-create"]);
    let invite = root.invite().id;
    let key = first("apiKeys.getAll");
    json!([
        "/",
        "/?all=1",
        "/?q=nothing",
        "/welcome",
        "/boards",
        format!("/boards/{board}"),
        "/status",
        "/profile",
        "/profile/password",
        "/profile/keys",
        "/profile/second-factor",
        "/profile/second-factor/new",
        "/profile/sessions",
        "/profile/delete",
        "/new-password?token=none",
        "/apps",
        "/apps/new",
        "/apps/many",
        "/apps/catalogue",
        "/apps/new?href=127.0.0.1:2283",
        format!("/apps/delete?id={app}"),
        format!("/apps/{app}/edit"),
        format!("/apps/{app}/gate"),
        format!("/apps/{app}/delete"),
        "/manage/boards",
        "/manage/boards/new",
        "/manage/looks",
        format!("/boards/{board}/edit"),
        format!("/manage/boards/{board}/share"),
        format!("/manage/boards/{board}/delete"),
        "/engines",
        "/engines/new",
        format!("/engines/{engine}/edit"),
        format!("/engines/{engine}/delete"),
        "/users",
        "/users/new",
        format!("/users/{grace}"),
        format!("/users/{grace}/delete"),
        "/invites",
        format!("/invites/{invite}/delete"),
        "/groups",
        "/groups/new",
        format!("/groups/{group}"),
        format!("/groups/{group}/delete"),
        "/keys",
        "/keys/new",
        format!("/keys/{key}/delete"),
        "/audit",
        "/manage/visibility",
        "/state",
    ])
}

/// Runs a file of tests in Node; what the tests of one file do stays inside the service of that file.
#[track_caller]
fn run(file: &str, server: &Portico, more: &[(&str, String)]) {
    let mut command = Command::new("node");
    command
        .args(["--test", "--test-reporter=spec", file])
        .current_dir(node::client("console"))
        .env("PORTICO_URL", format!("http://{}", server.address()))
        .env("PORTICO_PASSWORD", PASSWORD)
        .env("CHROMIUM", node::chromium())
        // Where to keep a picture of every page; docs/console.md shows some.
        .envs(std::env::var("PORTICO_SCREENSHOTS").map(|folder| ("SCREENSHOTS", folder)))
        .envs(more.iter().map(|(name, value)| (name, value)));
    println!("{}", node::succeed(&mut command));
}

#[test]
#[ignore = "make test-all"]
fn the_first_page_is_quick_to_use_with_keys_and_links() {
    let (server, _) = furnished();
    run("home.test.mjs", &server, &[]);
}

#[test]
#[ignore = "make test-all"]
fn the_search_box_finds_what_is_on_the_board_then_other_apps_then_the_web() {
    let (server, _) = furnished();
    run("search.test.mjs", &server, &[]);
}

#[test]
#[ignore = "make test-all"]
fn tiles_show_what_can_be_reached_and_the_search_opens_everywhere() {
    let (server, _) = watched();
    run("status.test.mjs", &server, &[]);
}

#[test]
#[ignore = "make test-all"]
fn a_second_factor_is_set_up_and_asked_for() {
    let (mut server, _) = furnished();
    run("second_factor.test.mjs", &server, &[]);
    // Where everyone must have one, grace sets it up when she signs in.
    server.stop().succeeded();
    server.start_again_with(&["--second-factor=everyone"]);
    run("required_factor.test.mjs", &server, &[]);
}

#[test]
#[ignore = "make test-all"]
fn a_passkey_is_added_asked_for_and_signs_in_alone() {
    // Browsers make passkeys without TLS only at localhost.
    let port = free_port();
    let url = format!("http://localhost:{port}");
    let builder = Builder::default()
        .listen(&format!("127.0.0.1:{port}"))
        .argument(format!("--public-url={url}"));
    let (server, _) = furnished_with(builder);
    run("passkeys.test.mjs", &server, &[("PORTICO_URL", url)]);
}

#[test]
#[ignore = "make test-all"]
fn around_a_change_nothing_is_lost_and_nothing_done_twice() {
    let (server, _) = furnished();
    run("forms.test.mjs", &server, &[]);
}

#[test]
#[ignore = "make test-all"]
fn looks_are_tried_saved_and_worn_at_once() {
    let (server, _) = furnished();
    run("looks.test.mjs", &server, &[]);
}

#[test]
#[ignore = "make test-all"]
fn a_board_is_arranged_by_mouse_keyboard_touch_and_without_javascript() {
    let (server, root) = furnished();
    let board = root.query("board.getVisible", &Value::Null).data()[0]["id"].clone();
    let board = board.as_str().expect("an id").to_owned();
    run("boards.test.mjs", &server, &[("PORTICO_BOARD", board)]);
}

#[test]
#[ignore = "make test-all"]
fn a_first_evening_goes_from_an_empty_service_to_the_audit_log() {
    run("evening.test.mjs", &Portico::start(), &[]);
}

#[test]
#[ignore = "make test-all"]
fn a_first_evening_is_guided_by_mouse_keyboard_touch_and_without_javascript() {
    let servers: Vec<Portico> = (0..4).map(|_| Portico::start()).collect();
    let urls: Vec<String> = servers
        .iter()
        .map(|server| format!("http://{}", server.address()))
        .collect();
    run(
        "first.test.mjs",
        &servers[0],
        &[("PORTICO_URLS", json!(urls).to_string())],
    );
}

/// `make pictures` takes the pictures of the docs with it.
#[test]
#[ignore = "make test-all"]
fn the_sample_household_is_shown_with_3_40_and_300_apps() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let demo = Demo::start(&folder);
    let empty = Portico::start();
    administrator(&empty);
    let fonts = node::client("console").join("fonts.conf");
    run(
        "pictures.test.mjs",
        &empty,
        &[
            ("PORTICO_URL", format!("http://{}", demo.address)),
            ("PORTICO_PASSWORD", demo.passwords["ada"].clone()),
            ("PORTICO_EMPTY", format!("http://{}", empty.address())),
            ("PORTICO_EMPTY_PASSWORD", PASSWORD.into()),
            ("FONTCONFIG_FILE", fonts.display().to_string()),
        ],
    );
    demo.stop();
}

#[test]
#[ignore = "make test-all"]
fn without_javascript_and_tls_people_sign_in_and_change_things() {
    // No collection of icons can be reached.
    let unused = format!("http://127.0.0.1:{}", free_port());
    let builder = Builder::default().environment("PORTICO_ICON_SOURCES", format!("{unused}|{unused}"));
    let (server, root) = furnished_with(builder);
    let pages = pages(&root);
    run("plain.test.mjs", &server, &[("PORTICO_PAGES", pages.to_string())]);
}

#[test]
#[ignore = "make test-all"]
fn every_page_is_accessible_in_light_and_dark_and_on_a_phone() {
    let (server, root) = furnished();
    let pages = pages(&root);
    run("pages.test.mjs", &server, &[("PORTICO_PAGES", pages.to_string())]);
}
