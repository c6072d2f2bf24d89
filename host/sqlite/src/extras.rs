//! Statements on what clients keep about users and boards.

use rusqlite::{Connection, Result};

use super::query::{exists, first, run};
use portico_storage::ExtrasOf;

/// The record's id; whether it exists; what is kept about it; how that is written and removed.
fn statements(of: &ExtrasOf) -> (&str, [&'static str; 4]) {
    match of {
        ExtrasOf::User(id) => (
            id,
            [
                "SELECT 1 FROM user_account WHERE id = ?1",
                "SELECT extras FROM user_extras WHERE user_id = ?1",
                "INSERT INTO user_extras (user_id, extras) VALUES (?1, ?2)
                 ON CONFLICT (user_id) DO UPDATE SET extras = ?2",
                "DELETE FROM user_extras WHERE user_id = ?1",
            ],
        ),
        ExtrasOf::Board(id) => (
            id,
            [
                "SELECT 1 FROM board WHERE id = ?1",
                "SELECT extras FROM board_extras WHERE board_id = ?1",
                "INSERT INTO board_extras (board_id, extras) VALUES (?1, ?2)
                 ON CONFLICT (board_id) DO UPDATE SET extras = ?2",
                "DELETE FROM board_extras WHERE board_id = ?1",
            ],
        ),
    }
}

pub(super) fn get(db: &Connection, of: &ExtrasOf) -> Result<Option<String>> {
    let (id, [_, get, ..]) = statements(of);
    first(db, get, [id], |row| row.get(0))
}

pub(super) fn set(db: &Connection, of: &ExtrasOf, extras: Option<&str>) -> Result<bool> {
    let (id, [is_there, _, write, remove]) = statements(of);
    if !exists(db, is_there, [id])? {
        return Ok(false);
    }
    match extras {
        Some(extras) => run(db, write, [id, extras])?,
        None => run(db, remove, [id])?,
    };
    Ok(true)
}
