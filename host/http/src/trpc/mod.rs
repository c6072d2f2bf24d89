//! Procedure calls over HTTP as in tRPC v11: `/api/trpc/{procedure}`.
//!
//! A request holds one call or a batch. The form of each call's input shows whether the client speaks plain JSON or
//! superjson; the answer uses the same. A refusal of the request as a whole is one error, even for a batch.

mod answer;
mod calls;
pub(crate) mod superjson;
pub(crate) mod turns;

use std::{
    convert::Infallible,
    net::IpAddr,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use portico_model::error::{Code, Error};
use portico_model::refusal::Refusal;
use portico_sandbox::Kind;
use portico_service::{
    identity::Identity,
    procedures::method,
    service::{Authorised, report},
};
use tokio::{
    select,
    sync::{
        OnceCell,
        mpsc::{Receiver, Sender as Channel, channel},
    },
    task::yield_now,
};

use self::{
    answer::{Answer, Wrapping, Written},
    calls::{BatchCall, Calls},
    turns::{SMALL, Turn, too_many},
};
use crate::{
    budget::Transfer,
    error::{self, json_response},
    request::{RequestId, client_address, identify},
    session,
    state::Shared,
};

/// Calls of a batch that run at the same time.
const AT_ONCE: usize = 8;

/// How long a task makes the calls of a batch before it yields its thread.
const AT_A_STRETCH: Duration = Duration::from_millis(1);

pub(crate) async fn handle(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    if request.method() == Method::HEAD {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return response;
    }
    let mut response = match respond(&http, id, request).await {
        Ok(response) => response,
        Err(error) => error::at("/api/trpc", error),
    };
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("trpc-accept, accept"));
    response
}

async fn respond(http: &Shared, id: RequestId, request: Request) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    let streams = wants_stream(&parts.headers);
    let transfer = parts.extensions.get::<Arc<Transfer>>().cloned();
    let mut calls = Calls::new(http, &parts)?;
    if streams && !calls.is_batch {
        return Err(Error::new(
            Code::BadRequest,
            "Streaming requests must be batched (batch=1)",
        ));
    }
    let mut identity = identify(http, &parts, &id).await?;
    let may_renew = calls.may_set_password() && identity.renew_token(&http.service.secrets);
    let identity = Arc::new(identity);
    let mut context = RequestContext {
        http: http.clone(),
        identity: identity.clone(),
        id,
        method: parts.method.clone(),
        transfer: transfer.clone(),
        turn: OnceCell::new(),
        address: client_address(http, &parts),
        takes_turns: calls.len() > 1 && parts.method == Method::GET && !streams,
        place: Wrapping::Envelope,
        room: AtomicUsize::new(http.limits.answers),
    };
    // Authorise before reading the body.
    for call in calls.iter_mut() {
        call.authorised = Some(context.authorise(call).await);
    }
    calls.read_inputs(http, &parts, body).await;
    let superjson = calls.is_superjson();
    if streams {
        context.place = Wrapping::Line { superjson };
    }
    // A new cookie is part of the head, so nothing is sent before all calls are done.
    if streams && !may_renew {
        return Ok(stream(context, calls));
    }
    if !calls.is_batch {
        let mut answers = Vec::new();
        for call in calls {
            answers.push(context.run_call(call).await);
        }
        let response = answer::response(answers, false, transfer.as_ref());
        return Ok(session::with_renewed(http, response, &identity));
    }
    // Frees the request, because its answers may have to wait.
    drop(parts);
    let most_waiting = calls.len();
    let mut coming = start(context, calls, most_waiting);
    let mut answers = Vec::new();
    while let Some(answer) = coming.recv().await {
        answers.push(answer);
    }
    answers.sort_unstable_by_key(|(index, _)| *index);
    let answers: Vec<_> = answers.into_iter().map(|(_, answer)| answer).collect();
    let response = if streams {
        answer::stream_at_once(answers, superjson, transfer.as_ref())
    } else {
        answer::response(answers, true, transfer.as_ref())
    };
    Ok(session::with_renewed(http, response, &identity))
}

/// Makes the calls of a batch in tasks of their own. Each task makes one call after the other, as long as at most this
/// many answers wait to be taken: for a client that stops reading its stream, no more calls are made.
fn start(context: RequestContext, calls: Calls, most_waiting: usize) -> Receiver<(usize, Answer)> {
    let (sender, coming) = channel(most_waiting);
    let context = Arc::new(context);
    let tasks = calls.len().min(AT_ONCE);
    let waiting = Arc::new(Mutex::new(calls.into_iter().enumerate()));
    for _ in 0..tasks {
        tokio::spawn(make(context.clone(), waiting.clone(), sender.clone()));
    }
    coming
}

