//! Statements on search engines.

use rusqlite::{Connection, Params, Result, Row};

use super::query::{all, first, run};
use portico_storage::SearchEngine;

pub(super) fn exists(db: &Connection, id: &str) -> Result<bool> {
    super::query::exists(db, "SELECT 1 FROM search_engine WHERE id = ?1", [id])
}

pub(super) fn insert(
    db: &Connection,
    engine: &SearchEngine,
    name_key: &str,
    short_key: &str,
) -> Result<bool> {
    let sql = "
        INSERT INTO search_engine (id, name, name_key, short, short_key, url_template, icon_url, description)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (name_key) DO NOTHING ON CONFLICT (short_key) DO NOTHING";
    Ok(run(db, sql, values(engine, name_key, short_key))? > 0)
}

fn values<'a>(engine: &'a SearchEngine, name_key: &'a str, short_key: &'a str) -> impl Params {
    (
        &engine.id,
        &engine.name,
        name_key,
        &engine.short,
        short_key,
        &engine.url_template,
        &engine.icon_url,
        &engine.description,
    )
}

pub(super) fn update(
    db: &Connection,
    engine: &SearchEngine,
    name_key: &str,
    short_key: &str,
) -> Result<bool> {
    let sql = "
        UPDATE OR IGNORE search_engine SET name = ?2, name_key = ?3, short = ?4, short_key = ?5,
            url_template = ?6, icon_url = ?7, description = ?8
        WHERE id = ?1";
    Ok(run(db, sql, values(engine, name_key, short_key))? > 0)
}

pub(super) fn get(db: &Connection, id: &str) -> Result<Option<SearchEngine>> {
    let sql = "
        SELECT id, name, short, url_template, icon_url, description FROM search_engine
        WHERE id = ?1";
    first(db, sql, [id], engine)
}

pub(super) fn list(db: &Connection) -> Result<Vec<SearchEngine>> {
    let sql = "
        SELECT id, name, short, url_template, icon_url, description FROM search_engine
        ORDER BY name_key, id";
    all(db, sql, [], engine)
}

fn engine(row: &Row<'_>) -> Result<SearchEngine> {
    Ok(SearchEngine {
        id: row.get(0)?,
        name: row.get(1)?,
        short: row.get(2)?,
        url_template: row.get(3)?,
        icon_url: row.get(4)?,
        description: row.get(5)?,
    })
}

pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM search_engine WHERE id = ?1", [id])? > 0)
}
