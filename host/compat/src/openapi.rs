//! `GET /api/openapi`: Portico's document, with what this layer adds: procedures, REST and sign-in.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{Method, StatusCode},
    response::Response,
};
use bytes::Bytes;
use portico_model::refusal::Refusal;
use serde_json::{Value, json};

use crate::{
    Compat, auth,
    caller::Caller,
    outcome::{Failure, json_response},
    procedures, rest,
};

pub(crate) async fn respond(compat: &Arc<Compat>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let caller = Caller::new(compat, parts);
    let described = compat
        .description
        .get_or_try_init(async || describe(&caller).await)
        .await;
    match described {
        Ok(document) => json_response(StatusCode::OK, document.clone()),
        Err(failure) => failure.rest("openapi"),
    }
}

async fn describe(caller: &Caller) -> Result<Bytes, Failure> {
    let reply = caller.send(Method::GET, "/api/openapi", None).await?;
    let mut document = reply.json().await;
    let Some(paths) = document["paths"].as_object_mut() else {
        return Err(Refusal::Internal.into());
    };
    for (method, path, operation) in operations() {
        let known = paths.entry(path).or_insert_with(|| json!({}));
        let key = method.as_str().to_lowercase();
        // Portico's own stay.
        if known[&key].is_null() {
            known[key] = operation;
        }
    }
    Ok(document.to_string().into())
}

/// Everything that this layer adds: method, path and description.
fn operations() -> impl Iterator<Item = (Method, String, Value)> {
    let calls = procedures::all().map(|procedure| {
        let method = procedure.kind.method();
        let path = format!("/api/trpc/{}", procedure.name);
        let operation = call_operation(&method, &path, procedure.name);
        (method, path, operation)
    });
    let routes = rest::routes().map(|(method, path, procedure)| {
        let operation = route_operation(method, path, procedure);
        (method.clone(), path.to_owned(), operation)
    });
    let sign_in = auth::routes().map(|(method, path)| {
        let operation = sign_in_operation(method, path);
        (method.clone(), path.to_owned(), operation)
    });
    calls.chain(routes).chain(sign_in)
}

/// What all descriptions have.
fn operation(method: &Method, path: &str, summary: &str) -> Value {
    let name = path.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    json!({
        "operationId": format!("homarr_{}{name}", method.as_str().to_lowercase()),
        "tags": ["homarr"],
        "summary": summary,
        "responses": {
            "200": {
                "description": "As Homarr; without a body if there is no output.",
                "content": { "application/json": { "schema": {} } },
            },
            "default": {
                "description": "A refusal.",
                "content": { "application/json": { "schema": { "type": "object" } } },
            },
        },
    })
}

/// A body of this content type.
fn body(content_type: &str, is_required: bool) -> Value {
    json!({ "required": is_required, "content": { content_type: { "schema": { "type": "object" } } } })
}

/// A procedure call, whose input is `{"json": …}` (superjson).
fn call_operation(method: &Method, path: &str, procedure: &str) -> Value {
    let summary =
        format!("For clients of Homarr: {procedure}, with its input and output there, as superjson.");
    let mut operation = operation(method, path, &summary);
    match *method == Method::GET {
        true => {
            operation["parameters"] = json!([{
                "name": "input",
                "in": "query",
                "content": { "application/json": { "schema": { "type": "object" } } },
            }]);
        }
        false => operation["requestBody"] = body("application/json", false),
    }
    operation
}

/// A route, whose input and output are Homarr's.
fn route_operation(method: &Method, path: &str, procedure: &str) -> Value {
    let summary = format!("For clients of Homarr: {procedure}, with its input and output there.");
    let mut operation = operation(method, path, &summary);
    let of_path = path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
    });
    operation["parameters"] = of_path.collect();
    if *method != Method::GET {
        operation["requestBody"] = body("application/json", true);
    }
    operation
}

/// A route of Auth.js. Its changes take forms.
fn sign_in_operation(method: &Method, path: &str) -> Value {
    let mut operation = operation(
        method,
        path,
        "For clients of Homarr: signing in and out as with Auth.js.",
    );
    if *method != Method::GET {
        operation["requestBody"] = body("application/x-www-form-urlencoded", false);
        operation["responses"]["302"] = json!({ "description": "Where the client goes on." });
    }
    operation
}
