//! Statements on API keys and sessions.

use rusqlite::{Connection, Params, Result, ToSql, params, params_from_iter};

use super::groups::permissions;
use super::query::{all, first, run};
use super::values::{EnumText, TimestampMillis, optional_timestamp};
use portico_model::Timestamp;
use portico_storage::driver::MOST_EXPIRED;
use portico_storage::{ApiKey, Credential, CredentialKey, SecretHash, Session, SessionUser};

/// A key with its user's permissions, which each request looks up: one row for each permission of each of the
/// user's groups, or one row without a permission.
pub(super) const KEY: &str = "
    SELECT id, secret_hash, user_id, expires_at, last_used_at, NULL, permission, imported_hash
    FROM api_key LEFT JOIN group_member USING (user_id) LEFT JOIN group_permission USING (group_id)
    WHERE id = ?1";

/// The same for a session.
pub(super) const SESSION: &str = "
    SELECT id, token_hash, user_id, expires_at, last_used_at, ends_at, permission, NULL
    FROM session LEFT JOIN group_member USING (user_id) LEFT JOIN group_permission USING (group_id)
    WHERE token_hash = ?1";

pub(super) fn find(db: &Connection, key: &CredentialKey) -> Result<Option<Credential>> {
    let (mut statement, key) = match key {
        CredentialKey::Key(id) => (db.prepare_cached(KEY)?, id.to_sql()?),
        CredentialKey::Session(token) => (db.prepare_cached(SESSION)?, token.to_sql()?),
    };
    let mut rows = statement.query([key])?;
    let mut found = None;
    while let Some(row) = rows.next()? {
        let credential = match &mut found {
            Some(credential) => credential,
            None => found.insert(credential(row)?),
        };
        credential.permissions.extend(row.get::<_, Option<String>>(6)?);
    }
    if let Some(Credential { permissions, .. }) = &mut found {
        permissions.sort_unstable();
        permissions.dedup();
    }
    Ok(found)
}

fn credential(row: &rusqlite::Row<'_>) -> Result<Credential> {
    Ok(Credential {
        id: row.get(0)?,
        secret: row.get(1)?,
        imported: row.get(7)?,
        user_id: row.get(2)?,
        permissions: Vec::new(),
        expires_at: optional_timestamp(row, 3)?,
        last_used_at: optional_timestamp(row, 4)?,
        ends_at: optional_timestamp(row, 5)?,
    })
}

pub(super) fn session_user(db: &Connection, user_id: &str) -> Result<Option<SessionUser>> {
    let sql = "SELECT id, name, email, image, provider, color_scheme FROM user_account WHERE id = ?1";
    let found = first(db, sql, [user_id], |row| {
        Ok(SessionUser {
            id: row.get(0)?,
            name: row.get(1)?,
            email: row.get(2)?,
            image: row.get(3)?,
            provider: row.get::<_, EnumText<_>>(4)?.0,
            color_scheme: row.get::<_, EnumText<_>>(5)?.0,
            permissions: Vec::new(),
        })
    });
    let Some(user) = found? else { return Ok(None) };
    Ok(Some(SessionUser {
        permissions: permissions(db, user_id)?,
        ..user
    }))
}

/// Inserts what belongs to a user. Fails if there is no such user, or if the user is disabled.
fn run_for_user(db: &Connection, sql: &str, values: impl Params) -> Result<()> {
    match run(db, sql, values)? {
        0 => Err(rusqlite::Error::QueryReturnedNoRows),
        _ => Ok(()),
    }
}

/// Inserts a key. An imported one also has a hash of bcrypt.
pub(super) fn insert_key(
    db: &Connection,
    key: &ApiKey,
    secret: &SecretHash,
    imported: Option<&str>,
) -> Result<()> {
    let sql = "
        INSERT INTO api_key (id, secret_hash, user_id, name, created_at, expires_at, last_used_at, imported_hash)
        SELECT ?1, ?2, id, ?4, ?5, ?6, ?7, ?8 FROM user_account WHERE id = ?3 AND NOT disabled";
    let values = params![
        key.id,
        secret,
        key.user_id,
        key.name,
        TimestampMillis(key.created_at),
        key.expires_at.map(TimestampMillis),
        key.last_used_at.map(TimestampMillis),
        imported,
    ];
    run_for_user(db, sql, values)
}

