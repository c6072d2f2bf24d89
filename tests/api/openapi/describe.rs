//! The document describes everything, in the words of the contract.

use std::{collections::BTreeSet, fs, path::Path};

use portico_tests::{Client, Portico, command, run};
use serde_json::Value;

use super::{document, operations, resolved};

#[test]
fn it_is_one_document_however_it_is_asked_for() {
    let server = Portico::start();
    let printed = run(command().arg("openapi"), "").succeeded();
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(printed, document(&server));
    assert_eq!(printed["openapi"], "3.1.1");
}

#[test]
fn a_client_that_has_the_current_document_does_not_get_it_again() {
    let server = Portico::start();
    let anonymous = server.anonymous();
    for path in ["/api/openapi", "/api/docs", "/api/docs/swagger-ui-bundle.js"] {
        let first = anonymous.get(path);
        let etag = first
            .assert_status(200)
            .header("etag")
            .expect("an ETag")
            .to_owned();
        assert_eq!(first.header("cache-control"), Some("no-cache"));
        let again = |tag: &str| anonymous.send("GET", path, &[("if-none-match", tag)], None);
        for tag in [&*etag, &format!("W/{etag}"), &format!("\"x\", {etag}"), "*"] {
            let answer = again(tag);
            assert!(answer.assert_status(304).body.is_empty(), "{answer}");
            assert_eq!(answer.header("etag"), Some(&*etag));
        }
        assert_eq!(again("\"x\"").assert_status(200).body, first.body);
    }
}

#[test]
fn every_procedure_is_there_as_a_call_and_every_route_as_itself() {
    let server = Portico::start();
    let document = document(&server);
    let found: BTreeSet<_> = operations(&document)
        .map(|(method, path, _)| format!("{} {}", method.to_uppercase(), unnamed(path)))
        .collect();

    let rows = run(command().args(["procedures", "--json"]), "").succeeded();
    let rows: Vec<Value> = serde_json::from_str(&rows).expect("JSON");
    let mut expected: BTreeSet<String> = [
        "POST /api/auth/sign-in",
        "POST /api/auth/second-factor",
        "POST /api/auth/second-factor/secret",
        "POST /api/auth/second-factor/set-up",
        "POST /api/auth/second-factor/passkey",
        "POST /api/auth/second-factor/passkey-options",
        "POST /api/auth/second-factor/passkey-registration",
        "POST /api/auth/second-factor/set-up-passkey",
        "POST /api/auth/passkeys/options",
        "POST /api/auth/passkeys/sign-in",
        "POST /api/auth/sign-out",
        "GET /api/auth/session",
        "GET /api/auth/providers",
        "GET /api/auth/gate",
        "GET /api/auth/verify",
        "GET /api/auth/oidc/start",
        "GET /api/auth/oidc/sign-out",
        "GET /api/auth/oidc/callback",
        "GET /api/health/live",
        "GET /api/health/ready",
        "GET /api/pictures/{}",
        "GET /api/openapi",
        "GET /api/docs",
    ]
    .map(Into::into)
    .into();
    for row in &rows {
        let method = if row["kind"] == "query" { "GET" } else { "POST" };
        let name = row["name"].as_str().expect("a name");
        expected.insert(format!("{method} /api/trpc/{name}"));
        if let (Some(method), Some(path)) = (row["rest"]["method"].as_str(), row["rest"]["path"].as_str()) {
            expected.insert(format!("{method} {}", unnamed(path)));
        }
    }
    assert!(rows.len() > 40, "{} procedures", rows.len());
    assert_eq!(found, expected);
}

