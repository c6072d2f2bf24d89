//! `widget.app.ping`: whether an app can be reached, from what Portico's own checks know (`app.status`).
//!
//! Invariant: a call starts no request of its own and waits for none, so a client reaches nothing that Portico would not check.

use portico_model::error::Code;
use serde_json::{Value, json};

use super::{Procedure, query, text};
use crate::{
    caller::Caller,
    outcome::{Failure, Outcome},
};

pub(super) static PROCEDURES: &[Procedure] = &[query("widget.app.ping", |caller, input| {
    Box::pin(ping(caller, input))
})];

/// `{id}` -> `{url, statusCode, durationMs}` of an app that is up, otherwise `{url, error}`.
async fn ping(caller: &Caller, input: Value) -> Outcome {
    let id = text(&input, "id")?;
    let app = caller.query("app.byId", json!({ "id": id })).await?.value();
    let Some(url) = app["pingUrl"].as_str() else {
        return Err(Failure::new(
            Code::Conflict,
            "No URL to ping configured for this app",
        ));
    };
    let statuses = caller.query("app.status", json!([id])).await?.value();
    let Some(known) = statuses.get(0) else {
        return Err(Failure::new(
            Code::Forbidden,
            "Ping functionality is disabled by server settings",
        ));
    };
    Ok(match known["status"].as_str() {
        // Portico keeps only that the status was below 500.
        Some("up") => json!({ "url": url, "statusCode": 200, "durationMs": known["milliseconds"] }),
        Some("unknown") => json!({ "url": url, "error": "not checked yet: ask again in some seconds" }),
        _ => json!({ "url": url, "error": known["reason"] }),
    }
    .into())
}
