//! An issuer: a browser is redirected to it to sign in, and comes back.

use std::fmt;

use async_trait::async_trait;
use portico_model::error::Error;
use portico_storage::secrets::Secrets;

use super::{
    invitation::Invitation,
    vouched::{External, SignUp},
};
use crate::throttle::{LoginAttempt, Throttle};

/// How long a sign-in may take, in seconds.
pub const PATIENCE_SECONDS: u64 = 600;

/// One issuer, and the browsers that are signing in there.
#[async_trait]
pub trait Issuer: fmt::Debug + Send + Sync {
    /// The text of the button.
    fn label(&self) -> &str;

    /// Begins a sign-in of a browser. The attempt ends with the sign-in.
    async fn start(
        &self,
        secrets: &Secrets,
        request: StartRequest,
        attempt: LoginAttempt,
        request_id: &str,
    ) -> Result<Started, Error>;

    /// Takes the sign-in from which a browser comes back. Each can be taken once, by any host of the storage.
    async fn resume(&self, returned: Returned, throttle: &Throttle) -> Result<Resumed, NotResumed>;

    /// Whether a sign-in of this browser is still in progress.
    async fn awaits(&self, browser: &str) -> Result<bool, Error>;

    /// Asks the issuer who signed in.
    async fn complete(&self, resumed: &Resumed, request_id: &str) -> Result<External, Error>;

    /// Whether a person who has no user yet becomes a new one.
    fn sign_up(&self) -> SignUp;

    /// Whether signing out here goes on at the issuer.
    fn signs_out(&self) -> bool;

    /// Where a browser is sent to sign out at the issuer.
    async fn sign_out_url(&self, request_id: &str) -> Result<String, Error>;

    /// Logs why a sign-in failed, and returns the error for the client, which leaves the reason out.
    fn refuse(&self, why: &str, request_id: &str) -> Error;
}

/// How a browser begins to sign in.
pub struct StartRequest {
    /// The browser's name from an earlier sign-in.
    pub browser: Option<String>,
    /// The path to which the browser goes afterwards.
    pub return_to: String,
    /// The invite by whose link the person came.
    pub invitation: Option<Invitation>,
}

/// A sign-in that has begun.
pub struct Started {
    /// Where to send the browser.
    pub url: String,
    /// The browser's name, by which it is recognised when it comes back.
    pub browser: String,
}

/// The parameters with which a browser comes back.
#[derive(Default)]
pub struct Returned {
    /// Identifies the sign-in.
    pub state: String,
    /// The code that the issuer exchanges for a token.
    pub code: Option<String>,
    /// The error code, if the issuer refused.
    pub error: Option<String>,
    /// The error in words.
    pub error_description: Option<String>,
    /// The issuer, if it says so.
    pub issuer: Option<String>,
    pub browser: String,
}

/// Why a browser that comes back does not resume a sign-in.
#[derive(Debug)]
pub enum NotResumed {
    /// There is no such sign-in. The reason is for the log.
    Refused(String),
    /// It is not known whether there is one.
    Failed(Error),
}

/// A sign-in whose browser has come back from the issuer.
pub struct Resumed {
    /// The code that the issuer exchanges for a token, or why there is none.
    pub code: Result<String, String>,
    /// Whether the callback names the issuer. (A callback that names another one has no code.)
    pub names_issuer: bool,
    /// The nonce that the ID token must have.
    pub nonce: String,
    pub verifier: String,
    /// The path to which the browser goes afterwards.
    pub return_to: String,
    /// The invite with which the sign-in began.
    pub invitation: Option<Invitation>,
    /// Counts as failed unless it is settled.
    pub attempt: LoginAttempt,
}

impl Resumed {
    /// Ends the attempt with its result, and returns the path to which the browser goes.
    pub fn settle<T>(self, result: &Result<T, Error>) -> impl Future<Output = String> + Send + use<T> {
        let settling = self.attempt.settle(result);
        async {
            settling.await;
            self.return_to
        }
    }
}
