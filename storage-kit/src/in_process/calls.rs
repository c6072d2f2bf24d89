//! The functions of `wit/storage.wit`, by name.

use portico_model::{ColorScheme, Timestamp};
use portico_storage::{Access, Result, Transaction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::json::{
    self as form, AccountKey, AppFilter, HomeBoards, NewUser, Profile, ProviderSubject, SearchPreferences,
    Slice, StoredApp, UserFilter, Viewer,
};

#[derive(Deserialize)]
pub(super) struct Begin {
    pub access: AccessForm,
    pub session: Option<String>,
    pub user: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AccessForm {
    Lookup,
    Read,
    Write,
}

impl From<AccessForm> for Access {
    fn from(access: AccessForm) -> Self {
        match access {
            AccessForm::Lookup => Self::Lookup,
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
    GetAccount {
        key: AccountKey,
    },
    ListUsers {
        filter: UserFilter,
        slice: Slice,
        with_images: bool,
    },
    CountUsers {
        filter: UserFilter,
    },
    InsertUser {
        user: Box<NewUser>,
    },
    InsertIdentity {
        user_id: String,
        subject: ProviderSubject,
    },
    SetProfile {
        id: String,
        profile: Profile,
    },
    SetImage {
        id: String,
        image: Option<String>,
    },
    SetHomeBoards {
        id: String,
        boards: HomeBoards,
    },
    SetSearchPreferences {
        id: String,
        preferences: SearchPreferences,
    },
    SetColorScheme {
        id: String,
        color_scheme: ColorScheme,
    },
    SetPingIconsEnabled {
        id: String,
        enabled: bool,
    },
    SetFirstDayOfWeek {
        id: String,
        day: u8,
    },
    SetDisabled {
        id: String,
        disabled: bool,
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
    HasAnotherAdmin {
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
        viewer: Viewer,
    },
    GetApps {
        ids: Vec<String>,
        viewer: Viewer,
    },
    ListApps {
        filter: AppFilter,
        slice: Slice,
    },
    CountApps {
        filter: AppFilter,
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
            Self::GetAccount { key } => {
                let account = transaction.get_account(&key.into()).await?;
                json!(account.map(form::account))
            }
            Self::ListUsers {
                filter,
                slice,
                with_images,
            } => {
                let users = transaction
                    .list_users(&filter.into(), slice.into(), with_images)
                    .await?;
                users.into_iter().map(form::listed).collect()
            }
            Self::CountUsers { filter } => json!(transaction.count_users(&filter.into()).await?),
            Self::InsertUser { user } => json!(transaction.insert_user(&(*user).into()).await?),
            Self::InsertIdentity { user_id, subject } => {
                json!(transaction.insert_identity(&user_id, &subject.into()).await?)
            }
            Self::SetProfile { id, profile } => json!(transaction.set_profile(&id, &profile.into()).await?),
            Self::SetImage { id, image } => json!(transaction.set_image(&id, image.as_deref()).await?),
            Self::SetHomeBoards { id, boards } => {
                json!(transaction.set_home_boards(&id, &boards.into()).await?)
            }
            Self::SetSearchPreferences { id, preferences } => {
                json!(
                    transaction
                        .set_search_preferences(&id, &preferences.into())
                        .await?
                )
            }
            Self::SetColorScheme { id, color_scheme } => {
                json!(transaction.set_color_scheme(&id, color_scheme).await?)
            }
            Self::SetPingIconsEnabled { id, enabled } => {
                json!(transaction.set_ping_icons_enabled(&id, enabled).await?)
            }
            Self::SetFirstDayOfWeek { id, day } => {
                json!(transaction.set_first_day_of_week(&id, day).await?)
            }
            Self::SetDisabled { id, disabled } => json!(transaction.set_disabled(&id, disabled).await?),
            Self::SetPasswordIf { id, old, new } => {
                json!(transaction.set_password_if(&id, old.as_deref(), &new).await?)
            }
            Self::RehashPasswordIf { id, old, new } => {
                json!(transaction.rehash_password_if(&id, &old, &new).await?)
            }
            Self::DeleteUser { id } => json!(transaction.delete_user(&id).await?),
            Self::HasAnotherAdmin { except } => json!(transaction.has_another_admin(&except).await?),
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
            Self::GetApp { id, viewer } => {
                let app = transaction.get_app(&id, &viewer.into()).await?;
                json!(app.map(form::App::from))
            }
            Self::GetApps { ids, viewer } => apps(transaction.get_apps(&ids, &viewer.into()).await?),
            Self::ListApps { filter, slice } => {
                apps(transaction.list_apps(&filter.into(), slice.into()).await?)
            }
            Self::CountApps { filter } => json!(transaction.count_apps(&filter.into()).await?),
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
