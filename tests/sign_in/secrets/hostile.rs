//! Requests that may end in an error message or a log line with a secret: inputs and credentials that are
//! wrong in all ways, and storage that refuses.

use std::{
    io::{Read, Write},
    net::Shutdown,
    thread,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{Access, DashboardStorage};
use portico_tests::{Client, MISSING, Portico, escape, raw, trpc_query_path};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{
    session::{Secrets, procedures},
    tape::Tape,
};

/// Provokes refusals of every kind.
pub fn provoke(tape: &Tape, server: &Portico, secrets: &Secrets) {
    let inputs = inputs(secrets);
    for procedure in procedures() {
        let name = procedure["name"].as_str().expect("a name");
        for input in &inputs {
            for client in [&secrets.admin as &dyn Client, &secrets.anonymous] {
                // Both methods: one of them is the wrong one.
                client.get(&trpc_query_path(name, input));
                client.mutate(name, input);
                client.mutate(name, &json!({"json": input}));
            }
        }
        texts(secrets, &format!("/api/trpc/{name}"), "POST");
        if let (Some(method), Some(path)) = (
            procedure["rest"]["method"].as_str(),
            procedure["rest"]["path"].as_str(),
        ) {
            routes(secrets, method, path, &inputs);
        }
    }
    sign_ins(secrets, &inputs);
    credentials(tape, server, secrets);
}

/// Inputs with secrets where they belong, and everything else wrong.
fn inputs(secrets: &Secrets) -> Vec<Value> {
    let (password, wrong) = (&secrets.root_password, &secrets.wrong_password);
    let (session, token) = (&secrets.session, &secrets.invite);
    let previous = "previousPassword";
    vec![
        json!({"username": "al", "password": password, previous: wrong, "token": token, "apiKey": secrets.key}),
        json!({"username": 7, "password": [password], previous: {"x": wrong}, "token": {"y": [token]}}),
        json!({
            "username": "overlong", "email": "x@y", "groupIds": [], "inviteId": MISSING, "userId": MISSING,
            "password": password.repeat(40), "token": token.repeat(500), previous: session.repeat(9),
        }),
        // A typing error: the password in the field for the name, or in all of them.
        json!({
            "username": password, "password": "short", "email": wrong, "groupIds": wrong, "inviteId": [wrong],
            "name": {"x": session}, "query": [session], "limit": wrong, "page": wrong, "id": [token],
            "userId": [token], "colorScheme": wrong, "expiresAt": token, "expirationDate": token,
            "permissions": token, "items": [{"kind": password}], "isPublic": wrong, "provider": wrong,
        }),
        // Rules of the component, and of the dashboard side.
        json!({
            "name": "x", "iconUrl": "i", "href": password, "pingUrl": session, "image": wrong, "short": "x",
            "urlTemplate": token, "id": MISSING, "userId": MISSING, "groupId": MISSING, "permissions": [token],
            "expiresAt": wrong, "username": password, "password": "short", "email": wrong, "groupIds": [wrong],
        }),
        // Secrets where ids belong.
        json!({
            "id": secrets.key, "userId": password, "groupId": token, "boardId": session, "apiKeyId": secrets.key,
            "inviteId": token, "actorId": wrong, "procedure": password, "outcome": token, "page": 1, "pageSize": 9,
            "permissions": [], "users": [], "groups": [], "openInNewTab": true, "pingIconsEnabled": true,
        }),
        // A document.
        json!({
            "users": [{"name": "x", "provider": "ldap", "password": password, "email": wrong, "image": token}],
            "apps": [{"name": "x", "href": password, "pingUrl": session, "id": wrong.repeat(9)}],
            "boards": [{"name": "x", "creator": {"name": "x"}, "items": [{"password": password}]}],
            "searchEngines": [{"name": "x", "short": password, "urlTemplate": token, "iconUrl": ""}],
        }),
        json!([password, {"token": token}]),
        json!(password),
    ]
}

/// Bodies that are no JSON, or do not say so, or too large.
fn texts(secrets: &Secrets, path: &str, method: &str) {
    let password = &secrets.root_password;
    let whole = json!({"password": password, "token": secrets.invite}).to_string();
    let cut = &whole[..whole.len() - 8];
    let form = format!("username=root&password={}", escape(password));
    let large = format!("{{\"password\": \"{}\"}}", secrets.wrong_password.repeat(40_000));
    let client = &secrets.admin;
    for (kind, body) in [
        ("application/json", cut),
        ("application/json", whole.replace(':', "=").as_str()),
        ("application/json", &format!("{whole} {password}")),
        ("application/json; charset=latin1", password.as_str()),
        ("text/plain", whole.as_str()),
        ("application/x-www-form-urlencoded", form.as_str()),
        (password_in_ascii(), whole.as_str()),
    ] {
        client.send(method, path, &[("content-type", kind)], Some(body.as_bytes()));
    }
    client.send(method, path, &[], Some(whole.as_bytes()));
    // The service may answer and hang up before it has read everything.
    let kind = [("content-type", "application/json")];
    let _ = client.try_send(method, path, &kind, Some(large.as_bytes()));
}

/// A content type that contains part of a password.
fn password_in_ascii() -> &'static str {
    "kanari/password"
}

