//! Every mutation, with success and refused, leaves exactly one row. The mutations come from the table
//! of procedures, so a new one is tested without a change here.

use portico_tests::procedures::{Row, TABLE, Who};
use portico_tests::{
    Anonymous, Answer, Client, Fixtures, NO_INPUT, PASSWORD, Portico, Target, User, World, administrator,
};
use serde_json::{Value, json};

use super::harness::{last_number, new_rows};

/// Who calls, and what their rows say of them.
struct Actor<'a> {
    client: &'a dyn Client,
    id: Option<&'a str>,
    authentication: &'static str,
}

impl<'a> Actor<'a> {
    fn anonymous(client: &'a Anonymous) -> Self {
        Self {
            client,
            id: None,
            authentication: "none",
        }
    }

    fn of(user: &'a User) -> Self {
        Self {
            client: user,
            id: Some(&user.id),
            authentication: "key",
        }
    }
}

struct Bench {
    server: Portico,
    world: World,
    admin: User,
    plain: User,
}

impl Bench {
    fn new() -> Self {
        let server = Portico::start();
        let root = administrator(&server);
        let admin = root.user_with("auditor", "admin");
        let plain = root.user("plain");
        Self {
            server,
            world: World::new(root),
            admin,
            plain,
        }
    }

    /// A good input, about a user of its own.
    fn input(&self, row: &Row) -> Value {
        let target = match row.who {
            Who::OwnOnly => Target::from(&self.admin),
            _ => self.world.new_target(),
        };
        self.world.input(row, &target)
    }

    /// The rows that a call leaves, and its answer.
    fn rows_of(&self, call: impl FnOnce() -> Answer) -> (Answer, Vec<Value>) {
        let before = last_number(&self.admin);
        let answer = call();
        (answer, new_rows(&self.admin, before))
    }

    #[track_caller]
    fn assert_row(&self, row: &Row, by: &Actor, answer: &Answer, rows: &[Value], outcome: &str) {
        let [found] = rows else {
            panic!("{} left {} rows: {rows:#?}\n{answer}", row.name, rows.len());
        };
        let about = format!("{}: {found}\n{answer}", row.name);
        assert_eq!(found["procedure"], row.name, "{about}");
        assert_eq!(found["outcome"], outcome, "{about}");
        assert_eq!(found["actorId"].as_str(), by.id, "{about}");
        assert_eq!(found["authentication"], by.authentication, "{about}");
        assert_eq!(found["credentialId"].is_string(), by.id.is_some(), "{about}");
        assert_eq!(found["address"], "127.0.0.1", "{about}");
        assert_eq!(
            found["requestId"].as_str(),
            answer.header("x-request-id"),
            "{about}"
        );
        assert_eq!(found["times"], 1, "{about}");
        assert_eq!(found["provider"], Value::Null, "{about}");
    }
}

/// Those that succeed for an administrator.
fn successes() -> impl Iterator<Item = &'static Row> {
    mutations().filter(|row| !matches!(row.who, Who::Onboarding | Who::WithCode(_)))
}

fn mutations() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(|row| row.kind == "mutation")
}

/// Calls these, each of which must succeed and leave a row that says so.
fn assert_rows_of_success(
    rows: impl Iterator<Item = &'static Row>,
    call: fn(&Row, &dyn Client, &Value) -> Answer,
) {
    let bench = Bench::new();
    let anonymous = bench.server.anonymous();
    let mut count = 0;
    for row in rows {
        let input = bench.input(row);
        let actor = match row.who {
            Who::Everyone => Actor::anonymous(&anonymous),
            _ => Actor::of(&bench.admin),
        };
        let (answer, rows) = bench.rows_of(|| call(row, actor.client, &input));
        answer.assert_status(200);
        let mut output = Value::Null;
        if !answer.body.is_empty() {
            output = answer.json();
        }
        let output = output.get("result").map_or(&output, |result| &result["data"]);
        bench.assert_row(row, &actor, &answer, &rows, "OK");
        let (about, target) = (&rows[0], row.target(&input, output, &bench.admin.id));
        assert_eq!(about["target"], target, "{}: {about}", row.name);
        assert_eq!(about["created"], row.created(output), "{}: {about}", row.name);
        count += 1;
    }
    assert!(count > 20, "only {count} mutations");
}

#[test]
fn every_mutation_that_succeeds_has_one_row() {
    assert_rows_of_success(successes(), Row::call);
}

#[test]
fn every_rest_route_that_changes_something_has_the_same_row() {
    assert_rows_of_success(successes().filter(|row| row.rest.is_some()), Row::call_rest);
}

#[test]
fn every_procedure_that_refuses_its_caller_has_one_row() {
    let bench = Bench::new();
    let anonymous = bench.server.anonymous();
    for row in TABLE {
        let input = bench.input(row);
        for actor in [Actor::anonymous(&anonymous), Actor::of(&bench.plain)] {
            let (answer, rows) = bench.rows_of(|| row.call(actor.client, &input));
            match answer.status {
                200 if row.kind == "query" => assert_eq!(rows, [Value::Null; 0], "reading {}", row.name),
                200 => bench.assert_row(row, &actor, &answer, &rows, "OK"),
                _ => bench.assert_row(row, &actor, &answer, &rows, &answer.code()),
            }
        }
    }
}

#[test]
fn every_mutation_that_refuses_its_input_has_one_row() {
    let bench = Bench::new();
    let actor = Actor::of(&bench.admin);
    // Where none is expected, an input is ignored.
    for row in mutations().filter(|row| bench.input(row) != NO_INPUT) {
        for body in ["{\"a", "[[7]]", "7"] {
            let path = format!("/api/trpc/{}", row.name);
            let (answer, rows) = bench.rows_of(|| actor.client.send_text("POST", &path, body));
            let expected = match row.who {
                Who::Onboarding => "FORBIDDEN",
                _ => "BAD_REQUEST",
            };
            bench.assert_row(row, &actor, &answer, &rows, expected);
            assert_eq!(rows[0]["target"], Value::Null);
        }
    }
}

#[test]
fn the_first_user_creates_the_first_row() {
    let server = Portico::start();
    let account = json!({"username": "root", "password": PASSWORD});
    let id = server.anonymous().mutate("user.initUser", &account).data()["id"].clone();
    let root = server.sign_in("root", PASSWORD);
    let rows = new_rows(&root, 0);
    assert_eq!(rows[0]["procedure"], "user.initUser");
    assert_eq!((&rows[0]["target"], &rows[0]["actorId"]), (&id, &Value::Null));
    assert_eq!(
        (&rows[1]["procedure"], &rows[1]["actorId"]),
        (&json!("sign-in"), &id)
    );
    assert_eq!(rows.len(), 2);
}
