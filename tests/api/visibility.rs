//! Apps that not everyone sees: with `--app-visibility boards`, an app that is on no board that a caller may view is
//! nowhere in what that caller gets.

use portico_tests::procedures::{TABLE, Who};
use portico_tests::{
    Answer, Builder, Client, Fixtures, MISSING, NO_INPUT, Portico, Target, World, administrator, names,
};
use serde_json::{Value, json};

const CANARY: &str = "Canary-5f3e";

fn by_board() -> Portico {
    Builder::default().argument("--app-visibility=boards").start()
}

/// An app, and its id.
fn app(admin: &impl Client, name: &str) -> String {
    let input =
        json!({"name": name, "iconUrl": format!("/{name}.svg"), "description": format!("about {name}")});
    let app = admin.mutate("app.create", &input).data();
    app["id"].as_str().expect("an id").to_owned()
}

/// A board with these apps, each as an item, the first one also as a bookmark.
fn board(admin: &impl Client, name: &str, public: bool, apps: &[&str]) -> String {
    let items = apps.iter().map(|id| json!({"kind": "app", "appId": id}));
    let bookmarks = json!({"kind": "bookmarks", "appIds": [apps[0]]});
    let items: Vec<_> = items.chain([bookmarks]).collect();
    let input = json!({"name": name, "isPublic": public, "items": items});
    let board = admin.mutate("board.create", &input).data();
    board["id"].as_str().expect("an id").to_owned()
}

/// Which apps those are is tested in `storage-kit/cases/views.yaml`.
#[test]
fn callers_see_the_apps_on_boards_that_they_may_view() {
    let server = by_board();
    let admin = administrator(&server);
    let ids = ["app-a", "app-b", "app-c", "app-d"].map(|name| app(&admin, name));
    let group = admin.group("friends", &[]);
    let (friend, guest, stranger) = (
        admin.user_in("friend", &[&group]),
        admin.user("guest"),
        admin.user("stranger"),
    );
    board(&admin, "public", true, &[&ids[0]]);
    let shared = board(&admin, "shared", false, &[&ids[1]]);
    let by_group = board(&admin, "by group", false, &[&ids[2], &ids[0]]);
    for (board, users, groups) in [
        (&shared, vec![&guest.id], vec![]),
        (&by_group, vec![], vec![&group]),
    ] {
        let input = json!({"boardId": board, "users": users, "groups": groups});
        admin.mutate("board.share", &input).assert_status(200);
    }
    let assert_sees = |client: &dyn Client, seen: &[&str]| {
        assert_eq!(names(&client.query("app.byIds", &json!(ids)).data()), seen);
        let page = json!({"page": 1, "pageSize": 100});
        for (procedure, input) in [
            ("app.all", NO_INPUT),
            ("app.selectable", NO_INPUT),
            ("app.search", json!({"query": "app"})),
            ("app.getPaginated", page),
        ] {
            let answer = client.query(procedure, &input).data();
            let apps = answer.get("items").unwrap_or(&answer);
            assert_eq!(names(apps), seen, "{procedure}");
        }
    };
    let anonymous = server.anonymous().query("app.byIds", &json!(ids)).data();
    assert_eq!(names(&anonymous), ["app-a"]);
    assert_sees(&stranger, &["app-a"]);
    assert_sees(&guest, &["app-a", "app-b"]);
    assert_sees(&friend, &["app-a", "app-c"]);
    let everything = ["app-a", "app-b", "app-c", "app-d"];
    assert_sees(&admin.user_with("editor", "app-create"), &everything);
    assert_sees(&admin.user_with("viewer", "board-view-all"), &everything);
    // At the next request what is deleted is gone.
    admin
        .mutate("board.delete", &json!({"id": by_group}))
        .assert_status(200);
    assert_sees(&friend, &["app-a"]);
}

