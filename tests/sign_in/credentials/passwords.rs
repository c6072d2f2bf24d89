//! What a new password ends: tokens, sessions, API keys.

use portico_tests::{Client, Fixtures, NO_INPUT, PASSWORD, administrator_of, decode_stream};
use serde_json::{Value, json};

use super::{harness::Host, sessions::is_open};

#[test]
fn a_new_password_gives_the_cookie_another_token_and_leaves_a_bearer_its_own() {
    let host = Host::start();
    administrator_of(&host.client).user("alice");
    let old = host.client.sign_in("alice", PASSWORD);
    let change = |client: &dyn Client, previous: &str, password: &str| {
        let input = json!({"userId": old.user_id, "previousPassword": previous, "password": password});
        client.mutate("user.changePassword", &input)
    };
    let refused = change(&old, "a wrong horse", "another horse");
    assert!(
        refused
            .assert_refused(403, "FORBIDDEN")
            .header("set-cookie")
            .is_none()
    );
    assert!(is_open(&old));
    let before = old.query("session.getAll", &NO_INPUT).data();

    let answer = change(&old, PASSWORD, "another horse");
    let new = old.renewed(answer.assert_done()).expect("a new cookie");
    assert_ne!(new.token, old.token);
    let cookie = answer.header("set-cookie").expect("a cookie");
    let (_, attributes) = cookie.split_once("; ").expect("attributes");
    assert_eq!(attributes, "Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax");
    // The token that the cookie held is worth nothing, wherever it is.
    old.get("/api/auth/session").assert_refused(401, "UNAUTHORIZED");
    old.bearer()
        .get("/api/auth/session")
        .assert_refused(401, "UNAUTHORIZED");
    // It is the same session.
    assert_eq!(new.query("session.getAll", &NO_INPUT).data(), before);

    // A program that shows the token has no way to get another.
    let bearer = new.bearer();
    let answer = change(&bearer, "another horse", "a third horse");
    assert!(answer.assert_done().header("set-cookie").is_none());
    bearer.get("/api/auth/session").assert_status(200);
}

#[test]
fn a_batch_that_changes_the_password_brings_the_new_cookie_also_in_a_stream() {
    let host = Host::start();
    let mut session = administrator_of(&host.client);
    // What hashes waits for its turn, and then looks again who calls.
    let names = "user.create,user.changePassword,user.create,user.create";
    let path = format!("/api/trpc/{names}?batch=1");
    let account = |name: String| json!({"username": name, "password": PASSWORD, "groupIds": []});
    let mut previous = PASSWORD.to_owned();
    for (round, accept) in ["application/json", "application/jsonl"].into_iter().enumerate() {
        let password = format!("another horse {round}");
        let inputs = json!({
            "0": account(format!("first {round}")),
            "1": {"userId": session.user_id, "previousPassword": previous, "password": password},
            "2": account(format!("second {round}")),
            "3": account(format!("third {round}")),
        });
        let headers = [("content-type", "application/json"), ("trpc-accept", accept)];
        let answer = session.send("POST", &path, &headers, Some(inputs.to_string().as_bytes()));
        answer.assert_status(200);
        let results: Vec<Value> = match round {
            0 => answer.json().as_array().expect("a list").clone(),
            _ => {
                let mut results = decode_stream(&answer.text(), false);
                (0..4)
                    .map(|index| results.remove(&index).expect("a result"))
                    .collect()
            }
        };
        assert!(
            results.iter().all(|result| result.get("result").is_some()),
            "{results:?}"
        );
        let new = session.renewed(&answer).expect("a new cookie");
        assert!(is_open(&new) && !is_open(&session));
        (session, previous) = (new, password);
    }
    // What changes no password is streamed as before, and sets none.
    let headers = [
        ("content-type", "application/json"),
        ("trpc-accept", "application/jsonl"),
    ];
    let path = "/api/trpc/user.changeColorScheme?batch=1";
    let answer = session.send("POST", path, &headers, Some(br#"{"0": {"colorScheme": "dark"}}"#));
    assert!(answer.assert_status(200).header("set-cookie").is_none());
}