/// Replaces the hash of an imported key, if it still has this one of bcrypt.
pub(super) fn adopt_key(db: &Connection, id: &str, imported: &str, secret: &SecretHash) -> Result<bool> {
    let sql =
        "UPDATE api_key SET secret_hash = ?3, imported_hash = NULL WHERE id = ?1 AND imported_hash = ?2";
    Ok(run(db, sql, params![id, imported, secret])? > 0)
}

/// The keys of this user, or all.
pub(super) fn list_keys(db: &Connection, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
    let whose = user_id.map_or("", |_| "WHERE user_id = ?1");
    let sql = format!(
        "SELECT id, name, user_id, created_at, expires_at, last_used_at FROM api_key {whose} ORDER BY id"
    );
    all(db, &sql, params_from_iter(user_id), |row| {
        Ok(ApiKey {
            id: row.get(0)?,
            name: row.get(1)?,
            user_id: row.get(2)?,
            created_at: row.get::<_, TimestampMillis>(3)?.0,
            expires_at: optional_timestamp(row, 4)?,
            last_used_at: optional_timestamp(row, 5)?,
        })
    })
}

pub(super) fn delete_key(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM api_key WHERE id = ?1", [id])? > 0)
}

pub(super) fn touch_key(db: &Connection, id: &str, now: Timestamp) -> Result<()> {
    run(
        db,
        "UPDATE api_key SET last_used_at = ?2 WHERE id = ?1",
        params![id, TimestampMillis(now)],
    )
    .map(drop)
}

pub(super) fn insert_session(db: &Connection, session: &Session, token: &SecretHash) -> Result<()> {
    let sql = "
        INSERT INTO session (id, token_hash, user_id, created_at, last_used_at, expires_at, ends_at)
        SELECT ?1, ?2, id, ?4, ?5, ?6, ?7 FROM user_account WHERE id = ?3 AND NOT disabled";
    let values = params![
        session.id,
        token,
        session.user_id,
        TimestampMillis(session.created_at),
        TimestampMillis(session.last_used_at),
        TimestampMillis(session.expires_at),
        TimestampMillis(session.ends_at),
    ];
    run_for_user(db, sql, values)
}

pub(super) fn list_sessions(db: &Connection, user_id: &str) -> Result<Vec<Session>> {
    let sql = "
        SELECT id, user_id, created_at, last_used_at, expires_at, ends_at
        FROM session WHERE user_id = ?1 ORDER BY id";
    all(db, sql, [user_id], |row| {
        Ok(Session {
            id: row.get(0)?,
            user_id: row.get(1)?,
            created_at: row.get::<_, TimestampMillis>(2)?.0,
            last_used_at: row.get::<_, TimestampMillis>(3)?.0,
            expires_at: row.get::<_, TimestampMillis>(4)?.0,
            ends_at: row.get::<_, TimestampMillis>(5)?.0,
        })
    })
}

pub(super) fn touch_session(db: &Connection, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
    let sql = "UPDATE session SET last_used_at = ?2, expires_at = ?3 WHERE id = ?1";
    run(
        db,
        sql,
        params![id, TimestampMillis(now), TimestampMillis(expires_at)],
    )
    .map(drop)
}

pub(super) fn delete_session(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM session WHERE id = ?1", [id])? > 0)
}

/// Ends a user's sessions except this one; answers how many.
pub(super) fn delete_other_sessions(db: &Connection, user_id: &str, kept: Option<&str>) -> Result<u64> {
    // IS NOT, because there may be none to keep.
    let sql = "DELETE FROM session WHERE user_id = ?1 AND id IS NOT ?2";
    Ok(run(db, sql, params![user_id, kept])? as u64)
}

/// Gives a session of this user another token; false if there is no such session.
pub(super) fn renew_session(db: &Connection, id: &str, user_id: &str, token: &SecretHash) -> Result<bool> {
    let sql = "UPDATE session SET token_hash = ?3 WHERE id = ?1 AND user_id = ?2";
    Ok(run(db, sql, params![id, user_id, token])? > 0)
}

/// Ends a user's API keys.
pub(super) fn delete_keys(db: &Connection, user_id: &str) -> Result<()> {
    run(db, "DELETE FROM api_key WHERE user_id = ?1", [user_id]).map(drop)
}

pub(super) fn delete_expired_sessions(db: &Connection, now: Timestamp) -> Result<()> {
    run(
        db,
        "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at <= ?1 LIMIT ?2)",
        params![TimestampMillis(now), MOST_EXPIRED],
    )
    .map(drop)
}