/// Makes calls until no call is left or the client has disconnected.
async fn make(
    context: Arc<RequestContext>,
    waiting: Arc<Mutex<impl Iterator<Item = (usize, BatchCall)>>>,
    answers: Channel<(usize, Answer)>,
) {
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut since = Instant::now();
    loop {
        let Ok(place) = answers.reserve().await else {
            return;
        };
        let refusal = select! {
            turn = context.take_turn() => turn.err(),
            () = answers.closed() => return,
        };
        let Some((index, mut call)) = next() else {
            return;
        };
        let is_authorised = matches!(call.authorised, Some(Ok(_)));
        if is_authorised && let Some(refusal) = refusal {
            call.authorised = Some(Err(refusal));
        }
        let caption = call.caption();
        let answer = AssertUnwindSafe(context.run_call(call)).catch_unwind().await;
        let answer = answer.unwrap_or_else(|_| {
            let panic = anyhow::anyhow!("a call panicked; the line above says where");
            let error = report(Error::internal(panic), &caption.name, &context.id.0);
            Answer::new(caption, Err(error), None)
        });
        place.send((index, answer));
        if since.elapsed() >= AT_A_STRETCH {
            yield_now().await;
            since = Instant::now();
        }
    }
}

/// Whether the client asks for a stream: each answer in a line of its own, as soon as it is made.
fn wants_stream(headers: &HeaderMap) -> bool {
    let accepts = headers.get("trpc-accept").or_else(|| headers.get(header::ACCEPT));
    accepts.is_some_and(|accepts| accepts.as_bytes() == b"application/jsonl")
}

/// One line for each answer, in the order in which the calls finish.
fn stream(context: RequestContext, calls: Calls) -> Response {
    let superjson = calls.is_superjson();
    let head = answer::stream_head(calls.len(), superjson);
    let transfer = context.transfer.clone();
    let coming = start(context, calls, AT_ONCE);
    let lines = stream::unfold((coming, transfer), move |(mut coming, transfer)| async move {
        let (index, answer) = coming.recv().await?;
        let line = answer.line(index, superjson, transfer.as_ref());
        Some((stream::iter(line), (coming, transfer)))
    });
    let lines = stream::once(async { Bytes::from(head) }).chain(lines.flatten());
    json_response(Body::from_stream(lines.map(Ok::<_, Infallible>)))
}

/// The context of a request's calls.
struct RequestContext {
    http: Shared,
    identity: Arc<Identity>,
    id: RequestId,
    method: Method,
    /// Counts the answers. `None` if the sockets are not ours.
    transfer: Option<Arc<Transfer>>,
    address: Option<IpAddr>,
    /// Whether it is a batch of queries whose answers wait for each other.
    takes_turns: bool,
    /// The turn of a large batch; `None` if it waited in vain.
    turn: OnceCell<Option<Turn>>,
    place: Wrapping,
    /// The bytes that are left for the answers.
    room: AtomicUsize,
}

impl RequestContext {
    /// Whether this batch needs a turn to continue.
    fn needs_turn(&self) -> bool {
        let made = self.http.limits.answers - self.room.load(Ordering::Relaxed);
        self.takes_turns && made > SMALL
    }

    /// Waits for a turn if this batch needs one and has none.
    async fn take_turn(&self) -> Result<(), Error> {
        if !self.needs_turn() {
            return Ok(());
        }
        let take = async || {
            self.http
                .turns
                .take(self.address, self.transfer.as_deref())
                .await
                .ok()
        };
        let turn = self.turn.get_or_init(take).await;
        turn.as_ref().map(|_| ()).ok_or_else(too_many)
    }

    /// Checks that the procedure exists, the method, and access.
    async fn authorise(&self, call: &BatchCall) -> Result<Authorised, Error> {
        let name = &call.name;
        let Some(procedure) = &call.procedure else {
            return Err(Error::new(
                Code::NotFound,
                format!("No procedure found on path \"{name}\""),
            ));
        };
        let kind = match procedure.kind {
            Kind::Query => "query",
            Kind::Mutation => "mutation",
        };
        if self.method.as_str() != method(procedure.kind) {
            let message = format!(
                "Unsupported {}-request to {kind} procedure at path \"{name}\"",
                self.method
            );
            return Err(Error::new(Code::MethodNotSupported, message));
        }
        self.http
            .service
            .authorise(procedure, &self.identity, &self.id.0)
            .await
    }

    async fn run_call(&self, call: BatchCall) -> Answer {
        let caption = call.caption();
        let outcome = self.run(call).await;
        Answer::new(caption, outcome, self.transfer.as_ref())
    }

    async fn run(&self, call: BatchCall) -> Result<Written, Error> {
        let (caption, place) = (call.caption(), self.place);
        let unchecked = || Error::internal(anyhow::anyhow!("the access of a call was not checked"));
        let authorised = call.authorised.ok_or_else(unchecked)??;
        let service = &self.http.service;
        let procedure = authorised.procedure();
        if self.room.load(Ordering::Relaxed) == 0 {
            let error = Error::from(Refusal::AnswersTooLarge);
            let action = procedure.action(&self.identity, &self.id.0);
            service.audit.refuse(&action, &error);
            return Err(error);
        }
        let write = move |output| caption.write(output, place);
        let written = service
            .call_authorised(&authorised, &self.id.0, call.input.read(), write)
            .await?;
        let less = |room: usize| Some(room.saturating_sub(written.output.len()));
        let _ = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        Ok(written)
    }
}
