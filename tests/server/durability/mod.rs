//! Changes that were answered with success are there after the process was killed, and no change is
//! there by half.

pub mod facts;
pub mod writer;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use facts::{Facts, Observer};
use portico_tests::databases::{Database, wait_until_ready};
use portico_tests::{
    Anonymous, Client, Fixtures, NO_INPUT, PASSWORD, Portico, Random, Session, administrator,
    on_every_database, rounds_from_environment,
};
use serde_json::json;
use writer::Writer;

fn answered_changes_are_there_after_a_kill(database: &Database) {
    let mut server = database.start();
    let admin = administrator(&server);
    let group = admin.group("editors", &["app-modify-all"]);
    let alice = admin.user_in("alice", &[&group]);
    let app = admin.app("An app");
    let board = admin.board_of("A board", true, &json!([{"kind": "app", "appId": app}]));
    let invite = admin.invite();
    admin
        .mutate(
            "user.changeFirstDayOfWeek",
            &json!({"id": alice.id, "firstDayOfWeek": 6}),
        )
        .assert_done();
    admin
        .mutate("app.update", &json!({"id": app, "name": "Renamed"}))
        .assert_done();

    kill_both(database, &mut server);
    assert_eq!(admin.user_names(), ["alice", "root"]);
    assert_eq!(alice.profile(&alice.id)["firstDayOfWeek"], 6);
    // Alice still has the permission that she got through the group.
    alice
        .mutate("app.update", &json!({"id": app, "description": "by alice"}))
        .assert_done();
    assert_eq!(alice.app_names(), ["Renamed"]);
    assert_eq!(
        admin.query("board.byId", &json!({"id": board})).data()["items"][0]["appId"],
        app.as_str()
    );
    let input = json!({
        "username": "guest", "password": PASSWORD, "email": "g@example.com", "inviteId": invite.id,
        "token": invite.token,
    });
    server
        .anonymous()
        .mutate("user.register", &input)
        .assert_status(200);
    admin
        .mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();

    kill_both(database, &mut server);
    alice
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    server
        .anonymous()
        .mutate("user.register", &input)
        .assert_refused(403, "FORBIDDEN");
    assert_eq!(admin.user_names(), ["guest", "root"]);
    server.sign_in("guest", PASSWORD);
}

/// Kills the service and the server of its database, and starts both again.
fn kill_both(database: &Database, server: &mut Portico) {
    server.kill();
    database.crash();
    database.start_again();
    server.start_again();
}

fn an_interrupted_first_start_is_repeated(database: &Database) {
    let mut random = Random::from_environment();
    let mut server = database.start();
    let data = server.data();
    // There is more than the lock: the database is being made. Of one elsewhere it cannot be seen so fast.
    let has_begun = || {
        matches!(database, Database::Postgresql { .. })
            || std::fs::read_dir(&data).is_ok_and(|files| files.count() > 1)
    };
    let mut start = Duration::from_millis(5);
    for _ in 0..ROUNDS {
        server.kill();
        std::fs::remove_dir_all(&data).expect("remove the data");
        if let Database::Postgresql { server, .. } = database {
            server.run("postgres", "DROP DATABASE home WITH (FORCE)");
            server.create_database("home");
        }
        for _ in 0..=random.below(2) {
            let moment = Duration::from_micros(random.below(start.as_micros() as usize) as u64);
            server.kill_while_starting(has_begun, moment);
        }
        let begin = Instant::now();
        server.start_again();
        if matches!(database, Database::Postgresql { .. }) {
            start = begin.elapsed();
        }
        let step = server.anonymous().query("onboard.currentStep", &NO_INPUT).data();
        assert_eq!(step["current"], "user");
    }
    administrator(&server);
    let (facts, _) = Observer::of(database, &server).look();
    assert!(facts.contains_key("user root@example.com"), "{facts:?}");
}

/// Connections that write at the same time.
const WRITERS: usize = 8;

/// How often the service is killed, unless `PORTICO_TEST_ROUNDS` says otherwise: twice in each way.
const ROUNDS: usize = 8;

/// A service that is killed again and again, or its database is, and the facts that must hold.
struct Siege<'a> {
    random: Random,
    database: &'a Database,
    server: Portico,
    admin: Session,
    observer: Observer,
    writers: Vec<Writer>,
    /// Facts that no writer changes.
    given: Facts,
    /// How long the last start took.
    start: Duration,
    answers: usize,
    lost_databases: usize,
}

impl<'a> Siege<'a> {
    fn begin(database: &'a Database) -> Self {
        let mut random = Random::from_environment();
        let server = database.start();
        let admin = administrator(&server);
        let writers = writers(&admin, &server.anonymous(), &mut random);
        let observer = Observer::of(database, &server);
        let (given, _) = observer.look();
        Self {
            random,
            database,
            server,
            admin,
            observer,
            writers,
            given,
            start: Duration::ZERO,
            answers: 0,
            lost_databases: 0,
        }
    }

