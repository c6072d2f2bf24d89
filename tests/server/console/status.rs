//! Whether apps can be reached, as pages show it; and what the search finds besides apps.

use portico_tests::{Builder, Client, Portico, administrator, free_port, wait_until};
use serde_json::json;

use super::Browser;

/// A service with an app that is up, one that is down, and one that is not checked. Returns the id of the first.
fn with_apps(ping: &str) -> (Portico, String) {
    let server = Builder::default()
        .argument("--ping-allow=127.0.0.1")
        .argument("--ping-time-limit=60")
        .argument(ping)
        .start();
    let root = administrator(&server);
    let up = format!("http://{}/api/health/live", server.address());
    let down = format!("http://127.0.0.1:{}/", free_port());
    let app = |name: &str, ping_url: Option<&str>| {
        let app = json!({ "name": name, "iconUrl": "/icon.svg", "pingUrl": ping_url });
        let app = root.mutate("app.create", &app).data();
        app["id"].as_str().expect("an id").to_owned()
    };
    let id = app("Works", Some(&up));
    app("Broken", Some(&down));
    app("Plain", None);
    let items = json!([{ "kind": "app", "appId": id }]);
    let board = json!({ "name": "Kitchen", "isPublic": true, "items": items });
    root.mutate("board.create", &board).assert_status(200);
    (server, id)
}

fn show_marks(server: &Portico, browser: &Browser) {
    let root = server.sign_in("root", portico_tests::PASSWORD);
    let input = json!({ "id": root.user_id, "pingIconsEnabled": true });
    root.mutate("user.changePingIconsEnabled", &input)
        .assert_status(200);
    wait_until("the first check", || {
        let page = browser.open("/?all=1");
        page.html.contains("Up, ") && page.html.contains("Down since <time")
    });
}

#[test]
fn tiles_say_whether_their_apps_can_be_reached_to_those_who_want_to_know() {
    let (server, id) = with_apps("--ping=users");
    let browser = Browser::of(&server, "root");
    browser
        .open("/?all=1")
        .assert_hides("class=\"mark")
        .assert_hides("data-status-from");
    show_marks(&server, &browser);
    let page = browser.open("/?all=1");
    assert_eq!(page.html.matches("data-status-of").count(), 2, "{}", page.html);
    page.assert_shows("data-status-from=\"/status/tiles?q=&#38;page=1\"");
    // What a script asks for: the marks alone.
    let marks = browser.open("/status/tiles?q=&page=1");
    assert_eq!(marks.html.matches("data-status-of").count(), 2, "{}", marks.html);
    marks.assert_hides("<body");
    let board = browser.open("/boards");
    let board = board
        .html
        .split("/boards/")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let board = board.expect("a board").to_owned();
    browser
        .open(&format!("/boards/{board}"))
        .assert_shows(&format!("data-status-of=\"{id}\""))
        .assert_shows(&format!("data-status-from=\"/status/tiles?board={board}\""));
    let marks = browser.open(&format!("/status/tiles?board={board}"));
    assert_eq!(marks.html.matches("data-status-of").count(), 1, "{}", marks.html);
    // People who are not signed in are not told.
    let stranger = Browser::new(&server);
    stranger
        .open(&format!("/boards/{board}"))
        .assert_shows("Works")
        .assert_hides("class=\"mark");
    assert_eq!(stranger.open(&format!("/status/tiles?board={board}")).html, "");
    // The page of all: what is down comes first.
    let page = browser.open("/status");
    let place = |name: &str| {
        page.html
            .find(name)
            .unwrap_or_else(|| panic!("{name}: {}", page.html))
    };
    assert!(place("Broken") < place("Works"), "{}", page.html);
    page.assert_shows("No connection could be made.")
        .assert_hides("Plain");
    stranger
        .open("/status")
        .assert_status(200)
        .assert_shows("at most once a minute")
        .assert_hides("Works");
}

#[test]
fn where_the_operator_says_so_public_boards_show_it_to_everyone_or_nobody_is_told() {
    let (server, _) = with_apps("--ping=everyone");
    let stranger = Browser::new(&server);
    let board = stranger.open("/boards");
    let board = board
        .html
        .split("/boards/")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let board = format!("/boards/{}", board.expect("a board"));
    wait_until("the first check", || stranger.open(&board).html.contains("Up, "));

    let (server, _) = with_apps("--ping=off");
    let browser = Browser::of(&server, "root");
    let root = server.sign_in("root", portico_tests::PASSWORD);
    let input = json!({ "id": root.user_id, "pingIconsEnabled": true });
    root.mutate("user.changePingIconsEnabled", &input)
        .assert_status(200);
    browser
        .open("/?all=1")
        .assert_shows("Works")
        .assert_hides("class=\"mark");
    browser.open("/status").assert_shows("--ping off");
}

#[test]
fn the_search_finds_boards_and_pages_without_a_script() {
    let (server, _) = with_apps("--ping=off");
    let browser = Browser::of(&server, "root");
    assert_eq!(browser.open("/search").path, "/?all=1");
    let page = browser.open("/search?q=kitch");
    assert_eq!(page.path, "/?q=kitch");
    page.assert_shows("No app fits.")
        .assert_shows("Boards and pages")
        .assert_shows("Kitchen");
    let page = browser.open("/search?q=audit");
    assert_eq!(page.path, "/?q=audit");
    page.assert_shows("href=\"/audit\"");
    browser
        .open("/destinations")
        .assert_shows("href=\"/users\"")
        .assert_shows("href=\"/manage/visibility\"")
        .assert_shows("Kitchen");
    let root = server.sign_in("root", portico_tests::PASSWORD);
    portico_tests::Fixtures::search_engine(&root, "Library", "lib");
    let page = browser.open("/?q=librar");
    page.assert_shows("data-engine").assert_shows("<kbd>lib</kbd>");
    // Others find what they may open.
    let root = server.sign_in("root", portico_tests::PASSWORD);
    portico_tests::Fixtures::user(&root, "grace");
    let grace = Browser::of(&server, "grace");
    grace
        .open("/destinations")
        .assert_shows("href=\"/profile\"")
        .assert_hides("href=\"/users\"");
    assert_eq!(
        Browser::new(&server).open("/destinations").path.split('?').next(),
        Some("/sign-in")
    );
}

