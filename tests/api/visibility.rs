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
