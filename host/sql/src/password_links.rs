//! Statements on links for a new password.

use portico_model::Timestamp;
use portico_storage::{Constraint, Error, PasswordLink, Result, SecretHash};

use crate::database::Database;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::values::millis;

declare! {
    INSERT = Sql::short(
        "INSERT INTO ~password_link (user_id, token_hash, password_version, expires_at, creator_id)
        SELECT id, $2, password_version, $3, $4 FROM ~user_account WHERE id = $1 AND NOT disabled"
    ).alone();
    FIND = Sql::short(
        "SELECT link.user_id FROM ~password_link AS link JOIN ~user_account AS account ON account.id = link.user_id
        WHERE link.token_hash = $1 AND link.expires_at > $2
            AND link.password_version = account.password_version AND NOT account.disabled
            AND (link.creator_id IS NULL
                OR EXISTS (SELECT 1 FROM ~user_account AS maker
                    JOIN ~group_member AS member ON member.user_id = maker.id
                    JOIN ~group_permission AS held ON held.group_id = member.group_id
                    WHERE maker.id = link.creator_id AND NOT maker.disabled AND held.permission = 'admin'))"
    ).alone();
    DELETE = Sql::short("DELETE FROM ~password_link WHERE user_id = $1").alone();
}

impl<D: Database> Runner<D> {
    pub(crate) async fn put_password_link(&mut self, link: &PasswordLink, token: &SecretHash) -> Result<()> {
        self.delete_password_link(&link.user_id).await?;
        let values = vec![
            (&link.user_id).into(),
            token[..].into(),
            self.check(millis(link.expires_at))?,
            (&link.creator_id).into(),
        ];
        match self.create(&link.user_id, &INSERT, values).await? {
            true => Ok(()),
            false => self.refuse(Error::Constraint(Constraint::Reference)),
        }
    }

    pub(crate) async fn find_password_link(
        &mut self,
        token: &SecretHash,
        now: Timestamp,
    ) -> Result<Option<String>> {
        let values = vec![token[..].into(), self.check(millis(now))?];
        self.find(&FIND, values, |row| row.text(0)).await
    }

    pub(crate) async fn delete_password_link(&mut self, user_id: &str) -> Result<bool> {
        self.change_user(user_id, &DELETE, vec![user_id.into()]).await
    }
}
