//! Who may sign in with a password, where people sign in by a provider (`--password-sign-in`).

use portico_tests::{
    Answer, Builder, Client, Fixtures, NO_INPUT, PASSWORD, Portico, administrator, command, raw, run,
};
use serde_json::{Value, json};

const MODE: &str = "--password-sign-in";

fn sign_in(server: &Portico, name: &str, password: &str) -> Answer {
    let body = json!({"username": name, "password": password});
    server.anonymous().post("/api/auth/sign-in", &body)
}

/// What a client sees, but for the request's id.
fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.text())
}

#[test]
fn others_get_the_answer_of_a_wrong_password() {
    let server = Builder::default()
        .argument(format!("{MODE}=administrators"))
        .start();
    let root = administrator(&server);
    root.user("alice");
    let wrong = sign_in(&server, "root", "a wrong password");
    wrong.assert_refused(401, "UNAUTHORIZED");
    for (name, password) in [
        ("alice", PASSWORD),
        ("alice", "a wrong password"),
        ("nobody", PASSWORD),
    ] {
        assert_eq!(seen(&sign_in(&server, name, password)), seen(&wrong), "{name}");
    }
    sign_in(&server, "root", PASSWORD).assert_status(200);
    // Links for a new password, and invites, make no way in.
    let alice = root.query("user.search", &json!({"query": "alice"})).data()[0]["id"].clone();
    root.mutate("user.createPasswordLink", &json!({"userId": alice}))
        .assert_refused(403, "FORBIDDEN");
    let invite = root.invite();
    let input = json!({
        "username": "bob", "password": PASSWORD, "email": "bob@example.com", "inviteId": invite.id,
        "token": invite.token,
    });
    server
        .anonymous()
        .mutate("user.register", &input)
        .assert_refused(403, "FORBIDDEN");
    // A permission counts at the sign-in.
    let group = root.group("bosses", &["admin"]);
    let member = json!({"groupId": group, "userId": alice});
    root.mutate("group.addMember", &member).assert_done();
    sign_in(&server, "alice", PASSWORD).assert_status(200);
    root.mutate("group.removeMember", &member).assert_done();
    assert_eq!(seen(&sign_in(&server, "alice", PASSWORD)), seen(&wrong));
}

#[test]
fn a_link_that_was_made_before_sets_no_password_of_someone_who_may_not_use_it() {
    let mut server = Portico::start();
    let root = administrator(&server);
    let alice = root.user("alice");
    let token = root.make("user.createPasswordLink", &json!({"userId": alice.id}), "token");
    server.terminate();
    server.wait();
    server.start_again_with(&[&format!("{MODE}=administrators")]);
    let set = json!({"token": token, "password": "another password"});
    server
        .anonymous()
        .mutate("user.setPasswordByLink", &set)
        .assert_refused(403, "FORBIDDEN");
}

/// A proxy that vouches for an administrator.
const PROXY: [&str; 4] = [
    "--trusted-proxies=127.0.0.1",
    "--public-url=http://portico.example",
    "--proxy-user-header=Remote-User",
    "--proxy-groups-header=Remote-Groups",
];

fn with_proxy() -> Builder {
    PROXY.into_iter().fold(Builder::default(), Builder::argument)
}

fn by_proxy(server: &Portico, path: &str) -> Answer {
    of_proxy(server, path, "ada", "bosses")
}

fn of_proxy(server: &Portico, path: &str, user: &str, groups: &str) -> Answer {
    let headers = [
        ("host", "portico.example"),
        ("Remote-User", user),
        ("Remote-Groups", groups),
    ];
    raw::send(
        &server.address(),
        raw::with_headers("GET", path, &headers, "").as_bytes(),
    )
}

