//! Storage that fails at any point of any mutation: a clear error, and nothing has changed.
//!
//! The mutations and their inputs come from the table of procedures, so a new one is tested without a
//! change here.

mod hidden;
mod server;
mod storage;

use portico_storage::{Constraint, Error};
use portico_tests::procedures::{Row, TABLE, Who};
use portico_tests::{Answer, Client, PASSWORD, Target, World};
use serde_json::{Value, json};
use server::{Driver, Server, Store};
use storage::{Calls, Failing};

/// How often the component tries a transaction again.
const RETRIES: usize = 5;

/// What storage says for itself; it stays in the log.
const REASON: &str = "canary reason";

/// A call that is ready to be sent, more than once if need be.
struct Prepared<'a> {
    send: Box<dyn Fn() -> Answer + 'a>,
    /// What it works on, if not on the bench's own store.
    store: Option<Store>,
}

impl<'a> Prepared<'a> {
    fn new(send: impl Fn() -> Answer + 'a) -> Self {
        Self {
            send: Box::new(send),
            store: None,
        }
    }
}

/// A service with its store, and what calls refer to.
struct Bench {
    driver: Driver,
    store: Store,
    server: Server,
    world: World,
    target: Target,
}

impl Bench {
    fn new(driver: Driver) -> Self {
        let store = Store::new(&driver);
        let server = Server::start(&store);
        server
            .client
            .mutate("user.initUser", &first_user())
            .assert_status(200);
        let world = World::new(server.client.sign_in("root", PASSWORD));
        let target = world.new_target();
        Self {
            driver,
            store,
            server,
            world,
            target,
        }
    }

    /// Lets every storage call of this mutation fail, one after the other, in every way.
    fn fail_everywhere<'a>(&'a self, name: &str, prepare: impl Fn() -> Prepared<'a>) {
        // Where a change alternates, it now is one whenever it is made.
        (prepare().send)();
        let run = |failing, error| self.run(name, prepare(), failing, error);
        let (answer, clean) = run(Failing::None, Error::Retry);
        assert_eq!(answer.status, 200, "{name}: {answer}");
        println!("{name}: {:?}", clean.names);
        assert_eq!(clean.names.last(), Some(&"commit"), "{name}");
        for number in 1..=clean.names.len() {
            let at = format!("{name}, call {number} of {:?}", clean.names);
            let (answer, made) = run(Failing::Only(number), Error::Unavailable(REASON.into()));
            assert_eq!(made.failed, 1, "{at}: it did not come to that");
            assert_unavailable(&answer, &at);
            assert_eq!(made.names.len(), number, "{at}: and then {:?}", made.names);

            let (answer, made) = run(Failing::Only(number), Error::Retry);
            assert_eq!(made.failed, 1, "{at}: it did not come to that");
            if answer.status != 200 {
                assert_unavailable(&answer, &at);
            }

            let (answer, made) = run(Failing::AllFrom(number), Error::Retry);
            assert_unavailable(&answer, &at);
            let (tries, most) = (made.count("begin"), clean.count("begin") + RETRIES);
            assert!(tries <= most, "{at}: {tries} transactions, not {most}");

            let (answer, _) = run(Failing::Only(number), Error::Constraint(Constraint::Reference));
            assert!(answer.status >= 400, "{at}: {answer}");
        }
    }

    /// Sends a call while storage fails like this. Unless the call succeeds, nothing may have
    /// changed, and the same call succeeds afterwards.
    fn run(&self, name: &str, call: Prepared, failing: Failing, error: Error) -> (Answer, Calls) {
        let what = format!("{name}, {failing:?} with {error:?}");
        let store = call.store.as_ref().unwrap_or(&self.store);
        let before = store.content();
        // Passwords cost time: once for each call is enough.
        let send_again = matches!(error, Error::Unavailable(_));
        self.server.storage.plan.set(failing, error);
        let answer = (call.send)();
        let calls = self.server.storage.plan.end();
        self.server.assert_nothing_open(&what);
        if answer.status == 200 {
            assert!(store.content() != before, "{what}: done, but nothing has changed");
        } else {
            assert!(store.content() == before, "{what}: something has changed");
        }
        if send_again {
            let again = (call.send)();
            assert_eq!(again.status, 200, "{what}: the same again: {again}");
        }
        self.server.storage.exchange(self.store.storage());
        (answer, calls)
    }

    /// Lets a procedure of the table fail. An anonymous client calls it if it may, else the administrator.
    fn fail_procedure(&self, row: &Row) {
        let path = format!("/api/trpc/{}", row.name);
        self.fail_everywhere(row.name, || {
            let target = match row.who {
                // Of the one who calls.
                Who::OwnOnly => Some(Target {
                    id: self.world.admin.user_id.clone(),
                    name: "root".to_owned(),
                }),
                _ => (row.name == "user.delete").then(|| self.world.new_target()),
            };
            let input = self.world.input(row, target.as_ref().unwrap_or(&self.target));
            let path = path.clone();
            match row.who {
                Who::Everyone => Prepared::new(move || post(&self.server.client, &path, &input)),
                Who::Onboarding => {
                    let store = Store::new(&self.driver);
                    self.server.storage.exchange(store.storage());
                    let call = Prepared::new(move || post(&self.server.client, &path, &input));
                    Prepared {
                        store: Some(store),
                        ..call
                    }
                }
                _ => Prepared::new(move || post(&self.world.admin, &path, &input)),
            }
        });
    }
}

