//! The errors of REST and of procedure calls, as `crate::error` makes them.

use portico_model::{FactorKind, error::Code};
use serde_json::{Map, Value, json};

use super::schema::{JSON, Schemas, described, request_id};

/// The meaning of each code.
const ABOUT: [(Code, &str); 12] = [
    (Code::BadRequest, "The input breaks a rule; `issues` says which."),
    (
        Code::Unauthorized,
        "The caller must sign in, or the credentials are wrong.",
    ),
    (Code::Forbidden, "The caller may not do this."),
    (
        Code::NotFound,
        "There is no such record, or the caller may not see it.",
    ),
    (
        Code::MethodNotSupported,
        "The path does not have this method; `Allow` names those that it has.",
    ),
    (
        Code::Conflict,
        "The call conflicts with what is stored: a name is taken, the last administrator.",
    ),
    (
        Code::PayloadTooLarge,
        "The body, or the request line with the headers, is larger than the limit.",
    ),
    (
        Code::UnsupportedMediaType,
        "The body's content type is not application/json, or it has a `Content-Encoding`.",
    ),
    (
        Code::TooManyRequests,
        "Too many attempts; `Retry-After` says when to try again.",
    ),
    (
        Code::InternalServerError,
        "An unexpected failure; the log has it under the request's id.",
    ),
    (
        Code::ServiceUnavailable,
        "Not available now; the same request may succeed later.",
    ),
    (Code::Timeout, "The call, or its body, took too long."),
];

/// Every refusal: `NotFound` in REST, `CallNotFound` in procedure calls.
pub(super) fn responses(schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    for (prefix, schema) in [("", rest(schemas)), ("Call", call(schemas))] {
        for (code, about) in ABOUT {
            let mut answer = json!({
                "description": about,
                "headers": { "x-request-id": request_id() },
                "content": { JSON: { "schema": schema } },
            });
            if says_when_to_retry(code) {
                answer["headers"]["Retry-After"] = json!({
                    "description": "After how many seconds the same request may succeed.",
                    "required": true,
                    "schema": { "type": "integer", "minimum": 1 },
                });
            }
            responses.insert(format!("{prefix}{code:?}"), answer);
        }
    }
    responses.into()
}

/// Whether `Retry-After` is there.
fn says_when_to_retry(code: Code) -> bool {
    matches!(
        code,
        Code::TooManyRequests | Code::ServiceUnavailable | Code::Timeout
    )
}

/// Adds the response to a request line that is too long to be read.
pub(super) fn add_too_long(operation: &mut Value) {
    let Value::Object(answers) = &mut operation["responses"] else {
        return;
    };
    let at = answers
        .keys()
        .position(|status| status.as_str() > "414")
        .unwrap_or(answers.len());
    let answer = json!({ "description": "The request line is longer than 65,534 bytes. The body is empty." });
    answers.shift_insert(at, "414".into(), answer);
}

fn rest(schemas: &mut Schemas) -> Value {
    schemas.add("Error", |schemas| {
        json!({
            "type": "object",
            "description": "Why a request was refused. Nothing was changed, except that after `TIMEOUT` the change may have been made.",
            "required": ["message", "code", "data"],
            "properties": {
                "message": { "type": "string", "description": "One sentence for a person." },
                "code": described(code(schemas), "What kind of refusal it is."),
                "data": described(data(schemas), "The same in detail."),
                "issues": issues(schemas),
            },
        })
    })
}

fn call(schemas: &mut Schemas) -> Value {
    schemas.add("CallError", |schemas| {
        json!({
            "type": "object",
            "description": "Why a procedure call was refused. Nothing was changed, except that after `TIMEOUT` the change may have been made.",
            "required": ["error"],
            "properties": {
                "error": {
                    "type": "object",
                    "description": "The error.",
                    "required": ["message", "code", "data"],
                    "properties": {
                        "message": { "type": "string", "description": "One sentence for a person." },
                        "code": { "type": "integer", "description": "The code of JSON-RPC, as tRPC numbers it." },
                        "data": described(data(schemas), "The same in detail."),
                        "issues": issues(schemas),
                    },
                },
            },
        })
    })
}

fn issues(schemas: &mut Schemas) -> Value {
    json!({
        "type": "array",
        "items": issue(schemas),
        "description": "Each broken rule of the input; absent where none is.",
    })
}

fn code(schemas: &mut Schemas) -> Value {
    schemas.add("ErrorCode", |_| {
        json!({
            "type": "string",
            "description": "What kind of refusal it is.",
            "enum": ABOUT.map(|(code, _)| code.name()),
        })
    })
}

fn data(schemas: &mut Schemas) -> Value {
    schemas.add("ErrorData", |schemas| {
        let texts = || json!({ "type": "array", "items": { "type": "string" } });
        let mut form = texts();
        form["description"] = "The rules that the input breaks as a whole.".into();
        json!({
            "type": "object",
            "description": "An error in detail, the same in REST and in procedure calls.",
            "required": ["code", "httpStatus", "path", "zodError"],
            "properties": {
                "code": described(code(schemas), "What kind of refusal it is."),
                "httpStatus": { "type": "integer", "description": "The status of the answer." },
                "path": {
                    "type": ["string", "null"],
                    "description": "The procedure; null where none was called.",
                },
                "zodError": {
                    "type": ["object", "null"],
                    "description": "The broken rules of the input by field, as zod flattens them.",
                    "required": ["formErrors", "fieldErrors"],
                    "properties": {
                        "formErrors": form,
                        "fieldErrors": {
                            "type": "object",
                            "description": "The rules that each field breaks.",
                            "additionalProperties": texts(),
                        },
                    },
                },
                "secondFactor": {
                    "type": "array",
                    "items": { "type": "string", "enum": FactorKind::NAMES },
                    "description": "Of a sign-in with a right password: the kinds of second factors that the user has. Empty: \
                                    the user must set one up.",
                },
                "ticket": {
                    "type": "string",
                    "description": "With it such a sign-in goes on (`/api/auth/second-factor`).",
                },
            },
        })
    })
}

fn issue(schemas: &mut Schemas) -> Value {
    schemas.add("Issue", |_| {
        json!({
            "type": "object",
            "description": "One rule that the input breaks.",
            "required": ["path", "message"],
            "properties": {
                "path": {
                    "type": "array",
                    "items": { "type": ["string", "integer"] },
                    "description": "Where: names of fields, and positions from 0; empty for the input as a whole.",
                },
                "message": {
                    "type": "string",
                    "description": "The rule, and what was wrong.",
                },
            },
        })
    })
}
