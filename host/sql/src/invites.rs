//! Statements on invites.

use std::collections::BTreeMap;

use portico_model::Timestamp;
use portico_storage::{HeldInvite, Invite, Named, NewInvite, Result, SecretHash, hash_secret, secrets};

use crate::database::{Database, Row};
use crate::groups::named;
use crate::parameter::{Column, Value};
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::Runner;
use crate::values::{millis, secret, timestamp};

declare! {
    GET = Sql::short("SELECT token_hash, expires_at FROM ~invite WHERE id = $1").alone();
    FIND = Sql::short("SELECT token_hash, expires_at, note FROM ~invite WHERE id = $1").alone();
    /// If several transactions take the invite, the next one sees that it is gone.
    TAKE = Sql::short("SELECT token_hash, expires_at FROM ~invite WHERE id = $1 [lock for UPDATE]");
    /// What an invite gives: nothing if who made it may not give it now. Groups, their members and their permissions are
    /// written alone, so they stay as they are until the transaction ends.
    GIVEN_GROUPS = Sql::short(
        "SELECT given.group_id FROM ~invite_group AS given JOIN ~invite AS invite ON invite.id = given.invite_id
        WHERE given.invite_id = $1
            AND (invite.creator_id IS NULL
                OR EXISTS (SELECT 1 FROM ~user_account AS maker
                    JOIN ~group_member AS member ON member.user_id = maker.id
                    JOIN ~group_permission AS held ON held.group_id = member.group_id
                    WHERE maker.id = invite.creator_id AND NOT maker.disabled AND held.permission = 'admin'))
        ORDER BY given.group_id"
    );
    INSERT = Sql::short(
        "INSERT INTO ~invite (id, token_hash, expires_at, creator_id, note) VALUES ($1, $2, $3, $4, $5)"
    ).alone();
    LIST = Sql::long(
        "SELECT invite.id, invite.expires_at, creator.id, creator.name, invite.note
        FROM ~invite AS invite LEFT JOIN ~user_account AS creator ON creator.id = invite.creator_id
        ORDER BY invite.expires_at, invite.id"
    );
    LIST_GROUPS = Sql::long(
        "SELECT given.invite_id, found.id, found.name
        FROM ~invite_group AS given JOIN ~user_group AS found ON found.id = given.group_id
        ORDER BY given.invite_id, found.id"
    );
    DELETE = Sql::short("DELETE FROM ~invite WHERE id = $1");
}

/// The groups that an invite gives.
pub(crate) static INSERT_GROUPS: Insert = Insert {
    table: "invite_group",
    columns: &[("invite_id", Column::Text), ("group_id", Column::Text)],
    leaves_out_duplicates: true,
    lock: Lock::Alone,
};

/// The memberships of a new user.
pub(crate) static JOIN_GROUPS: Insert = Insert {
    table: "group_member",
    columns: &[("user_id", Column::Text), ("group_id", Column::Text)],
    leaves_out_duplicates: false,
    lock: Lock::Alongside,
};

impl<D: Database> Runner<D> {
    pub(crate) async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.is_invite_valid(&GET, id, &hash_secret(token), now).await
    }

    pub(crate) async fn take_held_invite(
        &mut self,
        id: &str,
        token: &SecretHash,
        now: Timestamp,
    ) -> Result<bool> {
        if !self.is_invite_valid(&TAKE, id, token, now).await? {
            return Ok(false);
        }
        let given = self
            .list(&GIVEN_GROUPS, vec![id.into()], |row| row.text(0))
            .await?;
        let is_taken = self.delete_invite(id).await?;
        if is_taken {
            self.invited_to.extend(given);
        }
        Ok(is_taken)
    }

    /// Makes a new user a member of the groups of the invite that the transaction has taken.
    pub(crate) async fn join_groups_of_invite(&mut self, user_id: &str) -> Result<()> {
        let group_ids = std::mem::take(&mut self.invited_to);
        let row = |group_id: &String| -> Vec<Value> { vec![user_id.into(), group_id.into()] };
        self.insert(&JOIN_GROUPS, group_ids.iter().map(row).collect())
            .await?;
        self.trail.joined(&group_ids);
        Ok(())
    }

    async fn is_invite_valid(
        &mut self,
        sql: &'static Sql,
        id: &str,
        token: &SecretHash,
        now: Timestamp,
    ) -> Result<bool> {
        let read = |row: &dyn Row| Ok((secret(row, 0)?, timestamp(row, 1)?));
        let invite = self.find(sql, vec![id.into()], read).await?;
        Ok(invite.is_some_and(|(kept, expires_at)| secrets::same(&kept, token) && expires_at > now))
    }

    pub(crate) async fn find_invite(&mut self, id: &str, token: &SecretHash) -> Result<Option<HeldInvite>> {
        let read = |row: &dyn Row| {
            let held = HeldInvite {
                expiration_date: timestamp(row, 1)?,
                note: row.get_text(2)?,
            };
            Ok((secret(row, 0)?, held))
        };
        let found = self.find(&FIND, vec![id.into()], read).await?;
        Ok(found
            .filter(|(kept, _)| secrets::same(kept, token))
            .map(|(_, held)| held))
    }

    pub(crate) async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        let values = vec![
            (&invite.id).into(),
            token[..].into(),
            self.check(millis(invite.expiration_date))?,
            (&invite.creator_id).into(),
            (&invite.note).into(),
        ];
        self.create(&invite.id, &INSERT, values).await?;
        let row = |group_id: &String| -> Vec<Value> { vec![(&invite.id).into(), group_id.into()] };
        self.insert(&INSERT_GROUPS, invite.group_ids.iter().map(row).collect())
            .await
    }

    pub(crate) async fn list_invites(&mut self) -> Result<Vec<Invite>> {
        let add = |groups: &mut BTreeMap<String, Vec<Named>>, row: &dyn Row| {
            groups.entry(row.text(0)?).or_default().push(named(row, 1)?);
            Ok(())
        };
        let mut groups = self.fold(&LIST_GROUPS, Vec::new(), BTreeMap::new(), add).await?;
        let mut invites = self.list(&LIST, Vec::new(), invite).await?;
        for invite in &mut invites {
            invite.groups = groups.remove(&invite.id).unwrap_or_default();
        }
        Ok(invites)
    }

    pub(crate) async fn delete_invite(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }
}

/// An invite, still without its groups.
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
        note: row.get_text(4)?,
        groups: Vec::new(),
    })
}
