//! Statements on apps.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, Row, params};

use super::query::{all, first, run};
use crate::model::App;
use crate::storage::{AppFilter, StoredApp};

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<App>> {
    let sql = "SELECT id, name, description, icon_url, href, ping_url FROM app WHERE id = ?1";
    first(db, sql, [id], app)
}

pub(super) fn get_many(db: &Connection, ids: &[String]) -> Result<Vec<App>> {
    let ids: BTreeSet<_> = ids.iter().collect();
    ids.into_iter().filter_map(|id| get(db, id).transpose()).collect()
}

pub(super) fn list(db: &Connection, filter: &AppFilter) -> Result<Vec<App>> {
    let sql = "
        SELECT id, name, description, icon_url, href, ping_url FROM app
        WHERE instr(name_key, ?1) > 0
        ORDER BY name_key, id LIMIT ?2 OFFSET ?3";
    let contains = filter.name_contains.as_deref().unwrap_or_default();
    // To SQLite, -1 is no limit.
    let limit = filter.limit.map_or(-1, i64::from);
    let offset = i64::try_from(filter.offset).unwrap_or(i64::MAX);
    all(db, sql, params![contains, limit, offset], app)
}

pub(super) fn count(db: &Connection, name_contains: &str) -> Result<u64> {
    let sql = "SELECT count(*) FROM app WHERE instr(name_key, ?1) > 0";
    let count: Option<i64> = first(db, sql, [name_contains], |row| row.get(0))?;
    Ok(count.map_or(0, i64::unsigned_abs))
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