/// A path without the names of its parameters, which do not change the route.
fn unnamed(path: &str) -> String {
    let parts = path
        .split('/')
        .map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn no_two_paths_of_the_document_match_the_same_requests() {
    let server = Portico::start();
    let document = document(&server);
    let paths: Vec<_> = operations(&document)
        .map(|(_, path, _)| path.to_owned())
        .collect();
    let named: BTreeSet<_> = paths.iter().cloned().collect();
    let shapes: BTreeSet<_> = paths.iter().map(|path| unnamed(path)).collect();
    assert_eq!(named.len(), shapes.len(), "{named:?}");
    for (_, path, operation) in operations(&document) {
        let in_path = operation["parameters"].as_array().into_iter().flatten();
        let in_path = in_path.filter(|parameter| parameter["in"] == "path");
        for parameter in in_path {
            let name = parameter["name"].as_str().expect("a name");
            assert!(path.contains(&format!("{{{name}}}")), "{path} has no {name}");
        }
    }
}

#[test]
fn everything_says_what_it_is() {
    let server = Portico::start();
    let document = document(&server);
    let mut silent = Vec::new();
    let mut look = |place: String, value: &Value| {
        let about = value["description"].as_str().unwrap_or_default();
        // A reference to another comment of the contract would lead nowhere here.
        if about.is_empty() || about.contains("See `") {
            silent.push(format!("{place}: {about:?}"));
        }
    };
    for (method, path, operation) in operations(&document) {
        let place = format!("{method} {path}");
        look(place.clone(), operation);
        assert!(
            operation["summary"].as_str().is_some_and(|text| text.len() > 5),
            "{place}"
        );
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            look(format!("{place}: {}", parameter["name"]), parameter);
        }
        for (status, answer) in operation["responses"].as_object().expect("responses") {
            look(format!("{place}: {status}"), resolved(&document, answer));
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        look(name.clone(), schema);
    }
    each_property(&document, &mut |name, property| {
        look(format!("property {name}"), property);
    });
    assert!(silent.is_empty(), "{silent:#?}");
}

/// Every property of every schema, wherever it is.
fn each_property(value: &Value, found: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                for (name, property) in properties {
                    found(name, property);
                }
            }
            object.values().for_each(|value| each_property(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| each_property(value, found)),
        _ => {}
    }
}

/// The comments of a file of the contract, as one text.
fn comments(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit").join(file);
    let text = fs::read_to_string(path).expect("a file of the contract");
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("///"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn descriptions_are_the_comments_of_the_contract_with_names_as_clients_write_them() {
    let server = Portico::start();
    let document = document(&server);
    let text = |pointer: &str| match document.pointer(pointer).and_then(Value::as_str) {
        Some(text) => text,
        None => panic!("no {pointer}"),
    };
    let email_verified = text("/components/schemas/User/properties/emailVerified/description");
    assert!(comments("types.wit").contains(email_verified), "{email_verified}");
    // The contract refers to `user` for the fields of this record.
    assert_eq!(
        text("/components/schemas/UserSummary/properties/emailVerified/description"),
        email_verified
    );
    let about = text("/paths/~1api~1trpc~1user.changePassword/post/description");
    let (first, _) = about.split_once(". ").expect("more than one sentence");
    assert!(comments("users.wit").contains(first), "{about}");
    for code in ["bad-request", "forbidden"] {
        assert!(comments("users.wit").contains(&format!("`{code}`")));
        assert!(!about.contains(&format!("`{code}`")), "{about}");
    }
    for name in ["`BAD_REQUEST`", "`FORBIDDEN`", "`admin`"] {
        assert!(about.contains(name), "{name} is not in: {about}");
    }
}

#[test]
fn its_operations_have_names_that_a_client_can_have() {
    let server = Portico::start();
    let document = document(&server);
    let mut seen = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().expect("an id");
        assert!(
            id.starts_with(char::is_lowercase) && id.chars().all(char::is_alphanumeric),
            "{method} {path}: {id}"
        );
        assert!(seen.insert(id), "{id} is there twice");
    }
    for id in [
        "userGetAll",
        "callUserGetAll",
        "appCreate",
        "callUserChangePassword",
        "signIn",
    ] {
        assert!(seen.contains(id), "{id}");
    }
}

#[test]
fn the_document_says_how_to_sign_in_where_a_call_needs_it() {
    let server = Portico::start();
    let document = document(&server);
    let security = |method: &str, path: &str| document["paths"][path][method]["security"].to_string();
    let any = r#"{"bearer":[]},{"apiKey":[]},{"session":[]}"#;
    assert_eq!(security("get", "/api/users"), format!("[{any}]"));
    assert_eq!(security("get", "/api/apps/{id}"), format!("[{{}},{any}]"));
    assert_eq!(security("post", "/api/trpc/user.initUser"), "[]");
    assert_eq!(security("get", "/api/health/live"), "[]");
    // The service behaves as the document says.
    for (method, path, operation) in operations(&document) {
        let path = path.replace("{id}", "x").replace("{userId}", "x");
        let answer = server.anonymous().send(
            &method.to_uppercase(),
            &path,
            &[("content-type", "application/json")],
            Some(b"{}"),
        );
        let must_sign_in = !operation["security"]
            .as_array()
            .expect("security")
            .iter()
            .any(|scheme| scheme == &serde_json::json!({}))
            && operation["security"] != serde_json::json!([]);
        let is_sign_in = path == "/api/auth/sign-in";
        assert_eq!(answer.status == 401 && !is_sign_in, must_sign_in, "{answer}");
    }
}
