//! Boards: the list, the editor, two tabs, sharing and deleting.

use portico_tests::{Client, Fixtures, Portico, Session, administrator};
use serde_json::{Value, json};

use super::{Browser, escaped, page::Page};

/// The values of the fields with this name, as a browser would send them.
fn values(page: &Page, name: &str) -> Vec<String> {
    let field = format!("name=\"{name}\" value=\"");
    let parts = page.html.split(&field).skip(1);
    let value = |part: &str| {
        let value = part.split('"').next().expect("a value");
        value
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#38;", "&")
    };
    parts.map(value).collect()
}

/// Sends the editor's form as it stands, with these fields.
#[track_caller]
fn send(browser: &Browser, page: &Page, path: &str, more: &[(&str, &str)]) -> Page {
    let (items, read) = (values(page, "item"), values(page, "read"));
    let mut fields: Vec<(&str, &str)> = more.to_vec();
    fields.extend(items.iter().map(|item| ("item", item.as_str())));
    fields.extend(read.iter().map(|read| ("read", read.as_str())));
    browser.submit(page, path, &fields)
}

#[track_caller]
fn items(root: &Session, board: &str) -> Value {
    root.query("board.byId", &json!({ "id": board })).data()["items"].clone()
}

#[test]
fn a_board_is_made_and_its_items_are_added_moved_and_saved_without_javascript() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let (cloud, nas, wiki) = (root.app("cloud"), root.app("nas"), root.app("wiki"));
    browser.open("/manage/boards").assert_shows("No boards yet");
    let page = browser.open("/manage/boards/new");
    let page = browser.submit(&page, "/manage/boards/new", &[("name", "")]);
    page.assert_status(422);
    assert!(page.problem("name").is_some());
    let fields = [("name", "Kitchen"), ("isPublic", "true")];
    let page = browser.submit(&page, "/manage/boards/new", &fields);
    let path = page.path.split('?').next().unwrap().to_owned();
    let board = path.strip_prefix("/manage/boards/").unwrap().to_owned();
    page.assert_shows("Created.").assert_shows("Nothing yet");

    let typed = [("name", "Typed"), ("app-query", "a")];
    let step = |page: &Page, step: &str| {
        let fields: Vec<_> = typed.into_iter().chain([("do", step)]).collect();
        let page = send(&browser, page, &path, &fields);
        page.assert_status(200).assert_shows("value=\"Typed\"");
        page
    };
    let page = step(&page, "find");
    page.assert_shows("Add nas").assert_hides("Add wiki");
    let page = step(&page, &format!("add {nas}"));
    let page = step(&page, &format!("add {cloud}"));
    let page = step(&page, "bookmarks");
    assert_eq!(
        values(&page, "item"),
        [
            format!("app 0 {nas}"),
            format!("app 1 {cloud}"),
            "bookmarks 2 ".into()
        ]
    );
    let fields = [("name", "Typed"), ("into", "2"), ("do", &format!("add {wiki}"))];
    let page = send(&browser, &page, &path, &fields);
    let page = step(&page, "up 1");
    page.assert_shows(
        "value=\"up 0\" data-move=\"up\" formnovalidate aria-label=\"Move cloud up\" autofocus",
    );
    assert_eq!(items(&root, &board), json!([]), "nothing is stored yet");
    let page = send(&browser, &page, &path, &[("name", "Typed"), ("do", "save")]);
    assert_eq!(page.path, format!("{path}?note=saved"));
    let expected = json!([
        { "kind": "app", "appId": cloud },
        { "kind": "app", "appId": nas },
        { "kind": "bookmarks", "appIds": [wiki] },
    ]);
    assert_eq!(items(&root, &board), expected);
    let stored = root.query("board.byId", &json!({ "id": board })).data();
    assert_eq!(
        (&stored["name"], &stored["isPublic"]),
        (&json!("Typed"), &json!(false))
    );

    let page = step(&page, "remove 3");
    let page = step(&page, "remove 0");
    // Enter in the field of the name saves.
    let page = send(&browser, &page, &path, &[("name", "Kitchen"), ("by-enter", "1")]);
    assert_eq!(page.path, format!("{path}?note=saved"));
    let expected = json!([{ "kind": "app", "appId": nas }, { "kind": "bookmarks", "appIds": [] }]);
    assert_eq!(items(&root, &board), expected);
    browser
        .open(&format!("/boards/{board}"))
        .assert_shows(&format!("href=\"{path}\""));
    browser.open("/manage/boards").assert_shows("Kitchen");
}

