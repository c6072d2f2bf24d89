//! The issuer: what it says about itself, and what it says of somebody.
//!
//! Invariants:
//! - Discovery and keys are fetched when they are needed first, and again after an hour. A token that none
//!   of the known keys signed fetches them once more, at most once a minute: the issuer may have a new
//!   key, also under the `kid` of the old one.
//! - Only signatures by keys of the issuer count: no shared secret, and never none (`token.rs`).
//! - Everything goes over TLS, except to this machine itself.

use std::{
    fmt::Display,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, bail, ensure};
use openidconnect::{
    AccessToken, AsyncHttpClient, AuthType, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken,
    EmptyAdditionalClaims, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpResponse, IssuerUrl, Nonce,
    OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    StandardErrorResponse, UserInfoUrl,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
        CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreProviderMetadata,
        CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse,
    },
    http::{Request, StatusCode, header},
    url::{Host, Url},
};
use portico_http::PublicUrl;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::{
    answers::{Readable, Tokens},
    claims::{IdentityClaims, lacks},
    fetch::{Failed, Fetch},
    settings::{CALLBACK, ClientAuth, OidcSettings},
    token::{Doubt, Signed, Terms, without_nulls},
};
use crate::common::check_time_limit;

/// How old what is known of an issuer may get.
const MAX_AGE: Duration = Duration::from_hours(1);
/// How often other keys may be looked for.
const LOOK_AGAIN_AFTER: Duration = Duration::from_mins(1);

type IssuerClient = Client<
    EmptyAdditionalClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Why an issuer is of no help.
pub(super) enum Trouble {
    /// It does not answer, or not as an issuer does.
    Silent(String),
    /// It does not vouch for whoever came, or not in a way that is believed.
    Refused(String),
}

fn silent(error: impl Into<anyhow::Error>) -> Trouble {
    Trouble::Silent(format!("{:#}", error.into()))
}

pub(super) struct Issuer {
    url: IssuerUrl,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    client_auth: Option<ClientAuth>,
    trusted_audiences: Vec<String>,
    redirect_url: RedirectUrl,
    scopes: Vec<Scope>,
    fetch: Fetch,
    known: Mutex<Option<Known>>,
}

/// What the issuer said about itself.
struct Present {
    client: IssuerClient,
    keys: Vec<CoreJsonWebKey>,
}

struct Known {
    present: Arc<Present>,
    fetched: Instant,
    looked_again: Option<Instant>,
}

impl Issuer {
    pub fn new(settings: &OidcSettings, public_url: Option<&PublicUrl>) -> anyhow::Result<Self> {
        let url = issuer_url(&settings.issuer)?;
        ensure!(!settings.client_id.trim().is_empty(), "oidc-client-id is missing");
        check_time_limit("oidc-time-limit", settings.time_limit)?;
        let Some(public_url) = public_url else {
            bail!("public-url is missing: the issuer sends browsers back to where people reach the service");
        };
        let redirect_url = RedirectUrl::new(format!("{public_url}{CALLBACK}")).context("public-url")?;
        let secret = settings.client_secret.clone();
        Ok(Self {
            url,
            client_id: ClientId::new(settings.client_id.clone()),
            client_secret: secret.map(|secret| ClientSecret::new(secret.0)),
            client_auth: settings.client_auth,
            trusted_audiences: settings.trusted_audiences.clone(),
            redirect_url,
            scopes: settings.scopes.iter().cloned().map(Scope::new).collect(),
            fetch: Fetch::new(settings.time_limit, settings.ca.as_deref()).context("oidc-ca-file")?,
            known: Mutex::default(),
        })
    }

    /// Where a browser is sent to sign in.
    pub async fn authorize_url(&self, state: &str, nonce: &str, verifier: &str) -> Result<String, Trouble> {
        let present = self.present().await?;
        let (state, nonce) = (CsrfToken::new(state.into()), Nonce::new(nonce.into()));
        let verifier = PkceCodeVerifier::new(verifier.into());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let (url, _, _) = present
            .client
            .authorize_url(flow, move || state, move || nonce)
            .add_scopes(self.scopes.iter().cloned())
            .set_pkce_challenge(challenge)
            .url();
        Ok(url.into())
    }

