//! Statements on apps.

use std::collections::BTreeSet;

use rusqlite::{Connection, Params, Result, Row, params};

use super::matching::Matching;
use super::query::{all, first, run, sized};
use super::views::SEEN;
use portico_model::App;
use portico_storage::driver::{AnswerSize, View};
use portico_storage::{Slice, StoredApp};

const COLUMNS: &str = "id, name, description, icon_url, href, ping_url";

pub(super) fn get(db: &Connection, id: &str, view: Option<&View>) -> Result<Option<App>> {
    let Some(view) = view else {
        let sql = format!("SELECT {COLUMNS} FROM app WHERE id = ?1");
        return first(db, &sql, [id], app);
    };
    let seen = &*SEEN;
    let sql = format!("SELECT {COLUMNS} FROM app WHERE id = ?2 AND {seen}");
    first(db, &sql, params![view.user_id, id], app)
}

pub(super) fn get_many(db: &Connection, ids: &[String], view: Option<&View>) -> Result<Vec<App>> {
    let ids: BTreeSet<_> = ids.iter().collect();
    let mut size = AnswerSize::default();
    ids.into_iter()
        .filter_map(|id| get(db, id, view).transpose())
        .map(|app| sized(&mut size, app?))
        .collect()
}

/// The apps in a view whose names contain a text.
fn matching(view: Option<&View>, contains: &str) -> Matching {
    let mut matching = Matching::default();
    if let Some(view) = view {
        // The first parameter is that of the view.
        matching.parameter(view.user_id.clone());
    }
    matching.require_name(contains);
    if view.is_some() {
        matching.require(&**SEEN);
    }
    matching
}

pub(super) fn list(db: &Connection, view: Option<&View>, contains: &str, slice: Slice) -> Result<Vec<App>> {
    let mut matching = matching(view, contains);
    let sql = matching.select(COLUMNS, "app", slice);
    let mut size = AnswerSize::default();
    all(db, &sql, matching.values(), |row| sized(&mut size, app(row)?))
}

pub(super) fn count(db: &Connection, view: Option<&View>, contains: &str) -> Result<u32> {
    let matching = matching(view, contains);
    let sql = format!("SELECT count(*) FROM app {}", matching.condition());
    Ok(first(db, &sql, matching.values(), |row| row.get(0))?.unwrap_or_default())
}

pub(super) fn insert(db: &Connection, new: &StoredApp) -> Result<()> {
    let sql = "
        INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    run(db, sql, values(new)).map(drop)
}

pub(super) fn update(db: &Connection, new: &StoredApp) -> Result<bool> {
    let sql = "
        UPDATE app SET name = ?2, name_key = ?3, description = ?4, icon_url = ?5, href = ?6, ping_url = ?7
        WHERE id = ?1";
    Ok(run(db, sql, values(new))? > 0)
}

fn values(StoredApp { app, name_key }: &StoredApp) -> impl Params {
    (
        &app.id,
        &app.name,
        name_key,
        &app.description,
        &app.icon_url,
        &app.href,
        &app.ping_url,
    )
}

/// The schema's cascades remove it from boards.
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
