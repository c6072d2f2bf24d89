//! A directory, which checks users' passwords.

use std::{fmt, net::IpAddr, sync::atomic::AtomicBool};

use async_trait::async_trait;
use portico_model::error::Error;

use super::vouched::{External, SignUp};
use crate::resources::Resources;

/// A directory that vouches for users.
#[async_trait]
pub trait Directory: fmt::Debug + Send + Sync {
    /// The name that people see.
    fn label(&self) -> &str;

    /// Whether a person who has no user yet becomes a new one.
    fn sign_up(&self) -> SignUp;

    /// Asks the directory. `UNAUTHORIZED` if it does not accept this name and password, `SERVICE_UNAVAILABLE` if it
    /// does not respond in time.
    async fn authenticate(&self, login: &Login<'_>) -> Result<External, Error>;

    /// Whether the directory still has this user among those who may sign in, by all that it says without their password.
    /// `SERVICE_UNAVAILABLE` if it does not respond in time.
    async fn still_has(&self, user: &DirectoryUser<'_>) -> Result<bool, Error>;
}

/// A user who signs in without their password of the directory.
pub struct DirectoryUser<'a> {
    /// What identifies them there.
    pub subject: &'a str,
    pub address: Option<IpAddr>,
    /// The request's id, as the log has it.
    pub request_id: &'a str,
}

/// The username and password of one login attempt.
pub struct Login<'a> {
    /// The resources of the service that the user signs in to.
    pub resources: &'a Resources,
    pub address: Option<IpAddr>,
    /// The request's id, as the log has it.
    pub request_id: &'a str,
    pub username: &'a str,
    /// The username's name-key, for which the throttle counts this attempt.
    pub name_key: &'a str,
    pub password: &'a str,
    /// Whether the directory has been asked about the password and has not responded yet. The attempt then counts as
    /// failed, even if the directory turns out to be unreachable.
    pub is_open: &'a AtomicBool,
}
