//! Users for whom a trusted proxy vouches with each request. Which headers are refused is tested in
//! `host/http/src/proxy_user.rs`.

use std::thread;

use portico_tests::{
    Answer, Builder, Client, Fixtures, NO_INPUT, PASSWORD, Portico, Session, administrator, agent, raw,
    trpc_query_path,
};
use serde_json::{Value, json};

/// A host whose proxy is this machine, and its administrator.
struct Host {
    server: Portico,
    root: Session,
}

const HOST: &str = "portico.example";

fn builder() -> Builder {
    Builder::default()
        .argument("--trusted-proxies=127.0.0.1")
        .argument("--public-url=http://portico.example")
        .argument("--proxy-user-header=Remote-User")
        .argument("--proxy-email-header=Remote-Email")
        .argument("--proxy-groups-header=Remote-Groups")
}

impl Host {
    fn start() -> Self {
        Self::start_with(builder())
    }

    fn start_with(builder: Builder) -> Self {
        let server = builder.start();
        let root = administrator(&server);
        Self { server, root }
    }

    /// What the proxy passes on.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = vec![("host", HOST), ("content-type", "application/json")];
        all.extend(headers);
        let request = raw::with_headers(method, path, &all, body);
        raw::send(&self.server.address(), request.as_bytes())
    }

    fn session(&self, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", "/api/auth/session", headers, "")
    }

    /// Creates an app as this user.
    fn create_app(&self, headers: &[(&str, &str)]) -> Answer {
        let app = json!({"name": "An app", "iconUrl": "/icon.svg"}).to_string();
        self.send("POST", "/api/apps", headers, &app)
    }
}

fn user_of(session: &Answer) -> Value {
    session.assert_status(200).json()["user"].clone()
}

#[test]
fn a_person_becomes_a_user_of_the_issuer_proxy_without_a_session() {
    let host = Host::start();
    host.root.group("family", &["app-create"]);
    let ada = [
        ("Remote-User", "Ada"),
        ("Remote-Email", "ada@example.com"),
        ("Remote-Groups", "family,unknown"),
    ];
    let answer = host.session(&ada);
    assert_eq!(answer.header("set-cookie"), None);
    let user = user_of(&answer);
    assert_eq!(
        (&user["name"], &user["email"], &user["provider"]),
        (&json!("ada"), &json!("ada@example.com"), &json!("oidc"))
    );
    assert_eq!(user["permissions"], json!(["app-create"]));
    assert_eq!(answer.json()["expiresAt"], Value::Null);
    let (id, app) = (
        user["id"].clone(),
        host.create_app(&ada).assert_status(200).json()["appId"].clone(),
    );
    // The audit log says how they proved it.
    let rows = host
        .root
        .query(
            "audit.getPaginated",
            &json!({"page": 1, "pageSize": 2, "actorId": id}),
        )
        .data();
    let row = |index: usize, key: &str| rows["items"][index][key].clone();
    assert_eq!(
        (row(0, "procedure"), row(0, "target")),
        (json!("app.create"), app)
    );
    assert_eq!(
        (row(1, "procedure"), row(1, "target")),
        (json!("sign-in"), id.clone())
    );
    for index in [0, 1] {
        assert_eq!(row(index, "authentication"), "proxy");
        assert_eq!(row(index, "credentialId"), Value::Null);
    }
    assert_eq!(row(1, "provider"), "oidc");
    // The same person is found by the name at the proxy, and their groups are what it says.
    let user = user_of(&host.session(&[("Remote-User", "Ada"), ("Remote-Groups", "")]));
    assert_eq!((&user["id"], &user["permissions"]), (&id, &json!([])));
    assert_eq!(
        user["email"], "ada@example.com",
        "what the proxy leaves out stays"
    );
    // Nobody is signed in without the header.
    host.session(&[]).assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_sign_in_is_counted_where_it_has_a_row_and_not_for_each_request() {
    let host = Host::start_with(builder().argument("--metrics=127.0.0.1:0"));
    // A page asks for several things at once, and browsers for several pages.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let headers = [("Remote-User", "ada"), ("accept", "text/html")];
                host.send("GET", "/profile", &headers, "").assert_status(200);
            });
        }
    });
    for _ in 0..3 {
        host.session(&[("Remote-User", "ada")]).assert_status(200);
    }
    let line = host.server.wait_for_log(0, "metrics at http://");
    let url = line.split(' ').find(|word| word.starts_with("http://"));
    let mut answer = agent().get(url.expect("a URL")).call().expect("an answer");
    let text = answer.body_mut().read_to_string().expect("text");
    let counted = "portico_sign_ins_total{outcome=\"OK\",provider=\"oidc\"} 1\n";
    assert!(text.contains(counted), "{text}");
}

