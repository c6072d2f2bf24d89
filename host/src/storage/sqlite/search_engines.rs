//! Statements on search engines.

use rusqlite::{Connection, Result, params};

use super::query::{all, run};
use crate::storage::SearchEngine;

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
    let values = params![
        engine.id,
        engine.name,
        name_key,
        engine.short,
        short_key,
        engine.url_template,
        engine.icon_url,
        engine.description,
    ];
    Ok(run(db, sql, values)? > 0)
}

pub(super) fn list(db: &Connection) -> Result<Vec<SearchEngine>> {
    let sql = "
        SELECT id, name, short, url_template, icon_url, description FROM search_engine
        ORDER BY name_key, id";
    all(db, sql, [], |row| {
        Ok(SearchEngine {
            id: row.get(0)?,
            name: row.get(1)?,
            short: row.get(2)?,
            url_template: row.get(3)?,
            icon_url: row.get(4)?,
            description: row.get(5)?,
        })
    })
}

pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM search_engine WHERE id = ?1", [id])? > 0)
}
