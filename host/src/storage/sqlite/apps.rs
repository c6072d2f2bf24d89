//! Statements on apps.
//!
//! The index of words, `app_search`, has all names but the newest ones (`app_search_state` says up to
//! which): statements that use it read those.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, Row, params};

use super::query::{all, first, run};
use crate::model::App;
use crate::storage::{AppFilter, StoredApp};

/// The names that contain ?1, among those that have the trigram ?2 and those not in the index yet.
macro_rules! among_few {
    () => {
        "
        FROM app
        WHERE number IN (
            SELECT rowid FROM app_search WHERE app_search MATCH ?2
            UNION ALL
            SELECT number FROM app WHERE number > (SELECT up_to FROM app_search_state)
        ) AND instr(name_key, ?1) > 0"
    };
}

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
    if contains.is_empty() {
        let sql = "
            SELECT id, name, description, icon_url, href, ping_url FROM app
            ORDER BY name_key, id LIMIT ?1 OFFSET ?2";
        return all(db, sql, [limit, offset.into()], app);
    }
    let Some(trigram) = rare_trigram(db, contains)? else {
        let sql = "
            SELECT id, name, description, icon_url, href, ping_url FROM app
            WHERE instr(name_key, ?1) > 0
            ORDER BY name_key, id LIMIT ?2 OFFSET ?3";
        return all(db, sql, params![contains, limit, offset], app);
    };
    // First which, and only of those the rest: a sort holds all that it is to answer, icons as well.
    // The plus keeps SQLite from going through all names because they are in order.
    let sql = concat!(
        "SELECT number ",
        among_few!(),
        " ORDER BY +name_key, id LIMIT ?3 OFFSET ?4"
    );
    let values = params![contains, trigram, limit, offset];
    let numbers: Vec<i64> = all(db, sql, values, |row| row.get(0))?;
    let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE number = ?1";
    let apps = numbers.into_iter();
    apps.filter_map(|number| first(db, sql, [number], app).transpose())
        .collect()
}

pub(super) fn count(db: &Connection, name_contains: &str) -> Result<u32> {
    let count = if name_contains.is_empty() {
        // By pages, which is quicker than by rows.
        first(db, "SELECT count(*) FROM app", [], |row| row.get(0))
    } else if let Some(trigram) = rare_trigram(db, name_contains)? {
        let sql = concat!("SELECT count(*) ", among_few!());
        first(db, sql, [name_contains, &trigram], |row| row.get(0))
    } else {
        let sql = "SELECT count(*) FROM app WHERE instr(name_key, ?1) > 0";
        first(db, sql, [name_contains], |row| row.get(0))
    };
    Ok(count?.unwrap_or_default())
}

/// How many trigrams of a text are looked up. Each takes some tens of microseconds.
const TRIGRAMS: usize = 8;

/// A text is judged by so many of its characters: whoever calls may send any text.
const LOOKED_AT: usize = 256;

/// Three characters of this text that are in few names, as a query of the index; none where there are
/// none, or none that the index knows.
///
/// To look for the whole text by the index would take as long as its trigrams are common and repeat:
/// for 64 times the same letter in 100,000 such names more than a second. Going through all names, the
/// way if there is no such trigram, takes some 15 ms there, whatever the text.
fn rare_trigram(db: &Connection, text: &str) -> Result<Option<String>> {
    /// It takes the last of these for one another.
    const NOT_KNOWN: [char; 4] = ['\0', '\u{fffd}', '\u{fffe}', '\u{ffff}'];
    let characters: Vec<char> = text.chars().take(LOOKED_AT).collect();
    let mut seen = BTreeSet::new();
    let mut trigrams: Vec<_> = characters
        .windows(3)
        .filter(|trigram| seen.insert(*trigram))
        .collect();
    trigrams.retain(|trigram| !trigram.iter().any(|character| NOT_KNOWN.contains(character)));
    // From all over the text.
    let among = trigrams.len().div_ceil(TRIGRAMS).max(1);
    for trigram in trigrams.into_iter().step_by(among) {
        let trigram = String::from_iter(trigram).replace('"', "\"\"");
        let query = format!("\"{trigram}\"");
        if is_in_few(db, &query)? {
            return Ok(Some(query));
        }
    }
    Ok(None)
}

/// Whether the index finds so few names that looking at each is quicker than going through all names in
/// order until there are enough. (Of 100,000 names with 300 hits, ten are among the first 3,000.)
fn is_in_few(db: &Connection, query: &str) -> Result<bool> {
    const FEW: i64 = 300;
    let sql = "SELECT count(*) FROM (SELECT 1 FROM app_search WHERE app_search MATCH ?1 LIMIT ?2)";
    let count: Option<i64> = first(db, sql, params![query, FEW], |row| row.get(0))?;
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
