//! Portico's storage kit over the dashboard's database.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use portico_storage_kit::{Bridge, BridgeCall, BridgeError, InProcess, assert_kept};
use rusqlite::{Connection, OptionalExtension as _, Params, Result, params};
use rust_dashboard::{
    database::Database,
    sessions::begin_visit,
    storage::{
        permissions,
        values::{hash, moment},
    },
};
use serde_json::{Value, json};

#[test]
fn storage_keeps_every_rule() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = Database::open(&folder.path().join("dashboard.db")).expect("a database");
    let tables = Tables {
        database: database.clone(),
        versions: Mutex::default(),
    };
    assert_kept(InProcess::new(Arc::new(database), tables));
}

/// The bridge to what belongs to the dashboard itself.
struct Tables {
    database: Database,
    /// The version of the password when this sign-in began.
    versions: Mutex<HashMap<String, u64>>,
}

#[async_trait]
impl Bridge for Tables {
    async fn call(&self, call: BridgeCall) -> Result<Value, BridgeError> {
        if let BridgeCall::PutKey { .. } | BridgeCall::GetKeys { .. } = call {
            return Err(BridgeError::Unsupported("there are no API keys".into()));
        }
        let done = self.database.write(|db| match call {
            BridgeCall::BeginSignIn { id, user } => {
                let sql = "SELECT password_version FROM people WHERE id = ?";
                let version: Option<i64> = db.query_row(sql, [user], |row| row.get(0)).optional()?;
                let version = version.unwrap_or_default() as u64;
                self.versions.lock().unwrap().insert(id, version);
                Ok(Value::Null)
            }
            BridgeCall::EndSignIn { id, user } => {
                let version = self.versions.lock().unwrap().remove(&id).unwrap_or_default();
                Ok(json!(begin_visit(db, &user, &id, version)?))
            }
            call => answer(db, call),
        });
        let done = done.await;
        done.map_err(|error| BridgeError::Failed(error.to_string()))
    }
}

fn answer(db: &Connection, call: BridgeCall) -> Result<Value> {
    match call {
        BridgeCall::Hello {} => return Ok(json!({"name": "rust-dashboard"})),
        BridgeCall::PutGroup(team) => {
            db.execute(
                "INSERT INTO teams VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name",
                [&team.id, &team.name],
            )?;
            for (table, column, values) in [
                ("team_rights", "may", &team.permissions),
                ("team_members", "person", &team.members),
            ] {
                replace(db, table, ("team", &team.id), column, values)?;
            }
        }
        BridgeCall::GetGroup { id } => {
            return if has(db, "teams", &id)? {
                Ok(json!({
                    "permissions": texts(db, "SELECT may FROM team_rights WHERE team = ? ORDER BY may", [&id])?,
                    "members": texts(db, "SELECT person FROM team_members WHERE team = ? ORDER BY person", [&id])?,
                }))
            } else {
                Ok(Value::Null)
            };
        }
        BridgeCall::DeleteGroup { id } => delete(db, "teams", &id)?,
        BridgeCall::GetPermissions { user } => return Ok(json!(permissions(db, &user)?)),
        BridgeCall::PutInvite {
            id,
            token,
            expires_at,
            creator,
        } => {
            let values = params![id, hash(&token), moment(expires_at), creator];
            db.execute("INSERT INTO invitations VALUES (?, ?, ?, ?)", values)?;
        }
        BridgeCall::DeleteInvite { id } => delete(db, "invitations", &id)?,
        BridgeCall::PutBoard(page) => {
            let sql = "INSERT INTO pages VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
                SET title = excluded.title, open = excluded.open, owner = excluded.owner";
            db.execute(sql, params![page.id, page.name, page.public, page.creator])?;
            replace(db, "page_people", ("page", &page.id), "person", &page.users)?;
            replace(db, "page_teams", ("page", &page.id), "team", &page.groups)?;
            db.execute("DELETE FROM page_services WHERE page = ?", [&page.id])?;
            for (position, service) in (0_u32..).zip(&page.apps) {
                let sql = "INSERT INTO page_services VALUES (?, ?, ?)";
                db.execute(sql, params![page.id, position, service])?;
            }
        }
        BridgeCall::GetBoard { id } => {
            let owner = "SELECT owner FROM pages WHERE id = ?";
            let owner: Option<Option<String>> = db.query_row(owner, [&id], |row| row.get(0)).optional()?;
            let Some(owner) = owner else {
                return Ok(Value::Null);
            };
            return Ok(json!({
                "creator": owner,
                "users": texts(db, "SELECT person FROM page_people WHERE page = ? ORDER BY person", [&id])?,
                "groups": texts(db, "SELECT team FROM page_teams WHERE page = ? ORDER BY team", [&id])?,
                "apps": texts(db, "SELECT service FROM page_services WHERE page = ? ORDER BY position", [&id])?,
            }));
        }
        BridgeCall::DeleteBoard { id } => delete(db, "pages", &id)?,
        BridgeCall::PutSearchEngine { id, name } => {
            db.execute("INSERT INTO engines VALUES (?, ?, '')", [id, name])?;
        }
        BridgeCall::DeleteSearchEngine { id } => delete(db, "engines", &id)?,
        BridgeCall::PutSession { id, user } => {
            let values = params![id, hash(&id), user, i64::MAX];
            db.execute("INSERT INTO visits VALUES (?, ?, ?, ?)", values)?;
        }
        BridgeCall::GetSessions { user } => {
            return Ok(json!(texts(
                db,
                "SELECT id FROM visits WHERE person = ? ORDER BY id",
                [user]
            )?));
        }
        BridgeCall::GetColorScheme { user } => {
            let sql = "SELECT CASE look WHEN 'day' THEN 'light' WHEN 'night' THEN 'dark' ELSE 'auto' END
                FROM people WHERE id = ?";
            let scheme: Option<String> = db.query_row(sql, [user], |row| row.get(0)).optional()?;
            return Ok(json!(scheme));
        }
        other => unreachable!("answered before: {other:?}"),
    }
    Ok(Value::Null)
}

fn has(db: &Connection, table: &str, id: &str) -> Result<bool> {
    db.query_row(
        &format!("SELECT EXISTS (SELECT * FROM {table} WHERE id = ?)"),
        [id],
        |row| row.get(0),
    )
}

fn delete(db: &Connection, table: &str, id: &str) -> Result<()> {
    db.execute(&format!("DELETE FROM {table} WHERE id = ?"), [id])
        .map(drop)
}

fn replace(db: &Connection, table: &str, of: (&str, &str), column: &str, values: &[String]) -> Result<()> {
    let (key, id) = of;
    db.execute(&format!("DELETE FROM {table} WHERE {key} = ?"), [id])?;
    let mut insert = db.prepare(&format!("INSERT INTO {table} ({key}, {column}) VALUES (?, ?)"))?;
    values
        .iter()
        .try_for_each(|value| insert.execute([id, value]).map(drop))
}

fn texts(db: &Connection, sql: &str, parameters: impl Params) -> Result<Vec<String>> {
    db.prepare(sql)?
        .query_map(parameters, |row| row.get(0))?
        .collect()
}
