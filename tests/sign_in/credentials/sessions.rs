//! How long a session lasts, what ends it, and what its user sees of it.

use std::collections::BTreeSet;

use portico_model::{Timestamp, time::LATEST};
use portico_tests::clock::{DAY, MINUTE, NEW_YEAR, SECOND};
use portico_tests::{
    Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Session, administrator_of, keys, raw, wait_until,
};
use serde_json::{Value, json};

use super::harness::Host;

pub fn is_open(session: &Session) -> bool {
    // Not by the session itself: that would be a use of it.
    session.get("/api/auth/session").status == 200
}

fn date(timestamp: Timestamp) -> Value {
    json!(portico_model::time::format(timestamp))
}

/// Waits until storage has noted that the session was used.
#[track_caller]
fn wait_until_noted(host: &Host, session: &Session, now: Timestamp) {
    wait_until(&format!("a note of the use at {now}"), || {
        let sessions =
            host.store(async |transaction| transaction.list_sessions(&session.user_id).await.unwrap());
        sessions.iter().any(|session| session.last_used_at == now)
    });
}

#[test]
fn a_session_ends_when_it_is_not_used_for_a_week() {
    let host = Host::start();
    let session = administrator_of(&host.client);
    let other = host.client.sign_in("root", PASSWORD);
    host.clock.advance(7 * DAY - 1);
    assert!(is_open(&session));
    wait_until_noted(&host, &session, NEW_YEAR + 7 * DAY - 1);
    host.clock.advance(1);
    assert!(!is_open(&other), "a week without a use");
    assert!(is_open(&session));
    other
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    other
        .bearer()
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    host.clock.advance(7 * DAY - 2);
    assert!(is_open(&session), "its use moved its end");
}

#[test]
fn a_session_ends_after_thirty_days_however_much_it_is_used() {
    let host = Host::start();
    let session = administrator_of(&host.client);
    for day in 1..30 {
        host.clock.set(NEW_YEAR + day * DAY);
        assert!(is_open(&session), "on day {day}");
        wait_until_noted(&host, &session, NEW_YEAR + day * DAY);
    }
    host.clock.set(NEW_YEAR + 30 * DAY - 1);
    let shown = session.get("/api/auth/session").json();
    assert_eq!(shown["expiresAt"], date(NEW_YEAR + 30 * DAY));
    host.clock.advance(1);
    assert!(!is_open(&session));
}

#[test]
fn the_use_of_a_session_is_noted_once_a_minute() {
    let host = Host::start();
    let session = administrator_of(&host.client);
    let last_used = || {
        let sessions = session.query("session.getAll", &NO_INPUT).data();
        sessions[0]["lastUsedAt"].clone()
    };
    host.clock.advance(MINUTE - 1);
    for _ in 0..20 {
        assert_eq!(last_used(), date(NEW_YEAR));
    }
    host.clock.advance(1);
    last_used();
    wait_until_noted(&host, &session, NEW_YEAR + MINUTE);
    host.clock.advance(MINUTE - 1);
    for _ in 0..20 {
        assert_eq!(last_used(), date(NEW_YEAR + MINUTE));
    }
}

