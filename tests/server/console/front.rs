//! First start, sign-in, registering, home, and what guards forms.

use portico_tests::{Builder, Client, Fixtures, PASSWORD, Portico, administrator};
use serde_json::json;

use super::{Browser, escaped};

#[test]
fn a_first_evening_begins_with_the_administrator_and_says_what_to_do_next() {
    let server = Portico::start();
    let browser = Browser::new(&server);
    let page = browser.open("/");
    assert_eq!(page.path, "/start");
    let page = browser.submit(
        &page,
        "/start",
        &[("username", "ab"), ("password", "short"), ("email", "x")],
    );
    page.assert_status(422);
    assert_eq!(
        page.problem("username").as_deref(),
        Some("must have at least 3 characters, got 2")
    );
    assert_eq!(
        page.problem("password").as_deref(),
        Some("must have at least 8 characters, got 5")
    );
    assert!(page.problem("email").is_some());
    page.assert_shows("value=\"ab\"").assert_hides("short");

    let page = browser.submit(
        &page,
        "/start",
        &[("username", "ada"), ("password", PASSWORD), ("email", "")],
    );
    assert_eq!(page.path, "/welcome");
    page.assert_shows("/apps/new").assert_shows("ada");
    // The start is over for everyone.
    assert_eq!(browser.open("/start").path, "/");
    assert_eq!(Browser::new(&server).open("/").path, "/sign-in");
}

#[test]
fn people_sign_in_come_back_to_their_page_and_sign_out() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::new(&server);
    let page = browser.open("/?all=1");
    assert_eq!(page.path, "/sign-in");
    let page = browser.open("/search?q=a+b");
    assert_eq!(
        page.path,
        "/sign-in?next=%2Fsearch%3Fq%3Da%2Bb&note=session-ended"
    );
    let page = browser.submit(
        &page,
        "/sign-in",
        &[
            ("username", "root"),
            ("password", "wrong password"),
            ("next", "/?all=1"),
        ],
    );
    page.assert_status(422)
        .assert_shows("Wrong username or password")
        .assert_shows("value=\"root\"")
        .assert_shows("value=\"/?all=1\"")
        .assert_hides("wrong password");
    let page = browser.submit(
        &page,
        "/sign-in",
        &[
            ("username", "root"),
            ("password", PASSWORD),
            ("next", "//evil.example"),
        ],
    );
    assert_eq!(page.path, "/");
    let page = browser.submit(&page, "/sign-out", &[]);
    assert_eq!(page.path, "/sign-in?note=signed-out");
    assert_eq!(browser.open("/").path, "/sign-in");
}

#[test]
fn an_invite_lets_one_person_register() {
    let server = Portico::start();
    let root = administrator(&server);
    let invite = root.invite();
    let path = format!("/register?invite={}&token={}", invite.id, invite.token);
    let browser = Browser::new(&server);
    let page = browser.open(&path);
    let fields = |email| {
        [
            ("invite", invite.id.clone()),
            ("token", invite.token.clone()),
            ("username", "grace".into()),
            ("password", PASSWORD.into()),
            ("email", String::from(email)),
        ]
    };
    let send = |page, email| {
        let fields = fields(email);
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        browser.submit(page, "/register", &fields)
    };
    let page = send(&page, "no address");
    page.assert_status(422);
    assert!(page.problem("email").is_some());
    let other = Browser::new(&server);
    let opened_before = other.open(&path);
    let page = send(&page, "grace@example.com");
    assert_eq!(page.path, "/");
    page.assert_shows("grace");
    // The second person with the same link is refused in words: with the form, and without it.
    let page = opened_before;
    let fields = fields("eve@example.com");
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let page = other.submit(&page, "/register", &fields);
    page.assert_status(422).assert_shows("role=\"alert\"");
    other
        .open(&path)
        .assert_status(403)
        .assert_shows("This invite is not valid")
        .assert_hides("name=\"username\"");
}

