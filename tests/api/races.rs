//! Races over real connections, all open before the first of them sends anything. Others are in `storage-kit`, next to
//! the drivers, and across hosts in `tests/server/postgresql_failover`.

use std::collections::BTreeMap;

use portico_tests::{Fixtures, PASSWORD, Portico, administrator, count_statuses, race};
use serde_json::json;

const MANY: usize = 50;

#[test]
fn of_fifty_first_users_one_becomes_the_administrator() {
    let server = Portico::start();
    let calls: Vec<_> = (0..MANY)
        .map(|number| {
            (
                None,
                json!({"username": format!("root-{number}"), "password": PASSWORD}),
            )
        })
        .collect();
    let answers = race(&[server.address()], "user.initUser", &calls);
    assert_eq!(
        count_statuses(&answers),
        BTreeMap::from([(200, 1), (403, MANY - 1)])
    );
    for refused in answers.iter().filter(|answer| answer.status == 403) {
        refused.assert_refused(403, "FORBIDDEN");
    }
    let winner = answers
        .iter()
        .position(|answer| answer.status == 200)
        .expect("a winner");
    let name = format!("root-{winner}");
    let admin = server.sign_in(&name, PASSWORD);
    assert_eq!(admin.user_names(), [name]);
}

#[test]
fn all_of_200_concurrent_changes_are_made() {
    let server = Portico::start();
    let admin = administrator(&server);
    let crowd: Vec<_> = (0..4 * MANY)
        .map(|number| {
            (
                Some(admin.token.as_str()),
                json!({"name": format!("app {number:03}"), "iconUrl": "/i.svg"}),
            )
        })
        .collect();
    let answers = race(&[server.address()], "app.create", &crowd);
    assert_eq!(count_statuses(&answers), BTreeMap::from([(200, 4 * MANY)]));
    let names: Vec<_> = (0..4 * MANY).map(|number| format!("app {number:03}")).collect();
    assert_eq!(admin.app_names(), names);
}
