//! The page on which a board is changed, without JavaScript: every button, two tabs, and what is refused.

use portico_tests::{Client, Fixtures, Portico, Session, administrator, raw};
use serde_json::{Value, json};

use super::{Browser, escaped, page::Page};

/// The values of the fields with this name, as a browser would send them.
pub fn values(page: &Page, name: &str) -> Vec<String> {
    let field = format!("name=\"{name}\" value=\"");
    let parts = page.html.split(&field).skip(1);
    parts
        .map(|part| plain(part.split('"').next().expect("a value")))
        .collect()
}

fn plain(text: &str) -> String {
    text.replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
}

/// All fields of the editor that a browser sends besides its buttons, in their order.
fn fields(page: &Page) -> Vec<(String, String)> {
    let form = page.html.split("id=\"edit\"").nth(1).expect("the form");
    let mut fields = Vec::new();
    for tag in form.split('<').skip(1) {
        let (tag, rest) = tag.split_once('>').unwrap_or((tag, ""));
        let attribute = |name: &str| {
            let value = tag.split(&format!(" {name}=\"")).nth(1)?;
            Some(plain(value.split('"').next()?))
        };
        let Some(name) = attribute("name") else {
            continue;
        };
        let is_sent = match tag.split(' ').next() {
            Some("input") => !tag.contains("type=\"checkbox\"") || tag.contains(" checked"),
            Some("textarea") => true,
            _ => false,
        };
        if is_sent && name != "form-token" {
            let value = attribute("value").unwrap_or_else(|| plain(rest.trim_start_matches('\n')));
            fields.push((name, value));
        }
    }
    fields
}

/// Sends the editor's form as it is, but with these fields in place of its own.
#[track_caller]
fn send(browser: &Browser, page: &Page, path: &str, more: &[(&str, &str)]) -> Page {
    let own = fields(page);
    let is_own = |name: &str| name == "pick" || !more.iter().any(|(other, _)| *other == name);
    let own = own.iter().filter(|(name, _)| is_own(name));
    let fields: Vec<(&str, &str)> = own
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .chain(more.iter().copied())
        .collect();
    browser.submit(page, path, &fields)
}

#[track_caller]
fn sections(root: &Session, board: &str) -> Value {
    root.query("board.byId", &json!({ "id": board })).data()["sections"].clone()
}

/// What is in each section, by the parts of the hidden fields.
fn parts(page: &Page) -> Vec<String> {
    values(page, "item")
}

