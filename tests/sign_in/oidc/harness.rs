//! The issuer as a child process, and a service that knows it.

use std::{
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
};

use portico_tests::{Builder, Client, Portico, Session, administrator, node};
use serde_json::{Value, json};

use super::browser::{Browser, Page};

/// A certified issuer that does what a test says.
pub struct Issuer {
    process: Child,
    /// What it writes goes somewhere as long as it lives.
    _output: Lines<BufReader<ChildStdout>>,
    pub url: String,
}

impl Issuer {
    /// Starts it. It knows only ada.
    #[track_caller]
    pub fn start() -> Self {
        let mut process = Command::new("node")
            .arg("issuer.mjs")
            .current_dir(node::client("oidc"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Node");
        // Its standard error says that it is meant for tests.
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let url = lines.next().expect("a line").expect("its URL");
        let issuer = Self {
            process,
            _output: lines,
            url,
        };
        issuer.knows(json!({"1": ada()}));
        issuer
    }

    /// Says who there is, by subject.
    pub fn knows(&self, people: Value) {
        self.say(json!({ "people": people }));
    }

    /// Says how it behaves from now on.
    pub fn behaves(&self, behaviour: Value) {
        self.say(json!({ "behaviour": behaviour }));
    }

    /// Gives it a new key, and takes the old one away.
    pub fn rotate(&self) {
        self.say(json!({"rotate": true}));
    }

    /// How often this was asked for.
    pub fn asked(&self, path: &str) -> u64 {
        self.say(json!({}))[path].as_u64().unwrap_or_default()
    }

    /// Counts from zero again.
    pub fn forget(&self) {
        self.say(json!({"forget": true}));
    }

    fn say(&self, what: Value) -> Value {
        let answer = Browser::new().post(&format!("{}/control", self.url), &what.to_string());
        answer.json()
    }

    /// Ends it.
    pub fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the issuer says of ada.
pub fn ada() -> Value {
    json!({
        "preferred_username": "ada",
        "email": "ada@example.com",
        "email_verified": true,
        "picture": "https://example.com/ada.png",
    })
}

/// A service that knows the issuer, with more settings.
pub fn settings(issuer: &Issuer, more: &[(&str, &str)]) -> Builder {
    let mut builder = Builder::default()
        .environment("PORTICO_OIDC_ISSUER", &issuer.url)
        .environment("PORTICO_OIDC_CLIENT_ID", "portico")
        .environment("PORTICO_OIDC_CLIENT_SECRET", "a secret of the client")
        // The first answers of Node on a busy machine.
        .environment("PORTICO_OIDC_TIME_LIMIT", "30");
    for (name, value) in more {
        builder = builder.environment(name, *value);
    }
    builder
}

/// The issuer, a service that knows it, and its administrator.
#[track_caller]
pub fn start(more: &[(&str, &str)]) -> (Issuer, Portico, Session) {
    let issuer = Issuer::start();
    let server = settings(&issuer, more).start();
    server.wait_for_log(0, "OpenID Connect: the issuer answers");
    issuer.forget();
    let administrator = administrator(&server);
    (issuer, server, administrator)
}

/// Where a browser begins.
pub fn start_url(server: &Portico) -> String {
    format!("http://{}/api/auth/oidc/start", server.address())
}

/// Signs in as this subject, all the way, in a new browser; gives the page that the
/// service answers in the end.
#[track_caller]
pub fn sign_in(server: &Portico, subject: &str) -> (Browser, Page) {
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(server), subject);
    let page = browser.get(&callback);
    (browser, page)
}

/// The same for a sign-in that must succeed; gives the token of the session.
#[track_caller]
pub fn signed_in(server: &Portico, subject: &str) -> String {
    let (browser, page) = sign_in(server, subject);
    page.assert_redirect("/");
    browser.cookie("portico_session").expect("a session")
}

/// Who has this token.
#[track_caller]
pub fn user(server: &Portico, token: &str) -> Value {
    server
        .key(token)
        .get("/api/auth/session")
        .assert_status(200)
        .json()["user"]
        .clone()
}

/// The names of all users.
#[track_caller]
pub fn users(administrator: &Session) -> Vec<String> {
    let users = administrator.get("/api/users").json();
    let users = users.as_array().expect("users").iter();
    users
        .map(|user| user["name"].as_str().expect("a name").to_owned())
        .collect()
}
