//! Statements on groups, their members and their permissions.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::connection::Connection;
use super::query::{self, Result, all, first, fold, run};
use portico_storage::driver::ADMIN_GROUP;
use portico_storage::{ADMIN, Group, Named};

/// The permissions that a user has from all groups; in order, each once.
pub(super) async fn permissions(db: &Connection, user_id: &str) -> Result<Vec<String>> {
    let sql = "
        SELECT DISTINCT permission FROM group_member JOIN group_permission USING (group_id)
        WHERE user_id = $1 ORDER BY permission";
    all(db, sql, &[&user_id], text).await
}

pub(super) async fn has_another_admin(db: &Connection, except: &str) -> Result<bool> {
    let sql = "
        SELECT 1 FROM group_permission JOIN group_member USING (group_id)
            JOIN user_account ON user_account.id = user_id
        WHERE permission = $1 AND user_id <> $2 AND NOT disabled";
    query::exists(db, sql, &[&ADMIN, &except]).await
}

pub(super) async fn grant_admin(db: &Connection, user_id: &str, new_group_id: &str) -> Result<()> {
    let group_id = match find(db, ADMIN_GROUP).await? {
        Some(id) => id,
        None => {
            insert(db, new_group_id, ADMIN_GROUP, ADMIN_GROUP).await?;
            new_group_id.to_owned()
        }
    };
    insert_permissions(db, &group_id, &[ADMIN.to_owned()]).await?;
    insert_member(db, &group_id, user_id).await
}

pub(super) async fn find(db: &Connection, name_key: &str) -> Result<Option<String>> {
    let sql = "SELECT id FROM user_group WHERE name_key = $1";
    first(db, sql, &[&name_key], text).await
}

pub(super) async fn of_user(db: &Connection, user_id: &str) -> Result<Vec<String>> {
    let sql = "SELECT group_id FROM group_member WHERE user_id = $1 ORDER BY group_id";
    all(db, sql, &[&user_id], text).await
}

pub(super) async fn insert(db: &Connection, id: &str, name: &str, name_key: &str) -> Result<bool> {
    let sql = "
        INSERT INTO user_group (id, name, name_key) VALUES ($1, $2, $3) ON CONFLICT (name_key) DO NOTHING";
    Ok(run(db, sql, &[&id, &name, &name_key]).await? > 0)
}

/// No other transaction writes groups meanwhile, so the name stays free.
pub(super) async fn update(db: &Connection, id: &str, name: &str, name_key: &str) -> Result<bool> {
    let sql = "
        UPDATE user_group SET name = $2, name_key = $3
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM user_group WHERE name_key = $3 AND id <> $1)";
    Ok(run(db, sql, &[&id, &name, &name_key]).await? > 0)
}

pub(super) async fn list(db: &Connection) -> Result<Vec<Group>> {
    let sql = "SELECT group_id, permission FROM group_permission ORDER BY permission";
    let mut permissions = by_group(db, sql, |row| Ok(row.try_get(1)?)).await?;
    let sql = "
        SELECT group_id, user_account.id, name
        FROM group_member JOIN user_account ON user_account.id = user_id
        ORDER BY name_key, user_account.id";
    let mut members = by_group(db, sql, |row| named(row, 1)).await?;
    let sql = "SELECT id, name FROM user_group ORDER BY name_key, id";
    let groups = all(db, sql, &[], |row| named(row, 0)).await?;
    let whole = groups.into_iter().map(|Named { id, name }| Group {
        permissions: permissions.remove(&id).unwrap_or_default(),
        members: members.remove(&id).unwrap_or_default(),
        id,
        name,
    });
    Ok(whole.collect())
}

pub(super) async fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM user_group WHERE id = $1", &[&id]).await? > 0)
}

pub(super) async fn set_permissions(db: &Connection, id: &str, permissions: &[String]) -> Result<bool> {
    if !exists(db, id).await? {
        return Ok(false);
    }
    run(db, "DELETE FROM group_permission WHERE group_id = $1", &[&id]).await?;
    insert_permissions(db, id, permissions).await?;
    Ok(true)
}

pub(super) async fn add_member(db: &Connection, id: &str, user_id: &str) -> Result<bool> {
    if !exists(db, id).await? {
        return Ok(false);
    }
    insert_member(db, id, user_id).await?;
    Ok(true)
}

pub(super) async fn remove_member(db: &Connection, id: &str, user_id: &str) -> Result<bool> {
    let sql = "DELETE FROM group_member WHERE group_id = $1 AND user_id = $2";
    Ok(run(db, sql, &[&id, &user_id]).await? > 0)
}

/// What is read of each row, by the id of a group in its first column.
async fn by_group<T: Send + 'static>(
    db: &Connection,
    sql: &str,
    read: fn(&Row) -> Result<T>,
) -> Result<BTreeMap<String, Vec<T>>> {
    fold(
        db,
        sql,
        &[],
        BTreeMap::new(),
        move |groups: &mut BTreeMap<_, Vec<T>>, row| {
            groups.entry(row.try_get(0)?).or_default().push(read(row)?);
            Ok(())
        },
    )
    .await
}

/// An id and a name, from this column on.
pub(super) fn named(row: &Row, column: usize) -> Result<Named> {
    Ok(Named {
        id: row.try_get(column)?,
        name: row.try_get(column + 1)?,
    })
}

pub(super) fn text(row: &Row) -> Result<String> {
    Ok(row.try_get(0)?)
}

/// The group stays until the transaction ends.
async fn exists(db: &Connection, id: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM user_group WHERE id = $1 FOR KEY SHARE";
    Ok(first(db, sql, &[&id], |_| Ok(())).await?.is_some())
}

async fn insert_permissions(db: &Connection, id: &str, permissions: &[String]) -> Result<()> {
    let sql = "
        INSERT INTO group_permission (group_id, permission) SELECT $1, unnest($2::text[])
        ON CONFLICT DO NOTHING";
    run(db, sql, &[&id, &permissions]).await.map(drop)
}

async fn insert_member(db: &Connection, id: &str, user_id: &str) -> Result<()> {
    let sql = "INSERT INTO group_member (group_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    run(db, sql, &[&id, &user_id]).await.map(drop)
}
