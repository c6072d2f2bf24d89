//! Statements on invites.

use rusqlite::{Connection, Result, params};

use super::query::{all, first, run};
use super::values::TimestampMillis;
use portico_model::Timestamp;
use portico_storage::secrets;
use portico_storage::{Invite, Named, NewInvite, SecretHash, hash_secret};

pub(super) fn is_valid(db: &Connection, id: &str, token: &str, now: Timestamp) -> Result<bool> {
    let token = hash_secret(token);
    let sql = "SELECT token_hash, expires_at FROM invite WHERE id = ?1";
    let invite = first(db, sql, [id], |row| {
        Ok((row.get::<_, SecretHash>(0)?, row.get::<_, TimestampMillis>(1)?))
    })?;
    Ok(invite.is_some_and(|(kept, expires_at)| secrets::same(&kept, &token) && expires_at.0 > now))
}

pub(super) fn insert(db: &Connection, invite: &NewInvite, token: &SecretHash) -> Result<()> {
    let sql = "INSERT INTO invite (id, token_hash, expires_at, creator_id) VALUES (?1, ?2, ?3, ?4)";
    run(
        db,
        sql,
        params![
            invite.id,
            token,
            TimestampMillis(invite.expiration_date),
            invite.creator_id
        ],
    )
    .map(drop)
}

pub(super) fn list(db: &Connection) -> Result<Vec<Invite>> {
    let sql = "
        SELECT invite.id, expires_at, user_account.id, user_account.name
        FROM invite LEFT JOIN user_account ON user_account.id = invite.creator_id
        ORDER BY expires_at, invite.id";
    all(db, sql, [], |row| {
        let creator = match row.get(2)? {
            Some(id) => Some(Named {
                id,
                name: row.get(3)?,
            }),
            None => None,
        };
        Ok(Invite {
            id: row.get(0)?,
            expiration_date: row.get::<_, TimestampMillis>(1)?.0,
            creator,
        })
    })
}

pub(super) fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM invite WHERE id = ?1", [id])? > 0)
}
