//! A directory, which knows users by their passwords.

use std::{fmt, net::IpAddr, sync::atomic::AtomicBool};

use async_trait::async_trait;
use portico_model::error::Error;

use super::External;
use crate::service::Service;

/// A directory that vouches for users.
#[async_trait]
pub trait Directory: fmt::Debug + Send + Sync {
    /// What people know the directory as.
    fn label(&self) -> &str;

    /// Asks the directory. `UNAUTHORIZED` if it does not accept this name and password,
    /// `SERVICE_UNAVAILABLE` where it does not answer in time.
    async fn authenticate(&self, login: &Login<'_>) -> Result<External, Error>;
}

/// The username and password of one attempt to sign in.
pub struct Login<'a> {
    /// The service that they sign in to.
    pub service: &'a Service,
    /// Where they are.
    pub address: Option<IpAddr>,
    /// The request, as the log names it.
    pub request_id: &'a str,
    /// What they go by.
    pub username: &'a str,
    /// Its name-key, for which this try was begun.
    pub name_key: &'a str,
    /// What only they know.
    pub password: &'a str,
    /// Whether the directory was asked about the password, and did not say yet. What comes of it
    /// then is a try, also if it is that the directory does not answer.
    pub is_open: &'a AtomicBool,
}
