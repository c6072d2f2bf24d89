//! Who may do what with a board: each kind of person, each action. In depth by procedure calls, and once over REST and over
//! Homarr's interface; `tests/server/console/boards.rs` has the pages.

use portico_tests::{
    Answer, Builder, Client, Fixtures, MISSING, NO_INPUT, Portico, Session, User, administrator, escape,
};
use serde_json::{Value, json};

/// Everyone who does something with the board, and the administrator.
struct People {
    server: Portico,
    admin: Session,
    users: Vec<(&'static str, User)>,
    /// A group that may change the board.
    changers: String,
    app: String,
}

/// Of whom the table has a column, in its order, before the administrator and an anonymous caller.
const USERS: [&str; 9] = [
    "maker",
    "viewer",
    "changer",
    "member",
    "views-all",
    "modifies-all",
    "full-all",
    "creates",
    "stranger",
];

const OK: u16 = 200;
const NO: u16 = 403;
const UNKNOWN: u16 = 404;
const SIGN_IN: u16 = 401;

type Action = fn(&People, &dyn Client, &str) -> Answer;

/// What each of them gets, in the order of [`USERS`], then the administrator and an anonymous caller.
#[rustfmt::skip]
const TABLE: [(&str, Action, [u16; 11]); 13] = [
    ("see it", |_, who, board| who.query("board.byId", &json!({"id": board})),
        [OK, OK, OK, OK, OK, OK, OK, UNKNOWN, UNKNOWN, OK, UNKNOWN]),
    ("rename it", |_, who, board| who.mutate("board.update", &json!({"id": board, "name": format!("{board} 2"), "isPublic": false, "items": []})),
        [OK, NO, OK, OK, NO, OK, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("change its items", |it, who, board| {
        let items = json!([{"kind": "app", "appId": it.app}, {"kind": "bookmarks", "appIds": [it.app]}]);
        who.mutate("board.update", &json!({"id": board, "name": board, "isPublic": false, "items": items}))
    },
        [OK, NO, OK, OK, NO, OK, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("change what clients keep of it", |_, who, board| who.mutate("extras.saveOfBoard", &json!({"id": board, "extras": "{}"})),
        [OK, NO, OK, OK, NO, OK, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("rename it with what clients keep", |_, who, board| who.mutate("extras.saveOfBoard", &json!({"id": board, "extras": null, "name": format!("{board} 3")})),
        [OK, NO, OK, OK, NO, OK, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("publish it", |_, who, board| who.mutate("board.update", &json!({"id": board, "name": board, "isPublic": true, "items": []})),
        [NO, NO, NO, NO, NO, NO, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("publish it with what clients keep", |_, who, board| who.mutate("extras.saveOfBoard", &json!({"id": board, "extras": null, "isPublic": true})),
        [NO, NO, NO, NO, NO, NO, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("see with whom it is shared", |_, who, board| who.query("board.getShares", &json!({"boardId": board})),
        [OK, NO, NO, NO, NO, NO, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("find whom to share it with", |_, who, board| who.query("board.getShareable", &json!({"boardId": board, "query": "e"})),
        [OK, NO, NO, NO, NO, NO, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("share it", |it, who, board| who.mutate("board.share", &json!({"boardId": board, "users": [], "groups": [{"id": it.changers, "mayChange": true}]})),
        [OK, NO, NO, NO, NO, NO, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("delete it", |_, who, board| who.mutate("board.delete", &json!({"id": board})),
        [OK, NO, NO, NO, NO, NO, OK, UNKNOWN, UNKNOWN, OK, SIGN_IN]),
    ("make another", |_, who, board| who.mutate("board.create", &json!({"name": format!("{board} of mine"), "isPublic": false, "items": []})),
        [NO, NO, NO, NO, NO, NO, OK, OK, NO, OK, SIGN_IN]),
    ("make a public one", |_, who, board| who.mutate("board.create", &json!({"name": format!("{board} of all"), "isPublic": true, "items": []})),
        [NO, NO, NO, NO, NO, NO, OK, NO, NO, OK, SIGN_IN]),
];

impl People {
    fn new(builder: Builder) -> Self {
        let server = builder.start();
        let admin = administrator(&server);
        let changers = admin.group("changers", &[]);
        let users = USERS.map(|name| {
            let user = match name {
                "member" => admin.user_in(name, &[&changers]),
                "views-all" => admin.user_with(name, "board-view-all"),
                "modifies-all" => admin.user_with(name, "board-modify-all"),
                "full-all" => admin.user_with(name, "board-full-all"),
                "creates" => admin.user_with(name, "board-create"),
                _ => admin.user(name),
            };
            (name, user)
        });
        Self {
            app: admin.app("An app"),
            users: users.into(),
            changers,
            admin,
            server,
        }
    }

    fn user(&self, name: &str) -> &User {
        let found = self.users.iter().find(|(known, _)| *known == name);
        &found.expect("one of them").1
    }

    /// A board of the maker's, shared with those who see it and those who change it. Its name is returned, too, because
    /// each has a name of its own.
    fn board(&self, name: &str) -> String {
        // The maker holds no permission: the board is theirs because it says so.
        let document = json!({"boards": [{
            "name": name,
            "creator": "maker",
            "sharedWith": {
                "users": ["viewer", {"name": "changer", "mayChange": true}],
                "groups": [{"name": "changers", "mayChange": true}],
            },
        }]});
        let report = self.admin.output_of("state.apply", &document);
        assert_eq!(report["created"][0]["name"], name);
        let id = report["created"][0]["id"].as_str();
        id.expect("the board").to_owned()
    }

    /// All that there is to a board.
    fn state_of(&self, board: &str) -> Value {
        let id = json!({ "id": board });
        json!([
            self.admin.query("board.byId", &id).data(),
            self.admin.query("extras.ofBoard", &id).data(),
            self.admin
                .query("board.getShares", &json!({ "boardId": board }))
                .data(),
            self.admin.query("board.getAll", &NO_INPUT).data(),
        ])
    }
}

#[test]
fn each_person_may_do_what_the_table_says_and_a_refusal_changes_nothing() {
    let people = People::new(Builder::default());
    let anonymous = people.server.anonymous();
    let users = people.users.iter();
    let mut clients: Vec<(&str, &dyn Client)> =
        users.map(|(name, user)| (*name, user as &dyn Client)).collect();
    clients.push(("admin", &people.admin));
    clients.push(("anonymous", &anonymous));
    let mut wrong = Vec::new();
    let mut number = 0;
    for (what, action, expected) in TABLE {
        for ((name, client), expected) in clients.iter().zip(expected) {
            number += 1;
            let board = people.board(&format!("Board {number}"));
            let before = people.state_of(&board);
            let answer = action(&people, *client, &board);
            if answer.status != expected {
                wrong.push(format!("{name}: {what}: not {expected}: {answer}"));
            }
            if expected != OK && people.state_of(&board) != before {
                wrong.push(format!("{name}: {what}: refused, but something has changed"));
            }
            // Nobody learns that a board exists which they may not see.
            if expected == UNKNOWN {
                let missing = action(&people, *client, MISSING).text();
                assert_eq!(answer.text().replace(&board, MISSING), missing, "{name}: {what}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everyone_learns_what_they_may_do() {
    let people = People::new(Builder::default());
    let board = people.board("Kitchen");
    let other = people.admin.board("Other", true);
    let right = |client: &dyn Client, board: &str| client.query("board.getRight", &json!({"id": board}));
    for (name, of_board, of_public) in [
        ("maker", Some("full"), "view"),
        ("viewer", Some("view"), "view"),
        ("changer", Some("change"), "view"),
        ("member", Some("change"), "view"),
        ("views-all", Some("view"), "view"),
        ("modifies-all", Some("change"), "change"),
        ("full-all", Some("full"), "full"),
        ("creates", None, "view"),
        ("stranger", None, "view"),
    ] {
        let user = people.user(name);
        match of_board {
            Some(expected) => assert_eq!(right(user, &board).data()["right"], expected, "{name}"),
            None => {
                right(user, &board).assert_refused(404, "NOT_FOUND");
            }
        }
        assert_eq!(right(user, &other).data()["right"], of_public, "{name}");
        let listed = user.query("board.getChangeable", &NO_INPUT).data();
        let listed: Vec<_> = listed
            .as_array()
            .expect("a list")
            .iter()
            .map(|board| (board["name"].clone(), board["right"].clone()))
            .collect();
        let mut expected = Vec::new();
        for (board, right) in [("Kitchen", of_board.unwrap_or("view")), ("Other", of_public)] {
            if right != "view" {
                expected.push((json!(board), json!(right)));
            }
        }
        assert_eq!(listed, expected, "{name}");
    }
    let anonymous = people.server.anonymous();
    assert_eq!(right(&anonymous, &other).data()["right"], "view");
    right(&anonymous, &board).assert_refused(404, "NOT_FOUND");
}

#[test]
fn whoever_makes_boards_owns_them_and_decides_who_may_change_them() {
    let people = People::new(Builder::default());
    let (maker, changer) = (people.user("creates"), people.user("changer"));
    let board = maker.board("Mine", false);
    let rename = |who: &User, name: &str| {
        let update = json!({"id": board, "name": name, "isPublic": false, "items": []});
        who.mutate("board.update", &update)
    };
    let share = |shares: Value| {
        let input = json!({"boardId": board, "users": shares, "groups": []});
        maker.mutate("board.share", &input)
    };
    let found = maker.query(
        "board.getShareable",
        &json!({"boardId": board, "query": "CHANGE", "limit": 1}),
    );
    assert_eq!(
        found.data(),
        json!({
            "users": [{"id": changer.id, "name": "changer"}],
            "groups": [{"id": people.changers, "name": "changers"}],
        })
    );
    rename(changer, "Theirs").assert_refused(404, "NOT_FOUND");
    share(json!([changer.id])).assert_done();
    rename(changer, "Theirs").assert_refused(403, "FORBIDDEN");
    share(json!([{"id": changer.id, "mayChange": true}])).assert_done();
    rename(changer, "Theirs").assert_done();
    let shares = maker
        .query("board.getShares", &json!({ "boardId": board }))
        .data();
    let expected = json!([{"id": changer.id, "name": "changer", "mayChange": true}]);
    assert_eq!(shares["users"], expected);
    share(json!([{"id": changer.id, "mayChange": false}])).assert_done();
    rename(changer, "Theirs again").assert_refused(403, "FORBIDDEN");
    for bad in [
        json!([5]),
        json!([{"id": changer.id}]),
        json!([{"id": changer.id, "mayChange": "yes"}]),
        json!([{"mayChange": true}]),
    ] {
        share(bad).assert_bad_field("users");
    }

    // A permission that is taken away leaves what the person has made.
    let group = people.admin.query("group.getAll", &NO_INPUT).data();
    let mut groups = group.as_array().expect("groups").iter();
    let group = groups
        .find(|group| group["name"] == "creates-group")
        .expect("the group");
    let none = json!({"groupId": group["id"], "permissions": []});
    people.admin.mutate("group.savePermissions", &none).assert_done();
    rename(maker, "Still mine").assert_done();
    let another = json!({"name": "Another", "isPublic": false, "items": []});
    maker
        .mutate("board.create", &another)
        .assert_refused(403, "FORBIDDEN");
    maker
        .mutate("board.delete", &json!({ "id": board }))
        .assert_done();
}

#[test]
fn a_board_that_is_public_stays_so_when_those_who_may_not_decide_it_change_it() {
    let people = People::new(Builder::default());
    let board = people.board("Kitchen");
    let update = |who: &dyn Client, name: &str, is_public: bool| {
        let input = json!({"id": board, "name": name, "isPublic": is_public, "items": []});
        who.mutate("board.update", &input)
    };
    update(people.user("full-all"), "Kitchen", true).assert_done();
    for name in ["maker", "changer", "modifies-all"] {
        update(people.user(name), name, false).assert_refused(403, "FORBIDDEN");
        update(people.user(name), name, true).assert_done();
    }
    update(people.user("full-all"), "Kitchen", false).assert_done();
}

#[test]
fn rest_has_the_same_rights() {
    let people = People::new(Builder::default());
    let board = people.board("Kitchen");
    let path = format!("/api/boards/{}", escape(&board));
    let update = json!({"name": "Bath", "isPublic": false, "items": []});
    let share = json!({"users": [], "groups": [{"id": people.changers, "mayChange": true}]});
    for (name, updates, shares) in [
        ("stranger", 404, 404),
        ("viewer", 403, 403),
        ("changer", 200, 403),
    ] {
        let user = people.user(name);
        user.put(&path, &update).assert_status(updates);
        user.put(&format!("{path}/shares"), &share).assert_status(shares);
        user.get(&format!("{path}/shares")).assert_status(shares);
        user.delete(&path).assert_status(shares);
    }
    let maker = people.user("maker");
    maker.put(&format!("{path}/shares"), &share).assert_status(200);
    let shares = maker.get(&format!("{path}/shares")).assert_status(200).json();
    assert_eq!(shares["groups"][0]["mayChange"], true);
    maker.delete(&path).assert_status(200);
    let anonymous = people.server.anonymous();
    anonymous.put(&path, &update).assert_status(401);
    let new = json!({"name": "New", "isPublic": false, "items": []});
    people
        .user("stranger")
        .post("/api/boards", &new)
        .assert_status(403);
    people
        .user("creates")
        .post("/api/boards", &new)
        .assert_status(200);
}

#[test]
fn clients_of_homarr_have_the_same_rights() {
    let people = People::new(Builder::default().argument("--compat-homarr"));
    // With this setting, answers are in superjson.
    let plain = |who: &dyn Client, procedure: &str, input: Value| {
        let body = json!({ "json": input }).to_string();
        let headers = [("content-type", "application/json")];
        let path = format!("/api/trpc/{procedure}");
        who.send("POST", &path, &headers, Some(body.as_bytes()))
    };
    let board = people.admin.board("Kitchen", true);
    let changer = people.user("changer");
    let share = json!({
        "boardId": board, "users": [{"id": changer.id, "mayChange": true}], "groups": [],
    });
    people.admin.mutate("board.share", &share).assert_status(200);
    let rename = json!({"id": board, "name": "Bath"});
    plain(people.user("viewer"), "board.renameBoard", rename.clone()).assert_status(403);
    plain(changer, "board.renameBoard", rename).assert_status(200);
    let private = json!({"id": board, "visibility": "private"});
    plain(changer, "board.changeBoardVisibility", private.clone()).assert_status(403);
    plain(changer, "board.deleteBoard", json!({ "id": board })).assert_status(403);
    // A copy is public only if its maker may decide so.
    let copy = |name: &str| json!({"id": board, "name": name});
    plain(changer, "board.duplicateBoard", copy("Copy")).assert_status(403);
    let made = plain(people.user("creates"), "board.duplicateBoard", copy("Copy"));
    let id = made.assert_status(200).json()["result"]["data"]["json"]["id"].clone();
    let strangers_get = |id: &Value| {
        let input = escape(&json!({ "id": id }).to_string());
        let path = format!("/api/trpc/board.byId?input={input}");
        people.server.anonymous().get(&path).status
    };
    assert_eq!(strangers_get(&id), 404);
    let made = plain(people.user("full-all"), "board.duplicateBoard", copy("Copy 2"));
    let id = made.assert_status(200).json()["result"]["data"]["json"]["id"].clone();
    assert_eq!(strangers_get(&id), 200);
    plain(people.user("full-all"), "board.changeBoardVisibility", private).assert_status(200);
}

/// Where callers see only the apps on boards that they may view.
#[test]
fn nobody_puts_an_app_on_a_board_that_they_do_not_see() {
    let people = People::new(Builder::default().argument("--app-visibility=boards"));
    let (changer, viewer) = (people.user("changer"), people.user("viewer"));
    let board = people.board("Kitchen");
    let app = |id: &str| json!({"kind": "app", "appId": id});
    let own = people.admin.app("Own");
    let update = |who: &dyn Client, items: Value| {
        let input = json!({"id": board, "name": "Kitchen", "isPublic": false, "items": items});
        who.mutate("board.update", &input)
    };
    update(&people.admin, json!([app(&own)])).assert_done();

    // A hidden app is refused like one that does not exist, whatever else is wrong, and through every way in.
    let hidden = people.app.as_str();
    people.admin.board("Taken", false);
    let attempts: [&dyn Fn(&str) -> Answer; 4] = [
        &|id| update(changer, json!([app(&own), app(id)])),
        &|id| update(changer, json!([{"kind": "bookmarks", "appIds": [own, id]}])),
        &|id| {
            let input = json!({"id": board, "name": "Taken", "isPublic": false, "items": [app(id)]});
            changer.mutate("board.update", &input)
        },
        &|id| {
            let input = json!({"id": board, "extras": null, "items": [app(id)]});
            changer.mutate("extras.saveOfBoard", &input)
        },
    ];
    for attempt in attempts {
        let refused = attempt(hidden);
        refused.assert_refused(404, "NOT_FOUND");
        assert_eq!(refused.text(), attempt(MISSING).text());
    }
    let create = |who: &User, id: &str, name: &str| {
        let input = json!({"name": name, "isPublic": false, "items": [app(id)]});
        who.mutate("board.create", &input)
    };
    let creates = people.user("creates");
    let refused = create(creates, hidden, "Taken");
    refused.assert_refused(404, "NOT_FOUND");
    assert_eq!(refused.text(), create(creates, MISSING, "Taken").text());

    // What stands on the board may stay, and an app that the caller sees elsewhere may join it. Then those who may view
    // the board see it, too.
    update(changer, json!([{"kind": "bookmarks", "appIds": [own]}])).assert_done();
    let seen_elsewhere = people.admin.app("Seen elsewhere");
    let theirs = people
        .admin
        .board_of("Theirs", false, &json!([app(&seen_elsewhere)]));
    let share = json!({"boardId": theirs, "users": [changer.id], "groups": []});
    people.admin.mutate("board.share", &share).assert_done();
    let sees = |who: &dyn Client| who.query("app.byId", &json!({ "id": seen_elsewhere })).status;
    assert_eq!((sees(changer), sees(viewer)), (200, 404));
    update(changer, json!([app(&own), app(&seen_elsewhere)])).assert_done();
    assert_eq!((sees(viewer), sees(people.user("stranger"))), (200, 404));
    // On a public board strangers would see it, too: only an app that everyone sees may join, and what is there stays.
    let open = people.admin.board("Open", true);
    let share = json!({"boardId": open, "users": [{"id": changer.id, "mayChange": true}], "groups": []});
    people.admin.mutate("board.share", &share).assert_done();
    let publish = |who: &dyn Client, items: &Value| {
        let input = json!({"id": open, "name": "Open", "isPublic": true, "items": items});
        who.mutate("board.update", &input)
    };
    let items = json!([app(&seen_elsewhere)]);
    publish(changer, &items).assert_refused(404, "NOT_FOUND");
    let input = json!({"id": open, "extras": null, "items": items});
    changer
        .mutate("extras.saveOfBoard", &input)
        .assert_refused(404, "NOT_FOUND");
    assert_eq!(sees(people.user("stranger")), 404);
    let seen_by_all = people.admin.app("Seen by all");
    people
        .admin
        .board_of("For all", true, &json!([app(&seen_by_all)]));
    publish(changer, &json!([app(&seen_by_all)])).assert_done();
    publish(&people.admin, &items).assert_done();
    publish(changer, &json!([app(&seen_elsewhere), app(&seen_by_all)])).assert_done();
    publish(&people.admin, &json!([])).assert_done();
    // An app that was taken off the board meanwhile, and that the caller does not see elsewhere, does not come back.
    update(&people.admin, json!([])).assert_done();
    update(changer, json!([app(&own)])).assert_refused(404, "NOT_FOUND");
    // Those who see all apps may put any of them there.
    update(people.user("modifies-all"), json!([app(hidden)])).assert_done();
    assert_eq!(create(people.user("full-all"), hidden, "Full").status, 200);
}
