//! Connections between hosts and PostgreSQL that are cut, held back or silent.

use std::thread;
use std::time::{Duration, Instant};

use portico_tests::postgresql::Postgresql;
use portico_tests::proxy::{Cut, Proxy};
use portico_tests::{
    Answer, Builder, Client, Fixtures, PASSWORD, Portico, Session, administrator, administrator_of,
};
use serde_json::{Value, json};

use super::site::{Site, impatient_host, is_ready, wait_until};
use super::trial::{ROUNDS, Trial};

fn host(url: &str) -> Portico {
    Builder::default().environment("PORTICO_DATABASE", url).start()
}

/// A change whose statements have this name among their values.
fn change(kind: usize, name: &str, app: &str, group: &str) -> (&'static str, Value) {
    let new = |name: String| json!({"name": name, "iconUrl": "/i.svg"});
    match kind {
        0 => ("app.create", new(name.to_owned())),
        1 => {
            let apps: Vec<_> = (0..5).map(|number| new(format!("{name} {number}"))).collect();
            ("app.createMany", json!(apps))
        }
        2 => ("app.update", json!({"id": app, "name": name})),
        _ => {
            let account = json!({"username": name, "password": PASSWORD, "groupIds": [group]});
            ("user.create", account)
        }
    }
}

/// How many records of this change there are, and how many rows the audit log has of it.
fn made(server: &Postgresql, name: &str, request: &str) -> (usize, usize) {
    let count = |sql: String| server.run("home", &sql).parse().expect("a count");
    let records = format!(
        "SELECT (SELECT count(*) FROM app WHERE name LIKE '{name}%')
            + (SELECT count(*) FROM user_account JOIN group_member ON user_id = id WHERE name = '{name}')"
    );
    let rows = format!("SELECT count(*) FROM audit WHERE request_id = '{request}' AND outcome = 'OK'");
    (count(records), count(rows))
}

fn send(admin: &Session, (procedure, input): &(&str, Value)) -> Answer {
    admin.send_allowing_5xx("POST", &format!("/api/trpc/{procedure}"), Some(input))
}

/// The server works on nothing that it was sent.
fn wait_until_idle(server: &Postgresql) {
    let busy = "
        SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'portico%' AND state <> 'idle'";
    wait_until("idle server", || server.run("postgres", busy) == "0");
}

#[test]
#[ignore = "make test-all"]
fn a_change_whose_connection_is_cut_is_made_once_or_not_at_all() {
    let server = Postgresql::start();
    server.create_database("home");
    let proxy = Proxy::start(&server);
    let host = host(&proxy.url("home"));
    let admin = administrator(&host);
    let group = admin.group("a group", &[]);
    let app = admin.app("an app");
    let cuts = [
        (Cut::InStatement, Some(0)),
        (Cut::InAnswer, None),
        (Cut::BeforeCommit, Some(0)),
        (Cut::AfterCommit, None),
        (Cut::BeforeAnswerOfCommit, Some(1)),
    ];
    for (cut, expected) in cuts {
        for kind in 0..4 {
            let name = format!("{cut:?} {kind}").to_lowercase();
            let change = change(kind, &name, &app, &group);
            let before = proxy.made();
            proxy.cut_at(cut, &name);
            let answer = send(&admin, &change);
            assert_eq!(proxy.made(), before + 1, "{name}: nothing was cut: {answer}");
            // A new user's name is looked up first. If that is what was cut, the change may have another connection.
            let is_made = kind == 3 && answer.status == 200;
            if !is_made {
                answer.assert_unavailable();
            }
            wait_until_idle(&server);
            let request = answer.header("x-request-id").expect("the request's id");
            let (records, rows) = made(&server, &name, request);
            let all = if kind == 1 { 5 } else { 1 };
            assert!(
                rows <= 1 && records == rows * all,
                "{name}: {records} records, {rows} rows"
            );
            let expected = if is_made { Some(1) } else { expected };
            assert!(expected.is_none_or(|expected| expected == rows), "{name}: {rows}");
            // The same change is made now, if its names are free.
            let again = send(&admin, &change);
            let taken = kind == 3 && rows == 1;
            again.assert_status(if taken { 409 } else { 200 });
        }
    }
}

