//! The caller of a request, on whose behalf this crate calls Portico.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{Extensions, HeaderMap, Method, StatusCode, header, request::Parts},
    response::Response,
};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt, Limited};
use portico_http::InProcess;
use portico_model::{error::Code, refusal::Refusal};
use serde_json::{Value, json};
use tokio::{
    sync::{OnceCell, SemaphorePermit},
    task::spawn_blocking,
    time::timeout,
};
use tower::ServiceExt;

use crate::{
    Compat, form,
    outcome::{Failure, Outcome, Output},
    superjson,
};

/// The largest response of Portico that is read to make another one from it, in bytes.
pub(crate) const LARGEST_ANSWER: usize = 8 << 20;

/// How long a request waits for its turn.
const MOST_WAITING: Duration = Duration::from_secs(10);

/// JSON of this many bytes and more is read on a thread that serves no requests.
const LONG_TO_READ: usize = 256 << 10;

/// The largest body of a caller who is not signed in, in bytes.
pub(crate) const SMALL_BODY: usize = 16 << 10;

/// Passes a request on as it is.
pub(crate) async fn pass_on(compat: &Compat, request: Request) -> Response {
    match compat.portico.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

pub(crate) struct Caller {
    pub compat: Arc<Compat>,
    portico: InProcess,
    headers: HeaderMap,
    /// Portico's response about the session, once it was requested.
    session: OnceCell<Result<Value, StatusCode>>,
}

pub(crate) struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    /// The body as JSON; null if it is not JSON.
    pub async fn json(&self) -> Value {
        if self.body.len() < LONG_TO_READ {
            return serde_json::from_slice(&self.body).unwrap_or_default();
        }
        let body = self.body.clone();
        let read = spawn_blocking(move || serde_json::from_slice(&body).unwrap_or_default());
        read.await.unwrap_or_default()
    }
}

impl Caller {
    pub fn new(compat: &Arc<Compat>, parts: Parts) -> Self {
        Self {
            compat: compat.clone(),
            portico: InProcess::new(compat.portico.clone(), &parts),
            headers: parts.headers,
            session: OnceCell::new(),
        }
    }

    /// The same sender, whose session is requested again.
    pub fn again(&self) -> Self {
        Self {
            compat: self.compat.clone(),
            portico: self.portico.clone(),
            headers: self.headers.clone(),
            session: OnceCell::new(),
        }
    }

    /// A body for the caller, which is counted until it is read.
    pub fn body(&self, text: String) -> Body {
        portico_http::counted_body(self.portico.extensions(), text)
    }

    /// Waits until this request may be worked on. Hold the permit while inputs and outputs are in memory as values, but
    /// not while the caller sends or reads.
    pub async fn turn(&self) -> Result<SemaphorePermit<'_>, Failure> {
        let turn = timeout(MOST_WAITING, self.compat.turns.acquire()).await;
        let busy = || {
            Failure::new(
                Code::ServiceUnavailable,
                "The service is busy; try again in some seconds",
            )
        };
        turn.map_err(|_| busy())?.map_err(|_| busy())
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Those of the request.
    pub fn extensions(&self) -> &Extensions {
        self.portico.extensions()
    }

    /// Where the caller reaches the service: the public URL, or the host of the request.
    pub fn origin(&self) -> String {
        if let Some(url) = &self.compat.public_url {
            return url.to_string();
        }
        let host = self.headers.get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        format!("http://{host}")
    }