#[test]
fn everyone_sees_and_ends_their_own_sessions() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    let alice = root.user("alice");
    let first = host.client.sign_in("alice", PASSWORD);
    host.clock.advance(SECOND);
    let second = host.client.sign_in("alice", PASSWORD);
    let all = first.query("session.getAll", &NO_INPUT).data();
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let fields = [
        "id",
        "createdAt",
        "lastUsedAt",
        "expiresAt",
        "current",
        "browser",
        "address",
    ];
    let fields = BTreeSet::from(fields);
    assert_eq!(keys(&all[0]), fields);
    assert_eq!(
        (&all[0]["current"], &all[1]["current"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(all[1]["createdAt"], date(NEW_YEAR + SECOND));
    assert_eq!(all[1]["expiresAt"], date(NEW_YEAR + SECOND + 7 * DAY));
    // A key is not a session, but sees them all the same.
    let by_key = alice.query("session.getAll", &NO_INPUT).data();
    assert_eq!(by_key[0]["current"], false);
    assert_eq!(by_key[0]["id"], all[0]["id"]);

    // The sessions of other users cannot be ended, not even by an administrator, who does not see them either.
    let delete = |client: &dyn Client, id: &Value| client.mutate("session.delete", &json!({"id": id}));
    delete(&root, &all[0]["id"]).assert_refused(404, "NOT_FOUND");
    delete(&first, &json!(MISSING)).assert_refused(404, "NOT_FOUND");
    let of_root = root.query("session.getAll", &NO_INPUT).data();
    assert_eq!(of_root.as_array().map(Vec::len), Some(1));
    delete(&first, &of_root[0]["id"]).assert_refused(404, "NOT_FOUND");
    delete(&host.client, &all[0]["id"]).assert_refused(401, "UNAUTHORIZED");

    delete(&first, &all[1]["id"]).assert_done();
    assert!(is_open(&first) && !is_open(&second) && is_open(&root));
    delete(&alice, &all[0]["id"]).assert_done();
    assert!(!is_open(&first));
    let secrets = [first.token, second.token];
    assert!(
        secrets
            .iter()
            .all(|token| token.len() > 20 && !all.to_string().contains(token.as_str()))
    );
}

#[test]
fn each_sign_in_gives_a_new_token_and_none_that_was_sent() {
    let host = Host::start();
    let first = administrator_of(&host.client);
    let body = json!({"username": "root", "password": PASSWORD});
    // In the same browser: the session that it had is over.
    let answer = first.post("/api/auth/sign-in", &body);
    let token = answer.json()["token"].as_str().expect("a token").to_owned();
    assert_ne!(token, first.token);
    assert!(
        !answer
            .header("set-cookie")
            .expect("a cookie")
            .contains(&first.token)
    );
    assert!(!is_open(&first));
    host.client
        .key(&token)
        .get("/api/auth/session")
        .assert_status(200);
    // A token that an attacker planted is not taken over.
    let planted = "portico_session_0000000000000000000000000000000000000000";
    let cookie = format!("portico_session={planted}");
    let headers = [("cookie", cookie.as_str()), ("content-type", "application/json")];
    let body = body.to_string();
    let answer = host
        .client
        .send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()));
    assert!(!answer.assert_status(200).text().contains(planted));
    // A failed one leaves the session that was shown.
    let session = host.client.sign_in("root", PASSWORD);
    session
        .post(
            "/api/auth/sign-in",
            &json!({"username": "root", "password": "wrong"}),
        )
        .assert_status(401);
    assert!(is_open(&session));
    // So does the sign-in of another user with it.
    session.user("alice");
    session
        .post(
            "/api/auth/sign-in",
            &json!({"username": "alice", "password": PASSWORD}),
        )
        .assert_status(200);
    assert!(is_open(&session));
}

#[test]
fn a_new_password_ends_all_other_sessions_and_a_deleted_user_has_none() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    let alice = root.user("alice");
    let sessions: Vec<_> = (0..3).map(|_| host.client.sign_in("alice", PASSWORD)).collect();
    let change = |previous: &str, password: &str| json!({"userId": alice.id, "previousPassword": previous, "password": password});
    let answer = sessions[1].mutate("user.changePassword", &change(PASSWORD, "another horse"));
    let stays = sessions[1].renewed(answer.assert_done()).expect("a new cookie");
    assert!(is_open(&stays) && !sessions.iter().any(is_open));
    // By a key: no session of the user made that call.
    alice
        .mutate("user.changePassword", &change("another horse", "a third horse"))
        .assert_done();
    assert!(!is_open(&stays));
    // The key that made the call stays good until an administrator sets the password.
    alice.query("app.all", &NO_INPUT).assert_status(200);
    let session = host.client.sign_in("alice", "a third horse");
    let reset = json!({"userId": alice.id, "password": PASSWORD});
    let answer = root.mutate("user.changePassword", &reset);
    assert!(answer.assert_done().header("set-cookie").is_none());
    assert!(!is_open(&session) && is_open(&root));
    alice
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");

    let session = host.client.sign_in("alice", PASSWORD);
    let key = root.key_of(&alice.id);
    root.mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();
    assert!(!is_open(&session));
    key.query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    let left = host.store(async |transaction| transaction.list_sessions(&session.user_id).await.unwrap());
    assert!(left.is_empty());
}

