//! Statements on invites.

use portico_model::Timestamp;
use portico_storage::{Invite, Named, NewInvite, Result, SecretHash, hash_secret, secrets};

use crate::database::{Database, Row};
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::values::{millis, secret, timestamp};

declare! {
    GET = Sql::short("SELECT token_hash, expires_at FROM ~invite WHERE id = $1").alone();
    /// If several transactions take the invite, the next one sees that it is gone.
    TAKE = Sql::short("SELECT token_hash, expires_at FROM ~invite WHERE id = $1 [lock for UPDATE]");
    INSERT = Sql::short("INSERT INTO ~invite (id, token_hash, expires_at, creator_id) VALUES ($1, $2, $3, $4)").alone();
    LIST = Sql::long(
        "SELECT invite.id, invite.expires_at, creator.id, creator.name
        FROM ~invite AS invite LEFT JOIN ~user_account AS creator ON creator.id = invite.creator_id
        ORDER BY invite.expires_at, invite.id"
    );
    DELETE = Sql::short("DELETE FROM ~invite WHERE id = $1");
}

impl<D: Database> Runner<D> {
    pub(crate) async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.is_invite_valid(&GET, id, token, now).await
    }

    pub(crate) async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        Ok(self.is_invite_valid(&TAKE, id, token, now).await? && self.delete_invite(id).await?)
    }

    async fn is_invite_valid(
        &mut self,
        sql: &'static Sql,
        id: &str,
        token: &str,
        now: Timestamp,
    ) -> Result<bool> {
        let read = |row: &dyn Row| Ok((secret(row, 0)?, timestamp(row, 1)?));
        let invite = self.find(sql, vec![id.into()], read).await?;
        let token = hash_secret(token);
        Ok(invite.is_some_and(|(kept, expires_at)| secrets::same(&kept, &token) && expires_at > now))
    }

    pub(crate) async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        let values = vec![
            (&invite.id).into(),
            token[..].into(),
            self.check(millis(invite.expiration_date))?,
            (&invite.creator_id).into(),
        ];
        self.create(&invite.id, &INSERT, values).await.map(drop)
    }

    pub(crate) async fn list_invites(&mut self) -> Result<Vec<Invite>> {
        self.list(&LIST, Vec::new(), invite).await
    }

    pub(crate) async fn delete_invite(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }
}

fn invite(row: &dyn Row) -> Result<Invite> {
    let creator = match row.get_text(2)? {
        Some(id) => Some(Named {
            id,
            name: row.text(3)?,
        }),
        None => None,
    };
    Ok(Invite {
        id: row.text(0)?,
        expiration_date: timestamp(row, 1)?,
        creator,
    })
}