/// The canary and its id are in no answer of any procedure or route, for each kind of caller who may not see it.
#[test]
fn an_app_that_may_not_be_seen_is_in_no_answer() {
    let server = by_board();
    let admin = administrator(&server);
    let id = app(&admin, CANARY);
    let private = board(&admin, "the private board", false, &[&id]);
    let group = admin.group("no permission", &[]);
    let users = [admin.user("plain"), admin.user_in("member", &[&group])];
    let world = World::new(admin);
    let anonymous = server.anonymous();

    let mut clients: Vec<(&str, &dyn Client, Target)> = vec![("anonymous", &anonymous, world.new_target())];
    clients.extend(
        users
            .iter()
            .map(|user| (user.name.as_str(), user as &dyn Client, Target::from(user))),
    );
    for (title, client, target) in clients {
        let mut answers: Vec<(String, Answer)> = Vec::new();
        for row in TABLE.iter().filter(|row| !matches!(row.who, Who::Onboarding)) {
            if row.name == "user.delete" {
                continue;
            }
            let input = world.input(row, &target);
            answers.push((format!("{} by call", row.name), row.call(client, &input)));
            if row.rest.is_some() {
                answers.push((format!("{} by route", row.name), row.call_rest(client, &input)));
            }
        }
        // The canary itself, asked for in every way.
        for (procedure, input) in [
            ("app.byId", json!({"id": id})),
            ("app.byIds", json!([id, id, MISSING])),
            ("app.search", json!({"query": "canary", "limit": 100})),
            ("app.search", json!({"query": "", "limit": 100})),
            (
                "app.getPaginated",
                json!({"page": 1, "pageSize": 100, "search": "canary-5f3e"}),
            ),
            ("app.all", NO_INPUT),
            ("app.selectable", NO_INPUT),
            ("board.byId", json!({"id": private})),
            ("board.getAll", NO_INPUT),
        ] {
            answers.push((procedure.to_owned(), client.query(procedure, &input)));
        }
        answers.push(("GET by route".to_owned(), client.get(&format!("/api/apps/{id}"))));
        answers.push((
            "app.update".to_owned(),
            client.mutate("app.update", &json!({"id": id, "name": "x"})),
        ));
        for (what, answer) in answers {
            let text = answer.text().to_lowercase();
            assert!(
                !text.contains(&CANARY.to_lowercase()),
                "{title}, {what}: {answer}"
            );
            let echoed = answer.status >= 400;
            assert!(echoed || !text.contains(&id), "{title}, {what}: {answer}");
        }
    }
    // It is there.
    let seen: Value = world.admin.query("app.byId", &json!({"id": id})).data();
    assert_eq!(seen["name"], CANARY);
}

fn sees(client: &dyn Client, id: &str) -> bool {
    client.query("app.byId", &json!({"id": id})).status == 200
}

#[test]
fn administrators_choose_who_sees_which_app_and_it_holds_from_the_next_request_on() {
    let server = Portico::start();
    let admin = administrator(&server);
    let id = app(&admin, "hidden");
    let grace = admin.user("grace");
    let site = || admin.query("site.get", &NO_INPUT).data();
    assert_eq!(
        (&site()["appVisibility"], &site()["fixedAppVisibility"]),
        (&json!("everyone"), &json!(null))
    );
    assert!(sees(&grace, &id));
    let boards = json!({"appVisibility": "boards"});
    for client in [
        &grace as &dyn Client,
        &admin.user_with("editor", "board-full-all"),
    ] {
        client.mutate("site.update", &boards).assert_status(403);
    }
    server
        .anonymous()
        .mutate("site.update", &boards)
        .assert_status(401);
    admin
        .mutate("site.update", &json!({"appVisibility": "nobody"}))
        .assert_status(400);
    assert!(sees(&grace, &id));
    admin.mutate("site.update", &boards).assert_status(200);
    assert!(!sees(&grace, &id) && !sees(&server.anonymous(), &id) && sees(&admin, &id));
    // Another change leaves it as it is.
    admin
        .mutate("site.update", &json!({"name": "Casa"}))
        .assert_status(200);
    assert!(!sees(&grace, &id));
    assert_eq!(site()["appVisibility"], "boards");
    let document = admin.query("state.export", &NO_INPUT).data();
    assert_eq!(document["site"]["appVisibility"], "boards");
    let everyone = json!({"site": {"appVisibility": "everyone"}});
    let report = admin.mutate("state.apply", &everyone).data();
    assert_eq!(
        report["changed"][0]["changes"][0]["field"], "appVisibility",
        "{report}"
    );
    assert!(sees(&grace, &id));
}

#[test]
fn the_setting_of_the_host_overrides_what_is_stored_and_says_so() {
    for (setting, other) in [("boards", "everyone"), ("everyone", "boards")] {
        let server = Builder::default()
            .argument(format!("--app-visibility={setting}"))
            .start();
        let admin = administrator(&server);
        let id = app(&admin, "an app");
        let grace = admin.user("grace");
        admin
            .mutate("site.update", &json!({"appVisibility": other}))
            .assert_status(200);
        let site = admin.query("site.get", &NO_INPUT).data();
        assert_eq!(
            (&site["appVisibility"], &site["fixedAppVisibility"]),
            (&json!(other), &json!(setting))
        );
        assert_eq!(sees(&grace, &id), setting == "everyone");
    }
}

