//! Portico's own drivers as implementations to test, and their bridge.
#![allow(dead_code, reason = "not every test uses everything")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use portico_sqlite::SqliteStorage;
use portico_storage::memory::MemoryStorage;
use portico_storage::{
    Access, AccountKey, ApiKey, Authentication, BoardItem, BoardSummary, CallContext, DashboardStorage,
    DashboardTransaction, Error, KeyLimits, NewInvite, SearchEngine, Session, Share, Shares, hash_secret,
};
use portico_storage_kit::{Bridge, BridgeCall, BridgeError};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The last moment of the year 9999.
const NEVER: u64 = 253_402_300_799_999;

pub fn memory() -> Arc<dyn DashboardStorage> {
    Arc::new(MemoryStorage::new())
}

/// Storage in memory whose viewers see the apps on boards that they may view.
pub fn memory_with_apps_by_board() -> Arc<dyn DashboardStorage> {
    Arc::new(MemoryStorage::new().with_apps_by_board())
}

pub fn sqlite(directory: &TempDir) -> Arc<dyn DashboardStorage> {
    Arc::new(SqliteStorage::open(&directory.path().join("portico.db")).expect("a database"))
}

/// The bridge to one of Portico's own drivers.
pub struct Dashboard {
    storage: Arc<dyn DashboardStorage>,
    apps_by_board: bool,
    /// For each sign-in that has begun: the version of the user's password.
    sign_ins: Mutex<HashMap<String, Option<u64>>>,
    lets_disabled_in: bool,
    gives_disabled_keys: bool,
    checks_version_early: bool,
}

impl Dashboard {
    pub fn new(storage: Arc<dyn DashboardStorage>) -> Self {
        Self {
            storage,
            apps_by_board: false,
            sign_ins: Mutex::default(),
            lets_disabled_in: false,
            gives_disabled_keys: false,
            checks_version_early: false,
        }
    }

    /// States that views of the apps depend on boards.
    pub fn with_apps_by_board(self) -> Self {
        let apps_by_board = true;
        Self {
            apps_by_board,
            ..self
        }
    }

    /// With a fault: users who are disabled get API keys.
    pub fn giving_disabled_keys(self) -> Self {
        let gives_disabled_keys = true;
        Self {
            gives_disabled_keys,
            ..self
        }
    }

    /// With a fault: a sign-in looks at the user without waiting for the writer that is open, as one does that locks no
    /// row under READ COMMITTED.
    pub fn checking_version_early(self) -> Self {
        let checks_version_early = true;
        Self {
            checks_version_early,
            ..self
        }
    }

    /// With a fault: users who are disabled can sign in.
    pub fn letting_disabled_in(self) -> Self {
        let lets_disabled_in = true;
        Self {
            lets_disabled_in,
            ..self
        }
    }
}

#[async_trait]
impl Bridge for Dashboard {
    async fn call(&self, call: BridgeCall) -> Result<Value, BridgeError> {
        let context = CallContext {
            views_by_shares: false,
            user_id: None,
            authentication: Authentication::Operator,
            request_id: "bridge".into(),
            audit: None,
            new_token: None,
        };
        let early = match &call {
            BridgeCall::EndSignIn { user, .. } if self.checks_version_early => {
                let begun = self.storage.begin_dashboard(Access::Read, &context).await;
                let mut reader = begun.map_err(refused)?;
                let account = reader.get_account(&AccountKey::Id(user.clone())).await;
                Some(account.map_err(refused)?)
            }
            _ => None,
        };
        let begun = self.storage.begin_dashboard(Access::Write, &context).await;
        let mut transaction = begun.map_err(refused)?;
        let answer = match call {
            BridgeCall::Hello {} => {
                json!({"name": "a driver of Portico's", "apps-by-board": self.apps_by_board})
            }
            BridgeCall::BeginSignIn { id, user } => {
                let account = transaction.get_account(&AccountKey::Id(user)).await;
                let version = account.map_err(refused)?.map(|account| account.password_version);
                self.sign_ins.lock().unwrap().insert(id, version);
                Value::Null
            }
            // As `POST /api/auth/sign-in` does it.
            BridgeCall::EndSignIn { id, user } => {
                let version = self.sign_ins.lock().unwrap().get(&id).copied().flatten();
                let account = transaction.get_account(&AccountKey::Id(user.clone())).await;
                let account = early.unwrap_or(account.map_err(refused)?);
                let begins = account.is_some_and(|account| {
                    Some(account.password_version) == version && (!account.disabled || self.lets_disabled_in)
                });
                if begins {
                    run_call(&mut *transaction, BridgeCall::PutSession { id, user }).await?;
                }
                Value::Bool(begins)
            }
            BridgeCall::PutKey { id, user } if self.gives_disabled_keys => {
                let account = transaction.get_account(&AccountKey::Id(user.clone())).await;
                match account.map_err(refused)?.is_some_and(|account| account.disabled) {
                    true => Value::Null,
                    false => run_call(&mut *transaction, BridgeCall::PutKey { id, user }).await?,
                }
            }
            other => run_call(&mut *transaction, other).await?,
        };
        transaction.commit().await.map_err(refused)?;
        Ok(answer)
    }
}