#[test]
fn the_site_can_be_installed() {
    let server = Portico::start();
    let browser = Browser::of_administrator(&server);
    browser.open("/").assert_shows("href=\"/manifest.webmanifest\"");
    let manifest = browser.send("GET", "/manifest.webmanifest", &[], None);
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    let manifest = manifest.json();
    let icons = manifest["icons"].as_array().expect("icons");
    for (sizes, purpose) in [("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")] {
        let fits = |icon: &&serde_json::Value| icon["sizes"] == sizes && icon["purpose"] == purpose;
        let icon = icons.iter().find(fits).expect("an icon of this size");
        let path = icon["src"].as_str().expect("a path");
        let picture = browser.send("GET", path, &[], None);
        assert_eq!(picture.header("content-type"), Some("image/png"));
        let side = &picture.body[16..20];
        let side = u32::from_be_bytes(side.try_into().expect("four bytes"));
        assert_eq!(format!("{side}x{side}"), sizes);
    }
}

#[test]
fn a_public_board_can_be_the_first_page_of_people_who_are_not_signed_in() {
    let mut server = Portico::start();
    let root = administrator(&server);
    let make = |name: &str, is_public: bool| {
        let board = json!({ "name": name, "isPublic": is_public, "items": [] });
        let board = root.mutate("board.create", &board).data();
        board["id"].as_str().expect("an id").to_owned()
    };
    let (open, closed) = (make("Kitchen", true), make("Study", false));
    assert_eq!(Browser::new(&server).open("/").path, "/sign-in");
    server.stop().succeeded();
    server.start_again_with(&[&format!("--start-board={open}")]);
    let page = Browser::new(&server).open("/");
    assert_eq!(page.path, "/");
    page.assert_status(200)
        .assert_shows("Kitchen")
        .assert_shows("href=\"/sign-in\"");
    Browser::of(&server, "root")
        .open("/")
        .assert_hides("href=\"/sign-in\"");
    for gone in [&*closed, "no-such-board"] {
        server.stop().succeeded();
        server.start_again_with(&[&format!("--start-board={gone}")]);
        assert_eq!(Browser::new(&server).open("/").path, "/sign-in", "{gone}");
    }
}

#[test]
fn administrators_choose_the_start_board_and_what_is_checked_and_settings_of_the_host_override_both() {
    let mut server = Portico::start();
    let root = administrator(&server);
    portico_tests::Fixtures::user(&root, "grace");
    let [open, other] = ["Kitchen", "Garage"].map(|name| {
        let board = json!({ "name": name, "isPublic": true, "items": [] });
        let board = root.mutate("board.create", &board).data();
        board["id"].as_str().expect("an id").to_owned()
    });
    let browser = Browser::of(&server, "root");
    let page = browser.open("/manage/looks");
    let fields = [
        ("density", "comfortable"),
        ("wideScreens", "yes"),
        ("startBoard", &*open),
    ];
    let saved = browser.submit(&page, "/manage/looks", &fields);
    assert_eq!(saved.path, "/manage/looks?note=saved", "{}", saved.html);
    let page = Browser::new(&server).open("/");
    page.assert_shows("Kitchen").assert_shows("href=\"/sign-in\"");
    assert_eq!(page.path, "/");

    let page = browser.open("/status");
    let refused = browser.submit(&page, "/status", &[("pingAllow", "*.lan\n127.0.0.1")]);
    refused
        .assert_status(422)
        .assert_shows("127.0.0.1: must be in a private network")
        .assert_shows("*.lan\n127.0.0.1</textarea>");
    let saved = browser.submit(&refused, "/status", &[("pingAllow", "*.LAN,\r\n192.168.0.0/16")]);
    assert_eq!(saved.path, "/status?note=saved", "{}", saved.html);
    saved.assert_shows("*.lan\n192.168.0.0/16</textarea>");
    // Another administrator has changed it since the page was opened.
    let root = server.sign_in("root", portico_tests::PASSWORD);
    root.mutate("site.update", &json!({"pingAllow": []}))
        .assert_status(200);
    let read = saved.html.split_once("name=\"was-pingAllow\" value=\"");
    let read = read.and_then(|(_, rest)| rest.split('"').next());
    let fields = [
        ("pingAllow", "nas.lan"),
        ("was-pingAllow", read.expect("what was read")),
    ];
    browser
        .submit(&saved, "/status", &fields)
        .assert_status(422)
        .assert_shows("id=\"pingAllow-problem\"");
    let grace = Browser::of(&server, "grace");
    let page = grace.open("/status");
    page.assert_status(200).assert_hides("pingAllow");
    grace
        .send_form("/status", &page.token(), &[("pingAllow", "*.lan")])
        .assert_status(403);

    server.stop().succeeded();
    server.start_again_with(&[&format!("--start-board={other}"), "--ping-allow=10.0.0.0/8"]);
    Browser::new(&server).open("/").assert_shows("Garage");
    let browser = Browser::of(&server, "root");
    browser
        .open("/manage/looks")
        .assert_shows("The setting --start-board of this host decides it.");
    browser
        .open("/status")
        .assert_shows("(--ping and --ping-allow) decide it")
        .assert_shows("<code>10.0.0.0/8</code>");
}
