//! The issuer: discovery, the authorization URL, tokens and userinfo.
//!
//! Invariants:
//! - Discovery and keys are fetched on first use, and again after an hour. If no known key signed a token,
//!   they are fetched again, at most once a minute: the issuer may have a new key, even under the `kid` of
//!   the old one.
//! - Only signatures by keys of the issuer count: shared secrets and unsigned tokens do not (`token.rs`).
//! - All requests use TLS, except to this machine.

use std::{
    fmt::Display,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, bail, ensure};
use openidconnect::{
    AccessToken, AsyncHttpClient, AuthType, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken,
    EmptyAdditionalClaims, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpResponse, IssuerUrl,
    JsonWebKeySet, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, StandardErrorResponse, UserInfoUrl,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
        CoreGenderClaim, CoreJsonWebKey, CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm,
        CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse,
        CoreTokenIntrospectionResponse,
    },
    http::{Request, StatusCode, header},
    url::{Host, Url},
};
use portico_http::PublicUrl;
use portico_service::external::Resumed;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::{
    answers::{KeyFetch, TokenFetch, Tokens},
    claims::{IdentityClaims, is_incomplete},
    fetch::{Failed, Fetch},
    quoted,
    settings::{CALLBACK, ClientAuth, OidcSettings, SIGNED_OUT},
    token::{Signed, TokenError, TokenPolicy, without_nulls},
};
use crate::common::check_time_limit;

/// The path of the discovery document, below the issuer.
const DISCOVERY: &str = "/.well-known/openid-configuration";
/// How old discovery and keys may get.
const MAX_AGE: Duration = Duration::from_hours(1);
/// The shortest time between two fetches because of an unknown key.
const RETRY_INTERVAL: Duration = Duration::from_mins(1);

type TokenFailure = RequestTokenError<Failed, StandardErrorResponse<CoreErrorResponseType>>;

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

/// Why the issuer did not vouch for a user.
pub(super) enum IssuerError {
    /// It did not respond, or not with a valid response.
    Unavailable(String),
    /// It refused, or its token is invalid.
    Refused(String),
    /// A setting is wrong, so that no one can sign in.
    Misconfigured(String),
}

fn unavailable(error: impl Into<anyhow::Error>) -> IssuerError {
    IssuerError::Unavailable(format!("{:#}", error.into()))
}

pub(super) struct Issuer {
    url: IssuerUrl,
    /// Where its discovery document is.
    discovery_url: Url,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    client_auth: Option<ClientAuth>,
    trusted_audiences: Vec<String>,
    redirect_url: RedirectUrl,
    /// Where the issuer sends browsers that have signed out there.
    signed_out_url: String,
    scopes: Vec<Scope>,
    fetch: Fetch,
    cache: Mutex<Option<Cached>>,
}

/// The result of discovery.
struct Discovered {
    client: IssuerClient,
    keys: Vec<CoreJsonWebKey>,
    /// Whether the issuer promises to name itself in every callback (RFC 9207).
    promises_iss: bool,
    /// Where people sign out, as the issuer wrote it. It is read where it is used, so that people sign in whatever it is.
    end_session: Option<String>,
}

