//! Access: every procedure and every REST route, called by callers of every kind, compared with the
//! table of the tests.

use std::collections::{BTreeMap, BTreeSet};

use portico_tests::databases::Database;
use portico_tests::procedures::{PERMISSIONS, Row, TABLE, Who};
use portico_tests::{
    Answer, Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Portico, Target, User, World, administrator,
    on_every_database,
};
use serde_json::{Value, json};

/// A caller: anonymous, or a user with at most one permission.
struct Role {
    title: String,
    user: Option<User>,
    permission: Option<&'static str>,
}

impl Role {
    fn is_admin(&self) -> bool {
        self.permission == Some("admin")
    }

    /// The status with which the access check refuses this caller, before it looks at an input.
    fn refusal(&self, who: &Who) -> Option<u16> {
        let passes = match who {
            Who::Everyone => true,
            Who::Onboarding => return Some(403),
            Who::SignedIn | Who::OwnOrAdmin | Who::OwnOnly | Who::OnBoard(_) | Who::WithCode(_) => {
                self.user.is_some()
            }
            Who::Holders(permissions) => self.permission.is_some_and(|own| permissions.contains(&own)),
        };
        match (passes, &self.user) {
            (true, _) => None,
            (false, None) => Some(401),
            (false, Some(_)) => Some(403),
        }
    }
}

/// A caller of every kind: anonymous, without a permission, and one for each permission.
fn roles(admin: &impl Client) -> Vec<Role> {
    let mut roles = vec![
        Role {
            title: "anonymous".to_owned(),
            user: None,
            permission: None,
        },
        Role {
            title: "no permission".to_owned(),
            user: Some(admin.user("plain")),
            permission: None,
        },
    ];
    for permission in PERMISSIONS {
        let user = admin.user_with(&format!("has-{permission}"), permission);
        roles.push(Role {
            title: permission.to_owned(),
            user: Some(user),
            permission: Some(permission),
        });
    }
    roles
}

fn views_all_boards(permission: &str) -> bool {
    ["board-view-all", "board-modify-all", "board-full-all", "admin"].contains(&permission)
}

type Call = fn(&Row, &dyn Client, &Value) -> Answer;