#[test]
fn a_group_that_another_host_stored_is_gone_with_the_next_request() {
    let host = Host::start();
    host.root.group("family", &["app-create"]);
    let admins = host.root.group("bosses", &["admin"]);
    let ada = [("Remote-User", "ada"), ("Remote-Groups", "family")];
    let user = user_of(&host.session(&ada));
    // What another host would do, to which the proxy said more.
    let member = json!({"groupId": admins, "userId": user["id"]});
    host.root.mutate("group.addMember", &member).assert_done();
    assert_eq!(user_of(&host.session(&ada))["permissions"], json!(["app-create"]));
    // Where the proxy says no groups, they are managed here.
    let host = Host::start_with(
        Builder::default()
            .argument("--trusted-proxies=127.0.0.1")
            .argument("--public-url=http://portico.example")
            .argument("--proxy-user-header=Remote-User"),
    );
    let makers = host.root.group("makers", &["board-create"]);
    let eve = [("Remote-User", "eve")];
    let id = user_of(&host.session(&eve))["id"].clone();
    let member = json!({"groupId": makers, "userId": id});
    host.root.mutate("group.addMember", &member).assert_done();
    assert_eq!(
        user_of(&host.session(&eve))["permissions"],
        json!(["board-create"])
    );
}

#[test]
fn no_one_becomes_another_user_or_the_first_administrator() {
    let server = builder().start();
    let first = raw::with_headers(
        "GET",
        "/api/auth/session",
        &[
            ("host", HOST),
            ("Remote-User", "root"),
            ("Remote-Groups", "admins"),
        ],
        "",
    );
    raw::send(&server.address(), first.as_bytes()).assert_refused(401, "UNAUTHORIZED");
    let root = administrator(&server);
    let host = Host { server, root };
    // The user with a password who has the name is another one.
    let user = user_of(&host.session(&[("Remote-User", "root")]));
    assert_ne!(user["id"], json!(host.root.user_id));
    assert_eq!(user["permissions"], json!([]));
    // Another person at the proxy, whose name differs only in case.
    host.session(&[("Remote-User", "ROOT")])
        .assert_refused(403, "FORBIDDEN");
    for answer in [
        host.session(&[("Remote-User", "root"), ("remote-user", "ada")]),
        host.session(&[("Remote-User", "ada"), ("Remote_User", "root")]),
        host.session(&[("Remote-User", "ada,root")]),
        host.session(&[("Remote-User", "")]),
    ] {
        answer.assert_refused(400, "BAD_REQUEST");
    }
    let log = host.server.log();
    assert!(!log.contains("ada,root"), "{log}");
    assert_eq!(host.root.user_names(), ["root", "root"]);
}

#[test]
fn the_header_counts_only_from_the_proxy_and_only_if_it_is_set_up() {
    let untrusted = Host::start_with(
        Builder::default()
            .argument("--trusted-proxies=192.0.2.1")
            .argument("--public-url=http://portico.example")
            .argument("--proxy-user-header=Remote-User"),
    );
    let headers = [("Remote-User", "ada"), ("X-Forwarded-For", "192.0.2.1")];
    untrusted.session(&headers).assert_refused(401, "UNAUTHORIZED");
    untrusted
        .server
        .wait_for_log(0, "is not among the trusted proxies");
    let off = Host::start_with(
        Builder::default()
            .argument("--trusted-proxies=127.0.0.1")
            .argument("--public-url=http://portico.example"),
    );
    off.session(&headers).assert_refused(401, "UNAUTHORIZED");
    for (arguments, why) in [
        (
            &["--public-url=http://portico.example"][..],
            "trusted-proxies must name the proxy",
        ),
        (&["--trusted-proxies=127.0.0.1"], "public-url must be set"),
        (
            &[
                "--trusted-proxies=0.0.0.0/0",
                "--public-url=http://portico.example",
            ],
            "must not have all addresses",
        ),
    ] {
        let mut builder = Builder::default().argument("--proxy-user-header=Remote-User");
        for argument in arguments {
            builder = builder.argument(*argument);
        }
        let wrong = Host::start_with(builder);
        wrong.session(&headers).assert_refused(401, "UNAUTHORIZED");
        let line = wrong.server.wait_for_log(0, "sign-in by a proxy is off");
        assert!(line.contains(why), "{line}");
    }
}

#[test]
fn a_key_counts_before_the_header_and_the_header_before_the_cookie() {
    let host = Host::start();
    let bob = host.root.user("bob");
    let session = host.server.sign_in("bob", PASSWORD);
    let cookie = &*session.cookie;
    let user = user_of(&host.session(&[("Remote-User", "ada"), ("cookie", cookie)]));
    assert_eq!(user["name"], "ada");
    let user = user_of(&host.session(&[("cookie", cookie)]));
    assert_eq!(user["id"], json!(bob.id));
    let authorization = bob.key.authorization();
    let user = user_of(&host.session(&[("Remote-User", "ada"), ("authorization", &authorization)]));
    assert_eq!(user["id"], json!(bob.id));
}