struct Cached {
    discovered: Arc<Discovered>,
    fetched: Instant,
    retried: Option<Instant>,
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
            discovery_url: discovery_url(&url)?,
            url,
            client_id: ClientId::new(settings.client_id.clone()),
            client_secret: secret.map(|secret| ClientSecret::new(secret.0)),
            client_auth: settings.client_auth,
            trusted_audiences: settings.trusted_audiences.clone(),
            redirect_url,
            signed_out_url: format!("{public_url}{SIGNED_OUT}"),
            scopes: settings.scopes.iter().cloned().map(Scope::new).collect(),
            fetch: Fetch::new(settings.time_limit, settings.ca.as_deref()).context("oidc-ca-file")?,
            cache: Mutex::default(),
        })
    }

    /// The URL to which the browser is sent to sign in.
    pub async fn authorize_url(
        &self,
        state: &str,
        nonce: &str,
        verifier: &str,
    ) -> Result<String, IssuerError> {
        let discovered = self.discovered().await?;
        let (state, nonce) = (CsrfToken::new(state.into()), Nonce::new(nonce.into()));
        let verifier = PkceCodeVerifier::new(verifier.into());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let (url, _, _) = discovered
            .client
            .authorize_url(flow, move || state, move || nonce)
            .add_scopes(self.scopes.iter().cloned())
            .set_pkce_challenge(challenge)
            .url();
        Ok(url.into())
    }

    /// The URL to which the browser is sent to sign out. It has no token: none is stored, so the issuer asks the person.
    pub async fn sign_out_url(&self) -> Result<String, IssuerError> {
        let discovered = self.discovered().await?;
        let why = "oidc-sign-out is on, and its discovery document has no end_session_endpoint";
        let text = discovered.end_session.as_deref();
        let mut url = end_session_url(text.ok_or_else(|| IssuerError::Misconfigured(why.into()))?)?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("post_logout_redirect_uri", &self.signed_out_url);
        Ok(url.into())
    }

    /// Exchanges a code for tokens, checks the ID token and returns the claims.
    pub async fn redeem(
        &self,
        code: &str,
        resumed: &Resumed,
        settings: &OidcSettings,
    ) -> Result<IdentityClaims, IssuerError> {
        let mut discovered = self.discovered().await?;
        if discovered.promises_iss && !resumed.names_issuer {
            let why = "the callback has no iss, which the issuer promises in its discovery document";
            return Err(IssuerError::Refused(why.into()));
        }
        let nonce = &*resumed.nonce;
        let tokens = self.exchange(&discovered, code, &resumed.verifier).await;
        let tokens = tokens.map_err(|failure| self.token_error(failure, &[code, &resumed.verifier]))?;
        let access_token = tokens.access_token();
        let token = tokens
            .id_token()
            .ok_or_else(|| IssuerError::Refused("there is no ID token in its answer".into()))?;
        let token = Signed::read(token).map_err(invalid_token)?;
        let mut subject = self.check(&discovered, &token, nonce, access_token);
        if let Err(TokenError::Key(_)) = subject {
            discovered = self.with_new_keys(&discovered).await?;
            subject = self.check(&discovered, &token, nonce, access_token);
        }
        let subject = subject.map_err(invalid_token)?;

        let mut claims = IdentityClaims::new(self.url.to_string(), subject, token.into_claims());
        if is_incomplete(&claims.token, settings)
            && let Some(url) = discovered.client.user_info_url()
        {
            let userinfo = self.userinfo(&discovered, url, access_token, &claims.subject);
            match userinfo.await? {
                Ok(userinfo) => claims.userinfo = userinfo,
                Err(why) => claims.failure = Some(why),
            }
        }
        match (claims.lacks(settings), &claims.failure) {
            (Some(claim), Some(why)) => Err(IssuerError::Unavailable(format!(
                "the ID token has no {claim}, and {why}"
            ))),
            _ => Ok(claims),
        }
    }

    async fn exchange(
        &self,
        discovered: &Discovered,
        code: &str,
        verifier: &str,
    ) -> Result<Tokens, TokenFailure> {
        let request = discovered
            .client
            .exchange_code(AuthorizationCode::new(code.into()));
        let request = request.map_err(|error| RequestTokenError::Other(error.to_string()))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.into()));
        request.request_async(&TokenFetch(&self.fetch)).await
    }

    /// Whether the issuer knows the client and its secret, as far as it says so about a code that it never gave.
    pub async fn check_client(&self) -> Result<(), IssuerError> {
        // Sign-ins fetch what they need themselves.
        let discovered = self.discover(&mut None, None).await?;
        match self.exchange(&discovered, "none", "none").await {
            Err(RequestTokenError::ServerResponse(response))
                if matches!(
                    response.error().as_ref(),
                    "invalid_client" | "unauthorized_client"
                ) =>
            {
                let why = described(&response);
                Err(IssuerError::Misconfigured(format!(
                    "it refuses oidc-client-id and its secret: {why}"
                )))
            }
            Ok(_) | Err(RequestTokenError::ServerResponse(_)) => Ok(()),
            Err(failure) => Err(self.token_error(failure, &[])),
        }
    }

    /// If the issuer refuses the code, the sign-in is refused; other errors mean that the issuer is unavailable. What was
    /// sent does not get into the log, even if the issuer repeats it.
    fn token_error(&self, failure: TokenFailure, sent: &[&str]) -> IssuerError {
        let hidden = |text: String| {
            let secret = self.client_secret.iter().map(|secret| secret.secret().as_str());
            // First the secret: a browser chooses the code, which could be a part of it.
            let sent = secret.chain(sent.iter().copied());
            sent.filter(|sent| !sent.is_empty())
                .fold(text, |text, sent| text.replace(sent, "…"))
        };
        match failure {
            RequestTokenError::Request(error) => IssuerError::Unavailable(hidden(error.to_string())),
            RequestTokenError::ServerResponse(response) => {
                IssuerError::Refused(hidden(format!("it gives no token: {}", described(&response))))
            }
            RequestTokenError::Parse(..) => {
                IssuerError::Unavailable("the answer of its token endpoint is no token".into())
            }
            RequestTokenError::Other(why) => IssuerError::Unavailable(hidden(why)),
        }
    }

    /// The claims of userinfo, or why there are none although nothing speaks against the user.
    async fn userinfo(
        &self,
        discovered: &Discovered,
        url: &UserInfoUrl,
        access_token: &AccessToken,
        subject: &str,
    ) -> Result<Result<Map<String, Value>, String>, IssuerError> {
        let request = Request::get(url.as_str())
            .header(header::ACCEPT, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", access_token.secret()))
            .body(Vec::new());
        let answer = match self.fetch.call(request.map_err(unavailable)?).await {
            Ok(answer) if answer.status() == StatusCode::OK => answer,
            Ok(answer) => return Ok(Err(format!("userinfo: {}", answer.status()))),
            // It may have more groups than are read.
            Err(error) if error.is_too_long => return Err(unavailable(error)),
            Err(error) => return Ok(Err(format!("userinfo: {error}"))),
        };
        let claims = if is_jwt(&answer) {
            let token = String::from_utf8_lossy(answer.body());
            let token = Signed::read(token.trim()).map_err(|error| unavailable(error.context("userinfo")))?;
            let checked = token.check_userinfo(&self.policy(discovered));
            checked.map_err(|error| IssuerError::Refused(format!("userinfo is invalid: {error}")))?;
            token.into_claims()
        } else {
            match serde_json::from_slice(answer.body()) {
                Ok(claims) => claims,
                // The text of the parser's error may contain part of the response.
                Err(_) => return Ok(Err("userinfo is no JSON object".into())),
            }
        };
        if claims.get("sub").and_then(Value::as_str) != Some(subject) {
            return Err(IssuerError::Refused(
                "userinfo has another sub than the ID token".into(),
            ));
        }
        Ok(Ok(without_nulls(claims)))
    }

    /// Checks an ID token and returns its subject.
    fn check(
        &self,
        discovered: &Discovered,
        token: &Signed,
        nonce: &str,
        access_token: &AccessToken,
    ) -> Result<String, TokenError> {
        let policy = self.policy(discovered);
        token.check_id_token(&policy, nonce, access_token, SystemTime::now())
    }

    fn policy<'a>(&'a self, discovered: &'a Discovered) -> TokenPolicy<'a> {
        TokenPolicy {
            issuer: &self.url,
            keys: &discovered.keys,
            client_id: &self.client_id,
            trusted_audiences: &self.trusted_audiences,
        }
    }

    /// The cached discovery, fetched if it is missing or too old.
    async fn discovered(&self) -> Result<Arc<Discovered>, IssuerError> {
        // Concurrent callers share one request.
        let mut cached = self.cache.lock().await;
        match &*cached {
            Some(cached) if cached.fetched.elapsed() < MAX_AGE => Ok(cached.discovered.clone()),
            _ => self.discover(&mut cached, None).await,
        }
    }

    /// Fetches discovery and keys again, unless that was done since `stale` or within the last minute.
    async fn with_new_keys(&self, stale: &Arc<Discovered>) -> Result<Arc<Discovered>, IssuerError> {
        let mut cached = self.cache.lock().await;
        let now = Instant::now();
        match &mut *cached {
            Some(cached) if !Arc::ptr_eq(&cached.discovered, stale) => Ok(cached.discovered.clone()),
            Some(cached) if cached.retried.is_some_and(|then| now - then < RETRY_INTERVAL) => {
                Ok(cached.discovered.clone())
            }
            Some(entry) => {
                entry.retried = Some(now);
                self.discover(&mut cached, Some(now)).await
            }
            None => self.discover(&mut cached, Some(now)).await,
        }
    }

    async fn discover(
        &self,
        cached: &mut Option<Cached>,
        retried: Option<Instant>,
    ) -> Result<Arc<Discovered>, IssuerError> {
        let (metadata, promises_iss, end_session) = self.metadata().await?;
        check_endpoints(&metadata)?;
        let keys = JsonWebKeySet::fetch_async(metadata.jwks_uri(), &KeyFetch(&self.fetch)).await;
        let keys: CoreJsonWebKeySet = keys.map_err(unavailable)?;
        let metadata = metadata.set_jwks(keys.clone());
        let keys = keys.keys().clone();
        let secret_in_body = match self.client_auth {
            Some(client_auth) => client_auth == ClientAuth::Post,
            None => requires_secret_in_body(&metadata),
        };
        let (id, secret) = (self.client_id.clone(), self.client_secret.clone());
        let mut client = IssuerClient::from_provider_metadata(metadata, id, secret)
            .set_redirect_uri(self.redirect_url.clone());
        if secret_in_body {
            client = client.set_auth_type(AuthType::RequestBody);
        }
        let discovered = Arc::new(Discovered {
            client,
            keys,
            promises_iss,
            end_session,
        });
        *cached = Some(Cached {
            discovered: discovered.clone(),
            fetched: Instant::now(),
            retried,
        });
        Ok(discovered)
    }
}

