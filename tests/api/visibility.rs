//! Apps that not everyone sees: with `--app-visibility boards`, an app that is on no board that a caller may view is
//! nowhere in what that caller gets.

use portico_tests::procedures::{TABLE, Who};
use portico_tests::{
    Answer, Builder, Client, Fixtures, MISSING, NO_INPUT, Portico, Target, User, World, administrator,
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

fn names(answer: &Answer) -> Vec<String> {
    let data = answer.data();
    let items = data.get("items").unwrap_or(&data).clone();
    let items = items.as_array().expect("a list").iter();
    items
        .map(|item| item["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// Every procedure that reads apps shows this caller exactly these, in order of their names.
#[track_caller]
fn assert_sees(client: &dyn Client, signed_in: bool, all: &[(&str, &str)], seen: &[&str]) {
    for (name, id) in all {
        let answer = client.query("app.byId", &json!({"id": id}));
        if seen.contains(name) {
            assert_eq!(answer.data()["name"], *name);
        } else {
            let missing = client.query("app.byId", &json!({"id": MISSING}));
            let missing = missing.assert_status(404).text().replace(MISSING, id);
            assert_eq!(
                answer.assert_status(404).text(),
                missing,
                "as if it did not exist"
            );
        }
    }
    let ids: Vec<_> = all.iter().map(|(_, id)| *id).collect();
    assert_eq!(names(&client.query("app.byIds", &json!(ids))), seen);
    if !signed_in {
        return;
    }
    for procedure in ["app.all", "app.selectable"] {
        assert_eq!(names(&client.query(procedure, &NO_INPUT)), seen, "{procedure}");
    }
    for query in ["", "a", "app", "pp-"] {
        let expected: Vec<_> = seen.iter().filter(|name| name.contains(query)).collect();
        let search = client.query("app.search", &json!({"query": query, "limit": 100}));
        assert_eq!(names(&search).iter().collect::<Vec<_>>(), expected, "{query}");
        for page in 1..=3 {
            let input = json!({"page": page, "pageSize": 2, "search": query});
            let answer = client.query("app.getPaginated", &input);
            assert_eq!(answer.data()["totalCount"], expected.len(), "{query}");
            let on_page: Vec<_> = expected.iter().skip(2 * (page - 1)).take(2).copied().collect();
            assert_eq!(
                names(&answer).iter().collect::<Vec<_>>(),
                on_page,
                "{query} {page}"
            );
        }
    }
}

#[test]
fn callers_see_the_apps_on_boards_that_they_may_view() {
    let server = by_board();
    let admin = administrator(&server);
    let ids = ["app-a", "app-b", "app-c", "app-d", "app-e"].map(|name| (name, app(&admin, name)));
    let all: Vec<(&str, &str)> = ids.iter().map(|(name, id)| (*name, id.as_str())).collect();
    let id = |index: usize| all[index].1;
    board(&admin, "public", true, &[id(0)]);
    let shared = board(&admin, "shared", false, &[id(1), id(2)]);
    let by_group = board(&admin, "by group", false, &[id(3), id(0)]);
    let group = admin.group("friends", &[]);
    let (friend, guest, stranger) = (admin.user("friend"), admin.user("guest"), admin.user("stranger"));
    admin
        .mutate("group.addMember", &json!({"groupId": group, "userId": friend.id}))
        .assert_status(200);
    for (board, users, groups) in [
        (&shared, vec![&guest.id], vec![]),
        (&by_group, vec![], vec![&group]),
    ] {
        let input = json!({"boardId": board, "users": users, "groups": groups});
        admin.mutate("board.share", &input).assert_status(200);
    }

    let everything = ["app-a", "app-b", "app-c", "app-d", "app-e"];
    assert_sees(&server.anonymous(), false, &all, &["app-a"]);
    assert_sees(&stranger, true, &all, &["app-a"]);
    assert_sees(&guest, true, &all, &["app-a", "app-b", "app-c"]);
    assert_sees(&friend, true, &all, &["app-a", "app-d"]);
    for permission in [
        "app-create",
        "app-modify-all",
        "app-full-all",
        "board-view-all",
        "board-modify-all",
    ] {
        let user = admin.user_with(&format!("has-{permission}"), permission);
        assert_sees(&user, true, &all, &everything);
    }
    assert_sees(&admin, true, &all, &everything);

    // At the next request: what is shared no longer is gone, and what is deleted as well.
    admin
        .mutate(
            "board.share",
            &json!({"boardId": shared, "users": [], "groups": []}),
        )
        .assert_status(200);
    assert_sees(&guest, true, &all, &["app-a"]);
    admin
        .mutate("board.delete", &json!({"id": by_group}))
        .assert_status(200);
    assert_sees(&friend, true, &all, &["app-a"]);
}

#[test]
fn by_default_every_user_sees_all_apps() {
    let server = Portico::start();
    let admin = administrator(&server);
    let id = app(&admin, "app-a");
    let all = [("app-a", id.as_str())];
    assert_sees(&admin.user("plain"), true, &all, &["app-a"]);
    assert_sees(&server.anonymous(), false, &all, &["app-a"]);
}

/// The canary and its id are in no answer of any procedure or route, for each kind of caller who may not see it.
#[test]
fn an_app_that_may_not_be_seen_is_in_no_answer() {
    let server = by_board();
    let admin = administrator(&server);
    let id = app(&admin, CANARY);
    let private = board(&admin, "the private board", false, &[&id]);
    let users: Vec<(String, User)> = [("plain", None), ("member", Some("no permission"))]
        .into_iter()
        .map(|(name, group)| {
            let user = admin.user(name);
            if let Some(group) = group {
                let group = admin.group(group, &[]);
                let input = json!({"groupId": group, "userId": user.id});
                admin.mutate("group.addMember", &input).assert_status(200);
            }
            (name.to_owned(), user)
        })
        .collect();
    let world = World::new(admin);
    let anonymous = server.anonymous();

    let mut clients: Vec<(&str, &dyn Client, Target)> = vec![("anonymous", &anonymous, world.new_target())];
    clients.extend(
        users
            .iter()
            .map(|(name, user)| (name.as_str(), user as &dyn Client, Target::from(user))),
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