#[test]
fn a_board_that_another_tab_changed_is_not_replaced_unawares() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let (cloud, nas) = (root.app("cloud"), root.app("nas"));
    let board = root.board("Kitchen", false);
    let path = format!("/manage/boards/{board}");
    let (first, second) = (browser.open(&path), browser.open(&path));
    let save = |page: &Page, app: &str| {
        let page = send(
            &browser,
            page,
            &path,
            &[("name", "Kitchen"), ("do", &format!("add {app}"))],
        );
        send(&browser, &page, &path, &[("name", "Mine"), ("do", "save")])
    };
    assert_eq!(save(&first, &cloud).path, format!("{path}?note=saved"));
    let refused = save(&second, &nas);
    refused
        .assert_status(409)
        .assert_shows("changed this board after you opened")
        .assert_shows("<li>cloud</li>")
        .assert_shows("value=\"Mine\"");
    assert_eq!(values(&refused, "item"), [format!("app 0 {nas}")]);
    assert_eq!(items(&root, &board), json!([{ "kind": "app", "appId": cloud }]));
    // Who has read that may replace it.
    let page = send(&browser, &refused, &path, &[("name", "Mine"), ("do", "save")]);
    assert_eq!(page.path, format!("{path}?note=saved"));
    assert_eq!(items(&root, &board), json!([{ "kind": "app", "appId": nas }]));
}

#[test]
fn what_is_wrong_with_a_board_is_said_and_what_was_done_stays() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let hostile = "\"><script>alert(1)</script>";
    let app = json!({ "name": hostile, "iconUrl": "/i.svg", "href": "https://a.example" });
    let app = root.mutate("app.create", &app).data()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (gone, board) = (root.app("gone"), root.board(hostile, false));
    root.board("Garden", false);
    let path = format!("/manage/boards/{board}");
    let page = browser.open(&path);
    let page = send(
        &browser,
        &page,
        &path,
        &[("name", hostile), ("do", &format!("add {app}"))],
    );
    let page = send(&browser, &page, &path, &[("name", "garden"), ("do", "save")]);
    page.assert_status(422).assert_shows(&escaped(hostile));
    assert_eq!(page.problem("name").as_deref(), Some("The board's name is taken"));
    assert_eq!(values(&page, "item"), [format!("app 0 {app}")]);
    let page = send(
        &browser,
        &page,
        &path,
        &[("name", "x"), ("do", &format!("add {gone}"))],
    );
    root.mutate("app.delete", &json!({ "id": gone })).assert_done();
    let page = send(&browser, &page, &path, &[("name", "x"), ("do", "save")]);
    page.assert_status(422)
        .assert_shows("Apps that were deleted in the meantime");
    assert_eq!(values(&page, "item"), [format!("app 0 {app}")]);
    let page = send(&browser, &page, &path, &[("name", "x"), ("do", "save")]);
    assert_eq!(page.path, format!("{path}?note=saved"));

    for page in ["/manage/boards", &path, &format!("{path}/apps?app-query=script")] {
        browser
            .open(page)
            .assert_status(200)
            .assert_hides("<script>alert");
    }
    root.mutate("board.delete", &json!({ "id": board })).assert_done();
    send(&browser, &page, &path, &[("name", "x"), ("do", "save")]).assert_status(404);
    for page in ["", "/share", "/delete"] {
        browser.open(&format!("{path}{page}")).assert_status(404);
    }
}

