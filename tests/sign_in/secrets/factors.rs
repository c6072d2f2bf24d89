//! Second factors and the gate in an ordinary session: codes of an app, recovery codes, passkeys, tickets and passes.

use portico_model::time::{Clock as _, SystemClock};
use portico_tests::{
    Anonymous, Answer, Client, Key, NO_INPUT, Portico,
    authenticator::Authenticator,
    escape,
    second_factor::{STEP, code_at, sign_in_with, ticket_of},
};
use serde_json::{Value, json};

use super::{
    session::{password, sign_in},
    tape::{Recorded, Tape},
};

/// Where browsers open the service, at least as far as it knows: they make passkeys there, and it has a gate.
pub const PUBLIC_URL: &str = "http://portico.home.localhost";

/// An app behind the gate.
const WIKI: &str = "http://wiki.home.localhost/";

/// Someone who sets up all that there is.
struct Person<'a> {
    tape: &'a Tape,
    anonymous: Recorded<Anonymous>,
    name: &'static str,
    password: String,
}

pub fn live(tape: &Tape, server: &Portico, admin: &Recorded<Key>) {
    let person = Person {
        tape,
        anonymous: tape.on(server.anonymous()),
        name: "frida",
        password: password(tape, 30),
    };
    let user = json!({"username": person.name, "password": person.password, "groupIds": []});
    let id = admin.mutate("user.create", &user).data()["id"].clone();
    let token = sign_in(&person.anonymous, person.name, &person.password);
    let own = tape.on(server.key(&token));
    person.use_codes(&own);
    person.use_passkeys(&own);
    let session = person.set_up_again(server, &own);
    pass_the_gate(tape, server, admin, &session);

    let user = json!({"userId": id});
    admin.query("secondFactor.getOfUser", &user).data();
    let deleted = admin.mutate("secondFactor.deleteOfUser", &user).data();
    assert_eq!(deleted["deleted"], 2);
}

impl Person<'_> {
    /// Codes of an app: set up, used with the password and after it, and removed with a recovery code.
    fn use_codes(&self, own: &Recorded<Key>) {
        let made = own.query("secondFactor.newSecret", &NO_INPUT);
        let secret = self.secret_of(&made.data());
        let now = SystemClock.now();
        let wrong = json!({"secret": secret, "code": "none"});
        own.mutate("secondFactor.addTotp", &wrong)
            .assert_bad_field("code");
        let input = json!({"secret": secret, "code": code_at(&secret, now)});
        let added = own.mutate("secondFactor.addTotp", &input).data();
        let recovery = self.recovery_codes(&added);
        own.query("secondFactor.getOwn", &NO_INPUT).data();

        // The code of this step is used up.
        let next = code_at(&secret, SystemClock.now() + STEP);
        self.signed_in(&sign_in_with(&self.anonymous, self.name, &self.password, &next));
        sign_in_with(&self.anonymous, self.name, &self.password, &next).assert_status(401);
        let ticket = self.ticket();
        let go_on = |code: &str| {
            let body = json!({"ticket": ticket, "code": code});
            self.anonymous.post("/api/auth/second-factor", &body)
        };
        go_on(&secret).assert_status(401);
        self.tape.shown_again(&ticket);
        self.signed_in(&go_on(&recovery[0]));
        go_on(&recovery[0]).assert_status(401);

        let renew = json!({"code": recovery[1]});
        let renewed = own.mutate("secondFactor.renewRecoveryCodes", &renew).data();
        let renewed = self.recovery_codes(&renewed);
        let code = renewed[0].replace('-', "");
        let which = json!({"id": added["id"], "code": code});
        own.mutate("secondFactor.delete", &which).assert_done();
        own.mutate("secondFactor.delete", &which)
            .assert_refused(404, "NOT_FOUND");
    }

    /// A passkey: added, renamed, used after the password, alone, and as a proof.
    fn use_passkeys(&self, own: &Recorded<Key>) {
        let mut phone = Authenticator::new(PUBLIC_URL);
        let begun = own.mutate("secondFactor.beginPasskey", &NO_INPUT).data();
        let input = json!({"name": "Phone", "credential": phone.create(&begun["publicKey"])});
        let added = own.mutate("secondFactor.addPasskey", &input).data();
        self.recovery_codes(&added);
        let name = json!({"id": added["id"], "name": "Laptop"});
        own.mutate("secondFactor.rename", &name).assert_done();

        let ticket = self.ticket();
        let route = "/api/auth/second-factor/passkey";
        let held = json!({"ticket": ticket});
        let options = self.anonymous.post(&format!("{route}-options"), &held);
        let credential = phone.get(&options.assert_status(200).json()["publicKey"]);
        let body = json!({"ticket": ticket, "credential": credential});
        self.signed_in(&self.anonymous.post(route, &body));

        let options = self.anonymous.post("/api/auth/passkeys/options", &json!({}));
        let cookie = self.cookie("the secret of a browser", &options);
        let body = json!({"credential": phone.get(&options.json()["publicKey"])}).to_string();
        let headers = [("content-type", "application/json"), ("cookie", cookie.as_str())];
        let path = "/api/auth/passkeys/sign-in";
        let send = || self.anonymous.send("POST", path, &headers, Some(body.as_bytes()));
        self.signed_in(&send());
        send().assert_status(401);

        let begun = own.mutate("secondFactor.beginProof", &NO_INPUT).data();
        let which = json!({"id": added["id"], "credential": phone.get(&begun["publicKey"])});
        own.mutate("secondFactor.delete", &which).assert_done();
    }

    /// Codes and a passkey, which stay. Returns the token of a session.
    fn set_up_again(&self, server: &Portico, own: &Recorded<Key>) -> String {
        let made = own.query("secondFactor.newSecret", &NO_INPUT);
        let secret = self.secret_of(&made.data());
        let input = json!({"secret": secret, "code": code_at(&secret, SystemClock.now())});
        let added = own.mutate("secondFactor.addTotp", &input).data();
        let recovery = self.recovery_codes(&added);
        let answer = sign_in_with(&self.anonymous, self.name, &self.password, &recovery[0]);
        let token = self.signed_in(&answer);
        // A further one is added soon after signing in only.
        let own = self.tape.on(server.key(&token));
        let begun = own.mutate("secondFactor.beginPasskey", &NO_INPUT).data();
        let credential = Authenticator::new(PUBLIC_URL).create(&begun["publicKey"]);
        let input = json!({"name": "Phone", "credential": credential});
        own.mutate("secondFactor.addPasskey", &input).data();
        token
    }

    /// The secret of codes, which the last answer shows.
    fn secret_of(&self, made: &Value) -> String {
        let secret = made["secret"].as_str().expect("a secret");
        self.tape.shown_last_and_stored("a secret of codes", secret);
        secret.to_owned()
    }

    /// The first recovery codes of the last answer.
    fn recovery_codes(&self, output: &Value) -> Vec<String> {
        let codes = output["recoveryCodes"].as_array().expect("codes");
        let codes = codes.iter().take(2).map(|code| {
            let code = code.as_str().expect("a code");
            self.tape.shown_last("a recovery code", code);
            self.tape
                .hide("a recovery code without hyphens", &code.replace('-', ""));
            code.to_owned()
        });
        let codes: Vec<_> = codes.collect();
        assert_eq!(codes.len(), 2, "{output}");
        codes
    }

    /// The ticket that the right password gives, which this answer shows.
    fn ticket(&self) -> String {
        let body = json!({"username": self.name, "password": self.password});
        let (ticket, _) = ticket_of(&self.anonymous.post("/api/auth/sign-in", &body));
        self.tape.shown_last("a ticket", &ticket);
        ticket
    }

    /// The token of the session that has begun, which the last answer shows.
    fn signed_in(&self, answer: &Answer) -> String {
        answer.assert_status(200);
        self.anonymous
            .shows("a session after two steps", answer, "/token")
    }

    /// The first cookie of the last answer, `name=value`.
    fn cookie(&self, what: &str, answer: &Answer) -> String {
        cookie(self.tape, what, answer)
    }
}

