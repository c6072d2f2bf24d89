//! The extras: what this crate stores about users and boards in addition to Portico's own fields, as a JSON object for
//! each ([`portico_storage::extras`]).
//!
//! Invariant: a change replaces nothing that it has not read. If another client or host has stored something else
//! meanwhile, Portico refuses, and the change is made again from what is stored then.

use portico_model::error::Code;
use portico_storage::ExtrasOf;
use serde_json::{Map, Value, json};

use crate::{caller::Caller, outcome::Failure};

/// How often a change is made again. Changes at one host wait for each other, so each refusal means that another host
/// was faster.
const MOST_ATTEMPTS: usize = 16;

/// The extras of a record, and their version.
pub(super) struct Kept {
    pub extras: Map<String, Value>,
    pub version: Value,
}

pub(super) async fn of_user(caller: &Caller, id: &str) -> Result<Kept, Failure> {
    read(caller, "extras.ofUser", id).await
}

/// Changes some keys of a user's extras.
pub(super) async fn change_of_user(
    caller: &Caller,
    id: &str,
    changes: Map<String, Value>,
) -> Result<(), Failure> {
    let _turn = caller.compat.changes.lock().await;
    let mut attempts = Attempts::default();
    loop {
        let mut kept = of_user(caller, id).await?;
        attempts.begin(&kept.version)?;
        kept.extras.extend(changes.clone());
        let extras = portico_storage::extras::text(&kept.extras);
        let input = json!({ "id": id, "extras": extras, "version": kept.version });
        match caller.mutate("extras.saveOfUser", input).await {
            Ok(_) => return Ok(()),
            Err(failure) => attempts.failed(failure)?,
        }
    }
}

pub(super) async fn of_board(caller: &Caller, id: &str) -> Result<Kept, Failure> {
    read(caller, "extras.ofBoard", id).await
}

/// Replaces the extras of a new board.
pub(super) async fn save_of_board(
    caller: &Caller,
    id: &str,
    extras: &Map<String, Value>,
) -> Result<(), Failure> {
    let input = json!({ "id": id, "extras": portico_storage::extras::text(extras) });
    caller.mutate("extras.saveOfBoard", input).await.map(drop)
}

/// Refuses extras that are too long for a board.
pub(super) fn check_size(extras: &Map<String, Value>) -> Result<(), Failure> {
    let most = ExtrasOf::MOST_OF_BOARD;
    let length = portico_storage::extras::text(extras).chars().count();
    if length > most {
        let message = format!("The board takes {length} characters as JSON, and at most {most} are kept");
        return Err(Failure::new(Code::BadRequest, message));
    }
    Ok(())
}

async fn read(caller: &Caller, procedure: &str, id: &str) -> Result<Kept, Failure> {
    let mut kept = caller.query(procedure, json!({ "id": id })).await?.value();
    Ok(Kept {
        extras: portico_storage::extras::read(kept["extras"].as_str().unwrap_or_default()),
        version: kept["version"].take(),
    })
}

/// The attempts at one change.
#[derive(Default)]
pub(super) struct Attempts {
    begun: usize,
    /// The refusal of the last one, and the version from which it was made.
    refused: Option<Failure>,
    version: Value,
}

impl Attempts {
    /// Begins an attempt from this version. Ends with the last refusal if that was about something else than the
    /// version, or after too many attempts.
    pub fn begin(&mut self, version: &Value) -> Result<(), Failure> {
        let is_same = self.version == *version;
        if let Some(refused) = self.refused.take()
            && (is_same || self.begun == MOST_ATTEMPTS)
        {
            return Err(refused);
        }
        self.begun += 1;
        self.version = version.clone();
        Ok(())
    }

    /// Returns whether there is another attempt after this refusal.
    pub fn failed(&mut self, refused: Failure) -> Result<(), Failure> {
        if refused.status() != Code::Conflict.http_status() {
            return Err(refused);
        }
        self.refused = Some(refused);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use portico_model::refusal::Missing;

    use super::*;

    fn conflict() -> Failure {
        Failure::new(Code::Conflict, "changed")
    }

    #[test]
    fn an_attempt_follows_if_another_version_is_there_by_now() {
        let mut attempts = Attempts::default();
        for number in 0..MOST_ATTEMPTS {
            attempts.begin(&json!(number)).unwrap();
            attempts.failed(conflict()).unwrap();
        }
        assert!(attempts.begin(&json!("another")).is_err(), "it ends");
    }

    #[test]
    fn a_refusal_for_another_reason_ends_the_attempts() {
        let mut attempts = Attempts::default();
        attempts.begin(&json!("one")).unwrap();
        attempts.failed(conflict()).unwrap();
        assert!(attempts.begin(&json!("one")).is_err());
        assert!(attempts.failed(Failure::not_found(Missing::Board)).is_err());
    }
}
