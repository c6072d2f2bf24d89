//! `GET /api/openapi`: Portico's document, with the routes that this layer adds.

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
    Compat,
    caller::Caller,
    outcome::{Failure, json_response},
    rest,
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
    for (method, path, procedure) in rest::routes() {
        let known = paths.entry(path).or_insert_with(|| json!({}));
        let key = method.as_str().to_lowercase();
        if known[&key].is_null() {
            known[key] = operation(method, path, procedure);
        }
    }
    Ok(document.to_string().into())
}

/// The description of a route, whose inputs and outputs are Homarr's.
fn operation(method: &Method, path: &str, procedure: &str) -> Value {
    let of_path = path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
    });
    let name: String = path
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    let mut operation = json!({
        "operationId": format!("homarr_{}{name}", method.as_str().to_lowercase()),
        "tags": ["homarr"],
        "summary": format!("For clients of Homarr: {procedure}, with its input and output there."),
        "parameters": of_path.collect::<Value>(),
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
    });
    if *method != Method::GET {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": { "type": "object" } } },
        });
    }
    operation
}