#[test]
fn a_board_is_shared_with_users_and_groups_and_nothing_is_taken_away_by_accident() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user("grace");
    let crew = root.group("kitchen crew", &[]);
    root.user_in("ada", &[&crew]);
    let app = root.app("nas");
    let board = root.board_of("Kitchen", false, &json!([{ "kind": "app", "appId": app }]));
    let browser = Browser::of(&server, "root");
    let path = format!("/manage/boards/{board}/share");
    let step = |page: &Page, step: &str| {
        let (users, groups) = (values(page, "user"), values(page, "group"));
        let mut fields = vec![("do", step), ("party-query", "r")];
        fields.extend(users.iter().map(|user| ("user", user.as_str())));
        fields.extend(groups.iter().map(|group| ("group", group.as_str())));
        browser.submit(page, &path, &fields)
    };
    let button = |page: &Page, begin: &str| {
        let buttons = values(page, "do");
        let found = buttons.iter().find(|value| value.starts_with(begin));
        found.unwrap_or_else(|| panic!("{buttons:?}")).clone()
    };
    let page = browser.open(&path);
    page.assert_shows("cannot show here with whom");
    step(&page, "save")
        .assert_status(422)
        .assert_shows("No one is chosen.");
    let page = step(&page, "find");
    page.assert_shows("Add grace").assert_shows("Add kitchen crew");
    let add = values(&page, "do");
    let grace = add.iter().find(|value| value.contains("\"grace\"")).unwrap();
    let page = step(&page, grace);
    let page = step(&page, &button(&page, "add-group"));
    page.assert_shows("Remove grace").assert_hides("Add grace");
    let saved = step(&page, "save");
    assert_eq!(saved.path, format!("/manage/boards/{board}?note=saved"));
    for name in ["grace", "ada"] {
        Browser::of(&server, name)
            .open(&format!("/boards/{board}"))
            .assert_status(200)
            .assert_hides("/manage/boards");
    }
    let page = step(&page, &button(&page, "drop-user"));
    step(&page, "save");
    Browser::of(&server, "grace")
        .open(&format!("/boards/{board}"))
        .assert_status(404);
    let page = browser.open(&path);
    browser.submit(&page, &path, &[("do", "save"), ("no-one", "true")]);
    Browser::of(&server, "ada")
        .open(&format!("/boards/{board}"))
        .assert_status(404);
}

#[test]
fn boards_are_listed_found_and_deleted() {
    let server = Portico::start();
    let root = administrator(&server);
    for number in 0..55 {
        root.board(&format!("Board {number:02}"), number == 0);
    }
    let browser = Browser::of(&server, "root");
    let page = browser.open("/manage/boards");
    page.assert_shows("55 boards")
        .assert_shows("Page 1 of 2")
        .assert_shows("<span class=\"tag\">Everyone</span>");
    let page = browser.open("/manage/boards?q=board+07");
    page.assert_shows("Board 07").assert_hides("Board 08");
    browser.open("/manage/boards?page=2").assert_shows("Board 54");
    let board = root.board("Garden", true);
    let path = format!("/manage/boards/{board}/delete");
    let page = browser.open(&path);
    page.assert_shows("Delete the board “Garden”?");
    let page = browser.submit(&page, &path, &[]);
    assert_eq!(page.path, "/manage/boards?note=deleted");
    browser.open(&path).assert_status(404);
}

#[test]
fn boards_are_for_administrators() {
    let server = Portico::start();
    let root = administrator(&server);
    let board = root.board("Kitchen", true);
    root.user_with("editor", "board-full-all");
    let browser = Browser::of(&server, "editor");
    browser
        .open(&format!("/boards/{board}"))
        .assert_status(200)
        .assert_hides("/manage/boards");
    let token = browser.open("/").token();
    let path = format!("/manage/boards/{board}");
    browser.open("/manage/boards").assert_status(403);
    browser
        .open(&format!("{path}/apps?app-query=a"))
        .assert_status(403);
    for path in [
        "/manage/boards/new",
        &path,
        &format!("{path}/share"),
        &format!("{path}/delete"),
    ] {
        browser.open(path).assert_status(403);
        browser
            .send_form(path, &token, &[("name", "x"), ("do", "save"), ("no-one", "1")])
            .assert_status(403);
    }
    let page = Browser::new(&server).open(&path);
    assert!(page.path.starts_with("/sign-in?next="), "{}", page.path);
}
