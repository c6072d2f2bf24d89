//! The API, called in process.
//!
//! Invariant: a call carries the headers and extensions of the page's request. So the API identifies, authorises,
//! throttles and records it like any request of that client.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use axum::{
    Router,
    body::Bytes,
    http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_http::InProcess;
use portico_rules::refusal::Refusal;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::texts::refusals::FormRefusal;

/// Larger responses are read on a thread that serves no requests.
const MOST_INLINE: usize = 64 << 10;

/// Computes something long on a thread that serves no requests. The extensions are those of the request.
pub(crate) async fn compute<T: Send + 'static>(
    extensions: &Extensions,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let computed = portico_http::compute(extensions, work).await;
    computed.map_err(|error| {
        let status = StatusCode::from_u16(error.code.http_status()).unwrap_or_default();
        ApiError {
            retry_after: error.retry_after,
            ..ApiError::new(status, error.message)
        }
    })
}

/// The same for what must not be refused any more, because a change was made or the page is written.
pub(crate) async fn compute_in_any_case<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let computed = tokio::task::spawn_blocking(work).await;
    computed.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// The API, with the rights of the sender of one request.
pub(crate) struct Api {
    router: InProcess,
    /// The cookies that the responses set.
    cookies: Mutex<Vec<HeaderValue>>,
    /// Whether the form of this request is an old one, which changes nothing.
    refuses_changes: AtomicBool,
}

impl Api {
    pub fn new(router: Router, request: &Parts) -> Self {
        Self {
            router: InProcess::new(router, request),
            cookies: Mutex::default(),
            refuses_changes: AtomicBool::new(false),
        }
    }

    /// The API with the session that a call of this visit has begun.
    pub fn with_new_session(&self) -> Self {
        let cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            router: self.router.with_cookies(cookies.iter()),
            cookies: Mutex::default(),
            refuses_changes: AtomicBool::new(false),
        }
    }

    /// From now on, refuses changes as those of an old form.
    pub fn refuse_changes(&self) {
        self.refuses_changes.store(true, Relaxed);
    }

    fn check_changes(&self) -> Result<(), ApiError> {
        if self.refuses_changes.load(Relaxed) {
            return Err(ApiError::of_old_form());
        }
        Ok(())
    }

    /// Calls a query. `Value::Null` means without an input.
    pub async fn query<T: DeserializeOwned + Send + 'static>(
        &self,
        procedure: &str,
        input: Value,
    ) -> Result<T, ApiError> {
        let mut path = format!("/api/trpc/{procedure}");
        if !input.is_null() {
            let input = input.to_string();
            path.push_str("?input=");
            path.extend(utf8_percent_encode(&input, NON_ALPHANUMERIC));
        }
        let answer = self.send(Method::GET, &path, None).await?;
        self.data(answer).await
    }

    pub async fn mutate<T: DeserializeOwned + Send + 'static>(
        &self,
        procedure: &str,
        input: Value,
    ) -> Result<T, ApiError> {
        self.mutate_text(procedure, input.to_string()).await
    }

    /// Calls a mutation with an input that is already JSON.
    pub async fn mutate_text<T: DeserializeOwned + Send + 'static>(
        &self,
        procedure: &str,
        input: String,
    ) -> Result<T, ApiError> {
        self.check_changes()?;
        let path = format!("/api/trpc/{procedure}");
        let answer = self.send(Method::POST, &path, Some(input)).await?;
        if answer.0.len() <= MOST_INLINE {
            return answer.read_data();
        }
        compute_in_any_case(move || answer.read_data()).await
    }

    /// Calls a mutation that returns nothing.
    pub async fn change(&self, procedure: &str, input: Value) -> Result<(), ApiError> {
        self.mutate::<Value>(procedure, input).await.map(drop)
    }

    /// Reads the response of a procedure.
    async fn data<T: DeserializeOwned + Send + 'static>(&self, answer: Answer) -> Result<T, ApiError> {
        if answer.0.len() <= MOST_INLINE {
            return answer.read_data();
        }
        self.compute(move || answer.read_data()).await?
    }

    /// Computes something long for the sender of the request, on a thread that serves no requests.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        compute(self.router.extensions(), work).await
    }

    /// `GET` of a route outside the procedures.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        self.send(Method::GET, path, None).await?.body()
    }

    /// `POST` to a route outside the procedures.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T, ApiError> {
        self.check_changes()?;
        self.send(Method::POST, path, Some(body.to_string()))
            .await?
            .body()
    }

    /// Passes the whole request on as it came in, and returns the API's response.
    pub async fn pass(&self, method: Method, path_and_query: &str) -> Response {
        self.dispatch(method, path_and_query, None).await
    }

    /// The cookies that the responses have set so far.
    pub fn take_cookies(&self) -> Vec<HeaderValue> {
        std::mem::take(&mut *self.cookies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn send(&self, method: Method, path: &str, body: Option<String>) -> Result<Answer, ApiError> {
        let response = self.dispatch(method, path, body).await;
        let (parts, body) = response.into_parts();
        self.keep_cookies(&parts.headers);
        let body = body.collect().await.map_err(ApiError::unreadable)?.to_bytes();
        if parts.status.is_success() {
            return Ok(Answer(body));
        }
        Err(ApiError::read(parts.status, &parts.headers, &body))
    }

    fn keep_cookies(&self, headers: &HeaderMap) {
        let mut cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        cookies.extend(headers.get_all(header::SET_COOKIE).iter().cloned());
    }

    async fn dispatch(&self, method: Method, path: &str, body: Option<String>) -> Response {
        let sent = self.router.send(method, path, body).await;
        sent.unwrap_or_else(|_| StatusCode::URI_TOO_LONG.into_response())
    }
}

struct Answer(Bytes);

impl Answer {
    fn body<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        // Routes without a result have an empty body.
        let body = if self.0.is_empty() { b"null" } else { &*self.0 };
        serde_json::from_slice(body).map_err(ApiError::unreadable)
    }

    fn read_data<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        #[derive(Deserialize)]
        struct Envelope<T> {
            result: Data<T>,
        }
        #[derive(Deserialize)]
        struct Data<T> {
            data: Option<T>,
        }
        let Envelope { result } =
            serde_json::from_slice::<Envelope<T>>(&self.0).map_err(ApiError::unreadable)?;
        // A call without a result has no `data`; only callers that take `Value` make such calls.
        match result.data {
            Some(data) => Ok(data),
            None => serde_json::from_value(json!(null)).map_err(ApiError::unreadable),
        }
    }
}

