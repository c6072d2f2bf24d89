//! The clients of Homarr against `[compat] homarr = true`: what each of them sends, in its own order, and
//! what it reads from the answers. Files and lines are the clients' own.

mod auth;
mod boards;
mod calls;
mod command_line;
mod hatlabs;
mod kubernetes;
mod mcp;
mod pings;
mod terraform;
mod users;

use portico_tests::{Answer, Builder, Client, Fixtures, Key, Portico, Session, administrator, escape};
use serde_json::{Value, json};

/// A service for clients of Homarr.
fn homarr() -> Portico {
    Builder::default().argument("--compat-homarr").start()
}

/// The same with an administrator: as themselves, and as the owner of a key that is sent in the header `ApiKey`.
fn with_administrator() -> (Portico, Session, Key) {
    let server = homarr();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).in_api_key_header();
    (server, admin, key)
}

/// What superjson's clients read of an answer: `result.data.json`.
#[track_caller]
fn read(answer: &Answer) -> Value {
    let mut body = answer.assert_status(200).json();
    let data = body["result"]["data"].take();
    assert!(data.get("json").is_some(), "not wrapped: {answer}");
    data["json"].clone()
}

/// Calls as Homarr's clients do: without `input` if there is no input, otherwise with `{"json": …}`.
#[track_caller]
fn ask(client: &dyn Client, procedure: &str, input: &Value) -> Answer {
    match input {
        Value::Null => client.get(&format!("/api/trpc/{procedure}")),
        input => {
            let input = json!({ "json": input }).to_string();
            client.get(&format!("/api/trpc/{procedure}?input={}", escape(&input)))
        }
    }
}

/// Changes something as Homarr's clients do: with `{"json": …}`.
#[track_caller]
fn tell(client: &dyn Client, procedure: &str, input: &Value) -> Answer {
    client.post(&format!("/api/trpc/{procedure}"), &json!({ "json": input }))
}
