//! Passkeys over HTTP, with a software authenticator. What is in a ceremony is tested in `host/passkeys`; here, who may use
//! which passkey where.

mod attacks;
mod own;
mod signing_in;

use portico_tests::{
    Anonymous, Answer, Client, Fixtures, NO_INPUT, PASSWORD, Session, administrator_of,
    authenticator::Authenticator,
};
use serde_json::{Value, json};

use super::harness::Host;

const ORIGIN: &str = "http://localhost:7575";

/// A host with passkeys, its administrator, and ada with a session.
fn start() -> (Host, Session, Session) {
    let host = Host::with_passkeys(ORIGIN);
    let root = administrator_of(&host.client);
    root.user("ada");
    let ada = host.client.sign_in("ada", PASSWORD);
    (host, root, ada)
}

/// Adds a passkey, if it is accepted.
fn try_add(session: &Session, authenticator: &mut Authenticator) -> Answer {
    let begun = session.mutate("secondFactor.beginPasskey", &NO_INPUT).data();
    let credential = authenticator.create(&begun["publicKey"]);
    let input = json!({ "name": "Phone", "credential": credential });
    session.mutate("secondFactor.addPasskey", &input)
}

/// Adds a passkey and returns its authenticator.
fn add(session: &Session) -> Authenticator {
    let mut authenticator = Authenticator::new(ORIGIN);
    try_add(session, &mut authenticator).assert_status(200);
    authenticator
}

/// A browser that signs in with a passkey alone: what it was asked for, and its cookie.
struct Begun {
    options: Value,
    cookie: String,
}

fn begin(client: &Anonymous) -> Begun {
    let answer = client.post("/api/auth/passkeys/options", &json!({}));
    answer.assert_status(200);
    let cookie = answer.header("set-cookie").expect("a cookie");
    Begun {
        options: answer.json()["publicKey"].clone(),
        cookie: cookie.split(';').next().unwrap_or_default().to_owned(),
    }
}

/// Sends a passkey that was used.
fn send(client: &Anonymous, cookie: &str, credential: &Value) -> Answer {
    let body = json!({ "credential": credential }).to_string();
    let headers = [("content-type", "application/json"), ("cookie", cookie)];
    client.send(
        "POST",
        "/api/auth/passkeys/sign-in",
        &headers,
        Some(body.as_bytes()),
    )
}

/// Signs in with a passkey alone.
fn sign_in(client: &Anonymous, authenticator: &mut Authenticator) -> Answer {
    let begun = begin(client);
    send(client, &begun.cookie, &authenticator.get(&begun.options))
}

/// The ticket that a right password gives.
fn ticket(client: &Anonymous, name: &str) -> String {
    let answer = client.post(
        "/api/auth/sign-in",
        &json!({ "username": name, "password": PASSWORD }),
    );
    answer.assert_refused(401, "UNAUTHORIZED");
    let ticket = answer.error()["data"]["ticket"].clone();
    ticket.as_str().expect("a ticket").to_owned()
}

/// What a browser is asked for after a right password.
fn options_after_password(client: &Anonymous, ticket: &str) -> Value {
    let answer = client.post(
        "/api/auth/second-factor/passkey-options",
        &json!({ "ticket": ticket }),
    );
    answer.assert_status(200);
    answer.json()["publicKey"].clone()
}

/// Completes a sign-in whose password was right.
fn complete(client: &Anonymous, ticket: &str, credential: &Value) -> Answer {
    let body = json!({ "ticket": ticket, "credential": credential });
    client.post("/api/auth/second-factor/passkey", &body)
}
