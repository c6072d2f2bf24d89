//! Sign-in by a directory (LDAP): against a real slapd, and against servers that are no good.

mod ailing;
mod diagnostics;
mod groups;
mod policy;
mod primary_group;
mod refusals;
mod settings;
mod sign_in;
pub mod slapd;

use portico_tests::{Anonymous, Answer, Builder, Client, Key, Portico, administrator};
use serde_json::{Value, json};

/// Tries to sign in by the directory.
fn sign_in(server: &Portico, username: &str, password: &str) -> Answer {
    sign_in_by(&server.anonymous(), username, password)
}

fn sign_in_by(client: &Anonymous, username: &str, password: &str) -> Answer {
    let body = json!({"username": username, "password": password, "provider": "ldap"});
    client.send_allowing_5xx("POST", "/api/auth/sign-in", Some(&body))
}

/// Signs in by the directory, and gives the session.
#[track_caller]
fn session(server: &Portico, username: &str, password: &str) -> Key {
    let answer = sign_in(server, username, password);
    answer.assert_status(200);
    server.key(answer.json()["token"].as_str().expect("a token"))
}

/// Who has this session.
#[track_caller]
fn who(session: &Key) -> Value {
    let answer = session.get("/api/auth/session");
    answer.assert_status(200);
    answer.json()["user"].clone()
}

/// A service with an administrator, and without a directory that could answer.
fn at(url: &str) -> Builder {
    Builder::default()
        .environment("PORTICO_LDAP_URL", url)
        .environment("PORTICO_LDAP_USERS_BASE", "ou=people,dc=example")
        // Long enough for a busy machine.
        .environment("PORTICO_LDAP_TIME_LIMIT", "30")
}

/// Starts it, and creates its administrator.
#[track_caller]
fn start(builder: Builder) -> Portico {
    let server = builder.start();
    administrator(&server);
    server
}