impl Issuer {
    /// The discovery document, whether it promises `iss` in every callback, and where people sign out.
    async fn metadata(&self) -> Result<(CoreProviderMetadata, bool, Option<String>), IssuerError> {
        let url = &self.discovery_url;
        let request = Request::get(url.as_str()).header(header::ACCEPT, "application/json");
        let answer = self
            .fetch
            .call(request.body(Vec::new()).map_err(unavailable)?)
            .await;
        let answer = answer.map_err(unavailable)?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => {
                return Err(IssuerError::Misconfigured(format!(
                    "there is no discovery document at {url} (404): check oidc-issuer"
                )));
            }
            status => return Err(IssuerError::Unavailable(format!("{url}: {status}"))),
        }
        let document: Value = serde_json::from_slice(answer.body())
            .map_err(|_| IssuerError::Unavailable(format!("{url} is no JSON")))?;
        let found = document.get("issuer").and_then(Value::as_str);
        let found = found.ok_or_else(|| IssuerError::Unavailable(format!("{url} has no issuer")))?;
        if found != self.url.as_str() {
            return Err(IssuerError::Misconfigured(format!(
                "the issuer calls itself {}, and oidc-issuer is {}: set oidc-issuer to {0}",
                quoted(found),
                quoted(&self.url),
            )));
        }
        let promise = document.get("authorization_response_iss_parameter_supported");
        let promises_iss = promise == Some(&Value::Bool(true));
        let end_session = document.get("end_session_endpoint").and_then(Value::as_str);
        let end_session = end_session.map(str::to_owned);
        let metadata = serde_json::from_value(document);
        let metadata = metadata.map_err(|error| IssuerError::Unavailable(format!("{url}: {error}")))?;
        Ok((metadata, promises_iss, end_session))
    }
}