#[test]
fn a_board_is_filled_arranged_and_saved_without_javascript() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let (cloud, nas, wiki) = (root.app("cloud"), root.app("nas"), root.app("wiki"));
    browser.open("/manage/boards").assert_shows("No boards yet");
    let page = browser.open("/manage/boards/new");
    let page = browser.submit(&page, "/manage/boards/new", &[("name", "")]);
    page.assert_status(422);
    assert!(page.problem("name").is_some());
    let new = [("name", "Kitchen"), ("isPublic", "true")];
    let page = browser.submit(&page, "/manage/boards/new", &new);
    let path = page.path.split('?').next().unwrap().to_owned();
    let board = path.split('/').nth(2).unwrap().to_owned();
    page.assert_shows("Created.");

    // Whatever is typed elsewhere stays while buttons are pressed.
    let step = |page: &Page, more: &[(&str, &str)]| {
        let page = send(&browser, page, &path, more);
        page.assert_status(200);
        page
    };
    let page = step(&page, &[("name", "Typed"), ("app-query", "a"), ("do", "find")]);
    page.assert_shows("value=\"Typed\"")
        .assert_shows(">nas</span>")
        .assert_hides(">wiki</span>");
    // What is ticked stays ticked after another search.
    let page = step(&page, &[("pick", &nas), ("app-query", "w"), ("do", "find")]);
    page.assert_shows("1 more is selected on other pages")
        .assert_hides(">nas</span>");
    let page = step(&page, &[("pick", &wiki), ("app-query", ""), ("do", "add")]);
    assert_eq!(
        parts(&page),
        [
            "section 0".to_owned(),
            format!("app 1 1x1 {nas}"),
            format!("app 2 1x1 {wiki}")
        ]
    );
    page.assert_shows("is on this board");
    let page = step(&page, &[("section-0", "First"), ("do", "section")]);
    let page = step(&page, &[("into", "3"), ("do", "bookmarks")]);
    let page = step(&page, &[("into", "4"), ("pick", &cloud), ("do", "add")]);
    let page = step(&page, &[("into", "3"), ("do", "note")]);
    let page = step(
        &page,
        &[
            ("into", "3"),
            ("text-6", "Milk\r\n<b>https://shop.example/</b>"),
            ("do", "clock"),
        ],
    );
    let page = step(
        &page,
        &[
            ("zone-7", "Europe/Berlin"),
            ("collapsed-3", "true"),
            ("do", "size 1"),
        ],
    );
    let page = step(&page, &[("do", "size 1")]);
    let page = step(&page, &[("do", "earlier 2")]);
    page.assert_shows("value=\"earlier 1\" data-do=\"earlier\"")
        .assert_shows(" autofocus");
    // At its end an item goes into the next section, and back.
    let page = step(&page, &[("do", "later 2")]);
    let page = step(&page, &[("do", "earlier 3")]);
    let page = step(&page, &[("do", "next 1")]);
    assert_eq!(
        parts(&page),
        [
            "section 0".to_owned(),
            format!("app 1 2x2 {nas}"),
            "section 2".to_owned(),
            "bookmarks 3 1x1".to_owned(),
            format!("in 4 {cloud}"),
            "note 5 2x2".to_owned(),
            "clock 6 1x1".to_owned(),
            format!("app 7 1x1 {wiki}"),
        ]
    );
    assert_eq!(
        sections(&root, &board)[0]["items"],
        json!([]),
        "nothing is stored yet"
    );
    let page = send(&browser, &page, &path, &[("slug", "kitchen"), ("do", "save")]);
    assert_eq!(page.path, format!("/boards/{board}?note=saved"), "{}", page.html);
    page.assert_shows("<h2>First</h2>")
        .assert_shows("Milk<br>&#60;b&#62;<a href=\"https://shop.example/\"")
        .assert_shows("data-zone=\"Europe/Berlin\"")
        .assert_shows("size-2x2");
    let expected = json!([
        { "name": "First", "collapsed": false, "items": [{ "kind": "app", "appId": nas, "size": "2x2" }] },
        { "name": null, "collapsed": true, "items": [
            { "kind": "bookmarks", "appIds": [cloud], "size": "1x1" },
            { "kind": "note", "text": "Milk\n<b>https://shop.example/</b>", "size": "2x2" },
            { "kind": "clock", "timeZone": "Europe/Berlin", "size": "1x1" },
            { "kind": "app", "appId": wiki, "size": "1x1" },
        ] },
    ]);
    assert_eq!(sections(&root, &board), expected);
    let stored = root.query("board.byId", &json!({ "id": board })).data();
    assert_eq!(
        (&stored["name"], &stored["slug"], &stored["isPublic"]),
        (&json!("Typed"), &json!("kitchen"), &json!(true))
    );

    // A section is removed, and what is in it stays; Enter in the field of the name saves.
    let page = browser.open(&path);
    let page = step(&page, &[("do", "remove 0")]);
    let page = step(&page, &[("do", "remove 2")]);
    let page = send(&browser, &page, &path, &[("name", "Kitchen"), ("by-enter", "1")]);
    assert_eq!(page.path, format!("/boards/{board}?note=saved"), "{}", page.html);
    let left = sections(&root, &board);
    assert_eq!(left.as_array().map(Vec::len), Some(1));
    assert_eq!(left[0]["items"].as_array().map(Vec::len), Some(4), "{left}");
}

#[test]
fn all_apps_are_offered_in_pages_and_those_ticked_on_several_are_added_at_once() {
    let server = Portico::start();
    let root = administrator(&server);
    let apps: Vec<Value> = (0..120)
        .map(|number| json!({ "name": format!("App {number:03}"), "iconUrl": "/i.svg" }))
        .collect();
    root.mutate("app.createMany", &json!(apps)).data();
    let all = root.query("app.all", &Value::Null).data();
    let id = |number: usize| all[number]["id"].as_str().expect("an id").to_owned();
    let browser = Browser::of(&server, "root");
    let board = root.board("Kitchen", false);
    let path = format!("/boards/{board}/edit");
    let page = browser.open(&path);
    page.assert_shows(">App 049</span>")
        .assert_hides(">App 050</span>")
        .assert_shows("1 / 3");
    let page = send(&browser, &page, &path, &[("pick", &id(0)), ("do", "page 3")]);
    page.assert_shows(">App 119</span>")
        .assert_hides(">App 049</span>")
        .assert_shows("3 / 3");
    let page = send(&browser, &page, &path, &[("pick", &id(119)), ("do", "page 99")]);
    page.assert_shows("3 / 3");
    let page = send(&browser, &page, &path, &[("do", "add")]);
    assert_eq!(
        parts(&page)[1..],
        [format!("app 1 1x1 {}", id(0)), format!("app 2 1x1 {}", id(119))]
    );
    // Saving adds what is ticked.
    let page = send(&browser, &page, &path, &[("pick", &id(1)), ("do", "save")]);
    assert_eq!(page.path, format!("/boards/{board}?note=saved"), "{}", page.html);
    let items = sections(&root, &board)[0]["items"].clone();
    let items = items.as_array().expect("a list");
    let stored: Vec<_> = items.iter().map(|item| item["appId"].clone()).collect();
    assert_eq!(stored, [id(0), id(119), id(1)]);
}

