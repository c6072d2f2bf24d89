//! The issuer: what it says about itself, and what it says of somebody.
//!
//! Invariants:
//! - Discovery and keys are fetched when they are needed first, and again after an hour. A token by a key
//!   that is not known fetches them once more, at most once a minute.
//! - Only signatures by keys of the issuer count: no shared secret, and never none.
//! - Everything goes over TLS, except to this machine itself.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use openidconnect::{
    AccessTokenHash, AdditionalClaims, AuthType, AuthorizationCode, ClaimsVerificationError, Client,
    ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet,
    IdToken, IdTokenFields, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, SignatureVerificationError, StandardErrorResponse,
    StandardTokenResponse, TokenResponse, UserInfoClaims,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
        CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
        CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse,
        CoreTokenIntrospectionResponse, CoreTokenType,
    },
    url::{Host, Url},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::{
    CALLBACK, OidcSettings,
    claims::{Told, lacks},
    fetch::{Failed, Fetch},
};
use crate::http::PublicUrl;
use crate::providers::check_time_limit;

/// How old what is known of an issuer may get.
const MAX_AGE: Duration = Duration::from_hours(1);
/// How often a key that is not known may be looked for.
const LOOK_AGAIN_AFTER: Duration = Duration::from_mins(1);

/// What a token may be signed with.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 10] = [
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EcdsaP521Sha512,
    CoreJwsSigningAlgorithm::EdDsa,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
];

/// Every claim that the library has no field for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OtherClaims {
    #[serde(flatten)]
    all: Map<String, Value>,
}

impl AdditionalClaims for OtherClaims {}

type Fields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type Tokens = StandardTokenResponse<Fields, CoreTokenType>;
type Token =
    IdToken<OtherClaims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;
type IssuerClient = Client<
    OtherClaims,
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

fn refused(error: impl Into<anyhow::Error>) -> Trouble {
    Trouble::Refused(format!("{:#}", error.into()))
}

pub(super) struct Issuer {
    url: IssuerUrl,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    redirect_url: RedirectUrl,
    scopes: Vec<Scope>,
    fetch: Fetch,
    known: Mutex<Option<Known>>,
}