/// A pass for apps, and requests of apps with it.
fn pass_the_gate(tape: &Tape, server: &Portico, admin: &Recorded<Key>, token: &str) {
    let app = json!({"name": "Wiki", "iconUrl": "/icon.svg", "href": WIKI});
    let app = admin.mutate("app.create", &app).data()["appId"].clone();
    let gate = json!({"id": app, "addresses": ["http://files.home.localhost/"], "isOpen": false});
    admin.mutate("gate.update", &gate).assert_done();
    admin.query("gate.byId", &json!({"id": app})).data();
    admin.query("gate.getAll", &NO_INPUT).data();

    let anonymous = tape.on(server.anonymous());
    let session = format!("portico_session={token}");
    let path = format!("/api/auth/gate?next={}", escape(WIKI));
    let answer = anonymous.send("GET", &path, &[("cookie", &session)], None);
    answer.assert_status(200);
    let pass = cookie(tape, "a pass", &answer);
    let ask = |host: &str, cookie: &str| {
        let headers = [
            ("x-forwarded-method", "GET"),
            ("x-forwarded-proto", "http"),
            ("x-forwarded-host", host),
            ("x-forwarded-uri", "/"),
            ("cookie", cookie),
        ];
        anonymous.send("GET", "/api/auth/verify", &headers, None)
    };
    let both = format!("{session}; {pass}; theme=dark");
    for host in ["wiki.home.localhost", "files.home.localhost"] {
        let passed = ask(host, &both);
        passed.assert_status(204);
        assert_eq!(passed.header("cookie"), Some("theme=dark"));
    }
    ask("vault.home.localhost", &both).assert_status(403);
    ask("wiki.home.localhost", &format!("{pass}x")).assert_status(401);
}

/// The first cookie of the last answer, `name=value`, whose value is a secret that it shows.
fn cookie(tape: &Tape, what: &str, answer: &Answer) -> String {
    let cookie = answer.header("set-cookie").expect("a cookie");
    let pair = cookie.split(';').next().unwrap_or_default();
    let (_, value) = pair.split_once('=').expect("a value");
    tape.shown_last(what, value);
    pair.to_owned()
}
