//! Races over real connections, all open before the first of them sends anything.

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
fn of_fifty_registrations_with_one_invite_one_succeeds() {
    let server = Portico::start();
    let admin = administrator(&server);
    let invite = admin.invite();
    let calls: Vec<_> = (0..MANY)
        .map(|number| {
            let input = json!({
                "username": format!("guest-{number}"), "password": PASSWORD, "email": "g@example.com",
                "inviteId": invite.id, "token": invite.token,
            });
            (None, input)
        })
        .collect();
    let answers = race(&[server.address()], "user.register", &calls);
    assert_eq!(
        count_statuses(&answers),
        BTreeMap::from([(200, 1), (403, MANY - 1)])
    );
    let winner = answers
        .iter()
        .position(|answer| answer.status == 200)
        .expect("a winner");
    assert_eq!(admin.user_names(), [format!("guest-{winner}"), "root".to_owned()]);
}

#[test]
fn of_fifty_users_of_one_name_one_is_created() {
    let server = Portico::start();
    let admin = administrator(&server);
    let calls: Vec<_> = (0..MANY)
        .map(|number| {
            // The same name in different letters.
            let name = if number % 2 == 0 { "alice" } else { " ALICE " };
            let input = json!({"username": name, "password": PASSWORD, "groupIds": []});
            (Some(admin.token.as_str()), input)
        })
        .collect();
    let answers = race(&[server.address()], "user.create", &calls);
    assert_eq!(
        count_statuses(&answers),
        BTreeMap::from([(200, 1), (409, MANY - 1)])
    );
    assert_eq!(admin.user_names(), ["alice", "root"]);
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

#[test]
fn of_administrators_who_all_leave_at_once_one_stays() {
    let server = Portico::start();
    let admin = administrator(&server);
    let mut leaving = vec![(admin.token.clone(), json!({"userId": admin.user_id}))];
    for number in 0..3 {
        let user = admin.user_with(&format!("admin-{number}"), "admin");
        leaving.push((user.key.key.clone(), json!({"userId": user.id})));
    }
    let calls: Vec<_> = leaving
        .iter()
        .map(|(key, input)| (Some(key.as_str()), input.clone()))
        .collect();
    let answers = race(&[server.address()], "user.delete", &calls);
    assert_eq!(count_statuses(&answers), BTreeMap::from([(200, 3), (409, 1)]));
    let stayed = answers
        .iter()
        .position(|answer| answer.status == 409)
        .expect("one who stayed");
    assert_eq!(server.key(&leaving[stayed].0).user_names().len(), 1);
}
