//! What this crate keeps about users and boards, beside Portico's own fields: a JSON object for each.

use portico_model::error::Code;
use serde_json::{Map, Value, json};

use crate::{caller::Caller, outcome::Failure};

/// The longest text that Portico keeps about a board, in characters.
const MOST: usize = 256 << 10;

/// What is kept about a user.
pub(super) async fn of_user(caller: &Caller, id: &str) -> Result<Map<String, Value>, Failure> {
    read(caller, "extras.ofUser", id).await
}

/// Changes some keys of what is kept about a user.
pub(super) async fn change_of_user(
    caller: &Caller,
    id: &str,
    changes: Map<String, Value>,
) -> Result<(), Failure> {
    let mut extras = of_user(caller, id).await?;
    extras.extend(changes);
    write(caller, "extras.saveOfUser", id, extras).await
}

/// What is kept about a board.
pub(super) async fn of_board(caller: &Caller, id: &str) -> Result<Map<String, Value>, Failure> {
    read(caller, "extras.ofBoard", id).await
}

/// Replaces what is kept about a board.
pub(super) async fn save_of_board(
    caller: &Caller,
    id: &str,
    extras: Map<String, Value>,
) -> Result<(), Failure> {
    write(caller, "extras.saveOfBoard", id, extras).await
}

/// Refuses what is too much to be kept about a board.
pub(super) fn check_size(extras: &Map<String, Value>) -> Result<(), Failure> {
    let length = json!(extras).to_string().chars().count();
    if length > MOST {
        let message = format!("The board takes {length} characters as JSON, and at most {MOST} are kept");
        return Err(Failure::new(Code::BadRequest, message));
    }
    Ok(())
}

async fn read(caller: &Caller, procedure: &str, id: &str) -> Result<Map<String, Value>, Failure> {
    let kept = caller.query(procedure, json!({ "id": id })).await?.value();
    let text = kept["extras"].as_str().unwrap_or("{}");
    // Another client may have kept something else there.
    Ok(serde_json::from_str(text).unwrap_or_default())
}

async fn write(
    caller: &Caller,
    procedure: &str,
    id: &str,
    extras: Map<String, Value>,
) -> Result<(), Failure> {
    // JSON may hold these as they are, and Portico takes no text with them.
    let is_plain = |letter: char| !('\u{7f}'..='\u{9f}').contains(&letter);
    let mut text = String::new();
    for letter in Value::Object(extras).to_string().chars() {
        if is_plain(letter) {
            text.push(letter);
        } else {
            text.push_str(&format!("\\u{:04x}", u32::from(letter)));
        }
    }
    let extras = text;
    let input = json!({ "id": id, "extras": extras });
    caller.mutate(procedure, input).await.map(drop)
}
