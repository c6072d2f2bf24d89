//! Boards: the list, sharing, short addresses, copies and deleting. The editor is in `board_editor`.

use portico_tests::{Client, Fixtures, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

use super::{Browser, board_editor::values, page::Page};

#[test]
fn a_board_is_shared_with_one_user_or_group_after_another() {
    let server = Portico::start();
    let root = administrator(&server);
    let grace = root.user("grace").id.clone();
    let crew = root.group("kitchen crew", &[]);
    let ada = root.user_in("ada", &[&crew]).id.clone();
    let board = root.board("Kitchen", false);
    let browser = Browser::of(&server, "root");
    let path = format!("/manage/boards/{board}/share");
    let step = |page: &Page, step: &str, id: &str| {
        let page = browser.submit(page, &path, &[("do", step), ("id", id), ("q", "r")]);
        assert_eq!(page.path, format!("{path}?q=r&note=saved"), "{}", page.html);
        page
    };
    let shares = || root.query("board.getShares", &json!({ "boardId": board })).data();
    let sees = |name: &str, status: u16| {
        Browser::of(&server, name)
            .open(&format!("/boards/{board}"))
            .assert_status(status)
            .assert_hides("/edit\"");
    };
    browser.open(&path).assert_shows("No one yet.");
    let page = browser.open(&format!("{path}?q=r"));
    page.assert_shows("Add grace").assert_shows("Add kitchen crew");
    // Another tab adds someone after this page was opened.
    let other = browser.open(&path);
    let page = step(&page, "add-user", &grace);
    page.assert_shows("Remove grace").assert_hides("Add grace");
    step(&other, "add-group", &crew);
    step(&other, "add-group", &crew);
    let both = json!({
        "users": [{ "id": grace, "name": "grace", "mayChange": false }],
        "groups": [{ "id": crew, "name": "kitchen crew", "mayChange": false }],
    });
    assert_eq!(shares(), both);
    browser
        .open(&path)
        .assert_shows("Remove grace")
        .assert_shows("Remove kitchen crew")
        .assert_shows("2 users and groups");
    sees("grace", 200);
    sees("ada", 200);
    step(&page, "drop-user", &grace);
    sees("grace", 404);
    sees("ada", 200);
    // Who is gone cannot be added, and the page says so.
    root.mutate("user.delete", &json!({ "userId": ada }))
        .assert_done();
    let refused = browser.submit(&page, &path, &[("do", "add-user"), ("id", &ada)]);
    refused
        .assert_status(422)
        .assert_shows("role=\"alert\"")
        .assert_shows("Remove kitchen crew");
    step(&page, "drop-group", &crew);
    assert_eq!(shares(), json!({ "users": [], "groups": [] }));
}

#[test]
fn a_share_that_another_tab_has_changed_is_shown_and_not_changed() {
    let server = Portico::start();
    let root = administrator(&server);
    let grace = root.user("grace").id.clone();
    let board = root.board("Kitchen", false);
    let browser = Browser::of(&server, "root");
    let path = format!("/manage/boards/{board}/share");
    let send = |page: &Page, step: &str, was: &str| {
        browser.submit(page, &path, &[("do", step), ("id", &grace), ("was", was)])
    };
    let share = |may_change: Option<bool>| {
        let users: Vec<_> = may_change
            .into_iter()
            .map(|may_change| json!({ "id": grace, "mayChange": may_change }))
            .collect();
        let input = json!({ "boardId": board, "users": users, "groups": [] });
        root.mutate("board.share", &input).assert_done();
    };
    let shared = || {
        let shares = root.query("board.getShares", &json!({ "boardId": board })).data();
        shares["users"][0]["mayChange"].clone()
    };
    share(Some(false));
    let page = browser.open(&path);
    page.assert_shows("name=\"was\" value=\"view\"");
    // Another tab has removed it: it does not come back.
    share(None);
    let again = send(&page, "change-user", "view");
    again.assert_status(422).assert_shows("not shared any more");
    assert_eq!(shared(), json!(null));
    // Another tab lets her change the board: removing it shows that first.
    share(Some(true));
    let again = send(&page, "drop-user", "view");
    again
        .assert_status(422)
        .assert_shows("sees and changes it")
        .assert_shows("name=\"was\" value=\"change\"");
    assert_eq!(shared(), json!(true));
    // Both wanted the same.
    assert_eq!(
        send(&page, "change-user", "view").path,
        format!("{path}?q=&note=saved")
    );
    // What is shown now can be changed.
    send(&again, "drop-user", "change");
    assert_eq!(shared(), json!(null));
}

#[test]
fn a_long_list_of_those_with_whom_a_board_is_shared_is_in_pages() {
    let server = Portico::start();
    let root = administrator(&server);
    let board = root.board("Kitchen", false);
    let groups: Vec<_> = (0..55)
        .map(|number| root.group(&format!("Group {number:02}"), &[]))
        .collect();
    let input = json!({ "boardId": board, "users": [], "groups": groups });
    root.mutate("board.share", &input).assert_done();
    let browser = Browser::of(&server, "root");
    let path = format!("/manage/boards/{board}/share");
    browser
        .open(&path)
        .assert_shows("Remove Group 49")
        .assert_hides("Remove Group 50")
        .assert_shows("Page 1 of 2");
    browser
        .open(&format!("{path}?page=2"))
        .assert_shows("Remove Group 54");
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
fn many_boards_are_on_a_page_of_their_own_in_pages() {
    let server = Portico::start();
    let root = administrator(&server);
    for number in 0..55 {
        root.board(&format!("Board {number:02}"), true);
    }
    let last = root.board("Last board", false);
    let browser = Browser::of(&server, "root");
    for page in ["/", "/?all=1"] {
        browser
            .open(page)
            .assert_shows(">Board 29</a>")
            .assert_hides(">Board 30</a>")
            .assert_shows("All boards");
    }
    browser
        .open(&format!("/boards/{last}"))
        .assert_shows("aria-current=\"page\">Last board</a>");
    browser
        .open("/boards")
        .assert_shows(">Board 49</a>")
        .assert_hides(">Board 50</a>")
        .assert_shows("56 boards");
    browser.open("/boards?page=2").assert_shows(">Last board</a>");
    browser.open("/boards?q=last").assert_shows("1 board");
    // Those without an account see the public ones.
    let anonymous = Browser::new(&server);
    anonymous.open("/sign-in").assert_shows("All boards");
    anonymous
        .open("/boards?page=2")
        .assert_status(200)
        .assert_shows(">Board 54</a>")
        .assert_hides("Last board");
}

#[test]
fn people_change_the_boards_that_they_may_change_and_no_others() {
    let server = Portico::start();
    let root = administrator(&server);
    let board = root.board("Kitchen", true);
    let hidden = root.board("Hidden", false);
    let (changer, viewer) = (root.user("changer"), root.user("viewer"));
    let share = json!({
        "boardId": board, "users": [{ "id": changer.id, "mayChange": true }, viewer.id], "groups": [],
    });
    root.mutate("board.share", &share).assert_done();
    let path = format!("/manage/boards/{board}");
    let edit = format!("/boards/{board}/edit");

    // With whom it is shared to change it.
    let browser = Browser::of(&server, "changer");
    browser
        .open(&format!("/boards/{board}"))
        .assert_shows(&format!("href=\"{edit}\""));
    browser
        .open("/manage/boards")
        .assert_shows("Kitchen")
        .assert_hides("Hidden")
        .assert_hides("/delete")
        .assert_hides("/share")
        .assert_hides("/manage/boards/new");
    let page = browser.open(&edit);
    page.assert_hides("isPublic")
        .assert_hides("/delete")
        .assert_hides("/share");
    let read = values(&page, "read").remove(0);
    let fields = [("name", "Bath"), ("read", &read), ("do", "save")];
    let page = browser.submit(&page, &edit, &fields);
    assert_eq!(page.path, format!("/boards/{board}?note=saved"), "{}", page.html);
    let found = root.query("board.byId", &json!({ "id": board })).data();
    assert_eq!(
        (&found["name"], &found["isPublic"]),
        (&json!("Bath"), &json!(true))
    );
    let token = page.token();
    for refused in [
        &format!("{path}/share"),
        &format!("{path}/delete"),
        "/manage/boards/new",
    ] {
        browser.open(refused).assert_status(403);
        browser
            .send_form(
                refused,
                &token,
                &[("name", "x"), ("do", "add-user"), ("id", &viewer.id)],
            )
            .assert_status(403);
    }
    for missing in [
        format!("/boards/{hidden}/edit"),
        format!("/manage/boards/{hidden}/share"),
        format!("/manage/boards/{hidden}/delete"),
    ] {
        let missing = &missing;
        browser.open(missing).assert_status(404);
    }

    // Those who may only see it.
    let browser = Browser::of(&server, "viewer");
    browser
        .open(&format!("/boards/{board}"))
        .assert_status(200)
        .assert_hides("/edit\"");
    browser.open("/manage/boards").assert_hides("Bath");
    let token = browser.open("/").token();
    for refused in [&edit, &format!("{path}/share"), &format!("{path}/delete")] {
        browser.open(refused).assert_status(403);
        browser
            .send_form(refused, &token, &[("name", "x"), ("do", "save"), ("id", "1")])
            .assert_status(403);
    }
    let page = Browser::new(&server).open(&edit);
    assert!(page.path.starts_with("/sign-in?next="), "{}", page.path);
}

#[test]
fn those_who_make_boards_share_them_and_let_others_change_them() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user_with("maker", "board-create");
    let grace = root.user("grace").id;
    let browser = Browser::of(&server, "maker");
    browser.open("/").assert_shows("href=\"/manage/boards\"");
    let page = browser.open("/manage/boards/new");
    page.assert_hides("isPublic");
    let page = browser.submit(&page, "/manage/boards/new", &[("name", "Mine")]);
    assert!(page.path.ends_with("?note=created"), "{}", page.html);
    let id = page.path.split('/').nth(2).unwrap();
    let path = format!("/manage/boards/{id}");
    let share = format!("{path}/share");
    let right = || {
        let shares = root.query("board.getShares", &json!({ "boardId": id })).data();
        shares["users"][0]["mayChange"].clone()
    };
    let page = browser.open(&format!("{share}?q=grace"));
    page.assert_shows("Add grace");
    for (step, shown, expected) in [
        ("add-user", "Let grace change it, too", json!(false)),
        ("change-user", "Let grace only see it", json!(true)),
        ("view-user", "Let grace change it, too", json!(false)),
    ] {
        let page = browser.submit(&browser.open(&share), &share, &[("do", step), ("id", &grace)]);
        page.assert_shows(shown);
        assert_eq!(right(), expected, "{step}");
    }
    let delete = format!("{path}/delete");
    let page = browser.open(&delete);
    let page = browser.submit(&page, &delete, &[]);
    assert_eq!(page.path, "/manage/boards?note=deleted");
}

#[test]
fn a_board_has_a_short_address_a_copy_and_people_who_make_it_their_home() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/manage/boards/new");
    let page = browser.submit(
        &page,
        "/manage/boards/new",
        &[("name", "x"), ("slug", "Big Kitchen")],
    );
    page.assert_status(422).assert_shows("value=\"Big Kitchen\"");
    assert!(page.problem("slug").is_some(), "{}", page.html);
    let page = browser.submit(
        &page,
        "/manage/boards/new",
        &[("name", "Kitchen"), ("slug", "kitchen")],
    );
    let board = page.path.split('/').nth(2).unwrap().to_owned();
    let path = format!("/boards/{board}");
    assert_eq!(browser.open("/b/kitchen").path, path);
    browser.open("/b/none").assert_status(404);
    let anonymous = Browser::new(&server);
    let [page, _] = ["kitchen", "none"].map(|slug| {
        let page = anonymous.open(&format!("/b/{slug}"));
        assert_eq!(
            page.path,
            format!("/sign-in?next=%2Fb%2F{slug}&note=session-ended")
        );
        page
    });
    let fields = [
        ("username", "root"),
        ("password", PASSWORD),
        ("next", "/b/kitchen"),
    ];
    assert_eq!(anonymous.submit(&page, "/sign-in", &fields).path, path);
    // The address of the old editor leads to the new one.
    let old = browser.open(&format!("/manage/boards/{board}"));
    assert_eq!(old.path, format!("{path}/edit"));

    let page = browser.submit(&browser.open(&path), &format!("{path}/home"), &[]);
    assert_eq!(page.path, "/?note=home");
    page.assert_shows("This board is your home now.")
        .assert_shows(&format!("href=\"{path}/edit\""));
    let note = json!([{ "name": "Notes", "items": [{ "kind": "note", "text": "Milk" }] }]);
    let update = json!({ "id": board, "name": "Kitchen", "isPublic": false, "sections": note });
    root.mutate("board.update", &update).assert_done();
    for name in ["Kitchen (copy)", "Kitchen (copy) 2"] {
        let page = browser.submit(&browser.open(&path), &format!("{path}/copy"), &[]);
        page.assert_shows("Created.")
            .assert_shows(&format!("value=\"{name}\""));
        let copy = page.path.split('/').nth(2).unwrap().to_owned();
        let copy = root.query("board.byId", &json!({ "id": copy })).data();
        assert_eq!(copy["sections"][0]["items"][0]["text"], "Milk");
        assert_eq!((&copy["slug"], &copy["name"]), (&Value::Null, &json!(name)));
    }
    // Who may make no boards gets no copy.
    root.user("grace");
    let share = json!({ "boardId": board, "users": [], "groups": [] });
    root.mutate("board.share", &share).assert_done();
    let grace = Browser::of(&server, "grace");
    let token = grace.open("/").token();
    grace
        .send_form(&format!("{path}/copy"), &token, &[])
        .assert_status(403);
    grace
        .send_form(&format!("{path}/home"), &token, &[])
        .assert_status(404);
}