/// Calls each row as each role: about the caller's own user and about another where that matters.
fn compare_with_table(database: &Database, rows: &[&Row], call: Call) {
    let server = database.start();
    let admin = administrator(&server);
    let roles = roles(&admin);
    let victim = Target::from(&admin.user("victim"));
    let world = World::new(admin);
    let anonymous = server.anonymous();

    let mut wrong = Vec::new();
    for role in &roles {
        let client: &dyn Client = role.user.as_ref().map_or(&anonymous, |user| user as &dyn Client);
        for row in rows {
            let deletes_user = row.name == "user.delete";
            let other = if deletes_user {
                world.new_target()
            } else {
                victim.clone()
            };
            let mut check = |about: &str, target: &Target, expected: u16| {
                let answer = call(row, client, &world.input(row, target));
                let what = format!("{} as {}{about}", row.name, role.title);
                if answer.status != expected {
                    wrong.push(format!("{what}: not {expected}: {answer}"));
                }
                if deletes_user && target.id != MISSING {
                    let id = json!({"userId": target.id});
                    let is_there = world.admin.query("user.getById", &id).status == 200;
                    if is_there != (expected != 200) {
                        wrong.push(format!("{what}: is the user still there? {is_there}: {answer}"));
                    }
                }
            };
            let with_admin = |status: u16| if role.is_admin() { status } else { 403 };
            match (&row.who, role.refusal(&row.who), &role.user) {
                (_, Some(status), _) => check("", &other, status),
                (Who::WithCode(status), None, Some(_)) => check("", &other, *status),
                (Who::OwnOnly, None, Some(user)) => {
                    check(", on another user's", &other, 404);
                    check(", on their own", &Target::from(user), 200);
                }
                (Who::OwnOrAdmin, None, Some(user)) => {
                    check(", on another user", &other, with_admin(200));
                    // A user that does not exist is as good as deleted.
                    let missing = if deletes_user { 200 } else { 404 };
                    check(", on no user", &Target::missing(), with_admin(missing));
                    check(", on their own user", &Target::from(user), 200);
                }
                (Who::OnBoard(holders), None, Some(_)) => {
                    let holds = role.permission.is_some_and(|own| holders.contains(&own));
                    // Queries are about a public board, changes about one that is not.
                    let views = row.kind == "query" || role.permission.is_some_and(views_all_boards);
                    check(
                        "",
                        &other,
                        if holds {
                            200
                        } else if views {
                            403
                        } else {
                            404
                        },
                    );
                }
                _ => check("", &other, 200),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} answers are not as the table says:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn every_procedure_answers_each_caller_as_the_table_says(database: &Database) {
    compare_with_table(database, &TABLE.iter().collect::<Vec<_>>(), Row::call);
}

/// The first call of an instance looks functions up in another way than later calls.
#[test]
fn every_procedure_answers_a_user_who_calls_for_the_first_time() {
    let server = Portico::start();
    let world = World::new(administrator(&server));
    let is_components = |row: &&Row| row.name.starts_with("app.") || row.name.starts_with("user.");
    for row in TABLE.iter().filter(is_components) {
        let newcomer = world.admin.user_with(&world.name(), "admin");
        let target = world.new_target();
        let expected = match row.who {
            Who::Onboarding => 403,
            _ => 200,
        };
        let answer = row.call(&newcomer, &world.input(row, &target));
        assert_eq!(answer.status, expected, "{}: {answer}", row.name);
    }
}

#[test]
fn every_rest_route_answers_each_caller_as_the_table_says() {
    let rows: Vec<_> = TABLE.iter().filter(|row| row.rest.is_some()).collect();
    compare_with_table(&Database::Sqlite, &rows, Row::call_rest);
}

#[test]
fn every_rest_route_that_reads_returns_what_the_call_returns() {
    let server = Portico::start();
    let world = World::new(administrator(&server));
    let target = world.new_target();
    // A new secret is another each time.
    let reads =
        |row: &&Row| row.kind == "query" && row.rest.is_some() && row.name != "secondFactor.newSecret";
    for row in TABLE.iter().filter(reads) {
        let input = world.input(row, &target);
        let by_call = row.call(&world.admin, &input).data();
        let by_rest = row.call_rest(&world.admin, &input).assert_status(200).json();
        assert_eq!(by_rest, by_call, "{}", row.name);
    }
}

#[test]
fn access_is_checked_before_the_input_is_read() {
    let server = Portico::start();
    let admin = administrator(&server);
    let roles = roles(&admin);
    let target = Target::from(&admin.user("target"));
    let world = World::new(admin);
    let with_input: Vec<_> = TABLE
        .iter()
        .filter(|row| world.input(row, &target) != NO_INPUT)
        .collect();
    assert!(
        with_input.len() > 30,
        "{} procedures take an input",
        with_input.len()
    );
    let anonymous = server.anonymous();

    let mut wrong = Vec::new();
    for role in &roles {
        let client: &dyn Client = role.user.as_ref().map_or(&anonymous, |user| user as &dyn Client);
        for row in &with_input {
            let expected = role.refusal(&row.who).unwrap_or(400);
            let path = format!("/api/trpc/{}", row.name);
            let mut answers = vec![match row.kind {
                "query" => client.send("GET", &format!("{path}?input=%7B%22a"), &[], None),
                _ => client.send_text("POST", &path, "{\"a"),
            }];
            if let Some((method @ ("POST" | "PUT" | "PATCH"), path)) = row.rest {
                answers.push(client.send_text(method, path, "{\"a"));
            }
            for answer in answers {
                if answer.status != expected {
                    wrong.push(format!("as {}: not {expected}: {answer}", role.title));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} answers are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_table_has_every_procedure_and_every_route_and_nothing_else() {
    let output = portico_tests::command()
        .args(["procedures", "--json"])
        .output()
        .expect("run it");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let listed: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a JSON array");
    let describe = |name: &str, kind: &str, rest: Option<(&str, &str)>| {
        // The name of a placeholder does not change the route.
        let route = |path: &str| {
            path.split('/')
                .map(|part| if part.starts_with('{') { "{}" } else { part })
                .collect::<Vec<_>>()
                .join("/")
        };
        let rest = rest.map(|(method, path)| format!("{method} {}", route(path)));
        (name.to_owned(), (kind.to_owned(), rest))
    };
    let text = |value: &Value, pointer: &str| match value.pointer(pointer).and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => panic!("no {pointer} in {value}"),
    };
    let listed: BTreeMap<_, _> = listed
        .iter()
        .map(|entry| {
            let (name, kind) = (text(entry, "/name"), text(entry, "/kind"));
            assert!(
                entry.get("access").is_some_and(|access| !access.is_null()),
                "no access in {entry}"
            );
            match entry["rest"].is_null() {
                true => describe(&name, &kind, None),
                false => {
                    let (method, path) = (text(entry, "/rest/method"), text(entry, "/rest/path"));
                    describe(&name, &kind, Some((&method, &path)))
                }
            }
        })
        .collect();
    let expected: BTreeMap<_, _> = TABLE
        .iter()
        .map(|row| describe(row.name, row.kind, row.rest))
        .collect();
    let names = |map: &BTreeMap<String, _>| map.keys().cloned().collect::<BTreeSet<_>>();
    let (listed_names, expected_names) = (names(&listed), names(&expected));
    let unknown: Vec<_> = listed_names.difference(&expected_names).collect();
    let missing: Vec<_> = expected_names.difference(&listed_names).collect();
    assert!(unknown.is_empty(), "the table says nothing about {unknown:?}");
    assert!(missing.is_empty(), "the service lacks {missing:?}");
    assert_eq!(listed, expected, "kind and route");
}

#[test]
fn init_user_is_open_to_all_callers_until_a_user_exists_and_to_none_after_that() {
    let server = Portico::start();
    let anonymous = server.anonymous();
    let step = anonymous.query("onboard.currentStep", &NO_INPUT).data();
    assert_eq!(step, json!({"current": "user"}));
    // Before the first user exists, the answer says what is wrong with the input.
    anonymous
        .mutate("user.initUser", &json!({"username": "root"}))
        .assert_bad_field("password");
    // Nothing else is open in the meantime.
    anonymous
        .query("user.getAll", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    anonymous
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");

    let admin = administrator(&server);
    assert_eq!(
        anonymous.query("onboard.currentStep", &NO_INPUT).data(),
        json!({"current": "finish"})
    );
    for client in [&anonymous as &dyn Client, &admin] {
        let account = json!({"username": "second", "password": PASSWORD});
        for body in [
            account.to_string(),
            "{}".to_owned(),
            "{\"username".to_owned(),
            String::new(),
        ] {
            let answer = client.send_text("POST", "/api/trpc/user.initUser", &body);
            answer.assert_refused(403, "FORBIDDEN");
        }
    }
    assert_eq!(admin.user_names(), ["root"]);
}

#[test]
fn a_permission_counts_from_the_next_request_and_no_longer_than_it_is_held() {
    let server = Portico::start();
    let admin = administrator(&server);
    let user = admin.user("alice");
    let group = admin.group("creators", &["app-create"]);
    let app = json!({"name": "An app", "iconUrl": "/icon.svg"});
    let member = json!({"groupId": group, "userId": user.id});

    let save = |permissions: &[&str]| json!({"groupId": group, "permissions": permissions});
    user.mutate("app.create", &app).assert_refused(403, "FORBIDDEN");
    for (procedure, input, status) in [
        ("group.addMember", &member, 200),
        ("group.savePermissions", &save(&[]), 403),
        ("group.savePermissions", &save(&["app-create"]), 200),
        ("group.removeMember", &member, 403),
        ("group.addMember", &member, 200),
        ("group.deleteGroup", &json!({"id": group}), 403),
    ] {
        admin.mutate(procedure, input).assert_done();
        let answer = user.mutate("app.create", &app);
        assert_eq!(answer.status, status, "after {procedure}: {answer}");
        let session = user.get("/api/auth/session").json();
        let shown = session["user"]["permissions"].as_array().expect("a list").len();
        assert_eq!(shown, usize::from(status == 200), "after {procedure}: {session}");
    }
}

on_every_database! {
    on_shared_server:
    every_procedure_answers_each_caller_as_the_table_says
}