    /// Sends Portico a request on behalf of the caller.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Reply, Failure> {
        let body = body.map(Value::to_string);
        let response = self.portico.send(method, path, body).await;
        let response = response
            .map_err(|_| Failure::new(Code::BadRequest, "The request is too large or not well formed"))?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, LARGEST_ANSWER).collect().await;
        let body = body.map_err(|_| {
            let most = LARGEST_ANSWER >> 20;
            let message =
                format!("The answer is larger than {most} MiB, and no larger one is given in Homarr's form");
            Failure::new(Code::PayloadTooLarge, message)
        })?;
        Ok(Reply {
            status: parts.status,
            headers: parts.headers,
            body: body.to_bytes(),
        })
    }

    pub async fn query(&self, name: &str, input: Value) -> Outcome {
        self.call(Method::GET, name, json!({ "json": input })).await
    }

    /// Calls a query of Portico that takes no input.
    pub async fn query_all(&self, name: &str) -> Outcome {
        self.call(Method::GET, name, superjson::undefined()).await
    }

    pub async fn mutate(&self, name: &str, input: Value) -> Outcome {
        self.call(Method::POST, name, json!({ "json": input })).await
    }

    /// Calls a procedure with the input exactly as the client has sent it.
    pub async fn call(&self, method: Method, name: &str, input: Value) -> Outcome {
        let name = form::escape(name);
        let reply = if method == Method::GET {
            let path = format!("/api/trpc/{name}?input={}", form::escape(&input.to_string()));
            self.send(method, &path, None).await?
        } else {
            self.send(method, &format!("/api/trpc/{name}"), Some(&input))
                .await?
        };
        let mut answer = reply.json().await;
        if let Some(error) = answer.get_mut("error") {
            let error = match error.get_mut("json") {
                Some(error) => error.take(),
                None => error.take(),
            };
            let retry_after = reply.headers.get(header::RETRY_AFTER).cloned();
            return Err(Failure::of(error, retry_after));
        }
        if !answer["result"].is_object() {
            return Err(Refusal::Internal.into());
        }
        let cookies = reply.headers.get_all(header::SET_COOKIE).iter().cloned();
        let cookies = cookies.collect();
        let mut data = answer["result"]["data"].take();
        if !superjson::is_wrapped(&input) {
            let json = answer["result"].get("data").is_some().then_some(data);
            return Ok(Output {
                json,
                meta: None,
                cookies,
            });
        }
        let meta = data.get_mut("meta").map(Value::take);
        let is_nothing = meta.as_ref().is_some_and(|meta| meta["values"][0] == "undefined");
        let json = (!is_nothing).then(|| data["json"].take());
        let meta = meta.filter(|_| !is_nothing);
        Ok(Output { json, meta, cookies })
    }

    /// The user who is signed in: `{id, name, email, …, permissions}`.
    pub async fn user(&self) -> Result<&Value, Failure> {
        let session = self.signed_in().await?;
        let session = session.ok_or_else(|| Failure::new(Code::Unauthorized, "UNAUTHORIZED"))?;
        Ok(&session["user"])
    }

    /// The caller's session; `None` if the caller is not signed in. Fails if Portico cannot look it up now.
    pub async fn signed_in(&self) -> Result<Option<&Value>, Failure> {
        match self.session().await? {
            Ok(session) => Ok(Some(session)),
            Err(StatusCode::UNAUTHORIZED) => Ok(None),
            Err(StatusCode::TOO_MANY_REQUESTS) => Err(Failure::new(
                Code::TooManyRequests,
                "Too many attempts; try again later",
            )),
            Err(_) => Err(Failure::new(
                Code::ServiceUnavailable,
                "The session cannot be looked up now; try again in some seconds",
            )),
        }
    }

    /// The id of the user who is signed in.
    pub async fn user_id(&self) -> Result<&str, Failure> {
        Ok(self.user().await?["id"].as_str().unwrap_or_default())
    }

    /// Refuses a caller who is not an administrator.
    pub async fn require_administrator(&self) -> Result<(), Failure> {
        let user = self.user().await?;
        let permissions = user["permissions"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if permissions.iter().any(|permission| permission == "admin") {
            return Ok(());
        }
        let permission = "admin".into();
        Err(Refusal::NeedsPermission { permission }.into())
    }

    /// Portico's response about the session, or the status with which it has refused.
    pub async fn session(&self) -> Result<&Result<Value, StatusCode>, Failure> {
        let ask = async || {
            let reply = self.send(Method::GET, "/api/auth/session", None).await?;
            Ok(if reply.status == StatusCode::OK {
                Ok(reply.json().await)
            } else {
                Err(reply.status)
            })
        };
        self.session.get_or_try_init(ask).await
    }

    /// Reads the body of the request: a small one, unless the caller is signed in.
    pub async fn read(&self, body: Body) -> Result<Bytes, Failure> {
        let limit = match self.signed_in().await? {
            Some(_) => self.compat.limits.body,
            None => SMALL_BODY.min(self.compat.limits.body),
        };
        read(body, limit, self.compat.limits.receive_time).await
    }

    /// Reads a body, which must be small even if the caller is signed in.
    pub async fn read_small(&self, body: Body) -> Result<Bytes, Failure> {
        let limit = SMALL_BODY.min(self.compat.limits.body);
        read(body, limit, self.compat.limits.receive_time).await
    }
}

async fn read(body: Body, limit: usize, time: Duration) -> Result<Bytes, Failure> {
    let read = portico_http::read_body(body, limit, time).await;
    read.map_err(Failure::from)
}

/// A body of which the beginning was read.
pub(crate) enum Beginning {
    /// It is not longer.
    Whole(Bytes),
    /// The whole body, whose remainder is still to arrive.
    OfMore(Body),
}

/// Reads a body, until it is known to have more than this many bytes.
pub(crate) async fn read_beginning(body: Body, most: usize, longest: Duration) -> Result<Beginning, Failure> {
    let mut arriving = body.into_data_stream();
    let mut read = Vec::new();
    let until_more = async {
        while let Some(piece) = arriving.next().await {
            read.extend_from_slice(&piece.map_err(|_| cut())?);
            if read.len() > most {
                return Ok::<_, Failure>(true);
            }
        }
        Ok(false)
    };
    let is_longer = timeout(longest, until_more).await;
    let is_longer = is_longer.map_err(|_| Refusal::BodyTooLate)??;
    if !is_longer {
        return Ok(Beginning::Whole(read.into()));
    }
    let beginning = stream::once(async move { Ok(Bytes::from(read)) });
    Ok(Beginning::OfMore(Body::from_stream(beginning.chain(arriving))))
}

fn cut() -> Failure {
    Refusal::BodyCut.into()
}

/// Whether the headers say that the body is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}
