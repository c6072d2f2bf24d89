//! Statements on apps.
//!
//! The index of words, `app_search`, has all names but the newest ones (`app_search_state` says up to
//! which): statements that use it read those.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, Row, params};

use super::query::{all, first, run};
use portico_model::App;
use portico_storage::{AppFilter, StoredApp};

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<App>> {
    let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE id = ?1";
    first(db, sql, [id], app)
}

pub(super) fn get_many(db: &Connection, ids: &[String]) -> Result<Vec<App>> {
    let ids: BTreeSet<_> = ids.iter().collect();
    ids.into_iter().filter_map(|id| get(db, id).transpose()).collect()
}

pub(super) fn list(db: &Connection, filter: &AppFilter) -> Result<Vec<App>> {
    let contains = filter.name_contains.as_deref().unwrap_or_default();
    // To SQLite, -1 is no limit.
    let limit = filter.limit.map_or(-1, i64::from);
    let offset = filter.offset;
    // The plus keeps SQLite from going through all names because they are in order.
    let among_few = "
        SELECT id, name, description, icon_url, href, ping_url FROM app
        WHERE number IN (
            SELECT rowid FROM app_search WHERE app_search MATCH ?4
            UNION ALL
            SELECT number FROM app
            WHERE number > (SELECT up_to FROM app_search_state) AND instr(name_key, ?1) > 0
        )
        ORDER BY +name_key, id LIMIT ?2 OFFSET ?3";
    let among_all = "
        SELECT id, name, description, icon_url, href, ping_url FROM app
        WHERE instr(name_key, ?1) > 0
        ORDER BY name_key, id LIMIT ?2 OFFSET ?3";
    match phrase(contains) {
        Some(phrase) if is_in_few(db, &phrase)? => {
            all(db, among_few, params![contains, limit, offset, phrase], app)
        }
        _ => all(db, among_all, params![contains, limit, offset], app),
    }
}

pub(super) fn count(db: &Connection, name_contains: &str) -> Result<u32> {
    let by_index = "
        SELECT (SELECT count(*) FROM app_search WHERE app_search MATCH ?2) + (
            SELECT count(*) FROM app
            WHERE number > (SELECT up_to FROM app_search_state) AND instr(name_key, ?1) > 0
        )";
    let by_name = "SELECT count(*) FROM app WHERE ?1 = '' OR instr(name_key, ?1) > 0";
    let count = match phrase(name_contains) {
        Some(phrase) => first(db, by_index, [name_contains, &phrase], |row| row.get(0)),
        None => first(db, by_name, [name_contains], |row| row.get(0)),
    };
    Ok(count?.unwrap_or_default())
}

/// A query of the index for names that contain this text; none where the index cannot tell. It
/// knows three characters in a row and no fewer, and takes the last of these for one another.
fn phrase(text: &str) -> Option<String> {
    const NEEDED: usize = 3;
    const NOT_KNOWN: [char; 4] = ['\0', '\u{fffd}', '\u{fffe}', '\u{ffff}'];
    let is_long_enough = text.chars().nth(NEEDED - 1).is_some();
    (is_long_enough && !text.contains(NOT_KNOWN)).then(|| format!("\"{}\"", text.replace('"', "\"\"")))
}

/// Whether the index finds so few names that sorting them is quicker than going through all names in
/// order until there are enough. (Of 100,000 names with 300 hits, ten are among the first 3,000.)
fn is_in_few(db: &Connection, phrase: &str) -> Result<bool> {
    const FEW: i64 = 300;
    let sql = "SELECT count(*) FROM (SELECT 1 FROM app_search WHERE app_search MATCH ?1 LIMIT ?2)";
    let count: Option<i64> = first(db, sql, params![phrase, FEW], |row| row.get(0))?;
    Ok(count.is_some_and(|count| count < FEW))
}

pub(super) fn insert(db: &Connection, new: &StoredApp) -> Result<()> {
    let sql = "
        INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let StoredApp { app, name_key } = new;
    let values = params![
        app.id,
        app.name,
        name_key,
        app.description,
        app.icon_url,
        app.href,
        app.ping_url
    ];
    run(db, sql, values).map(drop)
}

pub(super) fn update(db: &Connection, new: &StoredApp) -> Result<bool> {
    let sql = "
        UPDATE app SET name = ?2, name_key = ?3, description = ?4, icon_url = ?5, href = ?6, ping_url = ?7
        WHERE id = ?1";
    let StoredApp { app, name_key } = new;
    let values = params![
        app.id,
        app.name,
        name_key,
        app.description,
        app.icon_url,
        app.href,
        app.ping_url
    ];
    Ok(run(db, sql, values)? > 0)
}

/// The schema's cascades take it off the boards.
pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM app WHERE id = ?1", [id])? > 0)
}

fn app(row: &Row<'_>) -> Result<App> {
    Ok(App {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        icon_url: row.get(3)?,
        href: row.get(4)?,
        ping_url: row.get(5)?,
    })
}
