//! An answer of the service, with the questions that tests ask of it.

use std::collections::BTreeSet;

use serde_json::Value;

/// What came back: status, headers and body.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as sent.
    pub body: Vec<u8>,
    /// What was asked, for failure messages.
    pub request: String,
}

impl Answer {
    /// Checks what must be true of the answer to every request. Only the page of the description
    /// and pictures are no JSON.
    #[track_caller]
    pub(crate) fn checked(self, path: &str) -> Self {
        assert!(self.status < 500, "a request never gets a 5xx: {self}");
        assert!(
            !self.text().contains("$argon2"),
            "a hash left the service: {self}"
        );
        let is_picture = path.starts_with("/api/pictures/") && self.status == 200;
        // A person at the gate gets a page.
        let is_gate = path.starts_with("/api/auth/verify") || path.starts_with("/api/auth/gate");
        let is_page =
            is_gate && self.status == 403 && self.header("content-type") == Some("text/html; charset=utf-8");
        let is_other = is_picture || is_page || path.starts_with("/api/docs");
        if path.starts_with("/api") && !is_other && !self.body.is_empty() {
            let kind = self.header("content-type").unwrap_or_default();
            assert!(
                kind.starts_with("application/json"),
                "not declared as JSON ({kind}): {self}"
            );
        }
        self
    }

    /// The same for an answer that may be a 5xx. A proxy's own has no id.
    #[track_caller]
    pub(crate) fn checked_with_5xx(self) -> Self {
        if [503, 504].contains(&self.status) && self.header("x-request-id").is_some() {
            let seconds = self
                .header("retry-after")
                .and_then(|seconds| seconds.parse().ok());
            assert!(
                seconds.is_some_and(|seconds: u64| seconds > 0),
                "no Retry-After: {self}"
            );
        }
        self
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("no JSON ({error}): {self}"),
        }
    }

    /// The first header of this name (in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
    }

    /// All that a client sees, without what differs between any two answers.
    pub fn seen(&self) -> (u16, Vec<(String, String)>, Vec<u8>) {
        let mut headers = self.headers.clone();
        headers.retain(|(name, _)| name != "date" && name != "x-request-id");
        (self.status, headers, self.body.clone())
    }

    /// Checks the status.
    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "status: {self}");
        self
    }

    /// The output of a procedure call that succeeded; null where it has none.
    #[track_caller]
    pub fn data(&self) -> Value {
        self.assert_status(200);
        let body = self.json();
        let result = body.get("result").unwrap_or_else(|| panic!("no result: {self}"));
        result.get("data").cloned().unwrap_or(Value::Null)
    }

    /// Checks that a REST mutation succeeded and returned nothing.
    #[track_caller]
    pub fn assert_empty(&self) -> &Self {
        self.assert_status(200);
        assert!(self.body.is_empty(), "a body where none belongs: {self}");
        self
    }

    /// Checks that a procedure call succeeded without an output.
    #[track_caller]
    pub fn assert_done(&self) -> &Self {
        self.assert_status(200);
        assert_eq!(
            self.json(),
            serde_json::json!({"result": {}}),
            "an output where none belongs: {self}"
        );
        self
    }

    /// The error in the body: the REST body itself, or what the envelope of a procedure call
    /// holds, with or without superjson.
    #[track_caller]
    pub fn error(&self) -> Value {
        let body = self.json();
        let error = body.pointer("/error/json").or(body.get("error")).unwrap_or(&body);
        assert!(
            error["message"].as_str().is_some_and(|text| !text.is_empty()),
            "no message: {self}"
        );
        error.clone()
    }

    /// The name of the error's code, such as `NOT_FOUND`.
    #[track_caller]
    pub fn code(&self) -> String {
        match self.error().pointer("/data/code").and_then(Value::as_str) {
            Some(code) => code.to_owned(),
            None => panic!("no data.code: {self}"),
        }
    }

    /// Checks that the call was refused with this status and code, in the whole shape that errors
    /// have.
    #[track_caller]
    pub fn assert_refused(&self, status: u16, code: &str) -> &Self {
        self.assert_status(status);
        assert_eq!(self.code(), code, "code: {self}");
        let data = self.error()["data"].clone();
        assert_eq!(data["httpStatus"], status, "data.httpStatus: {self}");
        assert!(
            data.get("zodError").is_some(),
            "data.zodError is always there: {self}"
        );
        self
    }

    /// Checks for a 503 whose message names the request's id.
    #[track_caller]
    pub fn assert_unavailable(&self) -> &Self {
        self.assert_refused(503, "SERVICE_UNAVAILABLE");
        let id = self.header("x-request-id").expect("the request's id");
        let message = self.error()["message"].to_string();
        assert!(
            message.contains(id),
            "the message does not name request {id}: {self}"
        );
        self
    }

    /// Checks that the call was refused because of this field, and says which rule it broke.
    #[track_caller]
    pub fn assert_bad_field(&self, field: &str) -> &Self {
        self.assert_refused(400, "BAD_REQUEST");
        let error = self.error();
        let rules = &error["data"]["zodError"]["fieldErrors"][field];
        let named = rules.as_array().is_some_and(|rules| {
            !rules.is_empty()
                && rules
                    .iter()
                    .all(|rule| rule.as_str().is_some_and(|rule| rule.len() > 3))
        });
        assert!(
            named,
            "data.zodError.fieldErrors.{field} does not say the rule: {self}"
        );
        self
    }

    /// Checks that the call was refused because of its input as a whole.
    #[track_caller]
    pub fn assert_bad_input(&self) -> &Self {
        self.assert_refused(400, "BAD_REQUEST");
        let rules = self.error()["data"]["zodError"]["formErrors"].clone();
        assert!(
            rules.as_array().is_some_and(|rules| !rules.is_empty()),
            "no data.zodError.formErrors: {self}"
        );
        self
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: String = self.text().chars().take(2_000).collect();
        let request: String = self.request.chars().take(500).collect();
        write!(formatter, "{request} -> {} {text}", self.status)
    }
}

/// The keys of an object.
#[track_caller]
pub fn keys(value: &Value) -> BTreeSet<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}
