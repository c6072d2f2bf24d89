//! Statements on groups, their members and their permissions.

use std::collections::BTreeMap;

use portico_storage::driver::ADMIN_GROUP;
use portico_storage::{ADMIN, Group, Named, Result};

use crate::database::{Database, Row};
use crate::parameter::{Column, Value};
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::{Read, Runner, SqlTransaction};

declare! {
    LIST_PERMISSIONS = Sql::short(
        "SELECT DISTINCT held.permission
        FROM ~group_member AS member JOIN ~group_permission AS held ON held.group_id = member.group_id
        WHERE member.user_id = $1 ORDER BY held.permission"
    ).alone();
    HAS_ANOTHER_ADMIN = Sql::long(
        "SELECT 1 FROM ~group_permission AS held
            JOIN ~group_member AS member ON member.group_id = held.group_id
            JOIN ~user_account AS account ON account.id = member.user_id
        WHERE held.permission = $1 AND member.user_id <> $2 AND NOT account.disabled LIMIT 1"
    );
    FIND = Sql::short("SELECT id FROM ~user_group WHERE name_key = $1").alone();
    LIST_KEYS = Sql::long("SELECT id, name_key FROM ~user_group ORDER BY id");
    LIST_MEMBERSHIPS = Sql::short("SELECT group_id FROM ~group_member WHERE user_id = $1 ORDER BY group_id").alone();
    INSERT = Sql::short(
        "INSERT INTO ~user_group (id, name, name_key) VALUES ($1, $2, $3) ON CONFLICT (name_key) DO NOTHING"
    ).alone();
    /// No other transaction writes groups meanwhile, so the name stays free.
    UPDATE = Sql::short(
        "UPDATE ~user_group SET name = $2, name_key = $3
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM ~user_group AS other WHERE other.name_key = $3 AND other.id <> $1)"
    ).alone();
    LIST = Sql::long("SELECT id, name FROM ~user_group ORDER BY name_key, id");
    LIST_ALL_PERMISSIONS = Sql::long(
        "SELECT group_id, permission FROM ~group_permission ORDER BY permission"
    );
    LIST_ALL_MEMBERS = Sql::long(
        "SELECT member.group_id, account.id, account.name
        FROM ~group_member AS member JOIN ~user_account AS account ON account.id = member.user_id
        ORDER BY account.name_key, account.id"
    );
    DELETE = Sql::unbounded("DELETE FROM ~user_group WHERE id = $1");
    /// The group stays until the transaction ends.
    EXISTS = Sql::short("SELECT 1 FROM ~user_group WHERE id = $1 [hold for KEY SHARE]");
    /// The same before a change that takes the lock alone: two transactions that first hold it alongside each other and
    /// then want it alone would wait for each other.
    pub(crate) EXISTS_ALONE = Sql::short("SELECT 1 FROM ~user_group WHERE id = $1").alone();
    DELETE_PERMISSIONS = Sql::short("DELETE FROM ~group_permission WHERE group_id = $1").alone();
    INSERT_MEMBER = Sql::short(
        "INSERT INTO ~group_member (user_id, group_id) VALUES ($1, $2) ON CONFLICT DO NOTHING"
    );
    DELETE_MEMBER = Sql::short("DELETE FROM ~group_member WHERE user_id = $1 AND group_id = $2").alone();
}

pub(crate) static INSERT_PERMISSIONS: Insert = Insert {
    table: "group_permission",
    columns: &[("group_id", Column::Text), ("permission", Column::Text)],
    leaves_out_duplicates: true,
    lock: Lock::Alone,
};

impl<D: Database> Runner<D> {
    /// The permissions that a user has from all groups; in order, each once.
    pub(crate) async fn list_permissions(&mut self, user_id: &str) -> Result<Vec<String>> {
        self.list(&LIST_PERMISSIONS, vec![user_id.into()], |row| row.text(0))
            .await
    }

