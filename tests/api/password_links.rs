//! Links with which people who have forgotten their password set a new one.

use portico_tests::clock::DAY;
use portico_tests::{
    Answer, Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Portico, Session, User, administrator,
};
use serde_json::{Value, json};

const NEW: &str = "a new password";

struct Bench {
    server: Portico,
    admin: Session,
    alice: User,
}

impl Bench {
    fn new() -> Self {
        let server = Portico::start();
        let admin = administrator(&server);
        let alice = admin.user("alice");
        Self { server, admin, alice }
    }

    /// A link of alice's.
    fn link(&self) -> String {
        let user = json!({ "userId": self.alice.id });
        self.admin.make("user.createPasswordLink", &user, "token")
    }

    fn set(&self, token: &str, password: &str) -> Answer {
        let input = json!({"token": token, "password": password});
        self.server.anonymous().mutate("user.setPasswordByLink", &input)
    }

    fn sign_in(&self, password: &str) -> u16 {
        let credentials = json!({"username": "alice", "password": password});
        self.server
            .anonymous()
            .post("/api/auth/sign-in", &credentials)
            .status
    }

    fn audit(&self) -> Value {
        let page = json!({"page": 1, "pageSize": 100});
        self.admin.query("audit.getPaginated", &page).data()
    }
}

#[test]
fn a_link_sets_one_password_and_ends_sessions_and_keys() {
    let bench = Bench::new();
    let session = bench.server.sign_in("alice", PASSWORD);
    let made = bench
        .admin
        .mutate("user.createPasswordLink", &json!({"userId": bench.alice.id}))
        .data();
    let token = made["token"].as_str().expect("a token");
    assert!(token.len() >= 22, "a short secret");
    let expires_at = made["expiresAt"].as_str().expect("a date");
    let expires_at = portico_model::time::parse(expires_at).expect("a date");
    let from_now = expires_at
        - std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .expect("a clock")
            .as_millis() as u64;
    assert!((DAY - DAY / 100..=DAY).contains(&from_now), "{from_now}");
    // Making it ends nothing.
    assert_eq!(bench.sign_in(PASSWORD), 200);
    session.get("/api/auth/session").assert_status(200);

    // A password that breaks a rule uses up nothing.
    bench.set(token, "short").assert_bad_field("password");
    assert_eq!(bench.set(token, NEW).data(), json!({"id": bench.alice.id}));
    assert_eq!((bench.sign_in(PASSWORD), bench.sign_in(NEW)), (401, 200));
    session.get("/api/auth/session").assert_status(401);
    bench
        .alice
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    bench.set(token, "another one").assert_refused(403, "FORBIDDEN");
    assert_eq!(bench.sign_in(NEW), 200);

    let rows = bench.audit();
    let rows = rows["items"].as_array().expect("rows");
    for (procedure, actor, outcome) in [
        ("user.createPasswordLink", json!(bench.admin.user_id), "OK"),
        ("user.setPasswordByLink", Value::Null, "OK"),
    ] {
        let is_it = |row: &&Value| row["procedure"] == procedure && row["outcome"] == outcome;
        let row = rows.iter().find(is_it).expect(procedure);
        assert_eq!(
            (&row["target"], &row["actorId"]),
            (&json!(bench.alice.id), &actor)
        );
    }
    let refused = rows.iter().find(|row| row["outcome"] == "FORBIDDEN");
    assert_eq!(refused.expect("a refusal")["procedure"], "user.setPasswordByLink");
    let exported = bench.admin.query("state.export", &NO_INPUT).data();
    assert!(!exported.to_string().contains(token) && !bench.audit().to_string().contains(token));
}

