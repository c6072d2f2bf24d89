//! Statements on search engines.

use tokio_postgres::Row;

use super::connection::Connection;
use super::query::{Result, Value, all, first, run};
use portico_storage::SearchEngine;

/// In a write transaction the engine is locked, so that it stays.
pub(super) async fn exists(db: &Connection, id: &str, locked: bool) -> Result<bool> {
    let sql = match locked {
        true => "SELECT 1 FROM search_engine WHERE id = $1 FOR KEY SHARE",
        false => "SELECT 1 FROM search_engine WHERE id = $1",
    };
    Ok(first(db, sql, &[&id], |_| Ok(())).await?.is_some())
}

/// No other transaction writes search engines meanwhile, so that name and short stay free.
pub(super) async fn insert(
    db: &Connection,
    engine: &SearchEngine,
    name_key: &str,
    short_key: &str,
) -> Result<bool> {
    let sql = "
        INSERT INTO search_engine (id, name, name_key, short, short_key, url_template, icon_url, description)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8
        WHERE NOT EXISTS (SELECT 1 FROM search_engine WHERE name_key = $3 OR short_key = $5)";
    Ok(run(db, sql, &values(engine, &name_key, &short_key)).await? > 0)
}

fn values<'a>(engine: &'a SearchEngine, name_key: &'a &str, short_key: &'a &str) -> [Value<'a>; 8] {
    [
        &engine.id,
        &engine.name,
        name_key,
        &engine.short,
        short_key,
        &engine.url_template,
        &engine.icon_url,
        &engine.description,
    ]
}

pub(super) async fn update(
    db: &Connection,
    engine: &SearchEngine,
    name_key: &str,
    short_key: &str,
) -> Result<bool> {
    let sql = "
        UPDATE search_engine SET name = $2, name_key = $3, short = $4, short_key = $5,
            url_template = $6, icon_url = $7, description = $8
        WHERE id = $1 AND NOT EXISTS (
            SELECT 1 FROM search_engine WHERE (name_key = $3 OR short_key = $5) AND id <> $1
        )";
    Ok(run(db, sql, &values(engine, &name_key, &short_key)).await? > 0)
}

pub(super) async fn get(db: &Connection, id: &str) -> Result<Option<SearchEngine>> {
    let sql = "
        SELECT id, name, short, url_template, icon_url, description FROM search_engine
        WHERE id = $1";
    first(db, sql, &[&id], engine).await
}

pub(super) async fn list(db: &Connection) -> Result<Vec<SearchEngine>> {
    let sql = "
        SELECT id, name, short, url_template, icon_url, description FROM search_engine
        ORDER BY name_key, id";
    all(db, sql, &[], engine).await
}

fn engine(row: &Row) -> Result<SearchEngine> {
    Ok(SearchEngine {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        short: row.try_get(2)?,
        url_template: row.try_get(3)?,
        icon_url: row.try_get(4)?,
        description: row.try_get(5)?,
    })
}

pub(super) async fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM search_engine WHERE id = $1", &[&id]).await? > 0)
}
