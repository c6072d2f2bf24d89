//! API keys at the edges of their time.

use portico_tests::clock::{MINUTE, NEW_YEAR, SECOND};
use portico_tests::{Client, Fixtures, NO_INPUT, administrator_of, wait_until};
use serde_json::{Value, json};

use super::harness::Host;

#[test]
fn a_key_opens_until_the_moment_at_which_it_expires() {
    let host = Host::start();
    let admin = administrator_of(&host.client);
    let expires_at = portico_model::time::format(NEW_YEAR + MINUTE);
    let input = json!({"name": "for a minute", "expiresAt": expires_at});
    let key = host.client.key(&admin.make("apiKeys.create", &input, "apiKey"));
    host.clock.advance(MINUTE - 1);
    key.query("app.all", &NO_INPUT).assert_status(200);
    key.in_api_key_header()
        .query("app.all", &NO_INPUT)
        .assert_status(200);
    assert_eq!(
        key.get("/api/auth/session").json()["expiresAt"],
        json!(expires_at)
    );
    host.clock.advance(1);
    key.query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    key.in_api_key_header()
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    key.get("/api/auth/session").assert_refused(401, "UNAUTHORIZED");
    let listed = admin.query("apiKeys.getAll", &NO_INPUT).data();
    assert_eq!(listed[0]["name"], "for a minute", "it is still there to be seen");
    assert_eq!(listed[0]["expiresAt"], json!(expires_at));
}

#[test]
fn the_last_use_of_a_key_is_noted_to_the_minute() {
    let host = Host::start();
    let admin = administrator_of(&host.client);
    let key = admin.key_of(&admin.user_id);
    let last_used = || admin.query("apiKeys.getAll", &NO_INPUT).data()[0]["lastUsedAt"].clone();
    let wait_for = |expected: &Value| {
        wait_until(&format!("a note of the use at {expected}"), || {
            last_used() == *expected
        });
    };
    assert_eq!(last_used(), Value::Null);
    key.query("app.all", &NO_INPUT).assert_status(200);
    wait_for(&json!(portico_model::time::format(NEW_YEAR)));
    host.clock.advance(MINUTE - SECOND);
    for _ in 0..20 {
        key.query("app.all", &NO_INPUT).assert_status(200);
    }
    assert_eq!(last_used(), json!(portico_model::time::format(NEW_YEAR)));
    host.clock.advance(SECOND);
    key.query("app.all", &NO_INPUT).assert_status(200);
    wait_for(&json!(portico_model::time::format(NEW_YEAR + MINUTE)));
}