#[test]
#[ignore = "make test-all"]
fn under_load_no_cut_loses_or_repeats_a_change() {
    let server = Postgresql::start_with(&["-c", "max_connections=150"]);
    server.create_database("home");
    let proxies = [0; 3].map(|_| Proxy::start(&server));
    let urls = [0, 1, 2].map(|number: usize| proxies[number].url("home"));
    let site = Site::start_on([&urls[0], &urls[1], &urls[2]]);
    let mut trial = Trial::begin(site, &server);
    let mut random = trial.random.split();
    trial.rounds("connections are cut", ROUNDS, |_, _, _| {
        let cuts = [
            Cut::InStatement,
            Cut::InAnswer,
            Cut::BeforeCommit,
            Cut::AfterCommit,
            Cut::BeforeAnswerOfCommit,
        ];
        for _ in 0..20 {
            let proxy = random.pick(&proxies).expect("a proxy");
            let (before, cut) = (proxy.made(), random.pick(&cuts).expect("a cut"));
            let mut planned = Instant::now();
            proxy.cut_at(*cut, "");
            wait_until("cut", || {
                // The connection that was chosen may commit nothing for long.
                if planned.elapsed() > Duration::from_secs(1) {
                    planned = Instant::now();
                    proxy.cut_at(*cut, "");
                }
                proxy.made() > before
            });
        }
        proxies.iter().for_each(Proxy::cut_all);
        &server
    });
}

#[test]
#[ignore = "make test-all"]
fn a_commit_that_arrives_late_is_made_once_or_not_at_all() {
    let server = Postgresql::start_with(&["-c", "max_connections=100"]);
    server.create_database("home");
    let late = |cut: Cut| {
        let proxy = Proxy::start(&server);
        let (host, runtime) = impatient_host(&proxy.url("home"));
        (cut, proxy, host, runtime)
    };
    let hosts = [late(Cut::HoldCommit), late(Cut::HoldAnswerOfCommit)];
    let admin = administrator_of(&hosts[0].2.client);
    thread::scope(|scope| {
        for (cut, proxy, host, _) in &hosts {
            let (server, admin) = (&server, &admin);
            scope.spawn(move || {
                let admin = host.client.key(&admin.token);
                let name = format!("{cut:?}");
                let input = json!({"name": name, "iconUrl": "/i.svg"});
                proxy.cut_at(*cut, &name);
                let answer = admin.send_allowing_5xx("POST", "/api/trpc/app.create", Some(&input));
                answer.assert_unavailable();
                assert_eq!(proxy.made(), 1, "nothing was held back: {answer}");
                // Others are served meanwhile.
                admin.app("another app");
                proxy.release();
                wait_until_idle(server);
                let request = answer.header("x-request-id").expect("the request's id");
                let (records, rows) = made(server, &name, request);
                assert!(
                    rows <= 1 && records == rows,
                    "{name}: {records} records, {rows} rows"
                );
                assert!(*cut == Cut::HoldCommit || rows == 1, "{name}: it was committed");
                admin.app("a third app");
            });
        }
    });
}

#[test]
#[ignore = "make test-all"]
fn answers_that_arrive_in_pieces_hold_up_nothing() {
    let server = Postgresql::start();
    server.create_database("home");
    let proxy = Proxy::start(&server);
    proxy.pass_answers_in_pieces();
    let host = host(&proxy.url("home"));
    let admin = administrator(&host);
    let group = admin.group("a group", &[]);
    for round in 0..5 {
        let app = admin.app("an app");
        for kind in 0..4 {
            let change = change(kind, &format!("{round} {kind}"), &app, &group);
            send(&admin, &change).assert_status(200);
        }
        assert_eq!(
            admin.get("/api/apps").json().as_array().map(Vec::len),
            Some((round + 1) * 7)
        );
    }
}