fn refused(error: Error) -> BridgeError {
    match error {
        Error::Retry => BridgeError::Retry,
        other => BridgeError::Failed(format!("{other:?}")),
    }
}

fn done(done: bool) -> Result<Value, BridgeError> {
    match done {
        true => Ok(Value::Null),
        false => Err(BridgeError::Failed("the name is taken".into())),
    }
}

async fn run_call(dashboard: &mut dyn DashboardTransaction, call: BridgeCall) -> Result<Value, BridgeError> {
    match call {
        BridgeCall::PutGroup(group) => {
            let (id, name) = (&group.id[..], &group.name[..]);
            // Replaced as a whole, without deleting it: references to it stay.
            if !dashboard.update_group(id, name, name).await.map_err(refused)? {
                done(dashboard.insert_group(id, name, name).await.map_err(refused)?)?;
            }
            let permissions = &group.permissions;
            done(
                dashboard
                    .set_group_permissions(id, permissions)
                    .await
                    .map_err(refused)?,
            )?;
            for member in members(dashboard, id).await?.unwrap_or_default() {
                dashboard.remove_from_group(&member, id).await.map_err(refused)?;
            }
            for member in &group.members {
                done(dashboard.add_to_group(member, id).await.map_err(refused)?)?;
            }
            Ok(Value::Null)
        }
        BridgeCall::GetGroup { id } => {
            let Some(members) = members(dashboard, &id).await? else {
                return Ok(Value::Null);
            };
            let groups = dashboard.list_groups().await.map_err(refused)?;
            let permissions = groups.into_iter().find(|group| group.id == id);
            Ok(json!({"permissions": permissions.map(|group| group.permissions), "members": members}))
        }
        BridgeCall::DeleteGroup { id } => {
            dashboard.delete_group(&id).await.map_err(refused)?;
            Ok(Value::Null)
        }
        BridgeCall::GetPermissions { user } => {
            let user = dashboard.get_session_user(&user).await.map_err(refused)?;
            Ok(json!(user.map(|user| user.permissions).unwrap_or_default()))
        }
        BridgeCall::PutInvite {
            id,
            token,
            expires_at,
            creator,
        } => {
            let invite = NewInvite {
                id,
                expiration_date: expires_at,
                creator_id: creator,
                note: None,
                group_ids: Vec::new(),
            };
            let inserted = dashboard.insert_invite(&invite, &hash_secret(&token)).await;
            inserted.map(Value::from).map_err(refused)
        }
        BridgeCall::DeleteInvite { id } => {
            dashboard.delete_invite(&id).await.map_err(refused)?;
            Ok(Value::Null)
        }
        BridgeCall::PutBoard(board) => {
            let item = |app_id: String| BoardItem::App { app_id };
            let summary = BoardSummary {
                id: board.id.clone(),
                name: board.name.clone(),
                slug: None,
                is_public: board.public,
                creator_id: board.creator,
            };
            let stored = portico_storage::Board::of_items(summary, board.apps.into_iter().map(item));
            if !dashboard
                .update_board(&stored, &board.name)
                .await
                .map_err(refused)?
            {
                done(
                    dashboard
                        .insert_board(&stored, &board.name)
                        .await
                        .map_err(refused)?,
                )?;
            }
            let shares = Shares {
                users: board.users.into_iter().map(Share::to_view).collect(),
                groups: board.groups.into_iter().map(Share::to_view).collect(),
            };
            done(dashboard.share_board(&board.id, &shares).await.map_err(refused)?)
        }
        BridgeCall::GetBoard { id } => {
            let board = dashboard.get_board(&id).await.map_err(refused)?;
            let shares = dashboard.get_shares(&id).await.map_err(refused)?;
            let (Some(board), Some(shares)) = (board, shares) else {
                return Ok(Value::Null);
            };
            let apps = board.items().filter_map(|item| match item {
                BoardItem::App { app_id } => Some(app_id.clone()),
                _ => None,
            });
            let apps: Vec<_> = apps.collect();
            let creator = board.board.creator_id;
            let ids = |shares: Vec<Share>| shares.into_iter().map(|share| share.id).collect::<Vec<_>>();
            let (users, groups) = (ids(shares.users), ids(shares.groups));
            Ok(json!({"creator": creator, "users": users, "groups": groups, "apps": apps}))
        }
        BridgeCall::DeleteBoard { id } => {
            dashboard.delete_board(&id).await.map_err(refused)?;
            Ok(Value::Null)
        }
        BridgeCall::PutSearchEngine { id, name } => {
            let engine = SearchEngine {
                id,
                name: name.clone(),
                short: name.clone(),
                url_template: "https://example.org/?q=%s".into(),
                icon_url: "/icon.svg".into(),
                description: None,
            };
            let inserted = dashboard.insert_search_engine(&engine, &name, &name).await;
            done(inserted.map_err(refused)?)
        }
        BridgeCall::DeleteSearchEngine { id } => {
            dashboard.delete_search_engine(&id).await.map_err(refused)?;
            Ok(Value::Null)
        }
        BridgeCall::PutSession { id, user } => {
            let session = Session {
                id: id.clone(),
                user_id: user,
                created_at: 1,
                last_used_at: 1,
                expires_at: NEVER,
                ends_at: NEVER,
                browser: None,
                address: None,
            };
            let inserted = dashboard.insert_session(&session, &hash_secret(&id)).await;
            inserted.map(Value::from).map_err(refused)
        }
        BridgeCall::GetSessions { user } => {
            let sessions = dashboard.list_sessions(&user).await.map_err(refused)?;
            Ok(sessions.into_iter().map(|session| session.id).collect())
        }
        BridgeCall::PutKey { id, user } => {
            let key = ApiKey {
                id: id.clone(),
                name: None,
                user_id: user,
                limits: KeyLimits::default(),
                created_at: 1,
                expires_at: None,
                last_used_at: None,
            };
            let inserted = dashboard.insert_key(&key, &hash_secret(&id)).await;
            inserted.map(Value::from).map_err(refused)
        }
        BridgeCall::GetKeys { user } => {
            let keys = dashboard.list_keys(Some(&user)).await.map_err(refused)?;
            Ok(keys.into_iter().map(|key| key.id).collect())
        }
        BridgeCall::GetColorScheme { user } => {
            let user = dashboard.get_session_user(&user).await.map_err(refused)?;
            Ok(json!(user.map(|user| user.color_scheme)))
        }
        other => Err(BridgeError::Unsupported(format!("{other:?}"))),
    }
}

/// The ids of a group's members in order; `None` if there is no such group.
async fn members(
    dashboard: &mut dyn DashboardTransaction,
    id: &str,
) -> Result<Option<Vec<String>>, BridgeError> {
    let groups = dashboard.list_groups().await.map_err(refused)?;
    let group = groups.into_iter().find(|group| group.id == id);
    Ok(group.map(|group| {
        let mut members: Vec<_> = group.members.into_iter().map(|member| member.id).collect();
        members.sort();
        members
    }))
}