#[test]
fn the_link_of_an_invite_says_for_whom_it_is_or_why_it_is_of_no_use_before_anything_is_typed() {
    let server = Portico::start();
    let root = administrator(&server);
    let group = root.group("Family & friends", &[]);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/invites");
    let fields = [
        ("lasts", "week"),
        ("until", ""),
        ("note", "Grace <3"),
        ("groupIds", &group),
    ];
    let page = browser.submit(&page, "/invites", &fields);
    page.assert_status(200)
        .assert_shows("Grace &#60;3")
        .assert_shows("Family &#38; friends");
    let (_, rest) = page.html.split_once("/register?").expect("a link");
    let query = rest.split('"').next().unwrap().replace("&#38;", "&");
    let guest = Browser::new(&server);
    let page = guest.open(&format!("/register?{query}"));
    page.assert_status(200)
        .assert_shows("This invite is for <bdi>Grace &#60;3</bdi>.")
        .assert_hides("Family");
    // Programs that write `&` as HTML.
    let written = query.replace("&token", "&amp;token");
    guest.open(&format!("/register?{written}")).assert_status(200);
    let cut = query.split('&').next().unwrap();
    guest
        .open(&format!("/register?{cut}"))
        .assert_status(400)
        .assert_shows("This link is incomplete");
    guest
        .open(&format!("/register?{query}x"))
        .assert_status(403)
        .assert_shows("This invite is not valid")
        .assert_hides("Grace");

    let past = json!({"expirationDate": "2001-01-01T00:00:00.000Z", "note": "Eve"});
    let late = root.mutate("invite.createInvite", &past).data();
    let path = format!(
        "/register?invite={}&token={}",
        late["id"].as_str().unwrap(),
        late["token"].as_str().unwrap()
    );
    guest
        .open(&path)
        .assert_status(410)
        .assert_shows("This invite has expired")
        .assert_hides("name=\"username\"");
}

#[test]
fn a_form_without_the_token_of_this_session_changes_nothing() {
    let server = Portico::start();
    let browser = Browser::of_administrator(&server);
    let own = browser.open("/").token();
    let stranger = Browser::new(&server).open("/sign-in").token();
    for token in ["", "0", &stranger, &"0".repeat(128)] {
        browser
            .send_form("/sign-out", token, &[])
            .assert_status(403)
            .assert_shows("another session");
    }
    // The same token in another browser, and after the cookie of forms is gone.
    Browser::of(&server, "root")
        .send_form("/sign-out", &own, &[])
        .assert_status(403);
    browser.forget("portico_form");
    browser.send_form("/sign-out", &own, &[]).assert_status(403);
    assert_eq!(browser.open("/").path, "/", "the session is still there");
    // What another site makes a browser send is refused whatever it holds.
    let token = browser.open("/").token();
    let body = format!("form-token={token}");
    let foreign = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "http://evil.example"),
    ];
    let answer = browser.send("POST", "/sign-out", &foreign, Some(body.as_bytes()));
    assert_eq!(answer.status, 403);
    assert_eq!(browser.open("/").path, "/", "the session is still there");
}

#[test]
fn home_shows_all_apps_or_the_home_board_with_hostile_texts_as_text() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    browser.open("/").assert_shows("No apps yet");
    let hostile = "<script>alert('\"1\"')</script>";
    let app = json!({
        "name": hostile,
        "description": hostile,
        "iconUrl": "https://icons.example/a.svg?<script>",
        "href": "https://a.example/?q=\"onmouseover=alert(1)",
    });
    let app = root.mutate("app.create", &app).data();
    let other = root.app("nextcloud");
    let page = browser.open("/");
    page.assert_shows(&escaped(hostile))
        .assert_shows("nextcloud")
        .assert_hides("<script>alert")
        .assert_hides("icons.example")
        .assert_shows(&format!("/icons/apps/{other}?v="));
    browser
        .open("/?q=CLOUD")
        .assert_shows("nextcloud")
        .assert_hides("alert(");
    browser.open("/?q=%3Cscript%3E").assert_hides("<script>alert");

    let items = json!([{ "kind": "bookmarks", "appIds": [app["id"]] }]);
    let board = json!({ "name": "kitchen", "isPublic": true, "items": items });
    let board = root.mutate("board.create", &board).data()["id"].clone();
    let home = json!({ "userId": root.user_id, "homeBoardId": board, "mobileHomeBoardId": null });
    root.mutate("user.changeHomeBoards", &home).assert_done();
    let page = browser.open("/");
    page.assert_shows(&escaped(hostile)).assert_hides("nextcloud");
    browser.open("/?all=1").assert_shows("nextcloud");
    // A public board is for everyone.
    let anonymous = Browser::new(&server);
    anonymous.open("/sign-in").assert_shows("kitchen");
    let path = format!("/boards/{}", board.as_str().unwrap());
    anonymous.open(&path).assert_status(200).assert_shows("kitchen");
    // Others may be there for those who sign in, whether they are or not.
    let hidden = root.board_of("attic", false, &json!([]));
    for id in [&*hidden, "missing"] {
        let page = anonymous.open(&format!("/boards/{id}"));
        assert_eq!(
            page.path,
            format!(
                "/sign-in?next=%2Fboards%2F{}&note=session-ended",
                id.replace('-', "%2D")
            )
        );
        page.assert_shows("Please sign in to go on.")
            .assert_hides("attic");
    }
    browser
        .open("/boards/missing")
        .assert_status(404)
        .assert_shows("There is nothing here");
}

