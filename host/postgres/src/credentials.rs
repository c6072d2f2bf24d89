//! Statements on API keys and sessions.

use tokio_postgres::Row;

use super::connection::Connection;
use super::groups::permissions;
use super::query::{Failure, Result, Value, all, first, run};
use super::values::{color_scheme, millis, optional_millis, optional_timestamp, provider, secret, timestamp};
use portico_model::Timestamp;
use portico_storage::driver::MOST_EXPIRED;
use portico_storage::{ApiKey, Credential, CredentialKey, SecretHash, Session, SessionUser};

/// A key with its user's permissions, which each request looks up: one row for each permission of each of the
/// user's groups, or one row without a permission.
const KEY: &str = "
    SELECT id, secret_hash, user_id, expires_at, last_used_at, NULL::bigint, permission, imported_hash
    FROM api_key LEFT JOIN group_member USING (user_id) LEFT JOIN group_permission USING (group_id)
    WHERE id = $1";

/// The same for a session.
const SESSION: &str = "
    SELECT id, token_hash, user_id, expires_at, last_used_at, ends_at, permission, NULL::text
    FROM session LEFT JOIN group_member USING (user_id) LEFT JOIN group_permission USING (group_id)
    WHERE token_hash = $1";

pub(super) async fn find(db: &Connection, key: &CredentialKey) -> Result<Option<Credential>> {
    let read = |row: &Row| Ok((credential(row)?, row.try_get::<_, Option<String>>(6)?));
    let rows = match key {
        CredentialKey::Key(id) => all(db, KEY, &[id], read).await?,
        CredentialKey::Session(token) => all(db, SESSION, &[&&token[..]], read).await?,
    };
    let mut found: Option<Credential> = None;
    for (credential, permission) in rows {
        let credential = found.get_or_insert(credential);
        credential.permissions.extend(permission);
    }
    if let Some(Credential { permissions, .. }) = &mut found {
        permissions.sort_unstable();
        permissions.dedup();
    }
    Ok(found)
}

fn credential(row: &Row) -> Result<Credential> {
    Ok(Credential {
        id: row.try_get(0)?,
        secret: secret(row, 1)?,
        imported: row.try_get(7)?,
        user_id: row.try_get(2)?,
        permissions: Vec::new(),
        expires_at: optional_timestamp(row, 3)?,
        last_used_at: optional_timestamp(row, 4)?,
        ends_at: optional_timestamp(row, 5)?,
    })
}

pub(super) async fn session_user(db: &Connection, user_id: &str) -> Result<Option<SessionUser>> {
    let sql = "SELECT id, name, email, image, provider, color_scheme FROM user_account WHERE id = $1";
    let found = first(db, sql, &[&user_id], |row| {
        Ok(SessionUser {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            email: row.try_get(2)?,
            image: row.try_get(3)?,
            provider: provider(row, 4)?,
            color_scheme: color_scheme(row, 5)?,
            permissions: Vec::new(),
        })
    })
    .await?;
    let Some(user) = found else {
        return Ok(None);
    };
    Ok(Some(SessionUser {
        permissions: permissions(db, user_id).await?,
        ..user
    }))
}

/// The user to whom something is to belong. The row is locked, so that they stay enabled until the
/// transaction ends: a transaction that disables them, or sets their password, waits, and then ends it.
const ENABLED: &str = "FROM user_account WHERE id = $3 AND NOT disabled FOR SHARE";

/// Inserts what belongs to a user. Fails if there is no such user, or if the user is disabled.
async fn run_for_user(db: &Connection, sql: &str, values: &[Value<'_>]) -> Result<()> {
    match run(db, sql, values).await? {
        0 => Err(Failure::MissingReference),
        _ => Ok(()),
    }
}

/// Inserts a key. An imported one also has a hash of bcrypt.
pub(super) async fn insert_key(
    db: &Connection,
    key: &ApiKey,
    secret: &SecretHash,
    imported: Option<&str>,
) -> Result<()> {
    let sql = format!(
        "INSERT INTO api_key (id, secret_hash, user_id, name, created_at, expires_at, last_used_at, imported_hash)
        SELECT $1, $2, id, $4, $5, $6, $7, $8 {ENABLED}"
    );
    let values: [Value<'_>; 8] = [
        &key.id,
        &&secret[..],
        &key.user_id,
        &key.name,
        &millis(key.created_at)?,
        &optional_millis(key.expires_at)?,
        &optional_millis(key.last_used_at)?,
        &imported,
    ];
    run_for_user(db, &sql, &values).await
}

/// Replaces the hash of an imported key, if it still has this one of bcrypt.
pub(super) async fn adopt_key(
    db: &Connection,
    id: &str,
    imported: &str,
    secret: &SecretHash,
) -> Result<bool> {
    let sql =
        "UPDATE api_key SET secret_hash = $3, imported_hash = NULL WHERE id = $1 AND imported_hash = $2";
    Ok(run(db, sql, &[&id, &imported, &&secret[..]]).await? > 0)
}

/// The keys of this user, or all.
pub(super) async fn list_keys(db: &Connection, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
    let whose = user_id.map_or("", |_| "WHERE user_id = $1");
    let sql = format!(
        "SELECT id, name, user_id, created_at, expires_at, last_used_at FROM api_key {whose} ORDER BY id"
    );
    let values: Vec<Value<'_>> = user_id.iter().map(|id| id as Value<'_>).collect();
    all(db, &sql, &values, |row| {
        Ok(ApiKey {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            user_id: row.try_get(2)?,
            created_at: timestamp(row, 3)?,
            expires_at: optional_timestamp(row, 4)?,
            last_used_at: optional_timestamp(row, 5)?,
        })
    })
    .await
}

