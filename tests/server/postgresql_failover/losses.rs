//! Hosts and servers that are lost under load.

use portico_tests::postgresql::Postgresql;

use super::site::Site;
use super::trial::Trial;

/// Room for the connections of three hosts, and for those of hosts that were killed just now.
const OPTIONS: [&str; 2] = ["-c", "max_connections=150"];

#[test]
#[ignore = "make test-all"]
fn when_a_host_is_killed_clients_go_on_at_the_others() {
    let server = Postgresql::start_with(&OPTIONS);
    let site = Site::start(&server.create_database("home"));
    let mut trial = Trial::begin(site, &server);
    trial.rounds("a host is killed", |site, round, wait_for_more| {
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
    let server = Postgresql::start_with(&OPTIONS);
    let site = Site::start(&server.create_database("home"));
    let mut trial = Trial::begin(site, &server);
    trial.rounds("the server is killed", |_, round, _| {
        match round % 3 {
            // All of its processes at once, as if the machine was lost.
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
    trial.rounds("the primary is lost", |_, round, _| {
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