/// Where people sign out. Like the other endpoints, it must be https, or on this machine.
fn end_session_url(text: &str) -> Result<Url, IssuerError> {
    let url = Url::parse(text).ok().filter(is_safe);
    url.ok_or_else(|| {
        IssuerError::Unavailable(format!("end_session_endpoint {} is no https URL", quoted(text)))
    })
}

/// The refusal of the token endpoint in its own words.
fn described(response: &StandardErrorResponse<CoreErrorResponseType>) -> String {
    let description = response.error_description().map(|text| quoted(text));
    let error = quoted(response.error().as_ref());
    description.map_or(error.clone(), |description| format!("{error}: {description}"))
}

fn invalid_token(why: impl Display) -> IssuerError {
    IssuerError::Refused(format!("its ID token is invalid: {why}"))
}

fn is_jwt(answer: &HttpResponse) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/jwt")
}

/// Whether the issuer accepts the client's secret only in the body.
fn requires_secret_in_body(metadata: &CoreProviderMetadata) -> bool {
    let methods = metadata.token_endpoint_auth_methods_supported();
    methods.is_some_and(|methods| {
        !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
            && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
    })
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
        "oidc-issuer {text:?} must begin with https: without TLS, anyone on the network could sign in as any user"
    );
    Ok(issuer)
}

/// Where the discovery document of an issuer is, even if its URL has a space or a path too much: the document then says
/// what the URL must be.
fn discovery_url(issuer: &IssuerUrl) -> anyhow::Result<Url> {
    let text = issuer.trim();
    let base = text.find("/.well-known/").map_or(text, |end| &text[..end]);
    let base = base.trim_end_matches('/');
    Ok(Url::parse(&format!("{base}{DISCOVERY}"))?)
}

fn check_endpoints(metadata: &CoreProviderMetadata) -> Result<(), IssuerError> {
    let endpoints = [
        Some(metadata.authorization_endpoint().url()),
        metadata.token_endpoint().map(|url| url.url()),
        metadata.userinfo_endpoint().map(|url| url.url()),
        Some(metadata.jwks_uri().url()),
    ];
    match endpoints.into_iter().flatten().find(|url| !is_safe(url)) {
        Some(url) => Err(IssuerError::Unavailable(format!(
            "its endpoint {url} is not https"
        ))),
        None => Ok(()),
    }
}

/// Whether a connection to this URL cannot be intercepted.
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
    fn discovery_is_found_although_the_url_has_something_too_much() {
        for text in [
            "https://id.example/realms/home",
            "https://id.example/realms/home/",
            "https://id.example/realms/home ",
            "https://id.example/realms/home/.well-known/openid-configuration",
        ] {
            let url = discovery_url(&issuer_url(text).unwrap()).unwrap();
            let expected = "https://id.example/realms/home/.well-known/openid-configuration";
            assert_eq!(url.as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn an_issuer_url_is_https_or_on_this_machine() {
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
