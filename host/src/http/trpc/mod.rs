//! Procedure calls, as tRPC v11 does them over HTTP: `/api/trpc/{procedure}`.
//!
//! One request holds one call or a batch. A client says by the form of each call's input whether it
//! speaks plain JSON or superjson, and gets its answer in the same. Refusals that concern the
//! request as a whole are one error, also for a batch.

mod answer;
mod calls;
mod superjson;

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use futures_util::{StreamExt, future::join_all, stream::FuturesUnordered};

use self::{
    answer::Answer,
    calls::{Call, Calls},
};
use super::{
    Shared,
    error::{json_response, rpc, status},
    request::{RequestId, identify},
};
use crate::{
    error::{Code, Error},
    identity::Identity,
    procedures::Output,
    sandbox::Kind,
};

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
        Err(error) => {
            let body = serde_json::json!({ "error": rpc(&error, None) });
            let mut response = json_response(body.to_string());
            *response.status_mut() = status(error.code.http_status());
            response
        }
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
    let identity = identify(http, &parts.headers, &id).await?;
    calls.read_inputs(http, &parts, body).await;

    let caller = Caller {
        http: http.clone(),
        identity,
        id,
        method: parts.method,
    };
    if streams {
        return Ok(stream(Arc::new(caller), calls));
    }
    let is_batch = calls.is_batch;
    let answers: Vec<_> = calls
        .into_iter()
        .map(|call| async {
            let outcome = caller.run(&call).await;
            Answer::new(&caller.http.service.table, call, outcome)
        })
        .collect();
    let answers = join_all(answers).await;
    Ok(answer::response(&answers, is_batch))
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
    let running: FuturesUnordered<_> = calls
        .into_iter()
        .enumerate()
        .map(|(index, call)| {
            let caller = caller.clone();
            async move {
                let outcome = caller.run(&call).await;
                let answer = Answer::new(&caller.http.service.table, call, outcome);
                answer.line(index, superjson)
            }
        })
        .collect();
    let lines = futures_util::stream::once(async { head })
        .chain(running)
        .map(Ok::<_, Infallible>);
    json_response(Body::from_stream(lines))
}

/// Who makes the calls of one request, and how.
struct Caller {
    http: Shared,
    identity: Identity,
    id: RequestId,
    method: Method,
}

impl Caller {
    async fn run(&self, call: &Call) -> Result<Output, Error> {
        let service = &self.http.service;
        let name = &call.name;
        let Some(procedure) = service.table.find(name) else {
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
        service
            .call(procedure, &self.identity, &self.id.0, call.input())
            .await
    }
}
