//! An issuer, to which browsers go to sign in and come back from.

use std::fmt;

use async_trait::async_trait;
use portico_model::{Timestamp, error::Error};
use portico_storage::secrets::Secrets;

use super::External;
use crate::throttle::LoginAttempt;

/// How long a sign-in may take, in seconds.
pub const PATIENCE_SECONDS: u64 = 600;

/// One issuer, and who is on the way to it.
#[async_trait]
pub trait Issuer: fmt::Debug + Send + Sync {
    /// What the button says.
    fn label(&self) -> &str;

    /// Begins a sign-in of a browser, which may be known already, and goes on at this path. The try
    /// ends when it does.
    async fn start(
        &self,
        secrets: &Secrets,
        browser: Option<String>,
        return_to: String,
        now: Timestamp,
        attempt: LoginAttempt,
        request_id: &str,
    ) -> Result<Started, Error>;

    /// Takes the sign-in that a browser comes back from: once. Fails with the reason, which is for the log.
    fn resume(&self, returned: Returned, now: Timestamp) -> Result<Resumed, String>;

    /// Whether a browser is still on the way.
    fn awaits(&self, browser: &str, now: Timestamp) -> bool;

    /// Asks the issuer who came back.
    async fn complete(&self, resumed: &Resumed, request_id: &str) -> Result<External, Error>;

    /// Logs why a sign-in failed, and gives the error for the client, which does not say why.
    fn refuse(&self, why: &str, request_id: &str) -> Error;
}

/// A sign-in that begins.
pub struct Started {
    /// Where to send the browser.
    pub url: String,
    /// What the browser is known by when it comes back.
    pub browser: String,
}

/// What a browser brings back.
#[derive(Default)]
pub struct Returned {
    /// Which sign-in it is.
    pub state: String,
    /// What the issuer gives a token for.
    pub code: Option<String>,
    /// Why it refuses, where it does.
    pub error: Option<String>,
    /// The same for a person.
    pub error_description: Option<String>,
    /// Who says so, where they say it.
    pub issuer: Option<String>,
    /// What the browser is known by.
    pub browser: String,
}

/// A sign-in whose browser has come back from the issuer.
pub struct Resumed {
    /// What the issuer gives a token for, or why there is none.
    pub code: Result<String, String>,
    /// What the ID token must hold.
    pub nonce: String,
    /// What PKCE proves.
    pub verifier: String,
    /// Where the browser goes in the end.
    pub return_to: String,
    /// Counts as failed unless it is settled.
    pub attempt: LoginAttempt,
}

impl Resumed {
    /// Ends the try, by what became of it; gives back where the browser wanted to go.
    pub fn settle<T>(self, result: &Result<T, Error>) -> String {
        self.attempt.settle(result);
        self.return_to
    }
}
