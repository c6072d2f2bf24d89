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
    error::{json_response, retry_after, rpc, status},
    outgoing::{Connection, Held, LARGE},
    pieces::{JOINED, Pieces},
};

/// An answer that waits for the others of its batch is counted from this size on, in bytes.
const COUNTED: usize = 1 << 10;

/// Room for the envelope of one call's output, in bytes.
const AROUND: usize = 64;

/// What an answer needs to know of its call.
#[derive(Clone)]
pub(super) struct Caption {
    /// The procedure's name, as the client wrote it.
    pub name: String,
    /// The procedure; none if no procedure has this name.
    pub procedure: Option<Arc<Procedure>>,
    /// Whether the client speaks superjson.
    pub superjson: bool,
}

/// The outcome of one call.
pub(super) struct Answer {
    name: String,
    superjson: bool,
    outcome: Result<Output, Error>,
    /// superjson's `meta` of the output; empty where it is not sent.
    meta: String,
    shape: Shape,
    /// The procedure's method.
    method: Option<&'static str>,
    /// Counts its output, and `meta`, while it waits.
    held: Option<Held>,
}

/// How an output stands in the text for its client.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// In an envelope of its own: superjson wraps the output.
    Envelope,
    /// In a line of a stream: superjson wraps the whole line, if any call of the request speaks it.
    Line { superjson: bool },
}

impl Place {
    /// The path from superjson's `json` to the output; none where no superjson is sent.
    fn path(self, call_is_superjson: bool) -> Option<&'static [&'static str]> {
        match self {
            Self::Envelope => call_is_superjson.then_some(&[]),
            Self::Line { superjson } => superjson.then_some(&["2", "0", "0", "result", "data"]),
        }
    }
}

impl Answer {
    /// The outcome of a call, whose answer will stand in this place.
    pub fn new(caption: Caption, outcome: Result<Output, Error>, place: Place) -> Self {
        let Caption {
            name,
            procedure,
            superjson,
        } = caption;
        let procedure = procedure.as_deref();
        let shape = procedure.map_or(Shape::Nothing, |procedure| procedure.output);
        let meta = match (&outcome, place.path(superjson)) {
            (Ok(output), Some(path)) => superjson::meta(&shape, output, path),
            _ => String::new(),
        };
        Self {
            name,
            superjson,
            outcome,
            meta,
            shape,
            method: procedure.map(|procedure| method(procedure.kind)),
            held: None,
        }
    }

    /// Counts the output from now on, if it is large or waits for others.
    pub fn counted(mut self, connection: &Arc<Connection>, is_batch: bool) -> Self {
        let least = if is_batch { COUNTED } else { LARGE };
        if let Ok(output) = &mut self.outcome
            && output.len() >= least
        {
            output.shrink_to_fit();
            self.held = Some(connection.hold(output.len() + self.meta.len()));
        }
        self
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
    fn write(self, pieces: &mut Pieces<'_>) {
        match self.outcome {
            Err(ref error) => {
                let error = self.error(error);
                let error = if self.superjson {
                    json!({ "error": { "json": error } })
                } else {
                    json!({ "error": error })
                };
                pieces.push(&error.to_string());
            }
            Ok(_) if matches!(self.shape, Shape::Nothing) => {
                let none = if self.superjson { superjson::UNDEFINED } else { "" };
                pieces.push(r#"{"result":{"#);
                pieces.push(none);
                pieces.push("}}");
            }
            Ok(output) if self.superjson => {
                pieces.push(r#"{"result":{"data":{"json":"#);
                pieces.push_answer(output, self.held);
                pieces.push(&self.meta);
                pieces.push("}}}");
            }
            Ok(output) => {
                pieces.push(r#"{"result":{"data":"#);
                pieces.push_answer(output, self.held);
                pieces.push("}}");
            }
        }
    }

    /// As a line of a stream, where superjson wraps the whole line and not the data in it.
    pub fn line(self, index: usize, superjson: bool, connection: &Arc<Connection>) -> Vec<Bytes> {
        let mut pieces = Pieces::new(connection, self.small_size());
        self.write_line(index, superjson, &mut pieces);
        pieces.into_parts()
    }

    fn write_line(self, index: usize, superjson: bool, pieces: &mut Pieces<'_>) {
        if superjson {
            pieces.push(r#"{"json":"#);
        }
        pieces.push(&format!("[{index},0,[["));
        match self.outcome {
            Err(ref error) => pieces.push(&json!({ "error": self.error(error) }).to_string()),
            Ok(_) if matches!(self.shape, Shape::Nothing) => pieces.push(r#"{"result":{}}"#),
            Ok(output) => {
                pieces.push(r#"{"result":{"data":"#);
                pieces.push_answer(output, self.held);
                pieces.push("}}");
            }
        }
        pieces.push("]]]");
        if superjson {
            pieces.push(&self.meta);
            pieces.push("}");
        }
        pieces.push("\n");
    }

    /// Roughly the room that it needs in a buffer of small texts.
    fn small_size(&self) -> usize {
        let output = self.outcome.as_ref().map_or(LARGE / 16, String::len);
        AROUND + self.meta.len() + if output < LARGE { output } else { 0 }
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
    connection: &Arc<Connection>,
) -> Response {
    let size: usize = answers.iter().map(Answer::small_size).sum();
    let mut pieces = Pieces::new(connection, size.min(JOINED));
    pieces.push(&stream_head(answers.len(), superjson));
    for (index, answer) in answers.into_iter().enumerate() {
        answer.write_line(index, superjson, &mut pieces);
    }
    json_response(pieces.into_body())
}

/// The answers as one response: a list for a batch. Its status is theirs, or 207 where theirs differ.
pub(super) fn response(answers: Vec<Answer>, is_batch: bool, connection: &Arc<Connection>) -> Response {
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

    let size: usize = answers.iter().map(Answer::small_size).sum();
    let mut pieces = Pieces::new(connection, size.min(JOINED));
    if is_batch {
        pieces.push("[");
    }
    for (index, answer) in answers.into_iter().enumerate() {
        if index > 0 {
            pieces.push(",");
        }
        answer.write(&mut pieces);
    }
    if is_batch {
        pieces.push("]");
    }
    let mut response = json_response(pieces.into_body());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::Outgoing;

    #[test]
    fn a_small_answer_is_counted_only_while_it_waits_for_others() {
        let connection = Outgoing::new(1 << 20).connect();
        let counted = |bytes: usize, is_batch| {
            let answer = Answer {
                name: "app.all".into(),
                superjson: false,
                outcome: Ok("x".repeat(bytes)),
                meta: String::new(),
                shape: Shape::Text,
                method: Some("GET"),
                held: None,
            };
            let _answer = answer.counted(&connection, is_batch);
            connection.held()
        };
        assert_eq!(
            [COUNTED - 1, COUNTED].map(|bytes| counted(bytes, true)),
            [0, COUNTED]
        );
        assert_eq!([LARGE - 1, LARGE].map(|bytes| counted(bytes, false)), [0, LARGE]);
        assert_eq!(connection.held(), 0);
    }
}