/// Why the API refused a call, or how it failed.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub status: StatusCode,
    /// One English sentence for a person.
    pub message: String,
    /// The broken rules of the input.
    pub issues: Vec<Issue>,
    /// The seconds after which the same call may succeed.
    pub retry_after: Option<u64>,
    /// The second factor that is missing after the right password.
    pub missing_factor: Option<MissingFactor>,
    /// Whether the API was not called, because the form was made for another session of this browser.
    pub is_of_old_form: bool,
}

/// The second factor that is missing after the right password.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MissingFactor {
    /// The kinds that the user has; none if one must be set up.
    pub second_factor: Vec<String>,
    pub ticket: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Issue {
    /// Where in the input: names of fields and indices of lists.
    pub path: Vec<Value>,
    pub message: String,
}

impl ApiError {
    /// An error that the console itself finds.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            issues: Vec::new(),
            retry_after: None,
            missing_factor: None,
            is_of_old_form: false,
        }
    }

    fn of_old_form() -> Self {
        Self {
            is_of_old_form: true,
            ..Self::new(StatusCode::BAD_REQUEST, FormRefusal::OldSession)
        }
    }

    pub fn not_found() -> Self {
        Refusal::NothingHere.into()
    }

    /// Whether the input broke a rule, or collided with something that already exists: the form is shown again.
    pub fn is_of_input(&self) -> bool {
        matches!(self.status.as_u16(), 400 | 409 | 413)
    }

    /// The error in a response of the API.
    pub async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        match body.collect().await {
            Ok(body) => Self::read(parts.status, &parts.headers, &body.to_bytes()),
            Err(error) => Self::unreadable(error),
        }
    }

    fn unreadable(error: impl std::fmt::Display) -> Self {
        tracing::warn!(%error, "the console cannot read an answer of the API");
        Refusal::Internal.into()
    }

    fn read(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Refusal {
            message: String,
            issues: Vec<Issue>,
            data: Value,
        }
        #[derive(Deserialize)]
        struct Envelope {
            error: Refusal,
        }
        let refusal = serde_json::from_slice::<Envelope>(body)
            .map(|envelope| envelope.error)
            .or_else(|_| serde_json::from_slice::<Refusal>(body))
            .unwrap_or_default();
        let retry_after = headers.get(header::RETRY_AFTER);
        Self {
            status,
            message: refusal.message,
            issues: refusal.issues,
            retry_after: retry_after.and_then(|seconds| seconds.to_str().ok()?.parse().ok()),
            // Only a sign-in has both keys.
            missing_factor: serde_json::from_value(refusal.data).ok(),
            is_of_old_form: false,
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.code().http_status()).unwrap_or_default();
        Self::new(status, refusal)
    }
}

/// The page of an error is made by [`crate::around::around`], which knows the visit.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