#[test]
fn passwords_are_off_only_if_an_administrator_comes_in_another_way() {
    let mut server = with_proxy().start();
    let root = administrator(&server);
    let off = format!("{MODE}=off");
    let data = server.data();
    let refused = |builder: Builder| {
        let mut starting = builder.argument(off.clone()).spawn(&data);
        let finished = starting.wait();
        assert!(!finished.status.success());
        finished.text()
    };
    server.terminate();
    server.wait();
    let said = refused(with_proxy());
    assert!(
        said.contains("no enabled administrator has signed in by a provider"),
        "{said}"
    );
    server.start_again();
    root.group("bosses", &["admin"]);
    let session = by_proxy(&server, "/api/auth/session").assert_status(200).json();
    assert_eq!(session["user"]["permissions"], json!(["admin"]));
    let invite = root.invite();
    server.terminate();
    server.wait();
    // The subject is one of the proxy, and not of this issuer.
    let said = refused(
        Builder::default()
            .argument("--public-url=http://portico.example")
            .argument("--oidc-issuer=https://issuer.invalid")
            .argument("--oidc-client-id=portico"),
    );
    assert!(said.contains("no enabled administrator"), "{said}");
    server.start_again_with(&[&PROXY[..], &[&*off]].concat());
    by_proxy(&server, "/api/auth/session").assert_status(200);
    for (name, password) in [("root", PASSWORD), ("root", "a wrong password"), ("nobody", "x")] {
        let refused = sign_in(&server, name, password);
        refused.assert_refused(403, "FORBIDDEN");
        assert!(
            refused.text().contains("Signing in with a password is off"),
            "{refused}"
        );
    }
    let register = json!({
        "username": "bob", "password": PASSWORD, "email": "bob@example.com", "inviteId": invite.id,
        "token": invite.token,
    });
    for (procedure, input) in [
        ("user.register", register),
        (
            "user.setPasswordByLink",
            json!({"token": "x", "password": PASSWORD}),
        ),
        (
            "user.changePassword",
            json!({"userId": root.user_id, "previousPassword": PASSWORD, "password": "another password"}),
        ),
        ("user.createPasswordLink", json!({"userId": root.user_id})),
    ] {
        root.mutate(procedure, &input).assert_refused(403, "FORBIDDEN");
    }
    // Sessions stay.
    root.query("user.getAll", &NO_INPUT).assert_status(200);

    // The administrator with a password does not count: no one could sign in who administers.
    let permissions = |user: &str, groups: &str| {
        let session = of_proxy(&server, "/api/auth/session", user, groups);
        session.assert_status(200).json()["user"]["permissions"].clone()
    };
    assert_eq!(permissions("ada", "others"), json!(["admin"]));
    server.wait_for_log(
        0,
        "from the last administrator who can sign in: the membership stays",
    );
    assert_eq!(permissions("eve", "bosses"), json!(["admin"]));
    assert_eq!(permissions("eve", "others"), json!([]), "ada is one");
    // An administrator may take it from the last of them, and the log says what that means.
    let ada = root.query("user.search", &json!({"query": "ada"})).data()[0]["id"].clone();
    let disable = json!({"userId": ada, "disabled": true});
    root.mutate("user.setDisabled", &disable).assert_status(200);
    server.wait_for_log(0, "no administrator is left who can sign in");

    // The way back, if what vouches for people is gone.
    server.terminate();
    server.wait();
    let recovered = run(command().args(["recover", "root", "--data"]).arg(&data), "").succeeded();
    server.start_again_with(&[&format!("{MODE}=administrators")]);
    let words = recovered
        .lines()
        .find_map(|line| line.strip_prefix("The new password of root is "));
    sign_in(&server, "root", words.expect("a password")).assert_status(200);
}

#[test]
fn the_page_leads_to_the_issuer_by_itself_unless_it_is_asked_for() {
    let issuer = |mode: &str| {
        let builder = Builder::default()
            .argument("--oidc-issuer=https://issuer.invalid")
            .argument("--oidc-client-id=portico")
            .argument(format!("{MODE}={mode}"));
        let server = builder.start();
        administrator(&server);
        server
    };
    let server = issuer("administrators");
    let open = |server: &Portico, path: &str| server.anonymous().get(path);
    let led = open(&server, "/sign-in?next=%2Fboards");
    assert_eq!(led.status, 303);
    assert_eq!(
        led.header("location"),
        Some("/api/auth/oidc/start?returnTo=%2Fboards")
    );
    for path in ["/sign-in?local", "/sign-in?local=1", "/sign-in?note=signed-out"] {
        let page = open(&server, path);
        assert!(
            page.assert_status(200).text().contains("name=\"password\""),
            "{path}"
        );
    }
    let providers = open(&server, "/api/auth/providers").json();
    let defaults: Vec<Value> = providers
        .as_array()
        .expect("providers")
        .iter()
        .map(|provider| provider["isDefault"].clone())
        .collect();
    assert_eq!(defaults, [json!(false), json!(true), json!(false)]);
    let server = issuer("on");
    open(&server, "/sign-in").assert_status(200);
}