#[test]
fn a_link_is_good_until_something_else_sets_the_password_or_ends_the_user() {
    let bench = Bench::new();
    let id = &bench.alice.id;
    let admin = |procedure: &str, input: Value| {
        bench.admin.mutate(procedure, &input).assert_done();
    };
    let refused = |token: &str| {
        let answer = bench.set(token, NEW);
        answer.assert_refused(403, "FORBIDDEN");
        assert_eq!(
            answer.text(),
            bench.set("made up", NEW).text(),
            "one refusal for every reason"
        );
    };
    let first = bench.link();
    let second = bench.link();
    refused(&first);

    // Their own change.
    let own = json!({"userId": id, "previousPassword": PASSWORD, "password": PASSWORD});
    bench
        .server
        .sign_in("alice", PASSWORD)
        .mutate("user.changePassword", &own)
        .assert_done();
    refused(&second);
    let third = bench.link();
    admin("user.changePassword", json!({"userId": id, "password": PASSWORD}));
    refused(&third);
    let fourth = bench.link();
    admin("user.setDisabled", json!({"userId": id, "disabled": true}));
    refused(&fourth);
    admin("user.setDisabled", json!({"userId": id, "disabled": false}));
    refused(&fourth);
    // A sign-in changes nothing.
    let fifth = bench.link();
    assert_eq!(bench.sign_in(PASSWORD), 200);
    assert_eq!(bench.set(&fifth, NEW).status, 200);
    let sixth = bench.link();
    admin("user.delete", json!({ "userId": id }));
    refused(&sixth);
    for text in ["", "\u{1F511}", &"x".repeat(100_000)] {
        refused(text);
    }
}

#[test]
fn whoever_is_an_administrator_no_longer_leaves_no_link() {
    let bench = Bench::new();
    let demoted = bench.admin.user_with("demoted", "admin");
    let token = demoted.make(
        "user.createPasswordLink",
        &json!({"userId": bench.alice.id}),
        "token",
    );
    let groups = bench.admin.query("group.getAll", &NO_INPUT).data();
    let mut groups = groups.as_array().expect("groups").iter();
    let group = groups
        .find(|group| group["name"] == "demoted-group")
        .expect("the group");
    let none = json!({"groupId": group["id"], "permissions": []});
    bench.admin.mutate("group.savePermissions", &none).assert_done();
    bench.set(&token, NEW).assert_refused(403, "FORBIDDEN");

    let other = bench.admin.user_with("other", "admin");
    let token = other.make(
        "user.createPasswordLink",
        &json!({"userId": bench.alice.id}),
        "token",
    );
    bench
        .admin
        .mutate("user.delete", &json!({"userId": other.id}))
        .assert_done();
    bench.set(&token, NEW).assert_refused(403, "FORBIDDEN");
}

#[test]
fn links_are_for_other_users_with_a_password_of_this_host() {
    let bench = Bench::new();
    let document = json!({"users": [{"name": "elsewhere", "provider": "oidc"}]});
    let report = bench.admin.output_of("state.apply", &document);
    let external = report["created"][0]["id"].clone();
    let disabled = bench.admin.user("disabled").id;
    let disable = json!({"userId": disabled, "disabled": true});
    bench.admin.mutate("user.setDisabled", &disable).assert_done();
    let make = |who: &dyn Client, id: &Value| who.mutate("user.createPasswordLink", &json!({"userId": id}));
    // For the own password, the previous one is needed: a session that was left open must not be enough.
    make(&bench.admin, &json!(bench.admin.user_id)).assert_refused(403, "FORBIDDEN");
    make(&bench.admin, &external).assert_refused(403, "FORBIDDEN");
    make(&bench.admin, &json!(disabled)).assert_refused(409, "CONFLICT");
    make(&bench.admin, &json!(MISSING)).assert_refused(404, "NOT_FOUND");
    for permission in ["board-full-all", "app-full-all"] {
        let user = bench.admin.user_with(permission, permission);
        make(&user, &json!(bench.admin.user_id)).assert_refused(403, "FORBIDDEN");
        make(&user, &json!(bench.alice.id)).assert_refused(403, "FORBIDDEN");
        make(&user, &json!(user.id)).assert_refused(403, "FORBIDDEN");
    }
    make(&bench.server.anonymous(), &json!(bench.alice.id)).assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn whoever_is_signed_in_sets_the_password_of_the_links_user_and_loses_that_users_sessions() {
    let bench = Bench::new();
    let (own, other) = (bench.server.sign_in("alice", PASSWORD), bench.admin.user("bob"));
    let token = bench.link();
    let answer = own.mutate(
        "user.setPasswordByLink",
        &json!({"token": token, "password": NEW}),
    );
    assert_eq!(answer.data()["id"], bench.alice.id);
    own.get("/api/auth/session").assert_status(401);
    let token = bench.link();
    let answer = other.mutate(
        "user.setPasswordByLink",
        &json!({"token": token, "password": PASSWORD}),
    );
    assert_eq!(answer.data()["id"], bench.alice.id);
    other.query("app.all", &NO_INPUT).assert_status(200);
    assert_eq!(bench.sign_in(PASSWORD), 200);
}
