//! Procedure calls, as tRPC v11 does them over HTTP: `/api/trpc/{procedure}`.
//!
//! One request holds one call or a batch. A client says by the form of each call's input whether it
//! speaks plain JSON or superjson, and gets its answer in the same. Refusals that concern the
//! request as a whole are one error, also for a batch.

mod answer;
mod calls;
mod superjson;

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use futures_util::{Stream, StreamExt, stream};

use self::{
    answer::Answer,
    calls::{Call, Calls},
};
use super::{
    Shared,
    error::{self, json_response},
    request::{RequestId, identify},
};
use crate::{
    error::{Code, Error},
    identity::Identity,
    procedures::Output,
    sandbox::Kind,
    service::report,
};

/// How many calls of a batch run at the same time.
const AT_ONCE: usize = 8;

/// Answers one request.
pub(super) async fn handle(
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
    let mut calls = Calls::new(http, &parts)?;
    let streams = wants_stream(&parts.headers);
    if streams && !calls.is_batch {
        return Err(Error::new(
            Code::BadRequest,
            "Streaming requests must be batched (batch=1)",
        ));
    }
    let caller = Arc::new(Caller {
        http: http.clone(),
        identity: identify(http, &parts, &id).await?,
        id,
        method: parts.method.clone(),
        room: AtomicUsize::new(http.limits.answers),
    });
    // Who may not call does not get to send much.
    for call in calls.iter_mut() {
        call.refusal = caller.authorise(&call.name).await.err();
    }
    calls.read_inputs(http, &parts, body).await;
    if streams {
        return Ok(stream(caller, calls));
    }
    let is_batch = calls.is_batch;
    let answers: Vec<_> = if is_batch {
        each(caller, calls).buffered(AT_ONCE).collect().await
    } else {
        stream::iter(calls)
            .then(|call| caller.answer(call))
            .collect()
            .await
    };
    Ok(answer::response(&answers, is_batch))
}

/// Makes each call of a batch in a task of its own, so that none depends on how fast the client
/// reads: one that stops reading must not hold what others wait for.
fn each(caller: Arc<Caller>, calls: Calls) -> impl Stream<Item = impl Future<Output = Answer>> {
    stream::iter(calls).map(move |call| {
        let (name, superjson) = (call.name.clone(), call.superjson);
        let (caller, its_caller) = (caller.clone(), caller.clone());
        let task = tokio::spawn(async move { its_caller.answer(call).await });
        async move {
            task.await.unwrap_or_else(|panic| {
                let error = report(Error::internal(panic), &name, &caller.id.0);
                Answer::new(&caller.http.service.table, name, superjson, Err(error))
            })
        }
    })
}

/// Whether the client reads its answers line by line, as they come.
fn wants_stream(headers: &HeaderMap) -> bool {
    let accepts = headers.get("trpc-accept").or_else(|| headers.get(header::ACCEPT));
    accepts.is_some_and(|accepts| accepts.as_bytes() == b"application/jsonl")
}

/// One line for each answer, in the order in which the calls finish.
fn stream(caller: Arc<Caller>, calls: Calls) -> Response {
    let superjson = calls.is_superjson();
    let head = answer::stream_head(calls.len(), superjson);
    let lines = each(caller, calls)
        .enumerate()
        .map(move |(index, answer)| async move {
            let answer = answer.await;
            answer.line(index, superjson)
        });
    let lines = stream::once(async { head }).chain(lines.buffer_unordered(AT_ONCE));
    json_response(Body::from_stream(lines.map(Ok::<_, Infallible>)))
}

/// Who makes the calls of one request, and how.
struct Caller {
    http: Shared,
    identity: Identity,
    id: RequestId,
    method: Method,
    /// How many bytes the answers may still have.
    room: AtomicUsize,
}

impl Caller {
    /// Refuses a call that is not there to be called in this way by this caller.
    async fn authorise(&self, name: &str) -> Result<(), Error> {
        let Some(procedure) = self.http.service.table.find(name) else {
            return Err(Error::new(
                Code::NotFound,
                format!("No procedure found on path \"{name}\""),
            ));
        };
        let (kind, method) = match procedure.kind {
            Kind::Query => ("query", Method::GET),
            Kind::Mutation => ("mutation", Method::POST),
        };
        if self.method != method {
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

    async fn answer(&self, call: Call) -> Answer {
        let (name, superjson) = (call.name.clone(), call.superjson);
        let outcome = self.run(call).await;
        Answer::new(&self.http.service.table, name, superjson, outcome)
    }

    async fn run(&self, call: Call) -> Result<Output, Error> {
        if let Some(refusal) = call.refusal {
            return Err(refusal);
        }
        let service = &self.http.service;
        let procedure = service
            .table
            .find(&call.name)
            .ok_or_else(|| Error::not_found("Procedure"))?;
        if self.room.load(Ordering::Relaxed) == 0 {
            let error = Error::new(
                Code::PayloadTooLarge,
                "The answers of this batch are too large together",
            );
            let (identity, id) = (&self.identity, &self.id.0);
            service.audit.refuse(procedure, identity, id, &error);
            return Err(error);
        }
        let output = service
            .call(procedure, &self.identity, &self.id.0, call.input.read())
            .await?;
        let less = |room: usize| Some(room.saturating_sub(output.len()));
        let _ = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        Ok(output)
    }
}
