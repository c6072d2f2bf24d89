//! Statements on API keys and sessions.

use std::collections::BTreeSet;

use portico_model::Timestamp;
use portico_storage::driver::MOST_EXPIRED;
use portico_storage::{
    ApiKey, Constraint, Credential, CredentialKey, Error, KeyLimits, Result, SecretHash, Session, SessionUser,
};

use crate::database::{Database, Row};
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::values::{color_scheme, millis, optional_millis, optional_timestamp, provider, secret, timestamp};

/// The user to whom a new record is to belong. The row is locked, so that the user stays enabled until the transaction
/// ends. A transaction that disables them, or sets their password, waits and then ends the new session or key.
macro_rules! enabled {
    () => {
        " FROM ~user_account WHERE id = $3 AND NOT disabled [lock for SHARE]"
    };
}

/// What a user may do: one row for each permission of each of their groups, or one without a permission.
macro_rules! permitted {
    ($credential:literal) => {
        concat!(
            $credential,
            " AS credential
                LEFT JOIN ~group_member AS member ON member.user_id = credential.user_id
                LEFT JOIN ~group_permission AS held ON held.group_id = member.group_id"
        )
    };
}

/// There may be no session to keep.
const OTHER_SESSIONS: &str = "DELETE FROM ~session WHERE user_id = $1 AND (id <> $2 OR $2 IS NULL)";

declare! {
    FIND_KEY = Sql::short(concat!(
        "SELECT credential.id, credential.secret_hash, credential.user_id, credential.expires_at,
            credential.last_used_at, CAST(NULL AS bigint), held.permission, credential.imported_hash,
            credential.permissions, credential.read_only
        FROM ", permitted!("~api_key"), " WHERE credential.id = $1"
    )).alone();
    FIND_SESSION = Sql::short(concat!(
        "SELECT credential.id, credential.token_hash, credential.user_id, credential.expires_at,
            credential.last_used_at, credential.ends_at, held.permission, CAST(NULL AS text),
            CAST(NULL AS text), false
        FROM ", permitted!("~session"), " WHERE credential.token_hash = $1"
    )).alone();
    SESSION_USER = Sql::short(
        "SELECT id, name, email, image, provider, color_scheme FROM ~user_account WHERE id = $1"
    ).alone();
    INSERT_KEY = Sql::short(concat!(
        "INSERT INTO ~api_key
            (id, secret_hash, user_id, name, created_at, expires_at, last_used_at, imported_hash, permissions,
            read_only)
        SELECT $1, $2, id, $4, $5, $6, $7, $8, $9, $10", enabled!()
    ));
    ADOPT_KEY = Sql::short(
        "UPDATE ~api_key SET secret_hash = $3, imported_hash = NULL WHERE id = $1 AND imported_hash = $2"
    );
    LIST_KEYS = Sql::long(
        "SELECT id, name, user_id, created_at, expires_at, last_used_at, permissions, read_only
        FROM ~api_key ORDER BY id"
    );
    LIST_KEYS_OF_USER = Sql::long(
        "SELECT id, name, user_id, created_at, expires_at, last_used_at, permissions, read_only
        FROM ~api_key
        WHERE user_id = $1 ORDER BY id"
    );
    DELETE_KEY = Sql::short("DELETE FROM ~api_key WHERE id = $1");
    DELETE_KEYS_OF_USER = Sql::unbounded("DELETE FROM ~api_key WHERE user_id = $1").alongside();
    TOUCH_KEY = Sql::short("UPDATE ~api_key SET last_used_at = $2 WHERE id = $1");
    INSERT_SESSION = Sql::short(concat!(
        "INSERT INTO ~session (id, token_hash, user_id, created_at, last_used_at, expires_at, ends_at)
        SELECT $1, $2, id, $4, $5, $6, $7", enabled!()
    ));
    LIST_SESSIONS = Sql::long(
        "SELECT id, user_id, created_at, last_used_at, expires_at, ends_at FROM ~session
        WHERE user_id = $1 ORDER BY id"
    );
    TOUCH_SESSION = Sql::short("UPDATE ~session SET last_used_at = $2, expires_at = $3 WHERE id = $1");
    RENEW_SESSION = Sql::short("UPDATE ~session SET token_hash = $3 WHERE id = $1 AND user_id = $2");
    DELETE_SESSION = Sql::short("DELETE FROM ~session WHERE id = $1");
    /// The row of the user is already locked.
    END_SESSIONS = Sql::unbounded(OTHER_SESSIONS).alongside();
    END_OTHER_SESSIONS = Sql::unbounded(OTHER_SESSIONS);
    /// Two transactions that delete the same rows in different orders would wait for each other: rows that another one
    /// holds are left to it or to the next call, and so are rows beyond the bound.
    DELETE_EXPIRED_SESSIONS = Sql::unbounded(
        "WITH due AS MATERIALIZED (
            SELECT id FROM ~session WHERE expires_at <= $1 LIMIT $2 [lock for UPDATE SKIP LOCKED]
        )
        DELETE FROM ~session WHERE id IN (SELECT id FROM due)"
    ).alongside();
}

