//! Services, which Portico calls apps.

use portico::{
    model::App,
    storage::{AppFilter, Slice, StoredApp},
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

use super::values::limit;

const SERVICE: &str = "SELECT id, title, notes, icon, link, probe FROM services";

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

pub fn get(db: &Connection, id: &str) -> Result<Option<App>> {
    db.prepare_cached(&format!("{SERVICE} WHERE id = ?"))?
        .query_row([id], app)
        .optional()
}

pub fn get_many(db: &Connection, ids: &[String]) -> Result<Vec<App>> {
    let sql = format!("{SERVICE} WHERE id IN (SELECT value FROM json_each(?))");
    let ids =
        serde_json::to_string(ids).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    db.prepare_cached(&sql)?.query_map([ids], app)?.collect()
}

/// The bytes of text in a service.
pub fn size(app: &App) -> usize {
    let optional = [&app.description, &app.href, &app.ping_url].into_iter().flatten();
    app.id.len() + app.name.len() + app.icon_url.len() + optional.map(String::len).sum::<usize>()
}

/// Names are compared byte by byte: as blobs, because SQLite's texts end at a zero byte.
pub fn list(db: &Connection, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
    let sql = format!(
        "{SERVICE} WHERE ?1 IS NULL OR instr(CAST(title_key AS BLOB), ?1) ORDER BY title_key, id LIMIT ?2 OFFSET ?3"
    );
    let contains = filter.name_contains.as_deref().map(str::as_bytes);
    db.prepare_cached(&sql)?
        .query_map(params![contains, limit(slice.limit), slice.offset], app)?
        .collect()
}

pub fn count(db: &Connection, filter: &AppFilter) -> Result<u32> {
    let sql = "SELECT count(*) FROM services WHERE ?1 IS NULL OR instr(CAST(title_key AS BLOB), ?1)";
    let contains = filter.name_contains.as_deref().map(str::as_bytes);
    db.prepare_cached(sql)?.query_row([contains], |row| row.get(0))
}

pub fn insert(db: &Connection, apps: &[StoredApp]) -> Result<()> {
    let sql =
        "INSERT INTO services (id, title, title_key, notes, icon, link, probe) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let mut insert = db.prepare_cached(sql)?;
    for StoredApp { app, name_key } in apps {
        insert.execute(params![
            app.id,
            app.name,
            name_key,
            app.description,
            app.icon_url,
            app.href,
            app.ping_url,
        ])?;
    }
    Ok(())
}

pub fn update(db: &Connection, stored: &StoredApp) -> Result<bool> {
    let sql =
        "UPDATE services SET title = ?, title_key = ?, notes = ?, icon = ?, link = ?, probe = ? WHERE id = ?";
    let StoredApp { app, name_key } = stored;
    let changed = db.prepare_cached(sql)?.execute(params![
        app.name,
        name_key,
        app.description,
        app.icon_url,
        app.href,
        app.ping_url,
        app.id,
    ])?;
    Ok(changed == 1)
}

/// The schema removes it from every page.
pub fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(db
        .prepare_cached("DELETE FROM services WHERE id = ?")?
        .execute([id])?
        == 1)
}
