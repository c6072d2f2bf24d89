//! Sign-in with OpenID Connect: authorization code flow with PKCE, state and nonce.
//!
//! Invariants:
//! - A pending sign-in can be completed once, within ten minutes, and only from the browser that began it, at
//!   any host of the storage (`pending/`).
//! - An ID token is accepted only if a key of the issuer signed it for this client and this sign-in and it
//!   has not expired. Nothing else that the browser brings is trusted.
//! - No part of a token, a code or a secret is logged.

mod answers;
mod claim_path;
mod claim_text;
mod claims;
mod discovery;
mod error;
mod fetch;
mod hidden;
mod issuer;
mod memberships;
mod pending;
mod settings;
mod token;

use std::{fmt, sync::Arc};

use anyhow::bail;
use async_trait::async_trait;
use portico_http::PublicUrl;
use portico_model::{error::Error, refusal::Refusal};
use portico_service::external::{
    self, External, Issuer as _, NotResumed, Resumed, Returned, SignUp, StartRequest, Started,
};
use portico_service::throttle::{LoginAttempt, Throttle};
use portico_storage::{SharedRecords, hash_secret, secrets::Secrets};
use tokio::time::timeout;
use tracing::{error, info, warn};

pub use self::{
    claim_path::ClaimPath,
    claim_text::ClaimText,
    settings::{ClientAuth, OidcSettings, RequiredClaim},
};
use self::{
    error::IssuerError,
    issuer::Issuer,
    pending::{Entry, NotTaken, Pending, nonce, verifier},
};

/// An issuer and its pending sign-ins.
pub struct Oidc {
    settings: OidcSettings,
    issuer: Issuer,
    pending: Pending,
}

impl Oidc {
    /// `public_url` is where users reach the service. Fails if a setting is wrong, and names it. Does not connect yet.
    /// `records` is where the hosts of the storage store pending sign-ins.
    pub fn new(
        settings: OidcSettings,
        public_url: Option<&PublicUrl>,
        records: Arc<dyn SharedRecords>,
    ) -> anyhow::Result<Self> {
        settings.check()?;
        Ok(Self {
            issuer: Issuer::new(&settings, public_url)?,
            settings,
            pending: Pending::new(records),
        })
    }

    /// Asks the issuer for its discovery document, and whether it knows the client.
    pub async fn check(&self) -> anyhow::Result<()> {
        match timeout(self.settings.time_limit, self.issuer.check_client()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(
                IssuerError::Unavailable(why) | IssuerError::Refused(why) | IssuerError::Misconfigured(why),
            )) => bail!("{why}"),
            Err(_) => bail!("no answer within {} seconds", self.settings.time_limit.as_secs()),
        }
    }

    /// The same, and logs the result.
    pub async fn log_check(&self) {
        if self.in_time(self.issuer.check_client(), "start").await.is_ok() {
            let issuer = &self.settings.issuer;
            info!(
                issuer,
                "OpenID Connect: the issuer answers, and knows oidc-client-id"
            );
        }
    }

    /// Applies the time limit of the settings, and logs the reason of a failure.
    async fn in_time<T>(
        &self,
        request: impl Future<Output = Result<T, IssuerError>>,
        request_id: &str,
    ) -> Result<T, Error> {
        let limit = self.settings.time_limit;
        let answer = timeout(limit, request).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            Err(IssuerError::Unavailable(format!(
                "no answer within {seconds} seconds"
            )))
        });
        answer.map_err(|error| match error {
            IssuerError::Unavailable(why) => {
                warn!(
                    request = request_id,
                    issuer = self.settings.issuer,
                    "the OpenID Connect issuer does not answer: {why}"
                );
                Refusal::ProviderSilent.into()
            }
            IssuerError::Refused(why) => self.refuse(&why, request_id),
            IssuerError::Misconfigured(why) => {
                error!(
                    request = request_id,
                    issuer = self.settings.issuer,
                    "OpenID Connect is set up wrong: {why}"
                );
                Refusal::ProviderMisconfigured.into()
            }
        })
    }
}

#[async_trait]
impl external::Issuer for Oidc {
    fn label(&self) -> &str {
        &self.settings.label
    }