    /// What the issuer says of whoever brought this code.
    pub async fn redeem(
        &self,
        code: &str,
        nonce: &str,
        verifier: &str,
        settings: &OidcSettings,
    ) -> Result<IdentityClaims, Trouble> {
        let mut present = self.present().await?;
        let request = present.client.exchange_code(AuthorizationCode::new(code.into()));
        let request = request.map_err(silent)?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.into()));
        let tokens = request.request_async(&self.fetch).await.map_err(no_tokens)?;
        let access_token = tokens.access_token();
        let token = tokens
            .id_token()
            .ok_or_else(|| Trouble::Refused("there is no ID token in its answer".into()))?;
        let token = Signed::read(token).map_err(does_not_hold)?;
        let mut subject = self.check(&present, &token, nonce, access_token);
        if let Err(Doubt::Key(_)) = subject {
            present = self.with_other_keys(&present).await?;
            subject = self.check(&present, &token, nonce, access_token);
        }
        let subject = subject.map_err(does_not_hold)?;

        let mut told = IdentityClaims::new(self.url.to_string(), subject, token.into_claims());
        if lacks(&told.token, settings)
            && let Some(url) = present.client.user_info_url()
        {
            told.userinfo = self.userinfo(&present, url, access_token, &told.subject).await?;
        }
        Ok(told)
    }

    /// What the issuer says of the subject beside the ID token.
    async fn userinfo(
        &self,
        present: &Present,
        url: &UserInfoUrl,
        access_token: &AccessToken,
        subject: &str,
    ) -> Result<Map<String, Value>, Trouble> {
        let request = Request::get(url.as_str())
            .header(header::ACCEPT, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", access_token.secret()))
            .body(Vec::new());
        let answer = self.fetch.call(request.map_err(silent)?).await.map_err(silent)?;
        if answer.status() != StatusCode::OK {
            return Err(Trouble::Silent(format!("userinfo: {}", answer.status())));
        }
        let claims = if is_signed(&answer) {
            let token = String::from_utf8_lossy(answer.body());
            let token = Signed::read(token.trim()).map_err(|error| silent(error.context("userinfo")))?;
            let checked = token.check_userinfo(&self.terms(present));
            checked.map_err(|doubt| Trouble::Refused(format!("userinfo does not hold: {doubt}")))?;
            token.into_claims()
        } else {
            // The text of an error may hold a part of the answer.
            serde_json::from_slice(answer.body())
                .map_err(|_| Trouble::Silent("userinfo is no JSON object".into()))?
        };
        if claims.get("sub").and_then(Value::as_str) != Some(subject) {
            return Err(Trouble::Refused(
                "userinfo has another sub than the ID token".into(),
            ));
        }
        Ok(without_nulls(claims))
    }

    /// Gives the subject of an ID token that holds.
    fn check(
        &self,
        present: &Present,
        token: &Signed,
        nonce: &str,
        access_token: &AccessToken,
    ) -> Result<String, Doubt> {
        let terms = self.terms(present);
        token.check_id_token(&terms, nonce, access_token, SystemTime::now())
    }

    fn terms<'a>(&'a self, present: &'a Present) -> Terms<'a> {
        Terms {
            issuer: &self.url,
            keys: &present.keys,
            client_id: &self.client_id,
            trusted_audiences: &self.trusted_audiences,
        }
    }

    /// The issuer as it is known, which may have to be asked first.
    async fn present(&self) -> Result<Arc<Present>, Trouble> {
        // Who comes while somebody asks waits for the answer.
        let mut known = self.known.lock().await;
        match &*known {
            Some(known) if known.fetched.elapsed() < MAX_AGE => Ok(known.present.clone()),
            _ => self.discover(&mut known, None).await,
        }
    }

    /// The issuer with the keys that it has now, if these were not looked for a moment ago.
    async fn with_other_keys(&self, stale: &Arc<Present>) -> Result<Arc<Present>, Trouble> {
        let mut known = self.known.lock().await;
        let now = Instant::now();
        match &mut *known {
            Some(known) if !Arc::ptr_eq(&known.present, stale) => Ok(known.present.clone()),
            Some(known)
                if known
                    .looked_again
                    .is_some_and(|then| now - then < LOOK_AGAIN_AFTER) =>
            {
                Ok(known.present.clone())
            }
            Some(present) => {
                present.looked_again = Some(now);
                self.discover(&mut known, Some(now)).await
            }
            None => self.discover(&mut known, Some(now)).await,
        }
    }

    async fn discover(
        &self,
        known: &mut Option<Known>,
        looked_again: Option<Instant>,
    ) -> Result<Arc<Present>, Trouble> {
        let fetch = Readable(&self.fetch);
        let metadata = CoreProviderMetadata::discover_async(self.url.clone(), &fetch).await;
        let metadata = metadata.map_err(silent)?;
        check_endpoints(&metadata)?;
        let keys = metadata.jwks().keys().clone();
        let by_body = match self.client_auth {
            Some(way) => way == ClientAuth::Post,
            None => by_body(&metadata),
        };
        let (id, secret) = (self.client_id.clone(), self.client_secret.clone());
        let mut client = IssuerClient::from_provider_metadata(metadata, id, secret)
            .set_redirect_uri(self.redirect_url.clone());
        if by_body {
            client = client.set_auth_type(AuthType::RequestBody);
        }
        let present = Arc::new(Present { client, keys });
        *known = Some(Known {
            present: present.clone(),
            fetched: Instant::now(),
            looked_again,
        });
        Ok(present)
    }
}

