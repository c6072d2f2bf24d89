//! Statements on invites.

use super::connection::Connection;
use super::query::{Result, all, first, run};
use super::values::{millis, secret, timestamp};
use portico_model::Timestamp;
use portico_storage::secrets;
use portico_storage::{Invite, Named, NewInvite, SecretHash, hash_secret};

/// To take the invite, its row is locked: of several that want it, the next one sees that it is gone.
pub(super) async fn is_valid(
    db: &Connection,
    id: &str,
    token: &str,
    now: Timestamp,
    locked: bool,
) -> Result<bool> {
    let token = hash_secret(token);
    let sql = match locked {
        true => "SELECT token_hash, expires_at FROM invite WHERE id = $1 FOR UPDATE",
        false => "SELECT token_hash, expires_at FROM invite WHERE id = $1",
    };
    let invite = first(db, sql, &[&id], |row| Ok((secret(row, 0)?, timestamp(row, 1)?))).await?;
    Ok(invite.is_some_and(|(kept, expires_at)| secrets::same(&kept, &token) && expires_at > now))
}

pub(super) async fn take(db: &Connection, id: &str, token: &str, now: Timestamp) -> Result<bool> {
    Ok(is_valid(db, id, token, now, true).await? && delete(db, id).await?)
}

pub(super) async fn insert(db: &Connection, invite: &NewInvite, token: &SecretHash) -> Result<()> {
    let sql = "INSERT INTO invite (id, token_hash, expires_at, creator_id) VALUES ($1, $2, $3, $4)";
    let expires_at = millis(invite.expiration_date)?;
    run(
        db,
        sql,
        &[&invite.id, &&token[..], &expires_at, &invite.creator_id],
    )
    .await
    .map(drop)
}

pub(super) async fn list(db: &Connection) -> Result<Vec<Invite>> {
    let sql = "
        SELECT invite.id, expires_at, user_account.id, user_account.name
        FROM invite LEFT JOIN user_account ON user_account.id = invite.creator_id
        ORDER BY expires_at, invite.id";
    all(db, sql, &[], |row| {
        let creator = match row.try_get(2)? {
            Some(id) => Some(Named {
                id,
                name: row.try_get(3)?,
            }),
            None => None,
        };
        Ok(Invite {
            id: row.try_get(0)?,
            expiration_date: timestamp(row, 1)?,
            creator,
        })
    })
    .await
}

pub(super) async fn delete(db: &Connection, id: &str) -> Result<bool> {
    Ok(run(db, "DELETE FROM invite WHERE id = $1", &[&id]).await? > 0)
}
