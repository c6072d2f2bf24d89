//! The functions of `wit/storage.wit`, by name.

use portico_model::{Provider, Timestamp};
use portico_storage::{Access, Result, Transaction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::json::{self as form, AccountKey, AppFilter, NewUser, StoredApp, UserChange, UserFilter};

#[derive(Deserialize)]
pub(super) struct Begin {
    pub access: AccessForm,
    pub session: Option<String>,
    pub user: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AccessForm {
    Read,
    Write,
}

impl From<AccessForm> for Access {
    fn from(access: AccessForm) -> Self {
        match access {
            AccessForm::Read => Self::Read,
            AccessForm::Write => Self::Write,
        }
    }
}

/// Each function except `begin`, `commit` and dropping.
#[derive(Deserialize)]
#[serde(
    tag = "call",
    content = "arguments",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
pub(super) enum Call {
    HasUsers {},
    GetUser {
        id: String,
    },
    ListUsers {
        filter: UserFilter,
    },
    FindAccount {
        key: AccountKey,
    },
    InsertUser {
        user: Box<NewUser>,
    },
    InsertIdentity {
        user_id: String,
        provider: Provider,
        subject: String,
    },
    UpdateUser {
        id: String,
        change: UserChange,
    },
    SetPasswordIf {
        id: String,
        old: Option<String>,
        new: String,
    },
    RehashPasswordIf {
        id: String,
        old: String,
        new: String,
    },
    DeleteUser {
        id: String,
    },
    AnotherAdminExists {
        except: String,
    },
    GrantAdmin {
        id: String,
    },
    AddToGroup {
        user_id: String,
        group_id: String,
    },
    HasInvite {
        id: String,
        token: String,
        now: Timestamp,
    },
    TakeInvite {
        id: String,
        token: String,
        now: Timestamp,
    },
    CanViewBoard {
        user_id: String,
        board_id: String,
    },
    HasSearchEngine {
        id: String,
    },
    GetApp {
        id: String,
    },
    GetApps {
        ids: Vec<String>,
    },
    ListApps {
        filter: AppFilter,
    },
    CountApps {
        name_contains: String,
    },
    InsertApps {
        apps: Vec<StoredApp>,
    },
    UpdateApp {
        app: StoredApp,
    },
    DeleteApp {
        id: String,
    },
}

impl Call {
    pub async fn on(self, transaction: &mut dyn Transaction) -> Result<Value> {
        let answer = match self {
            Self::HasUsers {} => json!(transaction.has_users().await?),
            Self::GetUser { id } => json!(transaction.get_user(&id).await?.map(form::User::from)),
            Self::ListUsers { filter } => {
                let users = transaction.list_users(&filter.into()).await?;
                users.into_iter().map(form::summary).collect()
            }
            Self::FindAccount { key } => {
                let account = transaction.find_account(&key.into()).await?;
                json!(account.map(form::account))
            }
            Self::InsertUser { user } => json!(transaction.insert_user(&(*user).into()).await?),
            Self::InsertIdentity {
                user_id,
                provider,
                subject,
            } => json!(transaction.insert_identity(&user_id, provider, &subject).await?),
            Self::UpdateUser { id, change } => json!(transaction.update_user(&id, &change.into()).await?),
            Self::SetPasswordIf { id, old, new } => {
                json!(transaction.set_password_if(&id, old.as_deref(), &new).await?)
            }
            Self::RehashPasswordIf { id, old, new } => {
                json!(transaction.rehash_password_if(&id, &old, &new).await?)
            }
            Self::DeleteUser { id } => json!(transaction.delete_user(&id).await?),
            Self::AnotherAdminExists { except } => json!(transaction.another_admin_exists(&except).await?),
            Self::GrantAdmin { id } => json!(transaction.grant_admin(&id).await?),
            Self::AddToGroup { user_id, group_id } => {
                json!(transaction.add_to_group(&user_id, &group_id).await?)
            }
            Self::HasInvite { id, token, now } => json!(transaction.has_invite(&id, &token, now).await?),
            Self::TakeInvite { id, token, now } => json!(transaction.take_invite(&id, &token, now).await?),
            Self::CanViewBoard { user_id, board_id } => {
                json!(transaction.can_view_board(&user_id, &board_id).await?)
            }
            Self::HasSearchEngine { id } => json!(transaction.has_search_engine(&id).await?),
            Self::GetApp { id } => json!(transaction.get_app(&id).await?.map(form::App::from)),
            Self::GetApps { ids } => apps(transaction.get_apps(&ids).await?),
            Self::ListApps { filter } => apps(transaction.list_apps(&filter.into()).await?),
            Self::CountApps { name_contains } => json!(transaction.count_apps(&name_contains).await?),
            Self::InsertApps { apps } => {
                let apps: Vec<_> = apps.into_iter().map(Into::into).collect();
                json!(transaction.insert_apps(&apps).await?)
            }
            Self::UpdateApp { app } => json!(transaction.update_app(&app.into()).await?),
            Self::DeleteApp { id } => json!(transaction.delete_app(&id).await?),
        };
        Ok(answer)
    }
}

fn apps(apps: Vec<portico_model::App>) -> Value {
    let apps: Vec<_> = apps.into_iter().map(form::App::from).collect();
    json!(apps)
}
