//! Calls through a running host, also one that responds to others as Homarr does.

use std::{fmt, time::Duration};

use anyhow::Context as _;
use portico_compat::NATIVE;
use portico_model::{Issue, PathSegment, error::issue_text};
use portico_sandbox::Kind;
use serde_json::Value;
use ureq::Agent;

use super::terminal::printable;

/// Why a running host refused a call.
#[derive(Debug)]
pub struct Refused {
    message: String,
    /// Each broken rule of the input, in the form of `error::issue_text`.
    pub issues: Vec<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

/// Calls a procedure of the host at this URL. Returns `None` if it has no output.
pub fn call(
    url: &str,
    key: Option<&str>,
    procedure: &str,
    kind: Kind,
    input: Option<Value>,
) -> anyhow::Result<Option<Value>> {
    let address = format!("{}/api/trpc/{procedure}", url.trim_end_matches('/'));
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into();
    let key = key.map(|key| format!("Bearer {key}")).unwrap_or_default();
    let answer = match kind {
        Kind::Query => {
            let mut request = agent
                .get(&address)
                .header(NATIVE, "1")
                .header("authorization", &key);
            if let Some(input) = input {
                request = request.query("input", input.to_string());
            }
            request.call()
        }
        Kind::Mutation => agent
            .post(&address)
            .header(NATIVE, "1")
            .header("authorization", &key)
            .content_type("application/json")
            .send(input.map(|input| input.to_string()).unwrap_or_default()),
    };
    let mut answer = answer.with_context(|| format!("no answer from {url}; is a host running there?"))?;
    let body = answer
        .body_mut()
        .with_config()
        .limit(256 << 20)
        .read_to_string()?;
    let body: Value = serde_json::from_str(&body)
        .with_context(|| format!("{url} answered {} and no JSON; is it a Portico?", answer.status()))?;
    let error = &body["error"];
    if !error.is_null() {
        return Err(refused(error).into());
    }
    Ok(body["result"].get("data").cloned())
}

fn refused(error: &Value) -> Refused {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let segment = |value: &Value| match value.as_u64() {
        Some(index) => PathSegment::Index(u32::try_from(index).unwrap_or(u32::MAX)),
        None => PathSegment::Field(text(value)),
    };
    let issue = |value: &Value| {
        let path = value["path"].as_array().into_iter().flatten().map(segment);
        issue_text(&Issue {
            path: path.collect(),
            message: text(&value["message"]),
        })
    };
    Refused {
        message: printable(&format!(
            "{}: {}",
            text(&error["data"]["code"]),
            text(&error["message"])
        ))
        .into_owned(),
        issues: error["issues"]
            .as_array()
            .into_iter()
            .flatten()
            .map(issue)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn control_characters_of_a_server_are_escaped() {
        let message = "no\u{1b}[2J\n+ user mallory\u{202e}";
        let refused = refused(&json!({"message": message, "data": {"code": "CONFLICT"}}));
        assert_eq!(
            refused.to_string(),
            "CONFLICT: no\\u{1b}[2J\\u{a}+ user mallory\\u{202e}"
        );
    }
}
