//! Procedure calls over HTTP as in tRPC v11: `/api/trpc/{procedure}`.
//!
//! A request holds one call or a batch. The form of each call's input shows whether the client speaks
//! plain JSON or superjson; the answer uses the same. A refusal of the request as a whole is one error,
//! also for a batch.

mod answer;
mod calls;
mod superjson;

use std::{
    convert::Infallible,
    iter,
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
    select,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::yield_now,
};

use self::{
    answer::{Answer, Place},
    calls::{BatchCall, Calls},
};
use crate::{
    activity::Answering,
    error::{self, json_response},
    gate::Gate,
    lists::{ListPermit, may_be_large},
    outgoing::Connection,
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
    let connection = http.connection(&parts.extensions);
    let mut calls = Calls::new(http, &parts)?;
    if streams && !calls.is_batch {
        return Err(Error::new(
            Code::BadRequest,
            "Streaming requests must be batched (batch=1)",
        ));
    }
    let mut gate = None;
    if calls.len() > 1 && parts.method == Method::GET {
        let address = client_address(http, &parts);
        let waits = Gate::waits(&connection, calls.len());
        let enter = Gate::enter(&http.batches, &connection, address, calls.len(), streams, waits);
        if waits {
            // Many requests may wait here, and parsed ones take more memory.
            drop(calls);
            gate = Some(enter.await?);
            calls = Calls::new(http, &parts)?;
        } else {
            gate = Some(enter.await?);
        }
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
        connection: connection.clone(),
        is_batch: calls.is_batch,
        place: Place::Envelope,
        _answering: parts.extensions.get().cloned(),
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
        return Ok(stream(context, calls, snapshot, gate));
    }
    if !calls.is_batch {
        shared.close();
        let mut answers = Vec::new();
        for call in calls {
            answers.push(context.answer(call, &shared).await);
        }
        let response = answer::response(answers, false, &connection);
        return Ok(session::with_renewed(http, response, &identity));
    }
    // Free the request: its answers may have to wait.
    drop(parts);
    let mut coming = start(context, calls, snapshot, gate);
    let mut answers = Vec::new();
    while let Some(answer) = coming.recv().await {
        answers.push(answer);
    }
    answers.sort_unstable_by_key(|(index, _)| *index);
    let answers: Vec<_> = answers.into_iter().map(|(_, answer)| answer).collect();
    let response = if streams {
        answer::stream_at_once(answers, superjson, &connection)
    } else {
        answer::response(answers, true, &connection)
    };
    Ok(session::with_renewed(http, response, &identity))
}

/// Makes the calls of a batch in tasks of their own, so that a client that stops reading does not hold
/// up calls that hold what others wait for. Each task makes one call after the other. A batch that only
/// reads uses one snapshot for each task where possible, and waits at its gate.
fn start(
    context: RequestContext,
    calls: Calls,
    snapshot: Option<Snapshot>,
    gate: Option<Gate>,
) -> UnboundedReceiver<(usize, Answer)> {
    let (sender, coming) = unbounded_channel();
    let reads = snapshot.is_some();
    let snapshots = iter::once(snapshot).chain(iter::repeat_with(|| reads.then(Snapshot::default)));
    let (context, gate) = (Arc::new(context), gate.map(Arc::new));
    let tasks = calls.len().min(AT_ONCE);
    let waiting = Arc::new(Mutex::new(calls.into_iter().enumerate()));
    for snapshot in snapshots.take(tasks) {
        tokio::spawn(make(
            context.clone(),
            waiting.clone(),
            snapshot,
            gate.clone(),
            sender.clone(),
        ));
    }
    coming
}

/// Makes calls until none is left or the client has gone.
async fn make(
    context: Arc<RequestContext>,
    waiting: Arc<Mutex<impl Iterator<Item = (usize, BatchCall)>>>,
    snapshot: Option<Snapshot>,
    gate: Option<Arc<Gate>>,
    answers: UnboundedSender<(usize, Answer)>,
) {
    let shared = SharedSnapshot::of(snapshot.as_ref());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut since = Instant::now();
    let mut pass = None;
    while !answers.is_closed() {
        let mut refusal = None;
        if let Some(gate) = &gate
            && pass.is_none()
        {
            let passed = select! {
                passed = gate.pass(&shared) => passed,
                () = answers.closed() => return,
            };
            (pass, refusal) = passed.map_or_else(|error| (None, Some(error)), |pass| (Some(pass), None));
            since = Instant::now();
        }
        let Some((index, mut call)) = next() else {
            return;
        };
        let is_authorised = matches!(call.authorised, Some(Ok(_)));
        if is_authorised && let Some(refusal) = refusal {
            call.authorised = Some(Err(refusal));
        }
        let caption = call.caption();
        let input = call.input.value();
        let lists = &context.http.service.lists;
        let is_large = |procedure: &Procedure| may_be_large(lists, procedure, input);
        if caption.procedure.as_deref().is_some_and(is_large) {
            // It waits for the permit for large lists; meanwhile other batches may have this one.
            pass = None;
        }
        let answer = AssertUnwindSafe(context.answer(call, &shared))
            .catch_unwind()
            .await;
        let answer = answer.unwrap_or_else(|_| {
            let panic = anyhow::anyhow!("a call panicked; the line above says where");
            let error = report(Error::internal(panic), &caption.name, &context.id.0);
            Answer::new(caption, Err(error), context.place)
        });
        // It fails when the client has gone.
        let _ = answers.send((index, answer));
        if since.elapsed() >= AT_A_STRETCH || gate.as_ref().is_some_and(|gate| !gate.may_go_on()) {
            shared.release();
            pass = None;
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
fn stream(context: RequestContext, calls: Calls, snapshot: Option<Snapshot>, gate: Option<Gate>) -> Response {
    let superjson = calls.is_superjson();
    let head = answer::stream_head(calls.len(), superjson);
    let connection = context.connection.clone();
    let coming = start(context, calls, snapshot, gate);
    let lines = stream::unfold((coming, connection), move |(mut coming, connection)| async move {
        let (index, answer) = coming.recv().await?;
        let line = answer.line(index, superjson, &connection);
        Some((stream::iter(line), (coming, connection)))
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
    /// Counts the answers.
    connection: Arc<Connection>,
    /// Whether each answer waits for others.
    is_batch: bool,
    /// Where each answer will stand.
    place: Place,
    /// Keeps the connection open while the host stops, until the last answer is made. None where the sockets
    /// are not ours.
    _answering: Option<Arc<Answering>>,
    /// The bytes that are left for the answers.
    room: AtomicUsize,
}

impl RequestContext {
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
        let answer = Answer::new(caption, outcome, self.place);
        let answer = answer.counted(&self.connection, self.is_batch);
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
        let outgoing = self.connection.outgoing();
        let input = call.input.value();
        let is_large = || may_be_large(&service.lists, procedure, input);
        let large_lists = &self.http.large_lists;
        let permit = large_lists.wait(is_large, outgoing, identity, snapshot).await?;
        let output = service
            .call_within(snapshot, &authorised, id, call.input.read())
            .await?;
        let less = |room: usize| Some(room.saturating_sub(output.len()));
        let _ = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        Ok((output, permit))
    }
}