#[test]
fn expired_sessions_are_removed() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    let kept = || {
        let id = root.user_id.clone();
        host.store(async |transaction| transaction.list_sessions(&id).await.unwrap().len())
    };
    for _ in 0..3 {
        host.client.sign_in("root", PASSWORD);
    }
    assert_eq!(kept(), 4);
    host.clock.advance(7 * DAY);
    assert_eq!(kept(), 4, "until the next sign-in");
    let session = host.client.sign_in("root", PASSWORD);
    assert_eq!(kept(), 1);
    // Also if no user signs in and a session is only used.
    host.clock.advance(5 * DAY);
    host.client.sign_in("root", PASSWORD);
    host.clock.advance(DAY);
    assert!(is_open(&session));
    wait_until_noted(&host, &session, NEW_YEAR + 13 * DAY);
    host.clock.advance(6 * DAY);
    assert!(is_open(&session));
    wait_until_noted(&host, &session, NEW_YEAR + 19 * DAY);
    assert_eq!(kept(), 1);
}

#[test]
fn a_permission_that_is_taken_away_is_gone_at_the_next_request() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    let alice = root.user_with("alice", "app-create");
    let session = host.client.sign_in("alice", PASSWORD);
    let batch = "/api/trpc/app.create,app.create,app.create?batch=1";
    let app = json!({"name": "An app", "iconUrl": "/icon.svg"});
    let apps = json!({"0": app, "1": app, "2": app});

    // One connection stays open from before to after, for a session and for a key.
    let address = host.client.endpoint().address();
    let clients: [&dyn Client; 2] = [&session, &alice];
    let mut connections: Vec<_> = clients.iter().map(|_| raw::connect(&address)).collect();
    let mut ask = |path: &str, body: &Value| -> Vec<u16> {
        let asked = connections.iter_mut().zip(clients).map(|(connection, client)| {
            let credentials = client.credentials();
            raw::ask(connection, "POST", path, &credentials, body)
        });
        asked.collect()
    };
    assert_eq!(ask("/api/trpc/app.create", &app), [200, 200]);
    assert_eq!(ask(batch, &apps), [200, 200]);
    let groups = root.query("group.getAll", &NO_INPUT).data();
    let mut groups = groups.as_array().expect("a list").iter();
    let group = groups
        .find(|group| group["name"] == "alice-group")
        .expect("the group");
    let member = json!({"groupId": group["id"], "userId": alice.id});
    root.mutate("group.removeMember", &member).assert_done();
    assert_eq!(ask("/api/trpc/app.create", &app), [403, 403]);
    assert_eq!(ask(batch, &apps), [403, 403]);

    root.mutate("group.addMember", &member).assert_done();
    assert_eq!(ask(batch, &apps), [200, 200]);
    root.mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();
    assert_eq!(ask("/api/trpc/app.create", &app), [401, 401]);
    assert_eq!(ask(batch, &apps), [401, 401]);
    assert_eq!(root.app_names().len(), 2 * (1 + 3 + 3));
}

#[test]
fn near_the_end_of_the_year_9999_everything_still_works() {
    for before in [DAY, MINUTE] {
        let host = Host::throttled();
        let admin = administrator_of(&host.client);
        host.clock.set(LATEST - before);
        host.throttle_clock.set(LATEST - before);
        let refused = host.sign_in_from("192.0.2.1", "root", "not the password");
        refused.assert_refused(401, "UNAUTHORIZED");
        host.sign_in_from("192.0.2.1", "root", PASSWORD)
            .assert_refused(429, "TOO_MANY_REQUESTS");
        host.throttle_clock.advance(SECOND);
        let signed_in = host.sign_in_from("192.0.2.2", "root", PASSWORD);
        // No session ends later than a date can say.
        assert_eq!(signed_in.assert_status(200).json()["expiresAt"], date(LATEST));
        let session = host
            .client
            .key(signed_in.json()["token"].as_str().expect("a token"));
        for procedure in [
            "session.getAll",
            "apiKeys.getOwn",
            "invite.getAll",
            "state.export",
        ] {
            session.query(procedure, &NO_INPUT).assert_status(200);
        }
        session
            .query("audit.getPaginated", &json!({"page": 1, "pageSize": 10}))
            .assert_status(200);
        session
            .mutate("apiKeys.createOwn", &json!({"name": "Mine"}))
            .assert_status(200);
        drop(admin);
    }
}