#[test]
fn another_site_changes_nothing_by_way_of_the_proxy() {
    let host = Host::start();
    host.root.group("family", &["app-create"]);
    let with = |headers: &[(&'static str, &'static str)]| {
        let mut all = vec![("Remote-User", "ada"), ("Remote-Groups", "family")];
        all.extend(headers);
        host.create_app(&all)
    };
    for foreign in [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
    ] {
        with(foreign).assert_refused(403, "FORBIDDEN");
    }
    with(&[("origin", "http://portico.example")]).assert_status(200);
    with(&[("sec-fetch-site", "same-origin")]).assert_status(200);
    assert_eq!(host.root.app_names().len(), 2);
    // A name that another site lets resolve to the proxy.
    let rebound = raw::with_headers(
        "GET",
        "/api/apps",
        &[
            ("host", "evil.example"),
            ("sec-fetch-site", "same-origin"),
            ("Remote-User", "ada"),
        ],
        "",
    );
    raw::send(&host.server.address(), rebound.as_bytes()).assert_refused(403, "FORBIDDEN");
}

#[test]
fn a_user_who_is_disabled_is_refused_with_the_next_request_and_one_who_is_deleted_comes_back_as_a_new_one() {
    let host = Host::start();
    let ada = [("Remote-User", "ada")];
    let id = user_of(&host.session(&ada))["id"].clone();
    let disabled = json!({"userId": id, "disabled": true});
    host.root.mutate("user.setDisabled", &disabled).assert_done();
    host.session(&ada).assert_refused(403, "FORBIDDEN");
    host.create_app(&ada).assert_refused(403, "FORBIDDEN");
    let refusals = host.root.query(
        "audit.getPaginated",
        &json!({"page": 1, "pageSize": 9, "procedure": "sign-in", "outcome": "UNAUTHORIZED"}),
    );
    let row = refusals.data()["items"][0].clone();
    assert_eq!((&row["provider"], &row["target"]), (&json!("oidc"), &id));
    // A page that is open asks again and again: that is no guessing.
    let line = host.server.wait_for_log(0, "a provider's user cannot sign in");
    assert!(line.contains("disabled here") && line.contains("ada"), "{line}");
    assert!(
        !host.server.log().contains("sign-in-failed"),
        "{}",
        host.server.log()
    );
    // Someone else, who is deleted, becomes a new user.
    let eve = [("Remote-User", "eve")];
    let id = user_of(&host.session(&eve))["id"].clone();
    host.root
        .mutate("user.delete", &json!({"userId": id}))
        .assert_done();
    assert_ne!(user_of(&host.session(&eve))["id"], id);
}

#[test]
fn with_sign_up_off_only_those_who_have_a_user_come_in() {
    let host = Host::start_with(builder().argument("--proxy-sign-up=off"));
    host.session(&[("Remote-User", "ada")])
        .assert_refused(403, "FORBIDDEN");
    host.session(&[("Remote-User", "root")])
        .assert_refused(403, "FORBIDDEN");
    assert_eq!(
        host.root
            .query("user.getAll", &NO_INPUT)
            .data()
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

#[test]
fn pages_show_who_the_proxy_signed_in() {
    let host = Host::start();
    let page = host.send(
        "GET",
        "/profile",
        &[("Remote-User", "ada"), ("accept", "text/html")],
        "",
    );
    assert!(page.assert_status(200).text().contains("ada"));
    // The page of an error has the id by which the log is searched.
    let headers = [("Remote-User", "ada"), ("accept", "text/html")];
    let refused = host.send("GET", "/users", &headers, "");
    let id = refused.assert_status(403).header("x-request-id").expect("an id");
    assert!(refused.text().contains(id), "{refused}");
    // Who signs out is told that the proxy goes on.
    let cookie = page.header("set-cookie").expect("the cookie of forms");
    let cookie = cookie.split(';').next().expect("a cookie");
    let text = page.text();
    let (_, rest) = text.split_once("name=\"form-token\" value=\"").expect("a form");
    let token = rest.split('"').next().expect("a token");
    let headers = [
        ("host", HOST),
        ("Remote-User", "ada"),
        ("cookie", cookie),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let request = raw::with_headers("POST", "/sign-out", &headers, &format!("form-token={token}"));
    let out = raw::send(&host.server.address(), request.as_bytes());
    out.assert_status(303);
    assert_eq!(out.header("location"), Some("/?note=still-signed-in"));
    let query = trpc_query_path("user.getAll", &NO_INPUT);
    host.send("GET", &query, &[("Remote-User", "ada")], "")
        .assert_refused(403, "FORBIDDEN");
}