pub(super) async fn delete_key(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM api_key WHERE id = $1", &[&id]).await? > 0)
}

pub(super) async fn touch_key(db: &Connection, id: &str, now: Timestamp) -> Result<()> {
    let sql = "UPDATE api_key SET last_used_at = $2 WHERE id = $1";
    run(db, sql, &[&id, &millis(now)?]).await.map(drop)
}

pub(super) async fn insert_session(db: &Connection, session: &Session, token: &SecretHash) -> Result<()> {
    let sql = format!(
        "INSERT INTO session (id, token_hash, user_id, created_at, last_used_at, expires_at, ends_at)
        SELECT $1, $2, id, $4, $5, $6, $7 {ENABLED}"
    );
    let values: [Value<'_>; 7] = [
        &session.id,
        &&token[..],
        &session.user_id,
        &millis(session.created_at)?,
        &millis(session.last_used_at)?,
        &millis(session.expires_at)?,
        &millis(session.ends_at)?,
    ];
    run_for_user(db, &sql, &values).await
}

pub(super) async fn list_sessions(db: &Connection, user_id: &str) -> Result<Vec<Session>> {
    let sql = "
        SELECT id, user_id, created_at, last_used_at, expires_at, ends_at
        FROM session WHERE user_id = $1 ORDER BY id";
    all(db, sql, &[&user_id], |row| {
        Ok(Session {
            id: row.try_get(0)?,
            user_id: row.try_get(1)?,
            created_at: timestamp(row, 2)?,
            last_used_at: timestamp(row, 3)?,
            expires_at: timestamp(row, 4)?,
            ends_at: timestamp(row, 5)?,
        })
    })
    .await
}

pub(super) async fn touch_session(
    db: &Connection,
    id: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE session SET last_used_at = $2, expires_at = $3 WHERE id = $1";
    run(db, sql, &[&id, &millis(now)?, &millis(expires_at)?])
        .await
        .map(drop)
}

pub(super) async fn delete_session(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM session WHERE id = $1", &[&id]).await? > 0)
}

/// Ends a user's sessions except this one; answers how many.
pub(super) async fn delete_other_sessions(db: &Connection, user_id: &str, kept: Option<&str>) -> Result<u64> {
    // There may be none to keep.
    let sql = "DELETE FROM session WHERE user_id = $1 AND id IS DISTINCT FROM $2";
    run(db, sql, &[&user_id, &kept]).await
}

/// Gives a session of this user another token; false if there is no such session.
pub(super) async fn renew_session(
    db: &Connection,
    id: &str,
    user_id: &str,
    token: &SecretHash,
) -> Result<bool> {
    let sql = "UPDATE session SET token_hash = $3 WHERE id = $1 AND user_id = $2";
    Ok(run(db, sql, &[&id, &user_id, &&token[..]]).await? > 0)
}

/// Ends a user's API keys.
pub(super) async fn delete_keys(db: &Connection, user_id: &str) -> Result<()> {
    run(db, "DELETE FROM api_key WHERE user_id = $1", &[&user_id])
        .await
        .map(drop)
}

/// Two transactions that delete the same rows in different orders would wait for each other: rows that
/// another one holds are left to it, or to the next call, as are those beyond the bound.
pub(super) async fn delete_expired_sessions(db: &Connection, now: Timestamp) -> Result<()> {
    let sql = "
        DELETE FROM session
        WHERE id = ANY (ARRAY(SELECT id FROM session WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";
    run(db, sql, &[&millis(now)?, &i64::from(MOST_EXPIRED)])
        .await
        .map(drop)
}