    async fn start(
        &self,
        secrets: &Secrets,
        request: StartRequest,
        attempt: LoginAttempt,
        request_id: &str,
    ) -> Result<Started, Error> {
        let StartRequest {
            browser,
            return_to,
            invitation,
        } = request;
        let begun = async {
            let state = secrets.one_time();
            // Several tabs of one browser may have pending sign-ins. A secret that is not ours is not used.
            let browser = match browser {
                Some(browser) if self.awaits(&browser).await? => browser,
                _ => secrets.one_time(),
            };
            let (nonce, verifier) = (nonce(&browser, &state), verifier(&browser, &state));
            let request = self.issuer.authorize_url(&state, &nonce, &verifier);
            let url = self.in_time(request, request_id).await?;
            Ok((state, browser, url))
        };
        let (state, browser, url) = match begun.await {
            Ok(begun) => begun,
            Err(error) => {
                let failed = Err(error);
                attempt.settle(&failed).await;
                return failed;
            }
        };
        let entry = Entry {
            return_to,
            source: attempt.leave(),
            invitation,
        };
        let (state, owner) = (hash_secret(&state), hash_secret(&browser));
        self.pending.insert(&state, &owner, entry).await?;
        Ok(Started { url, browser })
    }

    async fn resume(&self, returned: Returned, throttle: &Throttle) -> Result<Resumed, NotResumed> {
        let (state, browser) = (hash_secret(&returned.state), hash_secret(&returned.browser));
        let error = returned.error.map(|error| {
            let description = returned.error_description.unwrap_or_default();
            format!("the issuer answers {}: {}", quoted(&error), quoted(&description))
        });
        let taken = self.pending.take(&state, &browser).await;
        let entry = match (taken, &error) {
            (Ok(entry), _) => entry,
            (Err(NotTaken::Failed(error)), _) => return Err(NotResumed::Failed(error)),
            (Err(NotTaken::Unknown(why)), None) => return Err(NotResumed::Refused(why.to_owned())),
            (Err(NotTaken::Unknown(why)), Some(error)) => {
                return Err(NotResumed::Refused(format!("{why}; {error}")));
            }
        };
        let names_issuer = returned.issuer.is_some();
        let code = match (returned.issuer, error) {
            (Some(other), _) if other != self.settings.issuer => Err(format!(
                "iss of the callback is {}, another issuer",
                quoted(&other)
            )),
            (_, Some(error)) => Err(error),
            (_, None) => returned.code.ok_or_else(|| "the callback has no code".into()),
        };
        Ok(Resumed {
            code,
            names_issuer,
            nonce: nonce(&returned.browser, &returned.state),
            verifier: verifier(&returned.browser, &returned.state),
            return_to: entry.return_to,
            invitation: entry.invitation,
            attempt: throttle.resume(entry.source),
        })
    }

    async fn awaits(&self, browser: &str) -> Result<bool, Error> {
        Ok(self.pending.knows(&hash_secret(browser)).await?)
    }

    async fn complete(&self, resumed: &Resumed, request_id: &str) -> Result<External, Error> {
        let code = match &resumed.code {
            Ok(code) => code,
            Err(why) => return Err(self.refuse(why, request_id)),
        };
        let redeeming = self.issuer.redeem(code, resumed, &self.settings);
        let claims = self.in_time(redeeming, request_id).await?;
        if let Some(why) = &claims.failure {
            warn!(
                request = request_id,
                issuer = self.settings.issuer,
                "a sign-in by OpenID Connect goes on without userinfo: {why}"
            );
        }
        claims::external(claims, &self.settings, request_id)
    }

    fn sign_up(&self) -> SignUp {
        self.settings.sign_up
    }

    fn signs_out(&self) -> bool {
        self.settings.sign_out
    }

    async fn sign_out_url(&self, request_id: &str) -> Result<String, Error> {
        self.in_time(self.issuer.sign_out_url(), request_id).await
    }

    fn refuse(&self, why: &str, request_id: &str) -> Error {
        warn!(
            request = request_id,
            issuer = self.settings.issuer,
            "a sign-in by OpenID Connect failed: {why}"
        );
        Refusal::SignInNotConfirmed.into()
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

/// Quotes input from the browser for the log: short, escaped and on one line.
fn quoted(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    format!("{text:?}")
}
