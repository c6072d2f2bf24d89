//! Procedure calls over HTTP as in tRPC v11: `/api/trpc/{procedure}`.
//!
//! A request holds one call or a batch. The form of each call's input shows whether the client speaks
//! plain JSON or superjson; the answer uses the same. A refusal of the request as a whole is one error,
//! also for a batch.

mod answer;
mod calls;
mod superjson;
pub(crate) mod turns;

use std::{
    convert::Infallible,
    iter,
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
use portico_sandbox::Kind;
use portico_service::{
    identity::Identity,
    procedures::{Output, Procedure, method},
    sender::Sender,
    service::{Authorised, report},
};
use portico_storage::{SharedSnapshot, Snapshot};
use tokio::{
    sync::{
        OnceCell,
        mpsc::{Receiver, Sender as Channel, channel},
    },
    task::yield_now,
};

use self::{
    answer::{Answer, Place},
    calls::{BatchCall, Calls},
    turns::{SMALL, Turn, too_many},
};
use crate::{
    budget::Transfer,
    error::{self, json_response},
    lists::{ListPermit, may_be_large},
    request::{RequestId, client_address, identify_within, snapshot},
    session,
    state::Shared,
};

/// Calls of a batch that run at the same time.
const AT_ONCE: usize = 8;

/// How long calls of a batch follow each other before the task yields its thread.
const AT_A_STRETCH: Duration = Duration::from_millis(1);

/// Answers one request.
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
    let mut response = match answer(&http, id, request).await {
        Ok(response) => response,
        Err(error) => error::at("/api/trpc", error),
    };
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("trpc-accept, accept"));
    response
}