fn routes(secrets: &Secrets, method: &str, path: &str, inputs: &[Value]) {
    let path = path
        .split('/')
        .map(|part| if part.starts_with('{') { MISSING } else { part })
        .collect::<Vec<_>>()
        .join("/");
    let has_body = !matches!(method, "GET" | "DELETE");
    for client in [&secrets.admin as &dyn Client, &secrets.anonymous] {
        // The others have no bodies.
        for input in inputs.iter().filter(|_| has_body) {
            client.send_json(method, &path, input);
        }
        let (password, token) = (escape(&secrets.root_password), escape(&secrets.invite));
        client.send(
            method,
            &format!("{path}?password={password}&token={token}"),
            &[],
            None,
        );
        client.send(
            method,
            &format!("{path}?password={password}&password={token}%zz"),
            &[],
            None,
        );
        client.send("OPTIONS", &format!("{path}?token={token}"), &[], None);
    }
    if has_body {
        texts(secrets, &path, method);
    }
}

fn sign_ins(secrets: &Secrets, inputs: &[Value]) {
    let path = "/api/auth/sign-in";
    for input in inputs {
        secrets.anonymous.post(path, input);
    }
    let (password, wrong) = (&secrets.root_password, &secrets.wrong_password);
    for input in [
        json!({"username": "root", "password": wrong}),
        json!({"username": "mallory at large", "password": password}),
        json!({"username": password, "password": wrong}),
        json!({"username": "root", "password": password, "provider": password}),
        json!({"username": "root", "password": secrets.session}),
        json!({"username": "root", "password": secrets.key}),
    ] {
        assert_ne!(secrets.anonymous.post(path, &input).status, 200);
    }
    texts(secrets, path, "POST");
}

