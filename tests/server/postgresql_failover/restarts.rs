//! Hosts that are stopped and started again, one after the other, behind the proxy.

use portico_tests::postgresql::Postgresql;
use portico_tests::{Client, Fixtures, administrator_of, rounds_from_environment};

use super::losses::OPTIONS;
use super::site::{Site, is_ready, wait_until};
use super::trial::ROUNDS;
use crate::restarts::count_while;

#[test]
#[ignore = "make test-all"]
fn a_rolling_restart_cuts_no_request() {
    let server = Postgresql::start_with(&OPTIONS);
    let mut site = Site::start_as(&server.create_database("home"), |host| {
        host.environment("PORTICO_DRAIN", "3")
    });
    let admin = administrator_of(&site.anonymous());
    let key = admin.key_of(&admin.user_id).key;
    let address = site.anonymous().endpoint().address();
    let rounds = rounds_from_environment(ROUNDS).min(200);
    let counts = count_while(&address, &key, |wait_for_more| {
        for round in 0..rounds {
            let host = &mut site.hosts[round % 3];
            wait_for_more();
            host.restart();
            wait_until("a host that is ready", || is_ready(&host.anonymous()));
        }
        wait_for_more();
    });
    println!("{rounds} restarts behind HAProxy: {counts}");
    assert!(counts.cut.is_empty(), "{counts}: {:?}", counts.cut);
}
