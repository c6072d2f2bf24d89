//! What users do with their own keys and sessions, and only with these.

use portico_tests::{Client, Fixtures, NO_INPUT, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

/// The ids in a list of records.
fn ids(records: &Value) -> Vec<&str> {
    let records = records.as_array().expect("a list").iter();
    records
        .map(|record| record["id"].as_str().expect("an id"))
        .collect()
}

#[test]
fn users_make_list_and_end_keys_of_their_own_and_see_no_others() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (alice, bob) = (admin.user("alice"), admin.user("bob"));
    let session = server.sign_in("alice", PASSWORD);
    let created = session.output_of("apiKeys.createOwn", &json!({"name": "laptop"}));
    let key = server.key(created["apiKey"].as_str().expect("a key"));
    assert_eq!(key.profile(&alice.id)["name"], "alice");

    let own = session.query("apiKeys.getOwn", &NO_INPUT).data();
    // One came from the fixture.
    assert_eq!(own.as_array().map(Vec::len), Some(2));
    let laptop = own.as_array().expect("a list").iter();
    let laptop: Vec<_> = laptop.filter(|key| key["id"] == created["id"]).collect();
    assert_eq!(
        (&laptop[0]["name"], &laptop[0]["userId"]),
        (&json!("laptop"), &json!(alice.id))
    );
    let of_bob = bob.query("apiKeys.getOwn", &NO_INPUT).data();
    assert!(!ids(&of_bob).contains(&created["id"].as_str().expect("an id")));

    let which = json!({"apiKeyId": created["id"]});
    bob.mutate("apiKeys.deleteOwn", &which)
        .assert_refused(404, "NOT_FOUND");
    // Not even an administrator, by this procedure.
    admin
        .mutate("apiKeys.deleteOwn", &which)
        .assert_refused(404, "NOT_FOUND");
    key.query("app.all", &NO_INPUT).assert_status(200);
    session.mutate("apiKeys.deleteOwn", &which).assert_done();
    key.query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    session
        .mutate("apiKeys.createOwn", &json!({"name": ""}))
        .assert_bad_field("name");
    // The user is never chosen.
    session
        .mutate("apiKeys.createOwn", &json!({"userId": bob.id, "name": "a"}))
        .assert_bad_field("userId");
    let listed = bob.query("apiKeys.getOwn", &NO_INPUT).data();
    assert_eq!(ids(&listed).len(), 1);
}

#[test]
fn a_misspelt_limit_of_a_key_is_refused_and_makes_no_key_without_limits() {
    let server = Portico::start();
    let admin = administrator(&server);
    let misspelt = json!({"name": "typo", "readonly": true, "permission": []});
    for answer in [
        admin.mutate("apiKeys.create", &misspelt),
        admin.mutate("apiKeys.createOwn", &misspelt),
        admin.post("/api/apiKeys/own", &misspelt),
    ] {
        answer.assert_bad_field("readonly").assert_bad_field("permission");
    }
    assert_eq!(admin.query("apiKeys.getOwn", &NO_INPUT).data(), json!([]));
}

#[test]
fn a_key_makes_no_key_that_outlives_it() {
    let server = Portico::start();
    let admin = administrator(&server);
    let input = json!({"expiresAt": "2999-01-01T00:00:00.000Z"});
    let ends = admin.output_of("apiKeys.createOwn", &input);
    let key = server.key(ends["apiKey"].as_str().expect("a key"));
    for later in [
        json!({}),
        json!({"expiresAt": "2999-01-01T00:00:00.001Z"}),
        json!({"expiresAt": null}),
    ] {
        key.mutate("apiKeys.createOwn", &later)
            .assert_refused(400, "BAD_REQUEST");
    }
    for earlier in ["2999-01-01T00:00:00.000Z", "2998-12-31T00:00:00.000Z"] {
        key.mutate("apiKeys.createOwn", &json!({"expiresAt": earlier}))
            .assert_status(200);
    }
    // A key without an end makes such keys.
    let endless = admin.output_of("apiKeys.createOwn", &json!({}));
    let endless = server.key(endless["apiKey"].as_str().expect("a key"));
    endless.mutate("apiKeys.createOwn", &json!({})).assert_status(200);
}

#[test]
fn a_session_has_the_browser_and_the_address_at_which_it_began_and_the_log_has_no_browser() {
    let mut server = Portico::start();
    administrator(&server);
    let body = json!({"username": "root", "password": PASSWORD}).to_string();
    let sign_in = |browser: &str| {
        let headers = [("content-type", "application/json"), ("user-agent", browser)];
        let answer = server
            .anonymous()
            .send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()));
        answer.assert_status(200);
    };
    sign_in("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0");
    sign_in("<script>canary-browser</script>");
    sign_in(&"canary-browser ".repeat(200));
    let root = server.sign_in("root", PASSWORD);
    let sessions = root.query("session.getAll", &NO_INPUT).data();
    let sessions = sessions.as_array().unwrap();
    let browsers: Vec<_> = sessions
        .iter()
        .map(|session| session["browser"].clone())
        .collect();
    assert!(browsers.contains(&json!("Firefox on Linux")), "{browsers:?}");
    assert_eq!(sessions.len(), 5);
    for session in sessions {
        assert_eq!(session["address"], "127.0.0.1");
        let browser = session["browser"].as_str().unwrap_or_default();
        assert!(!browser.contains("canary"), "{browser}");
    }
    let ended = server.stop();
    let log = format!("{}{}", ended.stdout, ended.stderr);
    assert!(
        !log.contains("canary-browser") && !log.contains("Firefox"),
        "{log}"
    );
}

#[test]
fn ending_all_other_sessions_leaves_the_present_one_and_those_of_others() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let sessions: Vec<_> = (0..3).map(|_| server.sign_in("alice", PASSWORD)).collect();
    let ended = sessions[1].mutate("session.deleteOthers", &NO_INPUT).data();
    assert_eq!(ended, json!({"deleted": 2}));
    for (number, session) in sessions.iter().enumerate() {
        let answer = session.query("session.getAll", &NO_INPUT);
        match number {
            1 => assert_eq!(ids(&answer.data()).len(), 1),
            _ => {
                answer.assert_refused(401, "UNAUTHORIZED");
            }
        }
    }
    admin.query("app.all", &NO_INPUT).assert_status(200);
    // A key has no session of its own: all of the user's end, and the key stays.
    let ended = alice.mutate("session.deleteOthers", &NO_INPUT).data();
    assert_eq!(ended, json!({"deleted": 1}));
    sessions[1]
        .query("session.getAll", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    alice.query("app.all", &NO_INPUT).assert_status(200);
}
