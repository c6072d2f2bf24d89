//! Search engines.

use portico_tests::{Builder, Client, Fixtures, Portico, administrator, wait_until};
use serde_json::{Value, json};

use super::{Browser, escaped};
use crate::icon_sources::index_server::{Reply, Server};

#[test]
fn a_search_engine_is_created_changed_and_deleted() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    browser.open("/engines").assert_shows("No search engines yet");
    let page = browser.open("/engines/new");
    let fields = [
        ("name", "Library"),
        ("short", "lib"),
        ("urlTemplate", "https://library.example/?q=%s"),
        ("iconUrl", "/l.svg"),
        ("description", "Books\r\nand <b>papers</b>"),
    ];
    let page = browser.submit(&page, "/engines/new", &fields);
    assert_eq!(page.path, "/engines?note=created");
    page.assert_shows("Library")
        .assert_shows("<kbd>lib</kbd>")
        .assert_shows("and &#60;b&#62;papers&#60;/b&#62;");
    let engines = || root.query("searchEngine.getAll", &Value::Null).data();
    assert_eq!(engines()[0]["description"], "Books\nand <b>papers</b>");
    let path = format!("/engines/{}", engines()[0]["id"].as_str().unwrap());
    let page = browser.open(&format!("{path}/edit"));
    page.assert_shows("value=\"https://library.example/?q=%s\"")
        .assert_shows("value=\"/l.svg\"");
    let fields = [
        ("name", "Archive"),
        ("short", "ar"),
        ("urlTemplate", "https://archive.example/%s"),
        ("iconUrl", "/a.svg"),
        ("icon-choice", "https://icons.example/a.svg"),
    ];
    let page = browser.submit(&page, &format!("{path}/edit"), &fields);
    assert_eq!(page.path, "/engines?note=saved");
    assert_eq!(engines()[0]["name"], "Archive");
    assert_eq!(engines()[0]["iconUrl"], "https://icons.example/a.svg");
    let page = browser.open(&format!("{path}/delete"));
    page.assert_shows("Delete “Archive”?");
    let page = browser.submit(&page, &format!("{path}/delete"), &[]);
    assert_eq!(page.path, "/engines?note=deleted");
    assert_eq!(engines().as_array().map(Vec::len), Some(0));
    for gone in ["edit", "delete"] {
        browser.open(&format!("{path}/{gone}")).assert_status(404);
    }
}

#[test]
fn known_engines_are_one_click_and_one_of_ones_own_is_an_address() {
    let server = Portico::start();
    let root = administrator(&server);
    let german = Browser::of(&server, "root").in_german();
    german.open("/engines").assert_shows("https://de.wikipedia.org/");
    let browser = Browser::of(&server, "root");
    let page = browser.open("/engines");
    page.assert_shows("value=\"DuckDuckGo\"")
        .assert_shows("Address of your own SearXNG");
    let fields = [("name", "SearXNG"), ("short", "s"), ("instance", "nas:8888/")];
    let page = browser.submit(&page, "/engines/new", &fields);
    assert_eq!(page.path, "/engines?note=created");
    page.assert_hides("Address of your own SearXNG");
    let engines = root.query("searchEngine.getAll", &Value::Null).data();
    assert_eq!(engines[0]["urlTemplate"], "http://nas:8888/search?q=%s");
    // What is no address is refused at the field that shows what would be stored.
    let fields = [
        ("name", "Other"),
        ("short", "o"),
        ("instance", "javascript:alert(1)"),
    ];
    let page = browser.submit(&page, "/engines/new", &fields);
    page.assert_status(422);
    assert!(page.problem("urlTemplate").is_some(), "{}", page.html);
}

#[test]
fn the_icon_of_a_search_engine_is_found_by_its_name() {
    let index = r#"{"files":[{"name":"/svg/duckduckgo.svg"},{"name":"/svg/kagi.svg"}]}"#;
    let source = Server::start(Reply::Body(index.into()));
    let server = Builder::default()
        .environment(
            "PORTICO_ICON_SOURCES",
            format!("{}|http://icons.example", source.url),
        )
        .start();
    let root = administrator(&server);
    // The index is fetched with the first look-up.
    wait_until("the index", || {
        let created = root.output_of("app.createMany", &json!([{ "name": "Kagi" }]));
        created[0]["iconUrl"] == "http://icons.example/svg/kagi.svg"
    });
    let browser = Browser::of(&server, "root");
    let fields = [
        ("name", "DuckDuckGo"),
        ("short", "d"),
        ("urlTemplate", "https://duckduckgo.com/?q=%s"),
    ];
    let page = browser.submit(&browser.open("/engines"), "/engines/new", &fields);
    assert_eq!(page.path, "/engines?note=created");
    let engines = root.query("searchEngine.getAll", &Value::Null).data();
    assert_eq!(engines[0]["iconUrl"], "http://icons.example/svg/duckduckgo.svg");
}

#[test]
fn what_is_wrong_with_a_search_engine_stands_at_its_field() {
    let server = Portico::start();
    let root = administrator(&server);
    root.search_engine("Library", "lib");
    let browser = Browser::of(&server, "root");
    let hostile = "\"><script>alert(1)</script>";
    let page = browser.open("/engines/new");
    let fields = [
        ("name", ""),
        ("short", "much too long"),
        ("urlTemplate", "javascript:%s"),
        ("iconUrl", "javascript:1"),
        ("description", hostile),
    ];
    let page = browser.submit(&page, "/engines/new", &fields);
    page.assert_status(422)
        .assert_shows(&escaped(hostile))
        .assert_shows("value=\"much too long\"")
        .assert_hides("<script>alert");
    for (field, problem) in [
        ("name", "must have 1 to 64 characters, got 0"),
        ("short", "must have 1 to 8 characters, got 13"),
        (
            "urlTemplate",
            "must begin with http:// or https:// and contain %s",
        ),
        ("iconUrl", "must not be a URL of the scheme javascript:"),
    ] {
        assert_eq!(page.problem(field).as_deref(), Some(problem), "{field}");
    }
    let german = Browser::of(&server, "root").in_german();
    let page = german.open("/engines/new");
    let fields = [
        ("name", "library"),
        ("short", "x"),
        ("urlTemplate", "https://a.example/%s"),
        ("iconUrl", "/i"),
    ];
    german
        .submit(&page, "/engines/new", &fields)
        .assert_status(422)
        .assert_shows("Name oder Kürzel hat schon eine andere Suchmaschine");
}

#[test]
fn search_engines_are_for_administrators() {
    let server = Portico::start();
    let root = administrator(&server);
    let engine = root.search_engine("Library", "lib");
    root.user_with("editor", "app-full-all");
    let browser = Browser::of(&server, "editor");
    browser.open("/apps").assert_hides("href=\"/engines\"");
    let token = browser.open("/").token();
    let (edit, delete) = (
        format!("/engines/{engine}/edit"),
        format!("/engines/{engine}/delete"),
    );
    for path in ["/engines/new", &edit, &delete] {
        browser.open(path).assert_status(403);
        browser
            .send_form(path, &token, &[("name", "x")])
            .assert_status(403);
    }
    browser.open("/engines").assert_status(403);
    let page = Browser::new(&server).open("/engines");
    assert!(page.path.starts_with("/sign-in?next="), "{}", page.path);
}
