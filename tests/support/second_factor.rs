//! Codes of second factors, as an app shows them.

use portico_model::Timestamp;
use serde_json::{Value, json};
use totp_rs::{Builder, Secret};

use crate::{Answer, Client};

/// How long a code is shown, in milliseconds.
pub const STEP: Timestamp = 30_000;

/// The code that an app with this secret shows at this moment.
#[track_caller]
pub fn code_at(secret: &str, now: Timestamp) -> String {
    let secret = Secret::try_from_base32(secret).expect("Base32");
    let app = Builder::new().with_secret(secret).build().expect("a secret");
    app.generate(now / 1000).to_string()
}

/// A code that the app does not show around this moment.
pub fn wrong_code(secret: &str, now: Timestamp) -> String {
    let near: Vec<_> = (now.saturating_sub(4 * STEP)..now + 4 * STEP)
        .step_by(STEP as usize)
        .map(|moment| code_at(secret, moment))
        .collect();
    let mut codes = (0..).map(|number| format!("{number:06}"));
    codes.find(|code| !near.contains(code)).expect("a code")
}

/// Sets up codes of an app for this user at this moment. Returns the secret and the recovery codes.
#[track_caller]
pub fn set_up(client: &dyn Client, now: Timestamp) -> (String, Vec<String>) {
    let made = client.query("secondFactor.newSecret", &Value::Null).data();
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    let input = json!({"secret": secret, "code": code_at(&secret, now)});
    let added = client.mutate("secondFactor.addTotp", &input).data();
    (secret, texts(&added["recoveryCodes"]))
}

/// Signs in with a code as well as the password.
pub fn sign_in_with(client: &dyn Client, name: &str, password: &str, code: &str) -> Answer {
    let body = json!({"username": name, "password": password, "code": code});
    client.post("/api/auth/sign-in", &body)
}

/// The ticket in the refusal of a sign-in whose password was right, and the kinds of factors there.
#[track_caller]
pub fn ticket_of(answer: &Answer) -> (String, Vec<String>) {
    answer.assert_refused(401, "UNAUTHORIZED");
    let data = &answer.error()["data"];
    let ticket = data["ticket"].as_str();
    let ticket = ticket.unwrap_or_else(|| panic!("no ticket: {answer}")).to_owned();
    (ticket, texts(&data["secondFactor"]))
}

fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().expect("a list").iter();
    texts
        .map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}