#[test]
fn a_board_that_another_tab_changed_is_not_replaced_unawares() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let (cloud, nas) = (root.app("cloud"), root.app("nas"));
    let board = root.board("Kitchen", false);
    let path = format!("/boards/{board}/edit");
    let saved = format!("/boards/{board}?note=saved");
    let (first, second) = (browser.open(&path), browser.open(&path));
    let save = |page: &Page, app: &str| {
        let page = send(&browser, page, &path, &[("pick", app), ("do", "add")]);
        send(&browser, &page, &path, &[("name", "Mine"), ("do", "save")])
    };
    assert_eq!(save(&first, &cloud).path, saved);
    let refused = save(&second, &nas);
    refused
        .assert_status(409)
        .assert_shows("This board was changed after you opened")
        .assert_shows("<li>cloud</li>")
        .assert_shows("value=\"Mine\"");
    assert_eq!(parts(&refused)[1..], [format!("app 1 1x1 {nas}")]);
    let ids = || sections(&root, &board)[0]["items"][0]["appId"].clone();
    assert_eq!(ids(), json!(cloud));
    // Who has read that may replace it.
    let page = send(&browser, &refused, &path, &[("name", "Mine"), ("do", "save")]);
    assert_eq!(page.path, saved);
    assert_eq!(ids(), json!(nas));
}

#[test]
fn what_is_wrong_with_a_board_is_said_where_it_is_and_every_edit_stays() {
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
    let path = format!("/boards/{board}/edit");
    let page = browser.open(&path);
    let page = send(&browser, &page, &path, &[("pick", &app), ("do", "add")]);
    let page = send(&browser, &page, &path, &[("do", "note")]);
    let page = send(&browser, &page, &path, &[("do", "clock")]);
    let edits = [("section-0", hostile), ("text-2", hostile)];
    let refused = |more: &[(&str, &str)], status: u16, field: &str, problem: &str| {
        let more: Vec<_> = edits
            .iter()
            .copied()
            .filter(|(name, _)| !more.iter().any(|(other, _)| other == name))
            .chain(more.iter().copied())
            .chain([("do", "save")])
            .collect();
        let page = send(&browser, &page, &path, &more);
        page.assert_status(status)
            .assert_shows(&escaped(hostile))
            .assert_hides("<script>alert");
        assert_eq!(page.html.matches(problem).count(), 1, "{problem}\n{}", page.html);
        assert_eq!(
            parts(&page),
            [
                "section 0".to_owned(),
                format!("app 1 1x1 {app}"),
                "note 2 2x2".into(),
                "clock 3 1x1".into()
            ]
        );
        for (name, value) in &more[..more.len() - 1] {
            let kept = fields(&page)
                .into_iter()
                .any(|(field, kept)| field == *name && kept == *value);
            assert!(kept, "{name} of {field}");
        }
    };
    let long = "x".repeat(8_193);
    let many = "x".repeat(300);
    refused(
        &[("name", "garden")],
        422,
        "name",
        "The board&#39;s name is taken",
    );
    refused(&[("slug", "No Slug")], 422, "slug", "must have 1 to 64 letters");
    refused(
        &[("text-2", &long)],
        422,
        "text-2",
        "must have at most 8192 characters",
    );
    refused(
        &[("zone-3", "Nowhere At All")],
        422,
        "zone-3",
        "must be a name of the IANA",
    );
    refused(
        &[("section-0", &many)],
        422,
        "section-0",
        "must have 0 to 64 characters",
    );
    refused(&[("name", &many)], 422, "name", "must have 1 to 64 characters");
    // An app that is gone leaves the form, and only that.
    let page = send(&browser, &page, &path, &[("pick", &gone), ("do", "add")]);
    root.mutate("app.delete", &json!({ "id": gone })).assert_done();
    let page = send(
        &browser,
        &page,
        &path,
        &[("name", "x"), ("text-2", "kept"), ("do", "save")],
    );
    page.assert_status(422)
        .assert_shows("Apps that were deleted in the meantime")
        .assert_shows(">\nkept</textarea>");
    assert_eq!(parts(&page).len(), 4);
    // A script replaces these parts, and what is said of them.
    let (_, items) = page.html.split_once("id=\"items\"").expect("the parts");
    assert!(items.contains("Apps that were deleted"), "{items}");
    let page = send(&browser, &page, &path, &[("name", "x"), ("do", "save")]);
    assert_eq!(page.path, format!("/boards/{board}?note=saved"), "{}", page.html);

    for page in ["/manage/boards", &path, &format!("/boards/{board}")] {
        browser
            .open(page)
            .assert_status(200)
            .assert_hides("<script>alert");
    }
    let page = browser.open(&path);
    root.mutate("board.delete", &json!({ "id": board })).assert_done();
    send(&browser, &page, &path, &[("name", "x"), ("do", "save")]).assert_status(404);
    for page in [
        path,
        format!("/manage/boards/{board}/share"),
        format!("/manage/boards/{board}/delete"),
    ] {
        browser.open(&page).assert_status(404);
    }
}

