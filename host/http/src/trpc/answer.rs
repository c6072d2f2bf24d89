//! The answers of a request's calls, in the form that tRPC's clients read.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use portico_model::error::{Code, Error};
use portico_sandbox::Kind;
use portico_service::{procedures::Output, shape::Shape, table::Table};
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

/// The outcome of one call.
pub(super) struct Answer {
    name: String,
    superjson: bool,
    outcome: Result<Output, Error>,
    shape: Shape,
    /// The procedure's method.
    method: Option<&'static str>,
    /// Counts its output while it waits.
    held: Option<Held>,
}

impl Answer {
    /// The outcome of a call of this procedure.
    pub fn new(table: &Table, name: String, superjson: bool, outcome: Result<Output, Error>) -> Self {
        let procedure = table.find(&name);
        let shape = procedure.map_or(Shape::Nothing, |procedure| procedure.output);
        let method = procedure.map(|procedure| match procedure.kind {
            Kind::Query => "GET",
            Kind::Mutation => "POST",
        });
        Self {
            name,
            superjson,
            outcome,
            shape,
            method,
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
            self.held = Some(connection.hold(output.len()));
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
                let meta = superjson::meta(&self.shape, &output, &[]);
                pieces.push(r#"{"result":{"data":{"json":"#);
                pieces.push_answer(output, self.held);
                pieces.push(&meta);
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
        let mut after = String::new();
        match self.outcome {
            Err(ref error) => pieces.push(&json!({ "error": self.error(error) }).to_string()),
            Ok(_) if matches!(self.shape, Shape::Nothing) => pieces.push(r#"{"result":{}}"#),
            Ok(output) => {
                if superjson {
                    after = superjson::meta(&self.shape, &output, &["2", "0", "0", "result", "data"]);
                }
                pieces.push(r#"{"result":{"data":"#);
                pieces.push_answer(output, self.held);
                pieces.push("}}");
            }
        }
        pieces.push("]]]");
        if superjson {
            pieces.push(&after);
            pieces.push("}");
        }
        pieces.push("\n");
    }

    /// Roughly the room that it needs in a buffer of small texts.
    fn small_size(&self) -> usize {
        let output = self.outcome.as_ref().map_or(LARGE / 16, String::len);
        AROUND + if output < LARGE { output } else { 0 }
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
