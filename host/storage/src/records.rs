//! The records of the contract's interface `storage`.
//!
//! The contract is `wit/storage.wit`; its comments say what each field means.
#![allow(missing_docs, reason = "wit/storage.wit documents every field")]

use portico_model::error::{self, Collided};
use portico_model::refusal::Refusal;
use portico_model::{App, ColorScheme, Id, Provider, Timestamp, User};

/// What storage returns.
pub type Result<T> = std::result::Result<T, Error>;

/// The permission that implies all others.
pub const ADMIN: &str = "admin";

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Exactly one function that reads.
    Lookup,
    Read,
    Write,
}

/// A rule that storage itself enforces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    UserName,
    Identity,
    Reference,
    Id,
    Other(String),
}

/// Why storage refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    Retry,
    Constraint(Constraint),
    TooLarge,
    Unavailable(String),
    Other(String),
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
    Name(ProviderName),
    Subject(ProviderSubject),
}

/// A name at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderName {
    pub provider: Provider,
    pub name_key: String,
}

/// A subject at a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderSubject {
    pub provider: Provider,
    pub subject: String,
}

/// What signing in needs of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    pub id: Id,
    pub name: String,
    pub provider: Provider,
    pub disabled: bool,
    pub password_hash: Option<String>,
    pub password_version: u64,
}

/// The name and email of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub name: String,
    pub name_key: String,
    pub email: Option<String>,
    pub email_verified: Option<Timestamp>,
}

/// A user in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedUser {
    pub id: Id,
    pub name: String,
    pub email: Option<String>,
    pub email_verified: Option<Timestamp>,
    pub provider: Provider,
    pub disabled: bool,
    pub image: Option<String>,
}

/// Which users to list or count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserFilter {
    pub provider: Option<Provider>,
    pub name_contains: Option<String>,
    pub email: Option<String>,
    pub disabled: Option<bool>,
}

/// Whose view of the apps a function takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    Everything,
    Anonymous,
    User(Id),
}

/// Which apps to list or count.
#[derive(Clone, Debug, PartialEq)]
pub struct AppFilter {
    pub viewer: Viewer,
    pub name_contains: Option<String>,
}

impl AppFilter {
    /// All apps.
    pub const EVERYTHING: Self = Self {
        viewer: Viewer::Everything,
        name_contains: None,
    };
}

/// Which of the records that a filter matches, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    pub offset: u32,
    pub limit: Option<u32>,
}

impl Slice {
    /// All of them.
    pub const ALL: Self = Self {
        offset: 0,
        limit: None,
    };

    /// The first ones.
    pub const fn first(limit: u32) -> Self {
        Self {
            offset: 0,
            limit: Some(limit),
        }
    }
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
                ..Refusal::StorageBusy.into()
            },
            Error::Unavailable(cause) => Self {
                cause: Some(anyhow::anyhow!(cause)),
                ..Refusal::StorageUnavailable.into()
            },
            Error::TooLarge => Refusal::AnswerTooLarge.into(),
            Error::Constraint(constraint) => {
                Self::internal(anyhow::anyhow!("storage refused: {constraint:?}"))
            }
            Error::Other(cause) => Self::internal(anyhow::anyhow!("storage refused: {cause}")),
        }
    }
}