    /// Lets all writers write, and kills the service a random while after this many answers, or the server of
    /// its database, or both.
    fn write_and_kill(&mut self, answers: usize) {
        let (done, heard) = mpsc::channel();
        let is_struck = AtomicBool::new(false);
        thread::scope(|scope| {
            for writer in &mut self.writers {
                let (done, is_struck) = (done.clone(), &is_struck);
                // Answers are no longer counted once the service is being killed.
                let answered = move || {
                    let _ = done.send(());
                };
                scope.spawn(move || writer.write_until_killed(is_struck, answered));
            }
            drop(done);
            assert_eq!(
                heard.iter().take(answers).count(),
                answers,
                "the writers gave up early"
            );
            thread::sleep(Duration::from_micros(self.random.below(5_000) as u64));
            is_struck.store(true, Ordering::SeqCst);
            let has_server = matches!(self.database, Database::Postgresql { .. });
            let (of_service, of_database) = match self.random.below(3) {
                0 => (true, has_server),
                1 => (!has_server, has_server),
                _ => (true, false),
            };
            if of_database {
                self.database.crash();
                self.lost_databases += 1;
            }
            if of_service {
                self.server.kill();
            }
        });
        self.answers += answers + heard.try_iter().count();
    }

    /// Starts what was killed. A service that only lost its database continues by itself.
    fn start_again(&mut self) {
        self.database.start_again();
        if !self.server.is_running() {
            let begin = Instant::now();
            self.server.start_again();
            self.start = begin.elapsed();
        }
        wait_until_ready(&self.server);
    }

    /// Kills the service while it starts, or just after.
    fn kill_while_starting(&mut self) {
        self.database.start_again();
        self.server.kill();
        let moment = self.random.below(1 + self.start.as_micros() as usize);
        self.server
            .kill_while_starting(|| true, Duration::from_micros(moment as u64));
    }

    /// Compares the database with the answers.
    fn check(&mut self) {
        let (observed, ids) = self.observer.look();
        check_facts(&mut self.writers, &self.given, &observed, &ids);
        // The service sees what the database holds.
        let count = |kind: &str| observed.keys().filter(|fact| fact.starts_with(kind)).count();
        assert_eq!(self.admin.app_names().len(), count("app "));
        assert_eq!(self.admin.user_names().len(), count("user "));
    }
}

/// Writers that each have a key of an administrator of their own.
pub fn writers(admin: &Session, anonymous: &Anonymous, random: &mut Random) -> Vec<Writer> {
    let writers = (0..WRITERS).map(|number| {
        let name = format!("deputies-{number}");
        let group = admin.group(&name, &["admin"]);
        let account = json!({
            "username": format!("writer-{number}"), "email": format!("writer-{number}@example.com"),
            "password": PASSWORD, "groupIds": [group],
        });
        let id = admin.make("user.create", &account, "id");
        let key = admin.output_of("apiKeys.create", &json!({"userId": id, "name": name}));
        let key = anonymous.key(key["apiKey"].as_str().expect("a key"));
        let email = format!("writer-{number}@example.com");
        Writer::new(
            number,
            random.split(),
            anonymous.clone(),
            key,
            email,
            (name, group),
        )
    });
    writers.collect()
}

/// Compares the facts and the ids in a database with what the writers were answered, and with the facts that
/// none of them changes.
pub fn check_facts(writers: &mut [Writer], given: &Facts, observed: &Facts, ids: &BTreeMap<String, String>) {
    let mut expected = given.clone();
    for writer in writers {
        writer.settle(observed);
        for fact in writer.facts.keys() {
            // An id that was returned leads to the record.
            let id = writer
                .ids
                .entry(fact.clone())
                .or_insert_with(|| ids.get(fact).cloned().unwrap_or_default());
            assert_eq!(ids.get(fact).map_or("", String::as_str), id, "the id of {fact}");
        }
        writer.forget_what_is_gone();
        expected.extend(writer.facts.clone());
    }
    assert_same(&expected, observed);
}

/// Compares, and says only what differs.
fn assert_same(expected: &Facts, observed: &Facts) {
    let keys = expected.keys().chain(observed.keys());
    let differences: BTreeMap<_, _> = keys
        .filter(|key| expected.get(*key) != observed.get(*key))
        .map(|key| (key, (expected.get(key), observed.get(key))))
        .collect();
    assert!(differences.is_empty(), "(answered, found): {differences:#?}");
}

fn random_writes_survive_kills_at_random_moments(database: &Database) {
    let rounds = rounds_from_environment(ROUNDS);
    let begin = Instant::now();
    let mut siege = Siege::begin(database);
    for round in 1..=rounds {
        let answers = 10 + siege.random.below(120);
        siege.write_and_kill(answers);
        match round % 4 {
            // Killed again while it recovers, once or twice.
            2 => (0..=siege.random.below(2)).for_each(|_| siege.kill_while_starting()),
            // Killed again as soon as it writes.
            3 => {
                siege.start_again();
                siege.check();
                let answers = siege.random.below(3);
                siege.write_and_kill(answers);
            }
            _ => {}
        }
        siege.start_again();
        siege.check();
        let (answers, seconds) = (siege.answers, begin.elapsed().as_secs());
        let lost = siege.lost_databases;
        println!(
            "round {round} of {rounds}: {answers} answers kept, {lost} times the database was killed, {seconds} s"
        );
    }
}

on_every_database! {
    on_own_server:
    answered_changes_are_there_after_a_kill
    an_interrupted_first_start_is_repeated
    random_writes_survive_kills_at_random_moments
}
