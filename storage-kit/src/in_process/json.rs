//! The values of the contract as JSON, with the names of WIT.

use portico_model::{self as model, ColorScheme, Provider, Timestamp};
use portico_storage::{self as storage, Account, Constraint, Error, ListedUser};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Records of the contract with the same fields, under their names in WIT.
macro_rules! records {
    ($($name:ident = $of:path { $($field:ident: $type:ty),* $(,)? })+) => {
        $(
            #[derive(Serialize, Deserialize)]
            #[serde(rename_all = "kebab-case", deny_unknown_fields)]
            pub struct $name {
                $(pub $field: $type,)*
            }

            impl From<$name> for $of {
                fn from(form: $name) -> Self {
                    Self { $($field: form.$field.into()),* }
                }
            }
        )+
    };
}

/// For records that are also returned.
macro_rules! answered {
    ($($name:ident = $of:path { $($field:ident),* $(,)? })+) => {
        $(impl From<$of> for $name {
            fn from(record: $of) -> Self {
                Self { $($field: record.$field),* }
            }
        })+
    };
}

records! {
    User = model::User {
        id: String,
        name: String,
        email: Option<String>,
        email_verified: Option<Timestamp>,
        image: Option<String>,
        provider: Provider,
        home_board_id: Option<String>,
        mobile_home_board_id: Option<String>,
        first_day_of_week: u8,
        ping_icons_enabled: bool,
        default_search_engine_id: Option<String>,
        open_search_in_new_tab: bool,
    }
    NewUser = storage::NewUser {
        user: User,
        name_key: String,
        color_scheme: ColorScheme,
        password_hash: Option<String>,
    }
    Profile = storage::Profile {
        name: String,
        name_key: String,
        email: Option<String>,
        email_verified: Option<Timestamp>,
    }
    HomeBoards = model::HomeBoards {
        home_board_id: Option<String>,
        mobile_home_board_id: Option<String>,
    }
    SearchPreferences = model::SearchPreferences {
        default_search_engine_id: Option<String>,
        open_in_new_tab: bool,
    }
    UserFilter = storage::UserFilter {
        provider: Option<Provider>,
        name_contains: Option<String>,
        email: Option<String>,
        disabled: Option<bool>,
    }
    AppFilter = storage::AppFilter {
        viewer: Viewer,
        name_contains: Option<String>,
    }
    Slice = storage::Slice {
        offset: u32,
        limit: Option<u32>,
    }
    ProviderName = storage::ProviderName {
        provider: Provider,
        name_key: String,
    }
    ProviderSubject = storage::ProviderSubject {
        provider: Provider,
        subject: String,
    }
    App = model::App {
        id: String,
        name: String,
        description: Option<String>,
        icon_url: String,
        href: Option<String>,
        ping_url: Option<String>,
    }
    StoredApp = storage::StoredApp {
        app: App,
        name_key: String,
    }
}

answered! {
    User = model::User {
        id, name, email, email_verified, image, provider, home_board_id, mobile_home_board_id, first_day_of_week,
        ping_icons_enabled, default_search_engine_id, open_search_in_new_tab,
    }
    App = model::App { id, name, description, icon_url, href, ping_url }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccountKey {
    Id(String),
    Name(ProviderName),
    Subject(ProviderSubject),
}

impl From<AccountKey> for storage::AccountKey {
    fn from(key: AccountKey) -> Self {
        match key {
            AccountKey::Id(id) => Self::Id(id),
            AccountKey::Name(name) => Self::Name(name.into()),
            AccountKey::Subject(subject) => Self::Subject(subject.into()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Viewer {
    Everything(()),
    Anonymous(()),
    User(String),
}

impl From<Viewer> for storage::Viewer {
    fn from(viewer: Viewer) -> Self {
        match viewer {
            Viewer::Everything(()) => Self::Everything,
            Viewer::Anonymous(()) => Self::Anonymous,
            Viewer::User(id) => Self::User(id),
        }
    }
}

pub fn listed(user: ListedUser) -> Value {
    json!({
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "email-verified": user.email_verified,
        "provider": user.provider,
        "disabled": user.disabled,
        "image": user.image,
    })
}

pub fn account(account: Account) -> Value {
    json!({
        "id": account.id,
        "name": account.name,
        "provider": account.provider,
        "disabled": account.disabled,
        "password-hash": account.password_hash,
        "password-version": account.password_version,
    })
}

pub fn error(error: Error) -> Value {
    match error {
        Error::Retry => json!({"retry": null}),
        Error::Constraint(constraint) => json!({"constraint": constraint_form(constraint)}),
        Error::TooLarge => json!({"too-large": null}),
        Error::Unavailable(reason) => json!({"unavailable": reason}),
        Error::Other(reason) => json!({"other": reason}),
    }
}

fn constraint_form(constraint: Constraint) -> Value {
    match constraint {
        Constraint::UserName => json!({"user-name": null}),
        Constraint::Identity => json!({"identity": null}),
        Constraint::Reference => json!({"reference": null}),
        Constraint::Id => json!({"id": null}),
        Constraint::Other(rule) => json!({"other": rule}),
    }
}