/// Keys and tokens that are wrong, in the wrong place, or cut off; requests that are no HTTP.
fn credentials(tape: &Tape, server: &Portico, secrets: &Secrets) {
    let (key, session) = (&secrets.key, &secrets.session);
    let (secret, basic) = (
        key.split_once('.').map_or("", |(_, secret)| secret),
        STANDARD.encode(format!("root:{}", secrets.root_password)),
    );
    let cases = [
        ("authorization", format!("Basic {basic}")),
        ("authorization", format!("Bearer {key}x")),
        ("authorization", format!("Bearer {}", &key[1..])),
        ("authorization", format!("Bearer {secret}")),
        ("authorization", format!("Token {key}")),
        ("authorization", key.clone()),
        ("authorization", format!("Bearer {key}, Bearer {session}")),
        ("authorization", format!("Bearer {}", secrets.invite)),
        ("apikey", format!("{session}{session}")),
        ("apikey", session.to_uppercase()),
        ("cookie", format!("portico_session={key}; other={session}")),
        ("cookie", format!("portico_session=\"{session}\"")),
        ("cookie", format!("{session}; portico_session")),
        ("x-request-id", format!("{session} {key}")),
        ("x-forwarded-for", session.clone()),
        ("user-agent", key.clone()),
        ("origin", format!("http://{key}")),
        ("trpc-accept", session.clone()),
        ("accept", session.clone()),
        ("referer", format!("http://localhost/?token={session}")),
    ];
    for (name, value) in &cases {
        let headers = [(*name, value.as_str())];
        for path in [
            "/api/auth/session",
            "/api/trpc/user.getAll",
            "/api/users",
            "/api/none",
            "/",
        ] {
            secrets.anonymous.send("GET", path, &headers, None);
        }
        secrets
            .anonymous
            .send("POST", "/api/auth/sign-out", &headers, None);
        secrets
            .anonymous
            .send("POST", "/api/trpc/app.delete", &headers, None);
    }
    let large = session.repeat(1_500);
    let password = &secrets.root_password;
    let body = json!({"username": "root", "password": password}).to_string();
    for request in [
        raw::head(
            "GET",
            "/api/users",
            &[("authorization", &format!("Bearer {large}"))],
        ),
        raw::head(
            "GET",
            &format!("/api/trpc/app.all?input={}", escape(password)),
            &[],
        ),
        raw::head(
            "GET",
            &format!("/api/trpc/app.all?batch=1&input={}", escape(password)),
            &[],
        ),
        raw::head(
            "GET",
            "/api/users",
            &[("cookie", &format!("portico_session={password}"))],
        ),
        // A header that continues in the next line, one without a colon, two lengths, half a body.
        format!(
            "GET /api/users HTTP/1.1\r\nhost: a\r\nauthorization: Bearer\r\n {key}\r\nconnection: close\r\n\r\n"
        ),
        format!("GET /api/users HTTP/1.1\r\nhost: a\r\nBearer {key}\r\n\r\n"),
        format!("GET /api/users HTTP/9.9\r\nauthorization: Bearer {key}\r\n\r\n"),
        format!("{password}\r\n\r\n"),
        format!("POST /api/auth/sign-in HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 900\r\n\r\n{body}"),
        format!(
            "POST /api/auth/sign-in HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
                 content-length: 900\r\nconnection: close\r\n\r\n{body}"
        ),
        format!(
            "POST /api/auth/sign-in HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
                 transfer-encoding: chunked\r\nconnection: close\r\n\r\n{password}\r\n{body}"
        ),
    ] {
        tape.record(
            "the answer to a raw request",
            answer_to(&server.address(), &request),
        );
    }
}

/// What the service sends until it hangs up, if anything.
fn answer_to(address: &str, request: &str) -> String {
    let mut stream = raw::connect(address);
    let mut answer = Vec::new();
    // The service may hang up at any moment: what it has sent until then counts.
    let _ = stream.write_all(request.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Calls with secrets while another program holds the database, and nothing can be written.
pub fn refuse_to_write(tape: &Tape, server: &Portico, secrets: &Secrets) {
    let runtime = Runtime::new().expect("a runtime");
    let database = server.data().join("portico.db");
    let storage = runtime
        .block_on(async { SqliteStorage::open(&database) })
        .expect("the database");
    let context = Identity::operator().context("test");
    let turn = runtime
        .block_on(storage.begin_dashboard(Access::Write, &context))
        .expect("a turn");

    let sign_in = json!({"username": "root", "password": secrets.root_password});
    let user = json!({"username": "late", "password": secrets.wrong_password, "groupIds": []});
    let (key, image) = (json!({}), json!({"userId": MISSING, "image": null}));
    let kind = [("content-type", "application/json")];
    thread::scope(|scope| {
        for (path, body) in [
            ("/api/auth/sign-in", sign_in),
            ("/api/trpc/user.create", user),
            ("/api/trpc/apiKeys.create", key),
            ("/api/trpc/user.setProfileImage", image),
        ] {
            let kind = &kind;
            scope.spawn(move || {
                let client = &secrets.admin;
                let body = body.to_string();
                let answer = client.try_send("POST", path, kind, Some(body.as_bytes()));
                let answer = answer.expect("an answer");
                assert!(
                    [503, 504].contains(&answer.status),
                    "{path} was not written: {answer}"
                );
            });
        }
    });
    drop(turn);
    runtime.block_on(async { drop(storage) });
    let files = tape.record_files(&server.data());
    assert!(files > 0, "there are files to look into");
}
