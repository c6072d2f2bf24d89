//! `session.*`: the caller's own sessions. They can list and end these, and no one else's.

use std::net::IpAddr;

use portico_model::{
    Timestamp,
    error::{Code, Error},
    time,
};
use portico_rules::refusal::Missing;
use portico_storage::{Access, Authentication, Session};
use serde::Serialize;

use super::transaction::require_found;
use crate::{
    procedures::{
        call::{ById, Call, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        NULLABLE_TEXT,
        Shape::{Boolean, Date, Integer, List, Named, Nothing, Record, Text},
        required,
    },
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionEntry {
    id: String,
    #[serde(serialize_with = "time::serialize")]
    created_at: Timestamp,
    #[serde(serialize_with = "time::serialize")]
    last_used_at: Timestamp,
    #[serde(serialize_with = "time::serialize")]
    expires_at: Timestamp,
    browser: Option<String>,
    address: Option<IpAddr>,
    /// Whether it authenticated this call.
    current: bool,
}

#[derive(Serialize)]
struct Deleted {
    deleted: u64,
}

pub(super) static ROWS: &[Row] = &[
    query(
        "session.getAll",
        Nothing,
        List(&Named(
            "Session",
            &Record(&[
                required("id", Text).about("The session's id."),
                required("createdAt", Date).about("When it began."),
                required("lastUsedAt", Date).about("When it was last used, to the minute."),
                required("expiresAt", Date).about("When it ends unless it is used before."),
                required("browser", NULLABLE_TEXT).about(
                    "The browser or program in which it began, such as `Firefox on Linux`, if it said so.",
                ),
                required("address", NULLABLE_TEXT).about("The address at which it began, if it is known."),
                required("current", Boolean).about("Whether this call came in on it."),
            ]),
        )),
        |call| Box::pin(get_all(call)),
    )
    .large()
    .about("The caller's own sessions, by id.")
    .protected(),
    mutation("session.delete", ID, Nothing, |call| Box::pin(delete(call)))
        .about("Ends one of the caller's own sessions. Another's does not exist for them: `NOT_FOUND`.")
        .refuses(&[Code::NotFound])
        .protected(),
    mutation(
        "session.deleteOthers",
        Nothing,
        Named(
            "EndedSessions",
            &Record(&[required("deleted", Integer).about("How many it ended.")]),
        ),
        |call| Box::pin(delete_others(call)),
    )
    .about("Ends all of the caller's sessions but the one that this call came in on.")
    .at("DELETE", "/api/sessions/others")
    .protected(),
];

async fn get_all(call: Call) -> Result<Output, Error> {
    // The operator is not a user, and has no sessions.
    let user_id = call.identity.user_id().unwrap_or_default();
    let mut transaction = call.begin(Access::Read).await?;
    let sessions = transaction.list_sessions(user_id).await?;
    let now = call.resources.clock.now();
    let entries: Vec<_> = sessions
        .into_iter()
        .filter(|session| session.expires_at > now)
        .map(|session| entry(&call, session))
        .collect();
    json(&entries)
}

fn entry(call: &Call, session: Session) -> SessionEntry {
    let current = matches!(&call.identity.authentication, Authentication::Session(id) if *id == session.id);
    SessionEntry {
        id: session.id,
        created_at: session.created_at,
        last_used_at: session.last_used_at,
        expires_at: session.expires_at,
        browser: session.browser,
        address: session.address,
        current,
    }
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let user_id = call.identity.user_id().unwrap_or_default();
    let mut transaction = call.begin(Access::Write).await?;
    // Another user's session counts as missing.
    let mut sessions = transaction.list_sessions(user_id).await?.into_iter();
    let session = sessions.find(|session| session.id == input.id);
    let session = session.ok_or_else(|| Error::not_found(Missing::Session))?;
    require_found(transaction.delete_session(&session.id).await?, Missing::Session)?;
    if let Some(audited) = &call.audited {
        audited.summarise(summary(&session));
    }
    transaction.commit().await?;
    json(&())
}

/// What the audit log says of a session that is gone: its id, its address and its browser, as far as they are known.
fn summary(session: &Session) -> String {
    let address = session.address.map_or("-".into(), |address| address.to_string());
    let browser = session.browser.as_deref().unwrap_or("-");
    format!("{} {address} {browser}", session.id)
}

async fn delete_others(call: Call) -> Result<Output, Error> {
    let user_id = call.identity.user_id().unwrap_or_default();
    let current = match &call.identity.authentication {
        Authentication::Session(id) => Some(&**id),
        _ => None,
    };
    let mut transaction = call.begin(Access::Write).await?;
    let deleted = transaction.delete_other_sessions(user_id, current).await?;
    transaction.commit().await?;
    json(&Deleted { deleted })
}