struct Known {
    client: Arc<IssuerClient>,
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
            redirect_url,
            scopes: settings.scopes.iter().cloned().map(Scope::new).collect(),
            fetch: Fetch::new(settings.time_limit, settings.ca.as_deref()).context("oidc-ca-file")?,
            known: Mutex::default(),
        })
    }

    /// Where a browser is sent to sign in.
    pub async fn authorize_url(&self, state: &str, nonce: &str, verifier: &str) -> Result<String, Trouble> {
        let client = self.client().await?;
        let (state, nonce) = (CsrfToken::new(state.into()), Nonce::new(nonce.into()));
        let verifier = PkceCodeVerifier::new(verifier.into());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let (url, _, _) = client
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
    ) -> Result<Told, Trouble> {
        let client = self.client().await?;
        let request = client.exchange_code(AuthorizationCode::new(code.into()));
        let request = request.map_err(silent)?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.into()));
        let tokens = request.request_async(&self.fetch).await.map_err(no_tokens)?;
        let token = tokens
            .id_token()
            .ok_or_else(|| Trouble::Refused("there is no ID token in its answer".into()))?;

        let nonce = Nonce::new(nonce.into());
        let claims = match verify(&client, token, &tokens, &nonce) {
            Err(Unverified::UnknownKey) => {
                let client = self.client_with_other_keys(&client).await?;
                verify(&client, token, &tokens, &nonce)
            }
            verified => verified,
        };
        let claims = claims.map_err(|unverified| match unverified {
            Unverified::UnknownKey => {
                Trouble::Refused("its ID token is signed by a key that it does not show".into())
            }
            Unverified::Because(why) => Trouble::Refused(format!("its ID token does not hold: {why}")),
        })?;
        let mut told = Told::new(self.url.to_string(), claims);
        if lacks(&told.token, settings) && client.user_info_url().is_some() {
            let subject = openidconnect::SubjectIdentifier::new(told.subject.clone());
            let request = client.user_info(tokens.access_token().clone(), Some(subject));
            let request = request.map_err(silent)?;
            let claims: UserInfoClaims<OtherClaims, CoreGenderClaim> = request
                .request_async(&self.fetch)
                .await
                .map_err(|error| match error {
                    openidconnect::UserInfoError::ClaimsVerification(error) => refused(error),
                    error => silent(error),
                })?;
            told.userinfo = object(&claims);
        }
        Ok(told)
    }

    /// The issuer as it is known, which may have to be asked first.
    async fn client(&self) -> Result<Arc<IssuerClient>, Trouble> {
        // Who comes while somebody asks waits for the answer.
        let mut known = self.known.lock().await;
        match &*known {
            Some(known) if known.fetched.elapsed() < MAX_AGE => Ok(known.client.clone()),
            _ => self.discover(&mut known, None).await,
        }
    }

    /// The issuer with the keys that it has now, if these were not looked for a moment ago.
    async fn client_with_other_keys(&self, stale: &Arc<IssuerClient>) -> Result<Arc<IssuerClient>, Trouble> {
        let mut known = self.known.lock().await;
        let now = Instant::now();
        match &mut *known {
            Some(known) if !Arc::ptr_eq(&known.client, stale) => Ok(known.client.clone()),
            Some(known)
                if known
                    .looked_again
                    .is_some_and(|then| now - then < LOOK_AGAIN_AFTER) =>
            {
                Ok(known.client.clone())
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
    ) -> Result<Arc<IssuerClient>, Trouble> {
        let metadata = CoreProviderMetadata::discover_async(self.url.clone(), &self.fetch).await;
        let metadata = metadata.map_err(silent)?;
        check_endpoints(&metadata)?;
        let by_body = by_body(&metadata);
        let (id, secret) = (self.client_id.clone(), self.client_secret.clone());
        let mut client = IssuerClient::from_provider_metadata(metadata, id, secret)
            .set_redirect_uri(self.redirect_url.clone());
        if by_body {
            client = client.set_auth_type(AuthType::RequestBody);
        }
        let client = Arc::new(client);
        *known = Some(Known {
            client: client.clone(),
            fetched: Instant::now(),
            looked_again,
        });
        Ok(client)
    }
}

/// Whether the issuer wants the client's secret in the body. Where it says nothing, it does not.
fn by_body(metadata: &CoreProviderMetadata) -> bool {
    let methods = metadata.token_endpoint_auth_methods_supported();
    methods.is_some_and(|methods| {
        !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
            && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
    })
}

enum Unverified {
    UnknownKey,
    Because(String),
}

fn verify(
    client: &IssuerClient,
    token: &Token,
    tokens: &Tokens,
    nonce: &Nonce,
) -> Result<Map<String, Value>, Unverified> {
    let because = |error: &dyn std::fmt::Display| Unverified::Because(error.to_string());
    let verifier = client.id_token_verifier().set_allowed_algs(ALGORITHMS);
    let claims = token.claims(&verifier, nonce).map_err(|error| match error {
        ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey) => {
            Unverified::UnknownKey
        }
        ClaimsVerificationError::SignatureVerification(error) => because(&error),
        error => because(&error),
    })?;
    if let Some(expected) = claims.access_token_hash() {
        let algorithm = token.signing_alg().map_err(|error| because(&error))?;
        let key = token.signing_key(&verifier).map_err(|error| because(&error))?;
        let actual = AccessTokenHash::from_token(tokens.access_token(), algorithm, key);
        if actual.map_err(|error| because(&error))? != *expected {
            return Err(Unverified::Because("it belongs to another access token".into()));
        }
    }
    Ok(object(claims))
}

fn object(claims: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(claims) {
        Ok(Value::Object(claims)) => claims,
        _ => Map::new(),
    }
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
