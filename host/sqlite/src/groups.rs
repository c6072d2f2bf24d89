//! Statements on groups, their members and their permissions.

use rusqlite::{Connection, Result, Row, params};

use super::query::{self, all, first, run};
use portico_storage::driver::ADMIN_GROUP;
use portico_storage::{ADMIN, Group, Named};

/// The permissions that a user has from all groups; in order, each once.
pub(super) fn permissions(db: &Connection, user_id: &str) -> Result<Vec<String>> {
    let sql = "
        SELECT DISTINCT permission FROM group_member JOIN group_permission USING (group_id)
        WHERE user_id = ?1 ORDER BY permission";
    all(db, sql, [user_id], |row| row.get(0))
}

pub(super) fn has_another_admin(db: &Connection, except: &str) -> Result<bool> {
    let sql = "
        SELECT 1 FROM group_permission JOIN group_member USING (group_id)
            JOIN user_account ON user_account.id = user_id
        WHERE permission = ?1 AND user_id <> ?2 AND NOT disabled";
    query::exists(db, sql, [ADMIN, except])
}

pub(super) fn grant_admin(db: &Connection, user_id: &str, new_group_id: &str) -> Result<()> {
    let group_id = match find(db, ADMIN_GROUP)? {
        Some(id) => id,
        None => {
            insert(db, new_group_id, ADMIN_GROUP, ADMIN_GROUP)?;
            new_group_id.to_owned()
        }
    };
    insert_permission(db, &group_id, ADMIN)?;
    insert_member(db, &group_id, user_id)
}

pub(super) fn find(db: &Connection, name_key: &str) -> Result<Option<String>> {
    first(
        db,
        "SELECT id FROM user_group WHERE name_key = ?1",
        [name_key],
        |row| row.get(0),
    )
}

pub(super) fn of_user(db: &Connection, user_id: &str) -> Result<Vec<String>> {
    let sql = "SELECT group_id FROM group_member WHERE user_id = ?1 ORDER BY group_id";
    all(db, sql, [user_id], |row| row.get(0))
}

pub(super) fn insert(db: &Connection, id: &str, name: &str, name_key: &str) -> Result<bool> {
    let sql = "
        INSERT INTO user_group (id, name, name_key) VALUES (?1, ?2, ?3) ON CONFLICT (name_key) DO NOTHING";
    Ok(run(db, sql, [id, name, name_key])? > 0)
}

pub(super) fn update(db: &Connection, id: &str, name: &str, name_key: &str) -> Result<bool> {
    let sql = "UPDATE OR IGNORE user_group SET name = ?2, name_key = ?3 WHERE id = ?1";
    Ok(run(db, sql, [id, name, name_key])? > 0)
}

pub(super) fn list(db: &Connection) -> Result<Vec<Group>> {
    let sql = "SELECT id, name FROM user_group ORDER BY name_key, id";
    let groups = all(db, sql, [], named)?;
    let whole = groups.into_iter().map(|Named { id, name }| {
        let sql = "SELECT permission FROM group_permission WHERE group_id = ?1 ORDER BY permission";
        let permissions = all(db, sql, [&id], |row| row.get(0))?;
        let sql = "
            SELECT user_account.id, name FROM group_member JOIN user_account ON user_account.id = user_id
            WHERE group_id = ?1 ORDER BY name_key, user_account.id";
        let members = all(db, sql, [&id], named)?;
        Ok(Group {
            id,
            name,
            permissions,
            members,
        })
    });
    whole.collect()
}

pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM user_group WHERE id = ?1", [id])? > 0)
}

pub(super) fn set_permissions(db: &Connection, id: &str, permissions: &[String]) -> Result<bool> {
    if !exists(db, id)? {
        return Ok(false);
    }
    run(db, "DELETE FROM group_permission WHERE group_id = ?1", [id])?;
    permissions
        .iter()
        .try_for_each(|permission| insert_permission(db, id, permission))?;
    Ok(true)
}

pub(super) fn add_member(db: &Connection, id: &str, user_id: &str) -> Result<bool> {
    if !exists(db, id)? {
        return Ok(false);
    }
    insert_member(db, id, user_id)?;
    Ok(true)
}

pub(super) fn remove_member(db: &Connection, id: &str, user_id: &str) -> Result<bool> {
    Ok(run(
        db,
        "DELETE FROM group_member WHERE group_id = ?1 AND user_id = ?2",
        [id, user_id],
    )? > 0)
}

pub(super) fn named(row: &Row<'_>) -> Result<Named> {
    Ok(Named {
        id: row.get(0)?,
        name: row.get(1)?,
    })
}

fn exists(db: &Connection, id: &str) -> Result<bool> {
    query::exists(db, "SELECT 1 FROM user_group WHERE id = ?1", [id])
}

fn insert_permission(db: &Connection, id: &str, permission: &str) -> Result<()> {
    let sql = "INSERT INTO group_permission (group_id, permission) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    run(db, sql, params![id, permission]).map(drop)
}

fn insert_member(db: &Connection, id: &str, user_id: &str) -> Result<()> {
    let sql = "INSERT INTO group_member (group_id, user_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    run(db, sql, params![id, user_id]).map(drop)
}
