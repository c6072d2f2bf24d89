//! The answers of a request's calls, as tRPC's clients read them.

use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use serde_json::{Value, json};

use super::{
    super::error::{json_response, retry_after, rpc, status},
    superjson,
};
use crate::{
    error::{Code, Error},
    procedures::{Output, Table},
    sandbox::Kind,
    shape::Shape,
};

/// What became of one call.
pub(super) struct Answer {
    name: String,
    superjson: bool,
    outcome: Result<Output, Error>,
    shape: Shape,
    /// The method that the procedure takes.
    method: Option<&'static str>,
}

impl Answer {
    /// What became of a call of this name.
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

    /// As one answer, or one of a batch.
    fn json(&self) -> String {
        match &self.outcome {
            Err(error) if self.superjson => json!({ "error": { "json": self.error(error) } }).to_string(),
            Err(error) => json!({ "error": self.error(error) }).to_string(),
            Ok(_) if matches!(self.shape, Shape::Nothing) => {
                let none = if self.superjson { superjson::UNDEFINED } else { "" };
                format!(r#"{{"result":{{{none}}}}}"#)
            }
            Ok(output) if self.superjson => {
                let meta = superjson::meta(&self.shape, output, &[]);
                format!(r#"{{"result":{{"data":{{"json":{output}{meta}}}}}}}"#)
            }
            Ok(output) => format!(r#"{{"result":{{"data":{output}}}}}"#),
        }
    }

    /// As a line of a stream. There, superjson goes around the line and not around the data in it.
    pub fn line(&self, index: usize, superjson: bool) -> String {
        let (value, meta) = match &self.outcome {
            Err(error) => (json!({ "error": self.error(error) }).to_string(), String::new()),
            Ok(_) if matches!(self.shape, Shape::Nothing) => (r#"{"result":{}}"#.into(), String::new()),
            Ok(output) => {
                let path = ["2", "0", "0", "result", "data"];
                let meta = if superjson {
                    superjson::meta(&self.shape, output, &path)
                } else {
                    String::new()
                };
                (format!(r#"{{"result":{{"data":{output}}}}}"#), meta)
            }
        };
        let line = format!("[{index},0,[[{value}]]]");
        if superjson {
            format!("{{\"json\":{line}{meta}}}\n")
        } else {
            format!("{line}\n")
        }
    }
}

/// The first line of a stream: each call by its position, and the number of the line to wait for.
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

/// The lines of a stream as one response.
pub(super) fn stream_at_once(answers: &[Answer], superjson: bool) -> Response {
    let lines = answers.iter().enumerate();
    let lines: String = lines
        .map(|(index, answer)| answer.line(index, superjson))
        .collect();
    json_response(stream_head(answers.len(), superjson) + &lines)
}

/// The answers as one response: a list for a batch; its status is theirs, or 207 where they differ.
pub(super) fn response(answers: &[Answer], is_batch: bool) -> Response {
    let body = if is_batch {
        format!(
            "[{}]",
            answers.iter().map(Answer::json).collect::<Vec<_>>().join(",")
        )
    } else {
        answers.first().map(Answer::json).unwrap_or_default()
    };
    let first = answers.first().map_or(200, Answer::status);
    let code = if answers.iter().all(|answer| answer.status() == first) {
        first
    } else {
        207
    };
    let mut response = json_response(body);
    *response.status_mut() = status(code);
    let seconds = answers
        .iter()
        .filter_map(|answer| answer.outcome.as_ref().err()?.retry_after);
    retry_after(&mut response, seconds.max());
    // Of calls of the other kind alone, all are of one kind: one method is right for all of them.
    if code == Code::MethodNotSupported.http_status()
        && let Some(method) = answers.iter().find_map(|answer| answer.method)
    {
        response
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static(method));
    }
    response
}
