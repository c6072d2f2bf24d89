//! What an issuer says of itself: its discovery document and its keys.
//!
//! Invariants:
//! - Both are fetched on first use, and again after an hour. If no known key signed a token, they are fetched again, at most
//!   once a minute: the issuer may have a new key, even under the `kid` of the old one.
//! - The issuer calls itself as the setting does, character by character.
//! - All its endpoints use TLS, except on this machine.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use openidconnect::{
    AsyncHttpClient, AuthType, Client, ClientId, ClientSecret, EmptyAdditionalClaims, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IssuerUrl, JsonWebKeySet, RedirectUrl, StandardErrorResponse,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim,
        CoreJsonWebKey, CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreProviderMetadata,
        CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse,
    },
    http::{Request, StatusCode, header},
    url::{Host, Url},
};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{
    answers::{KeyFetch, Tokens},
    error::{IssuerError, unavailable},
    fetch::Fetch,
    quoted,
    settings::ClientAuth,
};

/// The path of the discovery document, below the issuer.
const DOCUMENT: &str = "/.well-known/openid-configuration";
/// How old discovery and keys may get.
const MAX_AGE: Duration = Duration::from_hours(1);
/// The shortest time between two fetches because of an unknown key.
const RETRY_INTERVAL: Duration = Duration::from_mins(1);

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

pub(super) struct Discovery {
    issuer: IssuerUrl,
    document_url: Url,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    client_auth: Option<ClientAuth>,
    redirect_url: RedirectUrl,
    fetch: Fetch,
    cache: Mutex<Option<Cached>>,
}

/// The result of discovery.
pub(super) struct Discovered {
    pub client: IssuerClient,
    pub keys: Vec<CoreJsonWebKey>,
    /// Whether the issuer promises to name itself in every callback (RFC 9207).
    pub promises_iss: bool,
    /// Where people sign out, as the issuer wrote it. It is read where it is used, so that people sign in whatever it is.
    pub end_session: Option<String>,
}

struct Cached {
    discovered: Arc<Discovered>,
    fetched: Instant,
    retried: Option<Instant>,
}

impl Discovery {
    /// Does not connect yet.
    pub fn new(
        issuer: IssuerUrl,
        (client_id, client_secret): (ClientId, Option<ClientSecret>),
        client_auth: Option<ClientAuth>,
        redirect_url: RedirectUrl,
        fetch: Fetch,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            document_url: document_url(&issuer)?,
            issuer,
            client_id,
            client_secret,
            client_auth,
            redirect_url,
            fetch,
            cache: Mutex::default(),
        })
    }

    /// The cached discovery, fetched if it is missing or too old.
    pub async fn current(&self) -> Result<Arc<Discovered>, IssuerError> {
        // Concurrent callers share one request.
        let mut cached = self.cache.lock().await;
        match &*cached {
            Some(cached) if cached.fetched.elapsed() < MAX_AGE => Ok(cached.discovered.clone()),
            _ => self.discover(&mut cached, None).await,
        }
    }

    /// Fetches discovery and keys again, unless that was done since `stale` or within the last minute.
    pub async fn with_new_keys(&self, stale: &Arc<Discovered>) -> Result<Arc<Discovered>, IssuerError> {
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

    /// Fetches both, whatever is known.
    pub async fn fetch_now(&self) -> Result<Arc<Discovered>, IssuerError> {
        self.discover(&mut None, None).await
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

    /// The discovery document, whether it promises `iss` in every callback, and where people sign out.
    async fn metadata(&self) -> Result<(CoreProviderMetadata, bool, Option<String>), IssuerError> {
        let url = &self.document_url;
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
            status if status.is_redirection() => {
                return Err(IssuerError::Misconfigured(format!(
                    "there is no discovery document at {url}, which leads elsewhere ({status}): check oidc-issuer"
                )));
            }
            status => return Err(IssuerError::Unavailable(format!("{url}: {status}"))),
        }
        // A page, for example: that of an application that answers every path with it.
        let no_document = |why| {
            IssuerError::Misconfigured(format!(
                "there is no discovery document at {url}, which {why}: check oidc-issuer"
            ))
        };
        let document: Value =
            serde_json::from_slice(answer.body()).map_err(|_| no_document("is not JSON"))?;
        let found = document.get("issuer").and_then(Value::as_str);
        let found = found.ok_or_else(|| no_document("has no issuer"))?;
        if found != self.issuer.as_str() {
            return Err(IssuerError::Misconfigured(format!(
                "the issuer calls itself {}, and oidc-issuer is {}: set oidc-issuer to {0}",
                quoted(found),
                quoted(&self.issuer),
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
pub(super) fn end_session_url(text: &str) -> Result<Url, IssuerError> {
    let url = Url::parse(text).ok().filter(is_safe);
    url.ok_or_else(|| {
        IssuerError::Unavailable(format!(
            "end_session_endpoint {} is not an https URL",
            quoted(text)
        ))
    })
}

/// Whether the issuer accepts the client's secret only in the body.
fn requires_secret_in_body(metadata: &CoreProviderMetadata) -> bool {
    let methods = metadata.token_endpoint_auth_methods_supported();
    methods.is_some_and(|methods| {
        !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
            && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
    })
}

/// The URL of an issuer, as a setting has it.
pub(super) fn issuer_url(text: &str) -> anyhow::Result<IssuerUrl> {
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
fn document_url(issuer: &IssuerUrl) -> anyhow::Result<Url> {
    let text = issuer.trim();
    let base = text.find("/.well-known/").map_or(text, |end| &text[..end]);
    let base = base.trim_end_matches('/');
    Ok(Url::parse(&format!("{base}{DOCUMENT}"))?)
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
            let url = document_url(&issuer_url(text).unwrap()).unwrap();
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