fn first_user() -> Value {
    json!({"username": "root", "password": PASSWORD})
}

fn post(client: &dyn Client, path: &str, input: &Value) -> Answer {
    client.send_allowing_5xx("POST", path, Some(input))
}

/// A refusal that says no more than it should.
fn assert_unavailable(answer: &Answer, at: &str) {
    assert_eq!(answer.status, 503, "{at}: {answer}");
    answer.assert_unavailable();
    assert!(!answer.text().contains(REASON), "{at}: {answer}");
}

/// Lets all mutations fail whose area fits.
fn fail_mutations(driver: Driver, fits: impl Fn(&str) -> bool) {
    let bench = Bench::new(driver);
    // Users here have no second factor, which these could change.
    let mutations = TABLE
        .iter()
        .filter(|row| row.kind == "mutation" && row.area() != "secondFactor");
    mutations
        .filter(|row| fits(row.area()))
        .for_each(|row| bench.fail_procedure(row));
}

fn users(driver: Driver) {
    fail_mutations(driver, |area| area == "user");
}

fn apps(driver: Driver) {
    fail_mutations(driver, |area| area == "app");
}

const CREDENTIALS: [&str; 3] = ["apiKeys", "session", "invite"];

fn credentials(driver: Driver) {
    fail_mutations(driver, |area| CREDENTIALS.contains(&area));
}

fn dashboard_side(driver: Driver) {
    let others = ["user", "app", "state"];
    fail_mutations(driver, |area| {
        !others.contains(&area) && !CREDENTIALS.contains(&area)
    });
}

fn desired_state(driver: Driver) {
    fail_mutations(driver, |area| area == "state");
}

fn signing_in_and_out(driver: Driver) {
    let bench = Bench::new(driver);
    let client = &bench.server.client;
    bench.fail_everywhere("sign-in", || {
        Prepared::new(|| post(client, "/api/auth/sign-in", &first_user()))
    });
    bench.fail_everywhere("sign-out", || {
        let session = client.sign_in("root", PASSWORD);
        Prepared::new(move || post(&session, "/api/auth/sign-out", &json!({})))
    });
}

/// Runs each of these on each driver.
macro_rules! on_every_driver {
    ($($case:ident)+) => {
        mod memory {
            $(#[test] fn $case() { super::$case(super::Driver::Memory); })+
        }
        mod sqlite {
            $(#[test] fn $case() { super::$case(super::Driver::Sqlite); })+
        }
        mod postgresql {
            $(
                #[test]
                #[ignore = "make test-all"]
                fn $case() {
                    super::$case(super::Driver::postgresql());
                }
            )+
        }
    };
}

on_every_driver! { users apps credentials dashboard_side desired_state signing_in_and_out }