#[test]
#[ignore = "make test-all"]
fn a_host_whose_database_is_silent_answers_in_time_and_serves_again() {
    let server = Postgresql::start();
    server.create_database("home");
    let proxy = Proxy::start(&server);
    let (host, _runtime) = impatient_host(&proxy.url("home"));
    let host = &host.client;
    let admin = administrator_of(host);
    let app = admin.app("an app");
    // All connections are open, and idle.
    let by_id = format!("/api/apps/{app}");
    let ask_often = |status: fn(u16) -> bool| {
        thread::scope(|scope| {
            for number in 0..40 {
                let (admin, by_id) = (&admin, &by_id);
                scope.spawn(move || {
                    // The client waits for a minute.
                    let answer = match number {
                        0 => {
                            let body = json!({"username": "root", "password": PASSWORD});
                            host.send_allowing_5xx("POST", "/api/auth/sign-in", Some(&body))
                        }
                        1..10 => send(admin, &change(0, "app", "", "")),
                        _ => admin.send_allowing_5xx("GET", by_id, None),
                    };
                    assert!(status(answer.status), "{answer}");
                });
            }
        });
    };
    ask_often(|status| status == 200);
    proxy.set_silent(true);
    assert!(!is_ready(host));
    ask_often(|status| [503, 504].contains(&status));
    proxy.set_silent(false);
    wait_until("host that is ready", || is_ready(host));
    ask_often(|status| status == 200);
}

#[test]
#[ignore = "make test-all"]
fn a_silent_server_does_not_keep_a_host_from_the_next_one() {
    let server = Postgresql::start();
    server.create_database("home");
    let (lost, other) = (Proxy::start(&server), Proxy::start(&server));
    let mut host = host(&format!("{}&connect_timeout=4", lost.url_of_both(&other, "home")));
    let admin = administrator(&host);
    // Like a machine that has lost its power, or whose disk no longer responds: it accepts messages and does not
    // respond.
    lost.set_silent(true);
    lost.cut_all();
    // A check whose time is up has found out enough for the next.
    wait_until("host that is ready", || is_ready(&host.anonymous()));
    admin.app("an app");
    // And a host that starts.
    host.restart();
    wait_until("host that is ready", || is_ready(&host.anonymous()));
    admin.app("another app");
}

#[test]
#[ignore = "make test-all"]
fn once_another_primary_is_reached_no_call_waits_for_the_one_before_it_nor_writes_to_it() {
    let first = Postgresql::start();
    first.create_database("home");
    let second = first.start_standby();
    let (lost, other) = (Proxy::start(&first), Proxy::start(&second));
    let host = host(&format!("{}&connect_timeout=4", lost.url_of_both(&other, "home")));
    let admin = administrator(&host);
    let create = || {
        thread::scope(|scope| {
            let creating = || _ = send(&admin, &change(0, "app", "", "")).assert_status(200);
            (0..10).for_each(|_| _ = scope.spawn(creating));
        });
    };
    create();
    lost.set_silent(true);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| admin.send_allowing_5xx("GET", "/api/apps", None));
        wait_until("call that waits", || lost.held_back() > 0);
        second.promote();
        wait_until("host that is ready", || is_ready(&host.anonymous()));
        // Otherwise the time of the call would have run out.
        let answer = waiting.join().expect("an answer");
        assert_ne!(answer.status, 504, "{answer}");
    });
    // The former primary wakes up.
    lost.set_silent(false);
    create();
    let apps = |server: &Postgresql| server.run("home", "SELECT count(*) FROM app");
    assert_eq!([apps(&first), apps(&second)], ["10", "20"]);
}
