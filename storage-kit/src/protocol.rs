//! The requests of the runner, and the responses of an implementation.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

/// One call.
#[derive(Clone, Debug)]
pub struct Request {
    /// The id of the request; its response has the same.
    pub id: u64,
    /// The transaction; `None` for a call of the bridge.
    pub transaction: Option<String>,
    /// The function.
    pub call: String,
    /// One member for each parameter.
    pub arguments: Value,
}

impl Request {
    /// As the bridge reads it.
    pub(crate) fn to_json(&self) -> Value {
        match &self.transaction {
            Some(name) => {
                json!({"id": self.id, "transaction": name, "call": self.call, "arguments": self.arguments})
            }
            None => json!({"id": self.id, "call": self.call, "arguments": self.arguments}),
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It succeeded with this.
    Ok(Value),
    /// It was refused with this.
    Error(Value),
}

impl Answer {
    /// A response as the bridge writes it, with the id of its request; `None` if it does not have that form.
    pub(crate) fn from_json(mut line: Value) -> Option<(u64, Self)> {
        let id = line.get("id")?.as_u64()?;
        let members = line.as_object_mut()?;
        match (members.remove("ok"), members.remove("error")) {
            (Some(value), None) => Some((id, Self::Ok(value))),
            (None, Some(error)) => Some((id, Self::Error(error))),
            _ => None,
        }
    }

    /// Whether the whole transaction may be tried again.
    pub(crate) fn is_retry(&self) -> bool {
        matches!(self, Self::Error(error) if error.get("retry").is_some() || error == "retry")
    }

    /// Why the call is not supported; `None` if it is supported.
    pub(crate) fn unsupported(&self) -> Option<String> {
        match self {
            Self::Error(error) => error.get("unsupported").map(|reason| match reason {
                Value::String(reason) => reason.clone(),
                other => other.to_string(),
            }),
            Self::Ok(_) => None,
        }
    }
}

/// An implementation under test.
pub trait Implementation {
    /// Sends a request without waiting for its response.
    fn send(&mut self, request: &Request) -> Result<(), Broken>;

    /// The next response with the id of its request, in any order; `None` if no response comes within this time.
    fn receive(&mut self, within: Duration) -> Result<Option<(u64, Answer)>, Broken>;
}

/// The implementation can no longer be reached, for this reason.
#[derive(Clone, Debug)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