async fn answer(http: &Shared, id: RequestId, request: Request) -> Result<Response, Error> {
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
    let snapshot = snapshot(&parts.method, calls.procedures(), || calls.app_to_read());
    let shared = SharedSnapshot::of(snapshot.as_ref());
    let mut identity = identify_within(&shared, http, &parts, &id).await?;
    let sets_password = calls.procedures().any(|procedure| procedure.sets_password);
    let may_renew = sets_password && identity.renew_token(&http.service.secrets);
    let identity = Arc::new(identity);
    let mut context = RequestContext {
        http: http.clone(),
        sender: Sender::new(identity.clone()),
        identity: identity.clone(),
        id,
        method: parts.method.clone(),
        transfer: transfer.clone(),
        turn: OnceCell::new(),
        address: client_address(http, &parts),
        takes_turns: calls.len() > 1 && parts.method == Method::GET && !streams,
        place: Place::Envelope,
        room: AtomicUsize::new(http.limits.answers),
    };
    // Authorise before reading the body.
    for call in calls.iter_mut() {
        call.authorised = Some(context.authorise(call).await);
    }
    calls.read_inputs(http, &parts, body).await;
    let superjson = calls.is_superjson();
    if streams {
        context.place = Place::Line { superjson };
    }
    // A new cookie is part of the head, so nothing is sent before all calls are done.
    if streams && !may_renew {
        return Ok(stream(context, calls, snapshot));
    }
    if !calls.is_batch {
        shared.close();
        let mut answers = Vec::new();
        for call in calls {
            answers.push(context.answer(call, &shared).await);
        }
        let response = answer::response(answers, false, transfer.as_ref());
        return Ok(session::with_renewed(http, response, &identity));
    }
    // Free the request: its answers may have to wait.
    drop(parts);
    let most_waiting = calls.len();
    let mut coming = start(context, calls, snapshot, most_waiting);
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

/// Makes the calls of a batch in tasks of their own. Each task makes one call after the other, as long as at most so many
/// answers wait to be taken: a client that stops reading its stream has no more made for it. A batch that only
/// reads uses one snapshot for each task where possible.
fn start(
    context: RequestContext,
    calls: Calls,
    snapshot: Option<Snapshot>,
    most_waiting: usize,
) -> Receiver<(usize, Answer)> {
    let (sender, coming) = channel(most_waiting);
    let reads = snapshot.is_some();
    let snapshots = iter::once(snapshot).chain(iter::repeat_with(|| reads.then(Snapshot::default)));
    let context = Arc::new(context);
    let tasks = calls.len().min(AT_ONCE);
    let waiting = Arc::new(Mutex::new(calls.into_iter().enumerate()));
    for snapshot in snapshots.take(tasks) {
        tokio::spawn(make(context.clone(), waiting.clone(), snapshot, sender.clone()));
    }
    coming
}

/// Makes calls until none is left or the client has gone.
async fn make(
    context: Arc<RequestContext>,
    waiting: Arc<Mutex<impl Iterator<Item = (usize, BatchCall)>>>,
    snapshot: Option<Snapshot>,
    answers: Channel<(usize, Answer)>,
) {
    let shared = SharedSnapshot::of(snapshot.as_ref());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut since = Instant::now();
    loop {
        if answers.capacity() == 0 || (context.needs_turn() && !context.turn.initialized()) {
            shared.release();
        }
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
        let answer = AssertUnwindSafe(context.answer(call, &shared))
            .catch_unwind()
            .await;
        let answer = answer.unwrap_or_else(|_| {
            let panic = anyhow::anyhow!("a call panicked; the line above says where");
            let error = report(Error::internal(panic), &caption.name, &context.id.0);
            Answer::new(caption, Err(error), context.place, None)
        });
        place.send((index, answer));
        if since.elapsed() >= AT_A_STRETCH {
            shared.release();
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
fn stream(context: RequestContext, calls: Calls, snapshot: Option<Snapshot>) -> Response {
    let superjson = calls.is_superjson();
    let head = answer::stream_head(calls.len(), superjson);
    let transfer = context.transfer.clone();
    let coming = start(context, calls, snapshot, AT_ONCE);
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
    sender: Arc<Sender>,
    identity: Arc<Identity>,
    id: RequestId,
    method: Method,
    /// Counts the answers. None where the sockets are not ours.
    transfer: Option<Arc<Transfer>>,
    address: Option<IpAddr>,
    /// Whether it is a batch of queries whose answers wait for each other.
    takes_turns: bool,
    /// The turn of a large batch; none if it waited in vain.
    turn: OnceCell<Option<Turn>>,
    /// Where each answer will stand.
    place: Place,
    /// The bytes that are left for the answers.
    room: AtomicUsize,
}

impl RequestContext {
    /// Whether this batch must have a turn to go on.
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
            .authorise(procedure, &self.sender, &self.id.0)
            .await
    }

    async fn answer(&self, call: BatchCall, snapshot: &SharedSnapshot) -> Answer {
        let caption = call.caption();
        let (outcome, permit) = match self.run(call, snapshot).await {
            Ok((output, permit)) => (Ok(output), permit),
            Err(error) => (Err(error), None),
        };
        // The permit is held until after this, because a large answer is parsed here.
        let answer = Answer::new(caption, outcome, self.place, self.transfer.as_ref());
        drop(permit);
        answer
    }

    async fn run(&self, call: BatchCall, snapshot: &SharedSnapshot) -> Result<(Output, ListPermit), Error> {
        let unchecked = || Error::internal(anyhow::anyhow!("the access of a call was not checked"));
        let authorised = call.authorised.ok_or_else(unchecked)??;
        let service = &self.http.service;
        let procedure = authorised.procedure();
        if self.room.load(Ordering::Relaxed) == 0 {
            let error = Error::new(
                Code::PayloadTooLarge,
                "The answers of this batch are too large together",
            );
            let action = procedure.action(&self.identity, &self.id.0);
            service.audit.refuse(&action, &error);
            return Err(error);
        }
        let (identity, id) = (&self.identity, &self.id.0);
        let input = call.input.value();
        let is_large = || may_be_large(&service.lists, procedure, input);
        let large_lists = &self.http.large_lists;
        let permit = large_lists
            .wait(is_large, self.transfer.as_deref(), identity, snapshot)
            .await?;
        let output = service
            .call_within(snapshot, &authorised, id, call.input.read())
            .await?;
        let less = |room: usize| Some(room.saturating_sub(output.len()));
        let _ = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        Ok((output, permit))
    }
}
