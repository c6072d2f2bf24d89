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

use async_trait::async_trait;
use portico_http::PublicUrl;
use portico_model::{
    Timestamp,
    error::{Code, Error},
};
use portico_service::external::{External, Issuer as Vouches, Resumed, Returned, Started};
use portico_service::throttle::LoginAttempt;
use portico_storage::{hash_secret, secrets::Secrets};
use tokio::time::timeout;
use tracing::warn;

pub use self::settings::{ClientAuth, OidcSettings};
use self::{
    issuer::{Issuer, Trouble},
    pending::{Entry, Pending},
};

/// One issuer, and who is on the way to it.
pub struct Oidc {
    settings: OidcSettings,
    issuer: Issuer,
    pending: Pending,
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
}

#[async_trait]
impl Vouches for Oidc {
    fn label(&self) -> &str {
        &self.settings.label
    }

    async fn start(
        &self,
        secrets: &Secrets,
        browser: Option<String>,
        return_to: String,
        now: Timestamp,
        attempt: LoginAttempt,
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

    fn resume(&self, returned: Returned, now: Timestamp) -> Result<Resumed, String> {
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
        let Entry {
            nonce,
            verifier,
            return_to,
            attempt,
            ..
        } = entry;
        Ok(Resumed {
            code,
            nonce,
            verifier,
            return_to,
            attempt,
        })
    }

    fn awaits(&self, browser: &str, now: Timestamp) -> bool {
        self.pending.knows(&hash_secret(browser), now)
    }

    async fn complete(&self, resumed: &Resumed, request_id: &str) -> Result<External, Error> {
        let code = match &resumed.code {
            Ok(code) => code,
            Err(why) => return Err(self.refuse(why, request_id)),
        };
        let redeeming = self
            .issuer
            .redeem(code, &resumed.nonce, &resumed.verifier, &self.settings);
        let told = self.in_time(redeeming, request_id).await?;
        claims::external(told, &self.settings, request_id)
    }

    fn refuse(&self, why: &str, request_id: &str) -> Error {
        warn!(
            request = request_id,
            issuer = self.settings.issuer,
            "a sign-in by OpenID Connect failed: {why}"
        );
        Error::new(Code::Unauthorized, "The sign-in was not confirmed; begin again")
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
