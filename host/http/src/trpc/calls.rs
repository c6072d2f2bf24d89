//! The calls in a request.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Method, header, request::Parts},
};
use portico_model::error::{Code, Error};
use portico_sandbox::{Cost, Kind};
use portico_service::{procedures::Procedure, service::Authorised};
use serde_json::Value;

use super::{answer::Caption, superjson};
use crate::{
    request::{InputLimit, decode, is_json, parse_body, parse_json, query_pairs, read_body},
    state::Shared,
};

const PREFIX: &str = "/api/trpc";

/// The calls of one request, in the order of its path.
pub(super) struct Calls {
    /// Whether the answer is a list.
    pub is_batch: bool,
    /// The key `input` of the query string.
    query_input: Option<String>,
    calls: Vec<BatchCall>,
}

pub(super) struct BatchCall {
    /// The procedure's name, as the client wrote it.
    pub name: String,
    /// The procedure; `None` if no procedure has this name.
    pub procedure: Option<Arc<Procedure>>,
    /// Whether the client speaks superjson.
    pub superjson: bool,
    /// Set once access has been checked: the call may be made, or it is refused whatever its input is.
    pub authorised: Option<Result<Authorised, Error>>,
    pub input: Input,
}

pub(super) enum Input {
    None,
    Value(Value),
    Unreadable(Error),
}

impl Input {
    /// The input, or the reason why it could not be read.
    pub fn read(self) -> Result<Option<Value>, Error> {
        match self {
            Self::None => Ok(None),
            Self::Value(value) => Ok(Some(value)),
            Self::Unreadable(error) => Err(error),
        }
    }
}

impl Calls {
    /// Reads the names of the procedures; refuses a request that is wrong as a whole.
    pub fn new(http: &Shared, parts: &Parts) -> Result<Self, Error> {
        let path = parts.uri.path();
        let path = path.strip_prefix(PREFIX).unwrap_or(path);
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = decode(path)
            .map_err(|_| Error::new(Code::BadRequest, format!("Invalid URL-encoding in path {path:?}")))?;
        let pairs = query_pairs(parts.uri.query())?;
        for name in ["batch", "input"] {
            if pairs.iter().filter(|(key, _)| key == name).count() > 1 {
                let message = format!("The query has {name} more than once");
                return Err(Error::new(Code::BadRequest, message));
            }
        }
        let query = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        let is_batch = query("batch") == Some("1");
        let names: Vec<&str> = if is_batch {
            path.split(',').collect()
        } else {
            vec![&path]
        };
        let most = http.limits.batch;
        if names.len() > most {
            let message = format!(
                "Batch call exceeds maximum size: {} calls, at most {most}",
                names.len()
            );
            return Err(Error::new(Code::BadRequest, message));
        }
        let calls: Vec<_> = names
            .into_iter()
            .map(|name| BatchCall {
                name: name.into(),
                procedure: http.service.table.find(name).cloned(),
                superjson: false,
                authorised: None,
                input: Input::None,
            })
            .collect();
        let procedures = || calls.iter().filter_map(|call| call.procedure.as_ref());
        let is_of = |kind: Kind| procedures().any(|procedure| procedure.kind == kind);
        if is_of(Kind::Query) && is_of(Kind::Mutation) {
            let message = "Cannot mix procedure types in call: query, mutation";
            return Err(Error::new(Code::BadRequest, message));
        }
        // A wrong method is the more useful error, so it comes before the content type.
        if parts.method == Method::POST && !is_of(Kind::Query) {
            check_content_type(parts)?;
        }
        Ok(Self {
            is_batch,
            query_input: query("input").filter(|input| !input.is_empty()).map(Into::into),
            calls,
        })
    }

    /// Reads the inputs. An unreadable input is an error of its call, not of the request.
    pub async fn read_inputs(&mut self, http: &Shared, parts: &Parts, body: Body) {
        let limit = self.input_limit(http);
        let read = if parts.method == Method::GET {
            self.query_input
                .take()
                .map(|input| parse_json(input.as_bytes(), limit))
                .transpose()
        } else {
            match read_body(body, limit.bytes, http.limits.receive_time).await {
                Ok(bytes) if bytes.is_empty() => Ok(None),
                Ok(bytes) => parse_body(&parts.extensions, bytes, limit).await.map(Some),
                Err(error) => Err(error),
            }
        };
        let unreadable = match read {
            Ok(None) => return,
            Ok(Some(input)) if !self.is_batch => return self.calls[0].read(input),
            Ok(Some(Value::Object(mut inputs))) => {
                for (index, call) in self.calls.iter_mut().enumerate() {
                    if let Some(input) = inputs.remove(&index.to_string()) {
                        call.read(input);
                    }
                }
                return;
            }
            Ok(Some(_)) => {
                let message = "\"input\" needs to be an object when doing a batch call";
                Error::new(Code::BadRequest, message)
            }
            Err(error) => error,
        };
        for call in &mut self.calls {
            call.input = Input::Unreadable(Error {
                issues: unreadable.issues.clone(),
                retry_after: unreadable.retry_after,
                ..Error::new(unreadable.code, &*unreadable.message)
            });
        }
    }

    /// Only calls that were not refused raise the limit for large inputs.
    fn input_limit(&self, http: &Shared) -> InputLimit {
        let permitted = self
            .calls
            .iter()
            .filter(|call| matches!(call.authorised, Some(Ok(_))));
        let procedures = permitted.filter_map(|call| call.procedure.as_deref());
        InputLimit::of(&http.limits, procedures)
    }

    /// Whether any of them may set a password, after which the caller's session may continue under another token.
    pub fn may_set_password(&self) -> bool {
        self.procedures().any(|procedure| procedure.cost == Cost::Hash)
    }

    /// The procedures that are called; names that do not exist are left out.
    pub fn procedures(&self) -> impl Iterator<Item = &Procedure> {
        self.calls.iter().filter_map(|call| call.procedure.as_deref())
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut BatchCall> {
        self.calls.iter_mut()
    }

    /// Whether the client speaks superjson: a client that does so in one call does so in all.
    pub fn is_superjson(&self) -> bool {
        self.calls.iter().any(|call| call.superjson)
    }

    pub fn len(&self) -> usize {
        self.calls.len()
    }
}

impl IntoIterator for Calls {
    type Item = BatchCall;
    type IntoIter = std::vec::IntoIter<BatchCall>;

    fn into_iter(self) -> Self::IntoIter {
        self.calls.into_iter()
    }
}

impl BatchCall {
    /// What its answer needs to know about it.
    pub fn caption(&self) -> Caption {
        Caption {
            name: self.name.clone(),
            procedure: self.procedure.clone(),
            superjson: self.superjson,
        }
    }

    fn read(&mut self, input: Value) {
        self.superjson = superjson::is_wrapped(&input);
        self.input = if !self.superjson {
            Input::Value(input)
        } else {
            match superjson::unwrap(input) {
                Ok(Some(input)) => Input::Value(input),
                Ok(None) => Input::None,
                Err(message) => Input::Unreadable(Error::new(Code::BadRequest, message)),
            }
        };
    }
}

fn check_content_type(parts: &Parts) -> Result<(), Error> {
    let message = match parts.headers.get(header::CONTENT_TYPE) {
        None => "Missing content-type header".to_owned(),
        Some(value) => match value.to_str() {
            Ok(value) if is_json(value) => return Ok(()),
            Ok(value) => format!("Unsupported content-type {value:?}"),
            Err(_) => "Unsupported content-type".to_owned(),
        },
    };
    Err(Error::new(Code::UnsupportedMediaType, message))
}