/// What they say is what the callers get.
#[test]
fn seen_by_and_seen_apps_say_who_sees_an_app_and_why() {
    let server = by_board();
    let admin = administrator(&server);
    let ids = ["app-a", "app-b", "app-c", "app-d"].map(|name| app(&admin, name));
    let group = admin.group("friends", &[]);
    let makers = admin.group("makers", &["app-create"]);
    let (friend, guest, stranger) = (
        admin.user_in("friend", &[&group]),
        admin.user("guest"),
        admin.user("stranger"),
    );
    let maker = admin.user_in("maker", &[&makers]);
    board(&admin, "public", true, &[&ids[0]]);
    let shared = board(&admin, "shared", false, &[&ids[1], &ids[2]]);
    let input = json!({"boardId": shared, "users": [guest.id], "groups": [group]});
    admin.mutate("board.share", &input).assert_status(200);
    let seen_by = |id: &str| admin.query("app.seenBy", &json!({"id": id})).data();
    let public = seen_by(&ids[0]);
    assert_eq!(
        (&public["byEveryone"], &public["byStrangers"]),
        (&json!(true), &json!(true))
    );
    let shared_with = seen_by(&ids[1]);
    assert_eq!(
        (&shared_with["byEveryone"], &shared_with["boardCount"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(
        (&shared_with["visibility"], &shared_with["isFixed"]),
        (&json!("boards"), &json!(true))
    );
    let on = &shared_with["boards"][0];
    assert_eq!(
        (&on["name"], &on["creator"]["name"]),
        (&json!("shared"), &json!("root"))
    );
    assert_eq!(
        (names(&on["users"]), names(&on["groups"])),
        (vec!["guest".into()], vec!["friends".into()])
    );
    assert_eq!(names(&shared_with["groupsThatSeeAll"]), ["admins", "makers"]);
    assert_eq!(shared_with["groupsThatSeeAllCount"], 2);
    assert_eq!(seen_by(&ids[3])["boards"], json!([]));
    let page = |user: &str, page: u32| {
        let input = json!({"userId": user, "page": page, "pageSize": 2});
        admin.query("user.seenApps", &input).data()
    };
    for (client, id, by) in [
        (&friend as &dyn Client, &friend.id, "group"),
        (&guest, &guest.id, "user"),
    ] {
        let seen = page(id, 1);
        assert_eq!(
            (&seen["everything"], &seen["totalCount"]),
            (&json!(null), &json!(3))
        );
        assert_eq!(names(&seen["items"]), ["app-a", "app-b"]);
        assert_eq!(names(&page(id, 2)["items"]), ["app-c"]);
        assert_eq!(page(id, 3)["items"], json!([]));
        let through = |at: usize| seen["items"][at]["boards"][0]["by"].clone();
        assert_eq!((through(0), through(1)), (json!("public"), json!(by)));
        assert_eq!(
            names(&client.query("app.all", &NO_INPUT).data()),
            ["app-a", "app-b", "app-c"]
        );
    }
    assert_eq!(
        page(&friend.id, 1)["items"][1]["boards"][0]["group"]["name"],
        "friends"
    );
    assert_eq!(page(&stranger.id, 1)["totalCount"], 1);
    let all = page(&maker.id, 1);
    assert_eq!(
        (&all["everything"], &all["totalCount"]),
        (&json!("permission"), &json!(4))
    );
    for (procedure, input) in [
        ("app.seenBy", json!({"id": MISSING})),
        (
            "user.seenApps",
            json!({"userId": MISSING, "page": 1, "pageSize": 5}),
        ),
    ] {
        admin.query(procedure, &input).assert_status(404);
    }
    for (page, size) in [(0, 5), (1, 0), (1, 101)] {
        let input = json!({"userId": guest.id, "page": page, "pageSize": size});
        admin.query("user.seenApps", &input).assert_status(400);
    }
    // Where everyone sees every app, both say that.
    let open = Portico::start();
    let admin = administrator(&open);
    let (id, grace) = (app(&admin, "an app"), admin.user("grace"));
    let seen = admin.query("app.seenBy", &json!({"id": id})).data();
    assert_eq!(
        (&seen["byEveryone"], &seen["byStrangers"]),
        (&json!(true), &json!(false))
    );
    let input = json!({"userId": grace.id, "page": 1, "pageSize": 5});
    assert_eq!(
        admin.query("user.seenApps", &input).data()["everything"],
        "everyone"
    );
}