    pub(crate) async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        self.exists(&HAS_ANOTHER_ADMIN, vec![ADMIN.into(), except.into()])
            .await
    }

    pub(crate) async fn grant_admin(&mut self, user_id: &str) -> Result<()> {
        let group_id = match self.find_group(ADMIN_GROUP).await? {
            Some(id) => id,
            None => {
                let id = self.next_id();
                let values = vec![(&id).into(), ADMIN_GROUP.into(), ADMIN_GROUP.into()];
                self.insert_row(&INSERT, values).await?;
                id
            }
        };
        self.insert_permissions(&group_id, &[ADMIN.to_owned()]).await?;
        self.insert_member(&group_id, user_id).await
    }

    pub(crate) async fn find_group(&mut self, name_key: &str) -> Result<Option<String>> {
        self.find(&FIND, vec![name_key.into()], |row| row.text(0)).await
    }

    pub(crate) async fn list_group_keys(&mut self) -> Result<Vec<(String, String)>> {
        self.list(&LIST_KEYS, Vec::new(), |row| Ok((row.text(0)?, row.text(1)?)))
            .await
    }

    pub(crate) async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>> {
        self.list(&LIST_MEMBERSHIPS, vec![user_id.into()], |row| row.text(0))
            .await
    }

    pub(crate) async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.create(id, &INSERT, vec![id.into(), name.into(), name_key.into()])
            .await
    }

    pub(crate) async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.change(&UPDATE, vec![id.into(), name.into(), name_key.into()])
            .await
    }

    pub(crate) async fn list_groups(&mut self) -> Result<Vec<Group>> {
        let mut permissions = self
            .list_by_group(&LIST_ALL_PERMISSIONS, |row| row.text(1))
            .await?;
        let mut members = self.list_by_group(&LIST_ALL_MEMBERS, |row| named(row, 1)).await?;
        let groups = self.list(&LIST, Vec::new(), |row| named(row, 0)).await?;
        let whole = groups.into_iter().map(|Named { id, name }| Group {
            permissions: permissions.remove(&id).unwrap_or_default(),
            members: members.remove(&id).unwrap_or_default(),
            id,
            name,
        });
        Ok(whole.collect())
    }

    /// Reads each row, and collects the values by the id of the group in the first column.
    async fn list_by_group<T: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        read: Read<T>,
    ) -> Result<BTreeMap<String, Vec<T>>> {
        let add = move |groups: &mut BTreeMap<_, Vec<T>>, row: &dyn Row| {
            groups.entry(row.text(0)?).or_default().push(read(row)?);
            Ok(())
        };
        self.fold(sql, Vec::new(), BTreeMap::new(), add).await
    }

    pub(crate) async fn delete_group(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }

    pub(crate) async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool> {
        if !self.exists(&EXISTS_ALONE, vec![id.into()]).await? {
            return Ok(false);
        }
        self.execute(&DELETE_PERMISSIONS, vec![id.into()]).await?;
        self.insert_permissions(id, permissions).await?;
        Ok(true)
    }

    pub(crate) async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        if !self.exists(&EXISTS, vec![group_id.into()]).await? {
            return Ok(false);
        }
        self.insert_member(group_id, user_id).await?;
        Ok(true)
    }

    pub(crate) async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.change(&DELETE_MEMBER, vec![user_id.into(), group_id.into()])
            .await
    }

    async fn insert_permissions(&mut self, group_id: &str, permissions: &[String]) -> Result<()> {
        let row = |permission: &String| -> Vec<Value> { vec![group_id.into(), permission.into()] };
        self.insert(&INSERT_PERMISSIONS, permissions.iter().map(row).collect())
            .await
    }

    async fn insert_member(&mut self, group_id: &str, user_id: &str) -> Result<()> {
        let inserted = self.insert_row(&INSERT_MEMBER, vec![user_id.into(), group_id.into()]);
        inserted.await.map(drop)
    }
}

/// For a dashboard that asks for nothing else of the user.
impl<D: Database> SqlTransaction<D> {
    /// The permissions that a user has from all groups; in order, each once.
    pub async fn list_permissions(&mut self, user_id: &str) -> Result<Vec<String>> {
        self.runner.list_permissions(user_id).await
    }
}

/// An id and a name, from this column on.
pub(crate) fn named(row: &dyn Row, column: usize) -> Result<Named> {
    Ok(Named {
        id: row.text(column)?,
        name: row.text(column + 1)?,
    })
}
