//! The values of the contract's interface `types`, as Rust and as JSON.
//!
//! The contract is `wit/types.wit`; its comments say what each field means. These are the same types with
//! serde's attributes, which generated types cannot have. If their layout differs from the contract's,
//! loading a component fails.
#![allow(missing_docs, reason = "wit/types.wit documents every field")]

use serde::{Deserialize, Deserializer, Serialize, Serializer};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, HasData, Lift, Linker, Lower};

use crate::time::{self, Timestamp};

/// Identifies a record.
pub type Id = String;

/// The host's own note about a call.
pub type Context = String;

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Provider {
    #[cfg_attr(feature = "component", component(name = "credentials"))]
    Credentials,
    #[cfg_attr(feature = "component", component(name = "oidc"))]
    Oidc,
    #[cfg_attr(feature = "component", component(name = "ldap"))]
    Ldap,
}

impl Provider {
    /// Its name in the contract, in JSON and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credentials => "credentials",
            Self::Oidc => "oidc",
            Self::Ldap => "ldap",
        }
    }
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum ColorScheme {
    #[cfg_attr(feature = "component", component(name = "light"))]
    Light,
    #[cfg_attr(feature = "component", component(name = "dark"))]
    Dark,
    #[cfg_attr(feature = "component", component(name = "auto"))]
    Auto,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct Caller {
    pub user: Option<UserCaller>,
    pub context: String,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct UserCaller {
    pub id: String,
    pub permissions: Vec<String>,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    #[cfg_attr(feature = "component", component(name = "email-verified"))]
    #[serde(serialize_with = "time::serialize_option")]
    pub email_verified: Option<Timestamp>,
    pub image: Option<String>,
    pub provider: Provider,
    #[cfg_attr(feature = "component", component(name = "home-board-id"))]
    pub home_board_id: Option<String>,
    #[cfg_attr(feature = "component", component(name = "mobile-home-board-id"))]
    pub mobile_home_board_id: Option<String>,
    #[cfg_attr(feature = "component", component(name = "first-day-of-week"))]
    pub first_day_of_week: u8,
    #[cfg_attr(feature = "component", component(name = "ping-icons-enabled"))]
    pub ping_icons_enabled: bool,
    #[cfg_attr(feature = "component", component(name = "default-search-engine-id"))]
    pub default_search_engine_id: Option<String>,
    #[cfg_attr(feature = "component", component(name = "open-search-in-new-tab"))]
    pub open_search_in_new_tab: bool,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct UserSummary {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    #[cfg_attr(feature = "component", component(name = "email-verified"))]
    #[serde(serialize_with = "time::serialize_option")]
    pub email_verified: Option<Timestamp>,
    pub image: Option<String>,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct UserEntry {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    #[cfg_attr(feature = "component", component(name = "email-verified"))]
    #[serde(serialize_with = "time::serialize_option")]
    pub email_verified: Option<Timestamp>,
    pub provider: Provider,
    pub disabled: bool,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct UserQuery {
    pub page: u32,
    #[cfg_attr(feature = "component", component(name = "page-size"))]
    pub page_size: u32,
    pub search: Option<String>,
    pub provider: Option<Provider>,
    pub disabled: Option<bool>,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct UserPage {
    pub items: Vec<UserEntry>,
    #[cfg_attr(feature = "component", component(name = "total-count"))]
    pub total_count: u32,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct UserOption {
    pub id: String,
    pub name: String,
    pub image: Option<String>,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct UserMatch {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    pub image: Option<String>,
}

#[derive(Deserialize, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct NewAccount {
    pub username: String,
    pub password: String,
    pub email: Option<String>,
}

#[derive(Deserialize, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    #[serde(flatten)]
    pub account: NewAccount,
    #[cfg_attr(feature = "component", component(name = "invite-id"))]
    pub invite_id: String,
    pub token: String,
}

/// A change of an optional text: absent, null or a text in JSON. A field of this type needs
/// `#[serde(default)]`.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(variant))]
pub enum TextChange {
    #[default]
    #[cfg_attr(feature = "component", component(name = "keep"))]
    Keep,
    #[cfg_attr(feature = "component", component(name = "clear"))]
    Clear,
    #[cfg_attr(feature = "component", component(name = "set"))]
    Set(String),
}

impl<'de> Deserialize<'de> for TextChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct ProfileChange {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub email: TextChange,
}

#[derive(Deserialize, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct PasswordChange {
    #[cfg_attr(feature = "component", component(name = "user-id"))]
    pub user_id: String,
    #[cfg_attr(feature = "component", component(name = "previous-password"))]
    pub previous_password: Option<String>,
    pub password: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct HomeBoards {
    #[cfg_attr(feature = "component", component(name = "home-board-id"))]
    pub home_board_id: Option<String>,
    #[cfg_attr(feature = "component", component(name = "mobile-home-board-id"))]
    pub mobile_home_board_id: Option<String>,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SearchPreferences {
    #[cfg_attr(feature = "component", component(name = "default-search-engine-id"))]
    pub default_search_engine_id: Option<String>,
    #[cfg_attr(feature = "component", component(name = "open-in-new-tab"))]
    pub open_in_new_tab: bool,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct App {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    #[cfg_attr(feature = "component", component(name = "icon-url"))]
    pub icon_url: String,
    pub href: Option<String>,
    #[cfg_attr(feature = "component", component(name = "ping-url"))]
    pub ping_url: Option<String>,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct AppInput {
    pub name: String,
    #[cfg_attr(feature = "component", component(name = "icon-url"))]
    pub icon_url: String,
    pub description: Option<String>,
    pub href: Option<String>,
    #[cfg_attr(feature = "component", component(name = "ping-url"))]
    pub ping_url: Option<String>,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct AppDraft {
    pub name: String,
    #[cfg_attr(feature = "component", component(name = "icon-url"))]
    pub icon_url: Option<String>,
    pub description: Option<String>,
    pub href: Option<String>,
    #[cfg_attr(feature = "component", component(name = "ping-url"))]
    pub ping_url: Option<String>,
}

#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct AppChange {
    pub id: String,
    pub name: Option<String>,
    #[cfg_attr(feature = "component", component(name = "icon-url"))]
    pub icon_url: Option<String>,
    #[serde(default)]
    pub description: TextChange,
    #[serde(default)]
    pub href: TextChange,
    #[cfg_attr(feature = "component", component(name = "ping-url"))]
    #[serde(default)]
    pub ping_url: TextChange,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct AppPage {
    pub items: Vec<App>,
    #[cfg_attr(feature = "component", component(name = "total-count"))]
    pub total_count: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(variant))]
pub enum ErrorCode {
    #[cfg_attr(feature = "component", component(name = "bad-request"))]
    BadRequest,
    #[cfg_attr(feature = "component", component(name = "unauthorized"))]
    Unauthorized,
    #[cfg_attr(feature = "component", component(name = "forbidden"))]
    Forbidden,
    #[cfg_attr(feature = "component", component(name = "not-found"))]
    NotFound,
    #[cfg_attr(feature = "component", component(name = "conflict"))]
    Conflict,
    #[cfg_attr(feature = "component", component(name = "unavailable"))]
    Unavailable,
    #[cfg_attr(feature = "component", component(name = "internal"))]
    Internal,
    #[cfg_attr(feature = "component", component(name = "other"))]
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(variant))]
pub enum PathSegment {
    #[cfg_attr(feature = "component", component(name = "field"))]
    Field(String),
    #[cfg_attr(feature = "component", component(name = "index"))]
    Index(u32),
}

impl Serialize for PathSegment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Field(name) => serializer.serialize_str(name),
            Self::Index(index) => serializer.serialize_u32(*index),
        }
    }
}

#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct Issue {
    pub path: Vec<PathSegment>,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct Error {
    pub code: ErrorCode,
    pub message: String,
    pub issues: Vec<Issue>,
}

#[cfg(feature = "component")]
pub use bindgen::*;

/// What `bindgen!` needs of a module that replaces an interface, even one without functions.
#[cfg(feature = "component")]
mod bindgen {
    use super::{HasData, Linker};

    #[doc(hidden)]
    pub trait Host {}
    impl<T: ?Sized> Host for T {}
    #[doc(hidden)]
    pub trait HostWithStore<T> {}
    impl<T, X: ?Sized> HostWithStore<T> for X {}
    #[doc(hidden)]
    pub fn add_to_linker<T: 'static, D: HasData>(
        _: &mut Linker<T>,
        _: fn(&mut T) -> D::Data<'_>,
    ) -> wasmtime::Result<()> {
        Ok(())
    }
}
