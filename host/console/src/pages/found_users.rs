//! Users whom other pages name or offer for a choice.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::json;

use crate::api::{Api, ApiError};

/// The most users that a search on another page shows.
const MOST_FOUND: usize = 20;

/// A user to choose.
#[derive(Deserialize)]
pub(super) struct Found {
    pub id: String,
    pub name: String,
}

/// The users with a text in their names; no users without a text.
pub(super) async fn find(api: &Api, text: &str) -> Result<Vec<Found>, ApiError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    api.query("user.search", json!({ "query": text, "limit": MOST_FOUND }))
        .await
}

/// The names of the users of one page, by id. Deleted users have no entry. The caller bounds the number of ids.
pub(super) async fn names<'a>(
    api: &Api,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<HashMap<String, String>, ApiError> {
    let mut names = HashMap::new();
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        match api.query::<Found>("user.getById", json!({ "userId": id })).await {
            Ok(user) => {
                names.insert(user.id, user.name);
            }
            Err(error) if error.status.as_u16() == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(names)
}
