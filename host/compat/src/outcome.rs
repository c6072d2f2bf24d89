//! The outcome of a call, and its form in REST and in procedure calls.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use portico_model::{
    error::{Code, Error},
    refusal::{Missing, Refusal},
};
use serde_json::{Value, json};

/// A call that succeeded, or one that was refused.
pub(crate) type Outcome = Result<Output, Failure>;

#[derive(Debug)]
pub(crate) struct Output {
    /// `None` if it has no output.
    pub json: Option<Value>,
    /// superjson's `meta`: which values are dates.
    pub meta: Option<Value>,
    pub cookies: Vec<HeaderValue>,
}

impl Output {
    pub fn nothing() -> Self {
        Self {
            json: None,
            meta: None,
            cookies: Vec::new(),
        }
    }

    /// The output; null if there is no output.
    pub fn value(self) -> Value {
        self.json.unwrap_or_default()
    }
}

impl From<Value> for Output {
    fn from(json: Value) -> Self {
        Self {
            json: Some(json),
            ..Self::nothing()
        }
    }
}

#[derive(Debug)]
pub(crate) struct Failure {
    /// `{message, code, data, issues?}`, with a number as the code.
    error: Value,
    retry_after: Option<HeaderValue>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(
            portico_http::rpc_error(&error, None),
            error.retry_after.map(HeaderValue::from),
        )
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code(), refusal)
    }
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message: String = message.into();
        Self::of(
            json!({
                "message": message,
                "code": code.rpc_code(),
                "data": { "code": code.name(), "httpStatus": code.http_status(), "path": null, "zodError": null },
            }),
            code.retry_after().map(HeaderValue::from),
        )
    }

    pub fn not_found(what: Missing) -> Self {
        Refusal::NotFound { what }.into()
    }

    /// The input breaks this rule at this key.
    pub fn bad_input(key: &str, rule: &str) -> Self {
        let mut failure = Self::new(Code::BadRequest, format!("{key} {rule}"));
        failure.error["data"]["zodError"] = json!({ "formErrors": [], "fieldErrors": { key: [rule] } });
        failure.error["issues"] = json!([{ "path": [key], "message": rule }]);
        failure
    }

    /// A refusal in the form of procedure calls.
    pub fn of(error: Value, retry_after: Option<HeaderValue>) -> Self {
        Self { error, retry_after }
    }

    pub fn status(&self) -> StatusCode {
        let status = self.error["data"]["httpStatus"].as_u64();
        let status = status.and_then(|status| u16::try_from(status).ok());
        status
            .and_then(|status| StatusCode::from_u16(status).ok())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub fn retry_after(&self) -> Option<&HeaderValue> {
        self.retry_after.as_ref()
    }

    /// In the form of procedure calls, about the procedure of this name.
    pub fn rpc(&self, name: &str) -> Value {
        let mut error = self.error.clone();
        error["data"]["path"] = name.into();
        // Homarr has this key in every error.
        error["data"]["error"] = Value::Null;
        error
    }

    /// As the response of a REST route.
    pub fn rest(&self, name: &str) -> Response {
        let mut error = self.rpc(name);
        error["code"] = error["data"]["code"].clone();
        let mut response = json_response(self.status(), error.to_string());
        if let Some(seconds) = &self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, seconds.clone());
        }
        response
    }
}

/// The headers that Portico gives every response. Responses that pass through already have them.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_TYPE, "application/json"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
];

pub(crate) fn json_response(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}