#[test]
fn pages_speak_the_browsers_language() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::new(&server).in_german();
    let page = browser.open("/sign-in");
    page.assert_shows("lang=\"de\"").assert_shows("Benutzername");
    let page = browser.submit(&page, "/sign-in", &[("username", "root"), ("password", "no")]);
    page.assert_shows("Benutzername oder Passwort ist falsch");
}

#[test]
fn pages_and_assets_have_their_headers() {
    let server = Portico::start();
    let browser = Browser::of_administrator(&server);
    let page = browser.open("/");
    let policy = page.answer.header("content-security-policy").expect("a policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.answer.header("referrer-policy"), Some("same-origin"));
    assert_eq!(page.answer.header("cache-control"), Some("no-store"));
    page.assert_hides("style=")
        .assert_hides("<style")
        .assert_hides("onclick");
    let assets: Vec<_> = page
        .html
        .split('"')
        .filter(|part| part.starts_with("/console/"))
        .map(|part| part.split('#').next().expect("a path"))
        .collect();
    assert!(assets.len() >= 4, "{assets:?}");
    for path in assets {
        let plain = browser.send("GET", path, &[], None);
        assert_eq!(
            plain.assert_status(200).header("content-encoding"),
            None,
            "{path}"
        );
        assert_eq!(
            plain.header("cache-control"),
            Some("public, max-age=31536000, immutable")
        );
        let small = browser.send("GET", path, &[("accept-encoding", "gzip")], None);
        assert_eq!(small.header("vary"), Some("accept-encoding"));
        let tag = plain.header("etag").expect("a tag");
        let current = browser.send("GET", path, &[("if-none-match", tag)], None);
        assert!(current.assert_status(304).body.is_empty());
    }
    // The API keeps its own.
    let api = server.anonymous().get("/api/health/live");
    assert_eq!(api.header("referrer-policy"), Some("no-referrer"));
}

#[test]
fn the_first_page_with_twenty_apps_is_light() {
    let server = Portico::start();
    let root = administrator(&server);
    let apps: Vec<_> = (0..20)
        .map(|number| json!({ "name": format!("app {number}"), "iconUrl": "/a.svg", "description": "what it is for" }))
        .collect();
    root.mutate("app.createMany", &json!(apps)).data();
    let browser = Browser::of(&server, "root");
    let page = browser.open("/");
    let mut paths: Vec<_> = page
        .html
        .split('"')
        .filter(|part| part.starts_with("/console/"))
        .map(|part| part.split('#').next().expect("a path"))
        .chain(["/"])
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let weight: usize = paths
        .iter()
        .map(|path| {
            let answer = browser.send("GET", path, &[("accept-encoding", "gzip")], None);
            answer.assert_status(200);
            assert_eq!(answer.header("content-encoding"), Some("gzip"), "{path}");
            answer.body.len()
        })
        .sum();
    assert!(weight < 60_000, "{weight} bytes");
}

#[test]
fn without_the_console_there_is_only_the_api() {
    let server = Builder::default().argument("--console").argument("off").start();
    let anonymous = server.anonymous();
    assert_eq!(anonymous.get("/").status, 404);
    assert_eq!(anonymous.get("/sign-in").status, 404);
    assert_eq!(anonymous.get("/api/health/live").status, 200);
}

#[test]
fn a_search_goes_to_the_engine_that_it_names_or_to_apps_or_to_the_users_own_engine() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let engine = json!({
        "name": "Library", "short": "lib", "urlTemplate": "https://library.example/?find=%s", "iconUrl": "/l.svg",
    });
    let engine = root.mutate("searchEngine.create", &engine).data()["id"].clone();
    root.app("nextcloud");
    browser
        .open("/search?q=LIB+two+%26words")
        .assert_shows("0;url=https://library.example/?find=two%20%26words");
    assert_eq!(browser.open("/search?q=cloud").path, "/?q=cloud");
    assert_eq!(browser.open("/search?q=nothing").path, "/?q=nothing");
    let own = json!({ "userId": root.user_id, "defaultSearchEngineId": engine, "openInNewTab": false });
    root.mutate("user.changeSearchPreferences", &own).assert_done();
    browser
        .open("/search?q=nothing")
        .assert_shows("0;url=https://library.example/?find=nothing");
    assert_eq!(browser.open("/search?q=").path, "/?all=1");
}
