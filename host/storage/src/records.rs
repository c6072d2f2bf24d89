//! The records of the contract's interface `storage`.
//!
//! The contract is `wit/storage.wit`; its comments say what each field means.
#![allow(missing_docs, reason = "wit/storage.wit documents every field")]

use portico_model::error::{self, Code, Collided};
use portico_model::{App, ColorScheme, HomeBoards, Id, Provider, SearchPreferences, Timestamp, User};

/// What storage answers.
pub type Result<T> = std::result::Result<T, Error>;

/// The permission that implies all others.
pub const ADMIN: &str = "admin";

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A rule that storage itself enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    UserName,
    Identity,
    Reference,
}

/// Why storage refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    Retry,
    Constraint(Constraint),
    Unavailable(String),
}

/// A new user.
#[derive(Clone, Debug, PartialEq)]
pub struct NewUser {
    pub user: User,
    pub name_key: String,
    pub color_scheme: ColorScheme,
    pub password_hash: Option<String>,
}

/// How an account is found.
#[derive(Clone, Debug, PartialEq)]
pub enum AccountKey {
    Id(Id),
    Name((Provider, String)),
    Subject((Provider, String)),
}

/// What signing in needs of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    pub id: Id,
    pub name: String,
    pub provider: Provider,
    pub password_hash: Option<String>,
}

/// The name and email of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub name: String,
    pub name_key: String,
    pub email: Option<String>,
    pub email_verified: Option<Timestamp>,
}

/// A change of a user.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    Profile(Profile),
    Image(Option<String>),
    HomeBoards(HomeBoards),
    SearchPreferences(SearchPreferences),
    ColorScheme(ColorScheme),
    PingIconsEnabled(bool),
    FirstDayOfWeek(u8),
}

/// Which users to list.
#[derive(Clone, Debug, PartialEq)]
pub struct UserFilter {
    pub provider: Option<Provider>,
    pub name_contains: Option<String>,
    pub email: Option<String>,
    pub limit: Option<u32>,
}

/// Which apps to list.
#[derive(Clone, Debug, PartialEq)]
pub struct AppFilter {
    pub name_contains: Option<String>,
    pub offset: u32,
    pub limit: Option<u32>,
}

/// An app with its name-key.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredApp {
    pub app: App,
    pub name_key: String,
}

impl From<Error> for error::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Retry => Self {
                cause: Some(Collided(1).into()),
                ..Self::new(Code::ServiceUnavailable, "Storage is busy; try again in a moment")
            },
            Error::Unavailable(cause) => Self {
                cause: Some(anyhow::anyhow!(cause)),
                ..Self::new(
                    Code::ServiceUnavailable,
                    "Storage is unavailable; try again later",
                )
            },
            Error::Constraint(constraint) => {
                Self::internal(anyhow::anyhow!("storage refused: {constraint:?}"))
            }
        }
    }
}
