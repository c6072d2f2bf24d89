//! Races across three hosts, and what is taken away at one of them.

use std::collections::BTreeMap;

use portico_tests::postgresql::Postgresql;
use portico_tests::{
    Answer, Client, Fixtures, Key, PASSWORD, Portico, administrator_of, count_statuses, race,
    rounds_from_environment,
};
use serde_json::json;

use super::site::Site;
use super::trial::ROUNDS;

const MANY: usize = 50;

fn start(server: &Postgresql) -> Site {
    Site::start(&server.create_database("home"))
}

fn addresses(site: &Site) -> Vec<String> {
    site.hosts.iter().map(Portico::address).collect()
}

/// The number of the one call that succeeded; all others were refused with this status and code.
#[track_caller]
fn winner(answers: &[Answer], status: u16, code: &str) -> usize {
    let counts = count_statuses(answers);
    assert_eq!(counts, BTreeMap::from([(200, 1), (status, MANY - 1)]));
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.assert_refused(status, code);
    }
    answers
        .iter()
        .position(|answer| answer.status == 200)
        .expect("a winner")
}

#[test]
#[ignore = "make test-all"]
fn of_fifty_callers_across_hosts_one_gets_what_there_is_once() {
    let server = Postgresql::start_with(&["-c", "max_connections=100"]);
    for _ in 0..rounds_from_environment(ROUNDS) {
        let site = start(&server);
        let account = |name: String| json!({"username": name, "password": PASSWORD, "groupIds": []});
        let first_users = |number| (None, account(format!("root-{number}")));
        let calls: Vec<_> = (0..MANY).map(first_users).collect();
        let answers = race(&addresses(&site), "user.initUser", &calls);
        let root = format!("root-{}", winner(&answers, 403, "FORBIDDEN"));
        for host in &site.hosts {
            assert_eq!(host.sign_in(&root, PASSWORD).user_names(), [&root[..]]);
        }

        // One invite.
        let admin = site.anonymous().sign_in(&root, PASSWORD);
        let invite = admin.invite();
        let registrations = |number| {
            let input = json!({
                "username": format!("guest-{number}"), "password": PASSWORD, "email": "g@example.com",
                "inviteId": invite.id, "token": invite.token,
            });
            (None, input)
        };
        let calls: Vec<_> = (0..MANY).map(registrations).collect();
        let answers = race(&addresses(&site), "user.register", &calls);
        let guest = format!("guest-{}", winner(&answers, 403, "FORBIDDEN"));

        // One name, in different letters.
        let names = |number| if number % 2 == 0 { "alice" } else { " ALICE " };
        let users = |number| (Some(admin.token.as_str()), account(names(number).to_owned()));
        let calls: Vec<_> = (0..MANY).map(users).collect();
        let answers = race(&addresses(&site), "user.create", &calls);
        winner(&answers, 409, "CONFLICT");

        assert_eq!(admin.user_names(), ["alice", &guest[..], &root[..]]);
        let rows = "
            SELECT string_agg(procedure, ' ' ORDER BY number) FROM audit
            WHERE outcome = 'OK' AND procedure LIKE 'user.%'";
        let expected = "user.initUser user.register user.create";
        assert_eq!(server.run("home", rows), expected);
        drop(site);
        server.run("postgres", "DROP DATABASE home WITH (FORCE)");
    }
}

/// Each of the hosts, and the two others.
fn each_and_others(site: &Site) -> impl Iterator<Item = (&Portico, [&Portico; 2])> {
    let [first, second, third] = &site.hosts;
    [
        (first, [second, third]),
        (second, [third, first]),
        (third, [first, second]),
    ]
    .into_iter()
}

/// Who sends requests with these credentials to another host.
fn at(host: &Portico, credential: &str) -> Key {
    host.key(credential)
}

fn create_app(key: &Key) -> Answer {
    key.mutate("app.create", &json!({"name": "App", "iconUrl": "/i.svg"}))
}

#[test]
#[ignore = "make test-all"]
fn what_is_taken_away_at_one_host_is_gone_at_the_others_at_the_next_request() {
    let server = Postgresql::start_with(&["-c", "max_connections=100"]);
    let site = start(&server);
    let admin = administrator_of(&site.anonymous());
    for (round, (host, others)) in each_and_others(&site).enumerate() {
        let here = at(host, &admin.token);

        // A key that is revoked.
        let user = admin.user_with(&format!("ann-{round}"), "app-create");
        let credential = &user.key.key;
        let id = credential.split('.').next().expect("the id of the key");
        for other in others {
            create_app(&at(other, credential)).assert_status(200);
        }
        here.mutate("apiKeys.delete", &json!({"apiKeyId": id}))
            .assert_status(200);
        for other in others {
            create_app(&at(other, credential)).assert_refused(401, "UNAUTHORIZED");
        }

        // A user who is disabled, and enabled again.
        let user = admin.user_with(&format!("bob-{round}"), "app-create");
        let credential = &user.key.key;
        for other in others {
            create_app(&at(other, credential)).assert_status(200);
        }
        let set_disabled = |disabled: bool| {
            let input = json!({"userId": user.id, "disabled": disabled});
            here.mutate("user.setDisabled", &input).assert_status(200);
        };
        set_disabled(true);
        for other in others {
            create_app(&at(other, credential)).assert_refused(401, "UNAUTHORIZED");
        }

        // A permission that is lost, and given again.
        let group = admin.group(&format!("group-{round}"), &["app-create"]);
        let user = admin.user_in(&format!("carl-{round}"), &[&group]);
        let credential = &user.key.key;
        for (permissions, status) in [(json!([]), 403), (json!(["app-create"]), 200), (json!([]), 403)] {
            let input = json!({"groupId": group, "permissions": permissions});
            here.mutate("group.savePermissions", &input).assert_status(200);
            for other in others {
                create_app(&at(other, credential)).assert_status(status);
            }
        }

        // A session that is ended.
        let session = host.sign_in("root", PASSWORD);
        for other in others {
            create_app(&at(other, &session.token)).assert_status(200);
        }
        session.post("/api/auth/sign-out", &json!({})).assert_status(200);
        for other in others {
            create_app(&at(other, &session.token)).assert_refused(401, "UNAUTHORIZED");
        }
    }
}
