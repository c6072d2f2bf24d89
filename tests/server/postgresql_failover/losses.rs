//! Hosts and servers that are lost under load.

use portico_tests::postgresql::Postgresql;
use portico_tests::{Client, Fixtures, administrator_of};
use serde_json::json;

use super::site::{Site, impatient_host, wait_until};
use super::trial::{ROUNDS, Trial};

/// Room for the connections of three hosts, and for those of hosts that were killed just now.
pub const OPTIONS: [&str; 2] = ["-c", "max_connections=150"];

#[test]
#[ignore = "make test-all"]
fn when_a_host_is_killed_clients_go_on_at_the_others() {
    let server = Postgresql::start_with(&OPTIONS);
    let site = Site::start(&server.create_database("home"));
    let mut trial = Trial::begin(site, &server);
    trial.rounds("a host is killed", ROUNDS, |site, round, wait_for_more| {
        let host = &mut site.hosts[round % 3];
        host.kill();
        wait_for_more();
        host.start_again();
        &server
    });
}

#[test]
#[ignore = "make test-all"]
fn when_the_server_is_killed_and_started_nothing_acknowledged_is_lost() {
    const WAYS: usize = 3;
    let server = Postgresql::start_with(&OPTIONS);
    let site = Site::start(&server.create_database("home"));
    let mut trial = Trial::begin(site, &server);
    trial.rounds("the server is killed", WAYS, |_, round, _| {
        match round % WAYS {
            // All of its processes at the same time, as if the machine was lost.
            0 => {
                server.kill();
                server.start_again();
            }
            // It ends its processes, as `pg_ctl stop -m immediate` does.
            1 => {
                server.crash();
                server.start_again();
            }
            // One of its processes: it recovers by itself.
            _ => server.kill_one_process(),
        }
        &server
    });
}

#[test]
#[ignore = "make test-all"]
fn when_the_primary_is_killed_and_its_standby_promoted_nothing_acknowledged_is_lost() {
    let first = Postgresql::start_with(&OPTIONS);
    let url = first.create_database("home");
    let second = first.start_standby();
    // postgres://dashboard@FIRST,SECOND/home
    let place = |url: &str| {
        let (_, place) = url.split_once('@').expect("a URL");
        place.split_once('/').expect("a place").0.to_owned()
    };
    let both = format!("{},{}", place(&url), place(&second.url("home")));
    let both = format!("postgres://dashboard@{both}/home?target_session_attrs=read-write");
    let site = Site::start(&both);
    let mut trial = Trial::begin(site, &first);
    let (mut primary, mut standby) = (&first, &second);
    trial.rounds("the primary is lost", ROUNDS, |_, round, _| {
        if round > 1 {
            primary.take_back(standby);
        }
        match round % 2 {
            0 => primary.crash(),
            _ => primary.kill(),
        }
        standby.promote();
        std::mem::swap(&mut primary, &mut standby);
        primary
    });
}

#[test]
#[ignore = "make test-all"]
fn while_the_only_standby_is_away_reads_go_on_and_writes_wait() {
    let primary = Postgresql::start();
    let url = primary.create_database("home");
    let standby = primary.start_standby();
    let (host, _runtime) = impatient_host(&url);
    let admin = administrator_of(&host.client);
    let create = || {
        let input = json!({"name": "late", "iconUrl": "/i.svg"});
        admin.send_allowing_5xx("POST", "/api/trpc/app.create", Some(&input))
    };
    create().assert_status(200);
    standby.crash();
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'portico%'";
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    // More than may write at once; and again, when the calls of the first have ended, and their commits have not.
    for _ in 0..2 {
        std::thread::scope(|scope| {
            let writing: Vec<_> = (0..20).map(|_| scope.spawn(create)).collect();
            wait_until("commits that wait", || primary.run("postgres", waits) == "12");
            assert_eq!(admin.app_names(), ["late"]);
            for writing in writing {
                let answer = writing.join().expect("an answer");
                assert!([503, 504].contains(&answer.status), "{answer}");
            }
        });
        // What the server is at keeps its place: a host has no more connections than ever.
        assert_eq!(primary.run("postgres", waits), "12");
        let sessions: usize = primary.run("postgres", sessions).parse().expect("a count");
        assert!(sessions <= 17, "{sessions}");
    }
    assert_eq!(admin.app_names(), ["late"]);
    primary.take_back(&standby);
    wait_until("write", || create().status == 200);
    // The commits that waited have been made, and their callers do not know.
    let rows = "SELECT count(*) FROM app UNION ALL SELECT count(*) FROM audit WHERE procedure = 'app.create' AND outcome = 'OK'";
    let rows = primary.run("home", rows);
    let (apps, audited) = rows.split_once('\n').expect("two counts");
    assert_eq!(apps, audited);
    assert_eq!(admin.app_names().len().to_string(), apps);
}
