//! Errors as clients see them, in REST and in procedure calls.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use portico_model::{Issue, PathSegment, error::Error};
use serde_json::{Map, Value, json};

/// An error as the response of a REST route.
pub(crate) fn rest(error: Error, procedure: Option<&str>) -> Response {
    let mut body = json!({
        "message": error.message,
        "code": error.code.name(),
        "data": data(&error, procedure),
    });
    add_issues(&mut body, &error);
    let mut response = json_response(body.to_string());
    *response.status_mut() = status(error.code.http_status());
    retry_after(&mut response, error.retry_after);
    response
}

/// Adds the seconds after which to try again.
pub(crate) fn retry_after(response: &mut Response, seconds: Option<u64>) {
    if let Some(seconds) = seconds {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
}

/// An error of a request as a whole, in the form that clients of this path expect.
pub(crate) fn at(path: &str, error: Error) -> Response {
    if !path.starts_with("/api/trpc") {
        return rest(error, None);
    }
    let mut response = json_response(json!({ "error": rpc(&error, None) }).to_string());
    *response.status_mut() = status(error.code.http_status());
    retry_after(&mut response, error.retry_after);
    response
}

/// An error as procedure calls carry it: `{message, code, data, issues?}`, with a number as the code.
pub fn rpc(error: &Error, procedure: Option<&str>) -> Value {
    let error_code = error.code.rpc_code();
    let mut body = json!({ "message": error.message, "code": error_code, "data": data(error, procedure) });
    add_issues(&mut body, error);
    body
}

/// tRPC's own form has only the first step of an issue's path; `issues` has whole paths, in both transports.
fn add_issues(body: &mut Value, error: &Error) {
    if !error.issues.is_empty() {
        body["issues"] = json!(error.issues);
    }
}

/// A JSON response with status 200.
pub(crate) fn json_response(body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    // Room for the headers that the middleware adds.
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *response.headers_mut() = headers;
    response
}

pub(crate) fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn data(error: &Error, procedure: Option<&str>) -> Value {
    let mut data = json!({
        "code": error.code.name(),
        "httpStatus": error.code.http_status(),
        "path": procedure,
        "zodError": flattened(&error.issues),
    });
    if let Some(missing) = &error.missing_factor {
        data["secondFactor"] = json!(missing.kinds);
        data["ticket"] = missing.ticket.as_str().into();
    }
    data
}

/// The issues as zod flattens them: by the first step of their path.
fn flattened(issues: &[Issue]) -> Value {
    if issues.is_empty() {
        return Value::Null;
    }
    let mut form_errors = Vec::new();
    let mut field_errors = Map::new();
    for issue in issues {
        let field = match issue.path.first() {
            None => {
                form_errors.push(&issue.message);
                continue;
            }
            Some(PathSegment::Field(name)) => name.clone(),
            Some(PathSegment::Index(index)) => index.to_string(),
        };
        let messages = field_errors.entry(field).or_insert_with(|| json!([]));
        if let Value::Array(messages) = messages {
            messages.push(issue.message.clone().into());
        }
    }
    json!({ "formErrors": form_errors, "fieldErrors": field_errors })
}
