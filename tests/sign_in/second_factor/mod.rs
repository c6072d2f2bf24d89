//! The second factor: codes of an app, recovery codes, tickets, and who must have one.

mod codes;
mod directory;
mod middle;
mod policy;
mod profile;

use portico_model::time::Clock as _;
use portico_tests::second_factor::{code_at, set_up, sign_in_with, ticket_of};
use portico_tests::{Answer, Client, Fixtures, PASSWORD, Session, User, administrator_of};
use serde_json::json;

use crate::credentials::harness::Host;

/// A service with an administrator, and with alice, who has codes of an app.
struct Bench {
    host: Host,
    root: Session,
    alice: User,
    secret: String,
    recovery: Vec<String>,
}

impl Bench {
    fn new() -> Self {
        Self::on(Host::start())
    }

    fn on(host: Host) -> Self {
        let root = administrator_of(&host.client);
        let alice = root.user("alice");
        let (secret, recovery) = set_up(&alice, host.clock.now());
        Self {
            host,
            root,
            alice,
            secret,
            recovery,
        }
    }

    /// The code that alice's app shows after this many steps from now.
    fn code_after(&self, steps: i64) -> String {
        let now = self.host.clock.now().cast_signed() + steps * 30_000;
        code_at(&self.secret, now.cast_unsigned())
    }

    /// Lets the app show another code.
    fn wait(&self) {
        self.host.clock.advance(30_000);
    }

    fn sign_in(&self, code: &str) -> Answer {
        sign_in_with(&self.host.client, "alice", PASSWORD, code)
    }

    /// Signs in with the password alone.
    fn begin(&self) -> Answer {
        let body = json!({"username": "alice", "password": PASSWORD});
        self.host.client.post("/api/auth/sign-in", &body)
    }

    fn ticket(&self) -> String {
        ticket_of(&self.begin()).0
    }

    fn go_on(&self, ticket: &str, code: &str) -> Answer {
        let body = json!({"ticket": ticket, "code": code});
        self.host.client.post("/api/auth/second-factor", &body)
    }
}
