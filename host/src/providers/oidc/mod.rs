//! Sign-in by OpenID Connect: authorization code with PKCE, state and nonce.
//!
//! Invariants:
//! - A sign-in that begins is kept here and nowhere else, until it is completed once, from the browser that
//!   began it, or is ten minutes old (`pending.rs`).
//! - The ID token is believed if a key of the issuer signed it for this client and this sign-in,
//!   and it has not expired; nothing else of what comes through the browser is believed.
//! - Nothing of a token, a code or a secret is logged.

mod answers;
mod claims;
mod fetch;
mod issuer;
mod pending;
mod settings;
mod token;

use std::fmt;

use tokio::time::timeout;
use tracing::warn;

pub use self::settings::{ClientAuth, OidcSettings};
use self::{
    issuer::{Issuer, Trouble},
    pending::{Entry, Pending},
};
use super::External;
use crate::{
    error::{Code, Error},
    http::PublicUrl,
    model::Timestamp,
    secrets::Secrets,
    storage::hash_secret,
    throttle::Try,
};

/// Where the issuer sends browsers back to.
pub const CALLBACK: &str = "/api/auth/oidc/callback";

/// How long a sign-in may take, in seconds.
pub const PATIENCE_SECONDS: u64 = 600;

/// One issuer, and who is on the way to it.
pub struct Oidc {
    settings: OidcSettings,
    issuer: Issuer,
    pending: Pending,
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

/// A sign-in that somebody came back from.
pub struct Resumed {
    entry: Entry,
    /// Or why there is none.
    code: Result<String, String>,
}

impl Oidc {
    /// Nothing is fetched yet. People reach the service at this URL. Fails, with the setting's name, if one
    /// is not right.
    pub fn new(settings: OidcSettings, public_url: Option<&PublicUrl>) -> anyhow::Result<Self> {
        Ok(Self {
            issuer: Issuer::new(&settings, public_url)?,
            settings,
            pending: Pending::default(),
        })
    }

    /// What the button says.
    pub fn label(&self) -> &str {
        &self.settings.label
    }

    /// Begins a sign-in of a browser, which may be known already, and goes on at this path. The try
    /// ends when it does.
    pub async fn start(
        &self,
        secrets: &Secrets,
        browser: Option<String>,
        return_to: String,
        now: Timestamp,
        attempt: Try,
        request_id: &str,
    ) -> Result<Started, Error> {
        let (state, nonce, verifier) = (secrets.one_time(), secrets.one_time(), secrets.one_time());
        // Several tabs of one browser may be on the way at once.
        let browser = browser
            .filter(|browser| self.pending.knows(&hash_secret(browser), now))
            .unwrap_or_else(|| secrets.one_time());
        let asked = self.issuer.authorize_url(&state, &nonce, &verifier);
        let url = match self.in_time(asked, request_id).await {
            Ok(url) => url,
            failed => {
                attempt.settle(&failed);
                return failed.map(|url| Started { url, browser });
            }
        };
        let entry = Entry {
            browser: hash_secret(&browser),
            nonce,
            verifier,
            return_to,
            began: now,
            attempt,
        };
        self.pending.keep(hash_secret(&state), entry);
        Ok(Started { url, browser })
    }

    /// Takes the sign-in that a browser comes back from: once. Fails with the reason, which is for the log.
    pub fn resume(&self, returned: Returned, now: Timestamp) -> Result<Resumed, String> {
        let (state, browser) = (hash_secret(&returned.state), hash_secret(&returned.browser));
        let error = returned.error.map(|error| {
            let description = returned.error_description.unwrap_or_default();
            format!("the issuer answers {}: {}", shown(&error), shown(&description))
        });
        let entry = match (self.pending.take(&state, &browser, now), &error) {
            (Ok(entry), _) => entry,
            (Err(why), None) => return Err(why.to_owned()),
            (Err(why), Some(error)) => return Err(format!("{why}; {error}")),
        };
        let code = match (returned.issuer, error) {
            (Some(other), _) if other != self.settings.issuer => Err(format!(
                "iss of the callback is {}, another issuer",
                shown(&other)
            )),
            (_, Some(error)) => Err(error),
            (_, None) => returned.code.ok_or_else(|| "the callback has no code".into()),
        };
        Ok(Resumed { entry, code })
    }

    /// Whether a browser is still on the way.
    pub fn awaits(&self, browser: &str, now: Timestamp) -> bool {
        self.pending.knows(&hash_secret(browser), now)
    }

    /// Asks the issuer who came back.
    pub async fn complete(&self, resumed: &Resumed, request_id: &str) -> Result<External, Error> {
        let code = match &resumed.code {
            Ok(code) => code,
            Err(why) => return Err(self.refuse(why, request_id)),
        };
        let Entry { nonce, verifier, .. } = &resumed.entry;
        let redeeming = self.issuer.redeem(code, nonce, verifier, &self.settings);
        let told = self.in_time(redeeming, request_id).await?;
        claims::external(told, &self.settings, request_id)
    }

    /// Within the time that the settings say; the log has the reason of what does not come about.
    async fn in_time<T>(
        &self,
        asking: impl Future<Output = Result<T, Trouble>>,
        request_id: &str,
    ) -> Result<T, Error> {
        let limit = self.settings.time_limit;
        let answer = timeout(limit, asking).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            Err(Trouble::Silent(format!("no answer within {seconds} seconds")))
        });
        answer.map_err(|trouble| match trouble {
            Trouble::Silent(why) => {
                warn!(
                    request = request_id,
                    issuer = self.settings.issuer,
                    "the OpenID Connect issuer does not answer: {why}"
                );
                let message = "The sign-in provider does not answer; try again later";
                Error::new(Code::ServiceUnavailable, message)
            }
            Trouble::Refused(why) => self.refuse(&why, request_id),
        })
    }

    /// The answer to whoever the issuer does not vouch for, whatever the reason, which the log has.
    pub fn refuse(&self, why: &str, request_id: &str) -> Error {
        warn!(
            request = request_id,
            issuer = self.settings.issuer,
            "a sign-in by OpenID Connect failed: {why}"
        );
        Error::new(Code::Unauthorized, "The sign-in was not confirmed; begin again")
    }
}

impl Resumed {
    /// Ends the try, by what became of it; gives back where the browser wanted to go.
    pub fn settle<T>(self, result: &Result<T, Error>) -> String {
        self.entry.attempt.settle(result);
        self.entry.return_to
    }
}

impl fmt::Debug for Oidc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Oidc")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What came through the browser, for the log: short, on one line, and marked as a quotation.
fn shown(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    format!("{text:?}")
}
