//! The answers of a request's calls, in the form that tRPC's clients read.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use portico_model::error::{Code, Error};
use portico_service::{
    procedures::{Output, Procedure, method},
    shape::Shape,
};
use serde_json::{Value, json};

use super::superjson;
use crate::{
    bodies::{Parts, hold},
    budget::Transfer,
    error::{json_response, retry_after, rpc, status},
};

/// What an answer needs to know about its call.
#[derive(Clone)]
pub(super) struct Caption {
    /// The procedure's name, as the client wrote it.
    pub name: String,
    /// The procedure; `None` if no procedure has this name.
    pub procedure: Option<Arc<Procedure>>,
    /// Whether the client speaks superjson.
    pub superjson: bool,
}

/// An output, and superjson's `meta` for it; empty if it is not sent.
pub(super) struct Written {
    pub output: Output,
    meta: String,
}

impl Caption {
    /// The output of the call, whose answer will be in this place. Takes longer the larger the output is.
    pub fn write(&self, output: Output, place: Wrapping) -> Written {
        let meta = match (&self.procedure, place.path(self.superjson)) {
            (Some(procedure), Some(path)) => superjson::meta(&procedure.output, &output, path),
            _ => String::new(),
        };
        Written { output, meta }
    }
}

pub(super) struct Answer {
    name: String,
    superjson: bool,
    outcome: Result<Bytes, Error>,
    /// superjson's `meta` for the output; empty if it is not sent.
    meta: String,
    shape: Shape,
    method: Option<&'static str>,
}

/// How an output is placed in the text for its client.
#[derive(Clone, Copy)]
pub(super) enum Wrapping {
    /// In an envelope of its own: superjson wraps the output.
    Envelope,
    /// In a line of a stream: superjson wraps the whole line, if any call of the request speaks it.
    Line { superjson: bool },
}

impl Wrapping {
    /// The path from superjson's `json` to the output; `None` if no superjson is sent.
    fn path(self, call_is_superjson: bool) -> Option<&'static [&'static str]> {
        match self {
            Self::Envelope => call_is_superjson.then_some(&[]),
            Self::Line { superjson } => superjson.then_some(&["2", "0", "0", "result", "data"]),
        }
    }
}

impl Answer {
    /// The outcome of a call. The output counts from now on.
    pub fn new(caption: Caption, outcome: Result<Written, Error>, transfer: Option<&Arc<Transfer>>) -> Self {
        let Caption {
            name,
            procedure,
            superjson,
        } = caption;
        let procedure = procedure.as_deref();
        let shape = procedure.map_or(Shape::Nothing, |procedure| procedure.output);
        let (outcome, meta) = match outcome {
            Ok(written) => (Ok(written.output), written.meta),
            Err(error) => (Err(error), String::new()),
        };
        Self {
            name,
            superjson,
            outcome: outcome.map(|output| hold(transfer, output.into_bytes())),
            meta,
            shape,
            method: procedure.map(|procedure| method(procedure.kind)),
        }
    }

    fn status(&self) -> u16 {
        self.outcome
            .as_ref()
            .map_or_else(|error| error.code.http_status(), |_| 200)
    }

    fn error(&self, error: &Error) -> Value {
        rpc(error, Some(&self.name))
    }

    /// Appends it as a single answer, or as an element of a batch.
    fn write(self, parts: &mut Parts<'_>) {
        match self.outcome {
            Err(ref error) => {
                let error = self.error(error);
                let error = if self.superjson {
                    json!({ "error": { "json": error } })
                } else {
                    json!({ "error": error })
                };
                parts.push(&error.to_string());
            }
            Ok(_) if matches!(self.shape, Shape::Nothing) => {
                let none = if self.superjson { superjson::UNDEFINED } else { "" };
                parts.push(r#"{"result":{"#);
                parts.push(none);
                parts.push("}}");
            }
            Ok(output) if self.superjson => {
                parts.push(r#"{"result":{"data":{"json":"#);
                parts.push_bytes(output);
                parts.push(&self.meta);
                parts.push("}}}");
            }
            Ok(output) => {
                parts.push(r#"{"result":{"data":"#);
                parts.push_bytes(output);
                parts.push("}}");
            }
        }
    }

    /// As a line of a stream, where superjson wraps the whole line and not the data in it.
    pub fn line(self, index: usize, superjson: bool, transfer: Option<&Arc<Transfer>>) -> Vec<Bytes> {
        let mut parts = Parts::new(transfer);
        self.write_line(index, superjson, &mut parts);
        parts.into_parts()
    }

    fn write_line(self, index: usize, superjson: bool, parts: &mut Parts<'_>) {
        if superjson {
            parts.push(r#"{"json":"#);
        }
        parts.push(&format!("[{index},0,[["));
        match self.outcome {
            Err(ref error) => parts.push(&json!({ "error": self.error(error) }).to_string()),
            Ok(_) if matches!(self.shape, Shape::Nothing) => parts.push(r#"{"result":{}}"#),
            Ok(output) => {
                parts.push(r#"{"result":{"data":"#);
                parts.push_bytes(output);
                parts.push("}}");
            }
        }
        parts.push("]]]");
        if superjson {
            parts.push(&self.meta);
            parts.push("}");
        }
        parts.push("\n");
    }
}

/// The first line of a stream: each call's position, and the number of the chunk to wait for.
pub(super) fn stream_head(calls: usize, superjson: bool) -> String {
    let entries: Vec<_> = (0..calls)
        .map(|index| format!(r#""{index}":[[0],[null,0,{index}]]"#))
        .collect();
    let head = format!("{{{}}}", entries.join(","));
    if superjson {
        format!("{{\"json\":{head}}}\n")
    } else {
        format!("{head}\n")
    }
}

/// All lines of a stream as one response.
pub(super) fn stream_at_once(
    answers: Vec<Answer>,
    superjson: bool,
    transfer: Option<&Arc<Transfer>>,
) -> Response {
    let mut parts = Parts::new(transfer);
    parts.push(&stream_head(answers.len(), superjson));
    for (index, answer) in answers.into_iter().enumerate() {
        answer.write_line(index, superjson, &mut parts);
    }
    json_response(parts.into_body())
}

/// The answers as one response: a list for a batch. Its status is theirs, or 207 if theirs differ.
pub(super) fn response(answers: Vec<Answer>, is_batch: bool, transfer: Option<&Arc<Transfer>>) -> Response {
    let first = answers.first().map_or(200, Answer::status);
    let code = if answers.iter().all(|answer| answer.status() == first) {
        first
    } else {
        207
    };
    let seconds = answers
        .iter()
        .filter_map(|answer| answer.outcome.as_ref().err()?.retry_after);
    let seconds = seconds.max();
    let method = answers.iter().find_map(|answer| answer.method);

    let mut parts = Parts::new(transfer);
    if is_batch {
        parts.push("[");
    }
    for (index, answer) in answers.into_iter().enumerate() {
        if index > 0 {
            parts.push(",");
        }
        answer.write(&mut parts);
    }
    if is_batch {
        parts.push("]");
    }
    let mut response = json_response(parts.into_body());
    *response.status_mut() = status(code);
    retry_after(&mut response, seconds);
    // A request never mixes queries and mutations, so one method is right for all its calls.
    if code == Code::MethodNotSupported.http_status()
        && let Some(method) = method
    {
        response
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static(method));
    }
    response
}