impl<D: Database> Runner<D> {
    pub(crate) async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>> {
        let (sql, value) = match key {
            CredentialKey::Key(id) => (&FIND_KEY, id.into()),
            CredentialKey::Session(token) => (&FIND_SESSION, token[..].into()),
        };
        let none: Option<(Credential, BTreeSet<String>)> = None;
        let found = self
            .fold(sql, vec![value], none, |found, row| {
                let permissions = match found {
                    Some((_, permissions)) => permissions,
                    None => &mut found.insert((credential(row)?, BTreeSet::new())).1,
                };
                permissions.extend(row.get_text(6)?);
                Ok(())
            })
            .await?;
        Ok(found.map(|(credential, permissions)| Credential {
            permissions: permissions.into_iter().collect(),
            ..credential
        }))
    }

    pub(crate) async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>> {
        let Some(user) = self
            .find(&SESSION_USER, vec![user_id.into()], session_user)
            .await?
        else {
            return Ok(None);
        };
        let permissions = self.list_permissions(user_id).await?;
        Ok(Some(SessionUser { permissions, ..user }))
    }

    /// Stores a key. An imported one also has a bcrypt hash.
    pub(crate) async fn insert_key(
        &mut self,
        key: &ApiKey,
        secret: &SecretHash,
        imported: Option<&str>,
    ) -> Result<()> {
        let values = vec![
            (&key.id).into(),
            secret[..].into(),
            (&key.user_id).into(),
            (&key.name).into(),
            self.check(millis(key.created_at))?,
            self.check(optional_millis(key.expires_at))?,
            self.check(optional_millis(key.last_used_at))?,
            imported.into(),
            Value::Text(key.limits.permissions.as_ref().map(|names| names.join(" "))),
            key.limits.read_only.into(),
        ];
        let inserted = self.create(&key.id, &INSERT_KEY, values).await?;
        self.require_user(inserted)
    }

    pub(crate) async fn adopt_key(&mut self, id: &str, imported: &str, secret: &SecretHash) -> Result<bool> {
        self.change(&ADOPT_KEY, vec![id.into(), imported.into(), secret[..].into()])
            .await
    }

    pub(crate) async fn list_keys(&mut self, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
        match user_id {
            None => self.list(&LIST_KEYS, Vec::new(), key).await,
            Some(user_id) => self.list(&LIST_KEYS_OF_USER, vec![user_id.into()], key).await,
        }
    }