#[test]
fn who_may_no_longer_change_a_board_still_sees_what_they_typed() {
    let server = Portico::start();
    let root = administrator(&server);
    let (board, grace) = (root.board("Kitchen", false), root.user("grace").id);
    let let_change = |may_change: bool| {
        let users = json!([{ "id": grace, "mayChange": may_change }]);
        let share = json!({ "boardId": board, "users": users, "groups": [] });
        root.mutate("board.share", &share).assert_done();
    };
    let_change(true);
    let browser = Browser::of(&server, "grace");
    let path = format!("/boards/{board}/edit");
    let page = browser.open(&path);
    let_change(false);
    for step in ["note", "save"] {
        let page = send(&browser, &page, &path, &[("section-0", "Typed"), ("do", step)]);
        page.assert_status(403)
            .assert_shows("role=\"alert\"")
            .assert_shows("value=\"Typed\"");
    }
    browser.open(&path).assert_status(403).assert_hides("id=\"edit\"");
}

/// The form of an earlier session is shown again with everything, and saving it then stores everything.
#[test]
fn a_form_from_before_signing_in_again_keeps_the_board_that_it_holds() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let (board, app) = (root.board("Kitchen", false), root.app("nas"));
    let path = format!("/boards/{board}/edit");
    let page = browser.open(&path);
    let page = send(&browser, &page, &path, &[("pick", &app), ("do", "add")]);
    let token = page.token();
    browser.submit(&page, "/sign-out", &[]);
    let sign_in = browser.open("/sign-in");
    let account = [("username", "root"), ("password", portico_tests::PASSWORD)];
    browser.submit(&sign_in, "/sign-in", &account);
    let held = fields(&page);
    let held: Vec<(&str, &str)> = held
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .chain([("do", "save")])
        .collect();
    let again = browser.send_own_form(&path, &token, &held);
    assert!(again.html.contains("id=\"edit\""), "{}", again.html);
    assert_eq!(parts(&again)[1..], [format!("app 1 1x1 {app}")]);
    assert_eq!(
        sections(&root, &board)[0]["items"],
        json!([]),
        "nothing was stored"
    );
    let page = send(&browser, &again, &path, &[("do", "save")]);
    assert_eq!(page.path, format!("/boards/{board}?note=saved"), "{}", page.html);
    assert_eq!(sections(&root, &board)[0]["items"][0]["appId"], json!(app));
}

#[test]
fn the_largest_form_of_a_board_is_shown_and_one_beyond_it_refused() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let board = root.board("Kitchen", false);
    let path = format!("/boards/{board}/edit");
    let page = browser.open(&path);
    let clocks: Vec<String> = (1..3_001).map(|key| format!("clock {key} 1x1")).collect();
    let read = values(&page, "read").remove(0);
    let form = |count: usize| {
        let mut fields = vec![
            ("name", "Kitchen"),
            ("read", read.as_str()),
            ("item", "section 0"),
            ("do", "save"),
        ];
        fields.extend(clocks[..count].iter().map(|clock| ("item", clock.as_str())));
        browser.submit(&page, &path, &fields)
    };
    let refused = form(1_001);
    refused
        .assert_status(422)
        .assert_shows("must have at most 1000 items in all, got 1001");
    assert_eq!(parts(&refused).len(), 1_002);
    assert_eq!(form(1_000).path, format!("/boards/{board}?note=saved"));
    // The page is not compressed for this client, and still bounded.
    let head = raw::head("GET", &path, &[("cookie", &*root.cookie)]);
    let answer = raw::send(&server.address(), head.as_bytes());
    assert_eq!(answer.status, 200);
}
