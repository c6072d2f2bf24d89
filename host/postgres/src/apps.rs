//! Statements on apps.

use std::collections::BTreeSet;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::Connection;
use super::matching::Matching;
use super::query::{Result, Value, all, all_planned, first, run, sized};
use super::search::Search;
use super::users::LOCKED;
use super::values::{check_new_id, count as count_of, is_storable};
use super::views::SEEN;
use portico_model::App;
use portico_storage::driver::{AnswerSize, View};
use portico_storage::{Slice, StoredApp};

const COLUMNS: &str = "id, name, description, icon_url, href, ping_url";

pub(super) async fn get(db: &Connection, id: &str, view: Option<&View>, locked: bool) -> Result<Option<App>> {
    let locked = if locked { LOCKED } else { "" };
    let Some(view) = view else {
        let sql = format!("SELECT {COLUMNS} FROM app WHERE id = $1{locked}");
        return first(db, &sql, &[&id], app).await;
    };
    let seen = &*SEEN;
    let sql = format!("SELECT {COLUMNS} FROM app WHERE id = $2 AND {seen}{locked}");
    first(db, &sql, &[&view.user_id, &id], app).await
}

pub(super) async fn get_many(db: &Connection, ids: &[String], view: Option<&View>) -> Result<Vec<App>> {
    let ids: BTreeSet<_> = ids.iter().collect();
    let ids: Vec<_> = ids.into_iter().filter(|id| is_storable(id)).collect();
    let mut size = AnswerSize::default();
    let read = move |row: &Row| sized(&mut size, app(row)?);
    let Some(view) = view else {
        let sql = format!("SELECT {COLUMNS} FROM app WHERE id = ANY($1) ORDER BY id");
        return all(db, &sql, &[&ids], read).await;
    };
    let seen = &*SEEN;
    let sql = format!("SELECT {COLUMNS} FROM app WHERE id = ANY($2) AND {seen} ORDER BY id");
    all(db, &sql, &[&view.user_id, &ids], read).await
}

/// The apps in a view that a search finds.
fn matching(view: Option<&View>, search: &Search) -> Matching {
    let mut matching = Matching::default();
    if let Some(view) = view {
        // The first parameter is that of the view.
        matching.parameter(view.user_id.clone(), Type::TEXT);
    }
    search.require(&mut matching);
    if view.is_some() {
        matching.require(&**SEEN);
    }
    matching
}

pub(super) async fn list(
    db: &Connection,
    view: Option<&View>,
    search: &Search,
    slice: Slice,
) -> Result<Vec<App>> {
    let mut matching = matching(view, search);
    let sql = matching.select(COLUMNS, "app", slice);
    let mut size = AnswerSize::default();
    all_planned(db, &sql, &matching.values(), move |row| {
        sized(&mut size, app(row)?)
    })
    .await
}

pub(super) async fn count(db: &Connection, view: Option<&View>, search: &Search) -> Result<u32> {
    let matching = matching(view, search);
    let sql = format!("SELECT count(*) FROM app {}", matching.condition());
    let counts = all_planned(db, &sql, &matching.values(), |row| count_of(row, 0)).await?;
    Ok(counts.into_iter().sum::<u64>().try_into().unwrap_or(u32::MAX))
}

/// One statement for any number of apps.
pub(super) const INSERT: &str = "
    INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])";

/// Refuses new apps whose ids cannot be held.
pub(super) fn check(new: &[StoredApp]) -> Result<()> {
    new.iter().try_for_each(|new| check_new_id(&new.app.id))
}

pub(super) async fn insert(db: &Connection, new: &[StoredApp]) -> Result<()> {
    check(new)?;
    let column = |read: fn(&StoredApp) -> Option<&str>| new.iter().map(read).collect::<Vec<_>>();
    let values: [Value<'_>; 7] = [
        &column(|new| Some(&new.app.id)),
        &column(|new| Some(&new.app.name)),
        &column(|new| Some(&new.name_key)),
        &column(|new| new.app.description.as_deref()),
        &column(|new| Some(&new.app.icon_url)),
        &column(|new| new.app.href.as_deref()),
        &column(|new| new.app.ping_url.as_deref()),
    ];
    run(db, INSERT, &values).await.map(drop)
}

pub(super) async fn update(db: &Connection, StoredApp { app, name_key }: &StoredApp) -> Result<bool> {
    let sql = "
        UPDATE app SET name = $2, name_key = $3, description = $4, icon_url = $5, href = $6, ping_url = $7
        WHERE id = $1";
    let values: [Value<'_>; 7] = [
        &app.id,
        &app.name,
        name_key,
        &app.description,
        &app.icon_url,
        &app.href,
        &app.ping_url,
    ];
    Ok(run(db, sql, &values).await? > 0)
}

/// The schema's cascades remove it from boards.
pub(super) async fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM app WHERE id = $1", &[&id]).await? > 0)
}

fn app(row: &Row) -> Result<App> {
    Ok(App {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        description: row.try_get(2)?,
        icon_url: row.try_get(3)?,
        href: row.try_get(4)?,
        ping_url: row.try_get(5)?,
    })
}