fn does_not_hold(why: impl Display) -> Trouble {
    Trouble::Refused(format!("its ID token does not hold: {why}"))
}

fn is_signed(answer: &HttpResponse) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/jwt")
}

/// Whether the issuer wants the client's secret in the body. Where it says nothing, it does not.
fn by_body(metadata: &CoreProviderMetadata) -> bool {
    let methods = metadata.token_endpoint_auth_methods_supported();
    methods.is_some_and(|methods| {
        !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
            && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
    })
}

/// What is wrong with a code is its bearer's matter; what else is wrong is the issuer's.
fn no_tokens(error: RequestTokenError<Failed, StandardErrorResponse<CoreErrorResponseType>>) -> Trouble {
    match error {
        RequestTokenError::Request(error) => silent(error),
        RequestTokenError::ServerResponse(response) => {
            Trouble::Refused(format!("it gives no token: {:?}", response.error().as_ref()))
        }
        // What it sent may hold a token.
        RequestTokenError::Parse(..) => Trouble::Silent("it sends no token, but something else".into()),
        RequestTokenError::Other(why) => Trouble::Silent(why),
    }
}

fn issuer_url(text: &str) -> anyhow::Result<IssuerUrl> {
    ensure!(!text.is_empty(), "oidc-issuer is missing");
    let expected = || {
        format!(
            "oidc-issuer {text:?} must be like https://issuer.example/path, as the issuer writes it itself"
        )
    };
    let issuer = IssuerUrl::new(text.into()).with_context(expected)?;
    let url = issuer.url();
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
        && url.has_host()
        && matches!(url.scheme(), "http" | "https");
    ensure!(is_plain, expected());
    ensure!(
        is_safe(url),
        "oidc-issuer {text:?} must begin with https: whoever is on the way to it could sign in as anybody"
    );
    Ok(issuer)
}

fn check_endpoints(metadata: &CoreProviderMetadata) -> Result<(), Trouble> {
    let endpoints = [
        Some(metadata.authorization_endpoint().url()),
        metadata.token_endpoint().map(|url| url.url()),
        metadata.userinfo_endpoint().map(|url| url.url()),
        Some(metadata.jwks_uri().url()),
    ];
    match endpoints.into_iter().flatten().find(|url| !is_safe(url)) {
        Some(url) => Err(Trouble::Silent(format!("its endpoint {url} is not https"))),
        None => Ok(()),
    }
}

/// Whether nobody can listen on the way.
fn is_safe(url: &Url) -> bool {
    let is_this_machine = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_this_machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_a_url_over_tls_or_on_this_machine() {
        for text in [
            "https://issuer.example",
            "https://issuer.example/realms/home",
            "http://127.0.0.1:8080/",
            "http://localhost",
            "http://[::1]:1/x",
        ] {
            assert_eq!(issuer_url(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "issuer.example",
            "http://issuer.example",
            "http://localhost.example",
            "http://127.0.0.1.example",
            "https://me@issuer.example",
            "https://issuer.example?tenant=1",
            "https://issuer.example/#a",
            "ftp://127.0.0.1",
        ] {
            assert!(issuer_url(text).is_err(), "{text}");
        }
    }
}