    pub(crate) async fn delete_key(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE_KEY, vec![id.into()]).await
    }

    /// Ends a user's API keys.
    pub(crate) async fn end_keys(&mut self, user_id: &str) -> Result<()> {
        let ended = self.execute(&DELETE_KEYS_OF_USER, vec![user_id.into()]).await;
        ended.map(drop)
    }

    pub(crate) async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()> {
        let values = vec![id.into(), self.check(millis(now))?];
        let touched = self.execute(&TOUCH_KEY, values).await;
        touched.map(drop)
    }

    pub(crate) async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()> {
        let values = vec![
            (&session.id).into(),
            token[..].into(),
            (&session.user_id).into(),
            self.check(millis(session.created_at))?,
            self.check(millis(session.last_used_at))?,
            self.check(millis(session.expires_at))?,
            self.check(millis(session.ends_at))?,
        ];
        let inserted = self.insert_row(&INSERT_SESSION, values).await? > 0;
        self.require_user(inserted)
    }

    pub(crate) async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>> {
        self.list(&LIST_SESSIONS, vec![user_id.into()], session).await
    }

    pub(crate) async fn touch_session(
        &mut self,
        id: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<()> {
        let values = vec![
            id.into(),
            self.check(millis(now))?,
            self.check(millis(expires_at))?,
        ];
        self.execute(&TOUCH_SESSION, values).await.map(drop)
    }

    /// Gives a session of this user another token. Returns false if there is no such session.
    pub(crate) async fn renew_session(
        &mut self,
        id: &str,
        user_id: &str,
        token: &SecretHash,
    ) -> Result<bool> {
        self.change(&RENEW_SESSION, vec![id.into(), user_id.into(), token[..].into()])
            .await
    }

    pub(crate) async fn delete_session(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE_SESSION, vec![id.into()]).await
    }

    /// Ends a user's sessions except this one.
    pub(crate) async fn end_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64> {
        self.execute(&END_SESSIONS, vec![user_id.into(), kept.into()])
            .await
    }

    pub(crate) async fn delete_other_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64> {
        let values = vec![user_id.into(), kept.into()];
        let ended = self.execute(&END_OTHER_SESSIONS, values).await?;
        self.trail.changed(user_id);
        Ok(ended)
    }

    /// Fails if the user to whom a new record was to belong is missing or disabled.
    fn require_user(&mut self, inserted: bool) -> Result<()> {
        match inserted {
            true => Ok(()),
            false => self.refuse(Error::Constraint(Constraint::Reference)),
        }
    }

    pub(crate) async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()> {
        let values: Vec<Value> = vec![self.check(millis(now))?, MOST_EXPIRED.into()];
        self.execute(&DELETE_EXPIRED_SESSIONS, values).await.map(drop)
    }
}

fn credential(row: &dyn Row) -> Result<Credential> {
    Ok(Credential {
        id: row.text(0)?,
        secret: secret(row, 1)?,
        imported: row.get_text(7)?,
        user_id: row.text(2)?,
        permissions: Vec::new(),
        limits: limits(row, 8)?,
        expires_at: optional_timestamp(row, 3)?,
        last_used_at: optional_timestamp(row, 4)?,
        ends_at: optional_timestamp(row, 5)?,
    })
}

fn session_user(row: &dyn Row) -> Result<SessionUser> {
    Ok(SessionUser {
        id: row.text(0)?,
        name: row.text(1)?,
        email: row.get_text(2)?,
        image: row.get_text(3)?,
        provider: provider(row, 4)?,
        color_scheme: color_scheme(row, 5)?,
        permissions: Vec::new(),
    })
}

fn key(row: &dyn Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.text(0)?,
        name: row.get_text(1)?,
        user_id: row.text(2)?,
        limits: limits(row, 6)?,
        created_at: timestamp(row, 3)?,
        expires_at: optional_timestamp(row, 4)?,
        last_used_at: optional_timestamp(row, 5)?,
    })
}

/// What a key may do: permissions, as words between spaces, in this column, and read only in the next.
fn limits(row: &dyn Row, column: usize) -> Result<KeyLimits> {
    let names = row.get_text(column)?;
    Ok(KeyLimits {
        permissions: names.map(|names| names.split_whitespace().map(str::to_owned).collect()),
        read_only: row.bool(column + 1)?,
    })
}

fn session(row: &dyn Row) -> Result<Session> {
    Ok(Session {
        id: row.text(0)?,
        user_id: row.text(1)?,
        created_at: timestamp(row, 2)?,
        last_used_at: timestamp(row, 3)?,
        expires_at: timestamp(row, 4)?,
        ends_at: timestamp(row, 5)?,
    })
}
