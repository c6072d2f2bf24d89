//! The values of the contract's interface `types`, as Rust and as JSON.
//!
//! The contract is `wit/types.wit`; its comments say what each field means. These are the same
//! types with serde's attributes, which generated ones cannot carry; a layout that drifts from the
//! contract fails when a component is loaded.
#![allow(missing_docs, reason = "wit/types.wit documents every field")]

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wasmtime::component::{ComponentType, HasData, Lift, Linker, Lower};

use crate::time;

/// Identifies a record.
pub type Id = String;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Timestamp = u64;

#[derive(
    ComponentType,
    Lift,
    Lower,
    Serialize,
    Deserialize,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
)]
#[component(enum)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Provider {
    #[component(name = "credentials")]
    Credentials,
    #[component(name = "oidc")]
    Oidc,
    #[component(name = "ldap")]
    Ldap,
}

#[derive(ComponentType, Lift, Lower, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[component(enum)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum ColorScheme {
    #[component(name = "light")]
    Light,
    #[component(name = "dark")]
    Dark,
    #[component(name = "auto")]
    Auto,
}

#[derive(ComponentType, Lift, Lower, Clone, Debug, PartialEq)]
#[component(variant)]
pub enum Caller {
    #[component(name = "anonymous")]
    Anonymous,
    #[component(name = "user")]
    User(UserCaller),
}

#[derive(ComponentType, Lift, Lower, Clone, Debug, PartialEq)]
#[component(record)]
pub struct UserCaller {
    pub id: String,
    pub permissions: Vec<String>,
}

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    #[component(name = "email-verified")]
    #[serde(serialize_with = "time::serialize_option")]
    pub email_verified: Option<Timestamp>,
    pub image: Option<String>,
    pub provider: Provider,
    #[component(name = "home-board-id")]
    pub home_board_id: Option<String>,
    #[component(name = "mobile-home-board-id")]
    pub mobile_home_board_id: Option<String>,
    #[component(name = "first-day-of-week")]
    pub first_day_of_week: u8,
    #[component(name = "ping-icons-enabled")]
    pub ping_icons_enabled: bool,
    #[component(name = "default-search-engine-id")]
    pub default_search_engine_id: Option<String>,
    #[component(name = "open-search-in-new-tab")]
    pub open_search_in_new_tab: bool,
}

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct UserSummary {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    #[component(name = "email-verified")]
    #[serde(serialize_with = "time::serialize_option")]
    pub email_verified: Option<Timestamp>,
    pub image: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq)]
#[component(record)]
pub struct UserOption {
    pub id: String,
    pub name: String,
    pub image: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq)]
#[component(record)]
pub struct UserMatch {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    pub image: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, PartialEq)]
#[component(record)]
pub struct NewAccount {
    pub username: String,
    pub password: String,
    #[serde(default)]
    pub email: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    #[serde(flatten)]
    pub account: NewAccount,
    #[component(name = "invite-id")]
    pub invite_id: String,
    pub token: String,
}

/// In JSON: absent, null, or a text. A field of this type needs `#[serde(default)]`.
#[derive(ComponentType, Lift, Lower, Clone, Debug, PartialEq, Default)]
#[component(variant)]
pub enum TextChange {
    #[default]
    #[component(name = "keep")]
    Keep,
    #[component(name = "clear")]
    Clear,
    #[component(name = "set")]
    Set(String),
}

impl<'de> Deserialize<'de> for TextChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, Debug, PartialEq)]
#[component(record)]
pub struct ProfileChange {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub email: TextChange,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChange {
    #[component(name = "user-id")]
    pub user_id: String,
    #[component(name = "previous-password")]
    #[serde(default)]
    pub previous_password: Option<String>,
    pub password: String,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct HomeBoards {
    #[component(name = "home-board-id")]
    pub home_board_id: Option<String>,
    #[component(name = "mobile-home-board-id")]
    pub mobile_home_board_id: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct SearchPreferences {
    #[component(name = "default-search-engine-id")]
    pub default_search_engine_id: Option<String>,
    #[component(name = "open-in-new-tab")]
    pub open_in_new_tab: bool,
}

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct App {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    #[component(name = "icon-url")]
    pub icon_url: String,
    pub href: Option<String>,
    #[component(name = "ping-url")]
    pub ping_url: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct AppInput {
    pub name: String,
    #[component(name = "icon-url")]
    pub icon_url: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub href: Option<String>,
    #[component(name = "ping-url")]
    #[serde(default)]
    pub ping_url: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct AppDraft {
    pub name: String,
    #[component(name = "icon-url")]
    #[serde(default)]
    pub icon_url: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub href: Option<String>,
    #[component(name = "ping-url")]
    #[serde(default)]
    pub ping_url: Option<String>,
}

#[derive(ComponentType, Lift, Lower, Deserialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct AppChange {
    pub id: String,
    #[serde(default)]
    pub name: Option<String>,
    #[component(name = "icon-url")]
    #[serde(default)]
    pub icon_url: Option<String>,
    #[serde(default)]
    pub description: TextChange,
    #[serde(default)]
    pub href: TextChange,
    #[component(name = "ping-url")]
    #[serde(default)]
    pub ping_url: TextChange,
}

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct AppPage {
    pub items: Vec<App>,
    #[component(name = "total-count")]
    pub total_count: u32,
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug, PartialEq, Eq)]
#[component(enum)]
#[repr(u8)]
pub enum ErrorCode {
    #[component(name = "bad-request")]
    BadRequest,
    #[component(name = "unauthorized")]
    Unauthorized,
    #[component(name = "forbidden")]
    Forbidden,
    #[component(name = "not-found")]
    NotFound,
    #[component(name = "conflict")]
    Conflict,
    #[component(name = "unavailable")]
    Unavailable,
    #[component(name = "internal")]
    Internal,
}

#[derive(ComponentType, Lift, Lower, Clone, Debug, PartialEq, Eq)]
#[component(variant)]
pub enum PathSegment {
    #[component(name = "field")]
    Field(String),
    #[component(name = "index")]
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

#[derive(ComponentType, Lift, Lower, Serialize, Clone, Debug, PartialEq, Eq)]
#[component(record)]
pub struct Issue {
    pub path: Vec<PathSegment>,
    pub message: String,
}

#[derive(ComponentType, Lift, Lower, Clone, Debug, PartialEq, Eq)]
#[component(record)]
pub struct Error {
    pub code: ErrorCode,
    pub message: String,
    pub issues: Vec<Issue>,
}

// What `bindgen!` asks of a module that stands for an interface, also for one without functions.
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
