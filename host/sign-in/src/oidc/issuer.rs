//! The issuer: the authorization URL, tokens and userinfo.
//!
//! Invariants:
//! - Only signatures by keys of the issuer count: shared secrets and unsigned tokens do not (`token.rs`).
//! - Nothing that is sent to the token endpoint gets into the log, even if its answer repeats it (`hidden.rs`).

use std::{
    fmt::Display,
    iter,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, bail, ensure};
use openidconnect::{
    AccessToken, AsyncHttpClient, AuthorizationCode, ClientId, ClientSecret, CsrfToken, HttpResponse,
    IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, StandardErrorResponse, UserInfoUrl,
    core::{CoreAuthenticationFlow, CoreErrorResponseType},
    http::{Request, StatusCode, header},
};
use portico_http::PublicUrl;
use portico_service::external::Resumed;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{
    answers::{TokenFetch, Tokens},
    claims::{IdentityClaims, is_incomplete},
    discovery::{Discovered, Discovery, end_session_url, issuer_url},
    error::{IssuerError, unavailable},
    fetch::{Failed, Fetch},
    hidden::Hidden,
    settings::{CALLBACK, OidcSettings, SIGNED_OUT},
    token::{Signed, TokenError, TokenPolicy, without_nulls},
};
use crate::common::check_time_limit;

type TokenFailure = RequestTokenError<Failed, StandardErrorResponse<CoreErrorResponseType>>;

pub(super) struct Issuer {
    url: IssuerUrl,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    trusted_audiences: Vec<String>,
    /// Where the issuer sends browsers that have signed out there.
    signed_out_url: String,
    scopes: Vec<Scope>,
    time_limit: Duration,
    discovery: Discovery,
    fetch: Fetch,
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
        let client_id = ClientId::new(settings.client_id.clone());
        let secret = settings.client_secret.clone();
        let client_secret = secret.map(|secret| ClientSecret::new(secret.0));
        let fetch = Fetch::new(settings.time_limit, settings.ca.as_deref()).context("oidc-ca-file")?;
        let client = (client_id.clone(), client_secret.clone());
        Ok(Self {
            discovery: Discovery::new(
                url.clone(),
                client,
                settings.client_auth,
                redirect_url,
                fetch.clone(),
            )?,
            url,
            client_id,
            client_secret,
            trusted_audiences: settings.trusted_audiences.clone(),
            signed_out_url: format!("{public_url}{SIGNED_OUT}"),
            scopes: settings.scopes.iter().cloned().map(Scope::new).collect(),
            time_limit: settings.time_limit,
            fetch,
        })
    }

    /// The URL to which the browser is sent to sign in.
    pub async fn authorize_url(
        &self,
        state: &str,
        nonce: &str,
        verifier: &str,
    ) -> Result<String, IssuerError> {
        let discovered = self.discovery.current().await?;
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
        let discovered = self.discovery.current().await?;
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
        let begun = Instant::now();
        let mut discovered = self.discovery.current().await?;
        if discovered.promises_iss && !resumed.names_issuer {
            let why = "the callback has no iss, which the issuer promises in its discovery document";
            return Err(IssuerError::Refused(why.into()));
        }
        let nonce = &*resumed.nonce;
        let tokens = self.exchange(&discovered, code, &resumed.verifier).await?;
        let access_token = tokens.access_token();
        let token = tokens
            .id_token()
            .ok_or_else(|| IssuerError::Refused("there is no ID token in its answer".into()))?;
        let token = Signed::read(token).map_err(invalid_token)?;
        let mut subject = self.check(&discovered, &token, nonce, access_token);
        if let Err(TokenError::Key(_)) = subject {
            discovered = self.discovery.with_new_keys(&discovered).await?;
            subject = self.check(&discovered, &token, nonce, access_token);
        }
        let subject = subject.map_err(invalid_token)?;

        let mut claims = IdentityClaims::new(self.url.to_string(), subject, token.into_claims());
        if is_incomplete(&claims.token, settings)
            && let Some(url) = discovered.client.user_info_url()
        {
            let userinfo = self.userinfo(&discovered, url, access_token, &claims.subject);
            // Half of the time that is left, so that a sign-in that can do without it still ends in time.
            let patience = self.time_limit.saturating_sub(begun.elapsed()) / 2;
            let silent = || Ok(Err("userinfo: no answer".to_owned()));
            match timeout(patience, userinfo).await.unwrap_or_else(|_| silent())? {
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
    ) -> Result<Tokens, IssuerError> {
        let sent = self.hidden(code, verifier);
        let tokens = self.ask_for_tokens(discovered, code, verifier, &sent).await;
        tokens.map_err(|failure| token_error(failure, &sent))
    }

    /// What is sent for a code.
    fn hidden<'a>(&'a self, code: &'a str, verifier: &'a str) -> Hidden<'a> {
        let secret = self.client_secret.as_ref().map(|secret| secret.secret().as_str());
        Hidden::new(iter::chain([code, verifier], secret))
    }

    async fn ask_for_tokens(
        &self,
        discovered: &Discovered,
        code: &str,
        verifier: &str,
        sent: &Hidden<'_>,
    ) -> Result<Tokens, TokenFailure> {
        let request = discovered
            .client
            .exchange_code(AuthorizationCode::new(code.into()));
        let request = request.map_err(|error| RequestTokenError::Other(error.to_string()))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.into()));
        let fetch = &self.fetch;
        request.request_async(&TokenFetch { fetch, sent }).await
    }

    /// Whether the issuer knows the client and its secret, as far as it says so about a code that it never gave.
    pub async fn check_client(&self) -> Result<(), IssuerError> {
        const NO_CODE: &str = "none";
        // Sign-ins fetch what they need themselves.
        let discovered = self.discovery.fetch_now().await?;
        // The word is not hidden: it is not a secret, and may be a part of others.
        let sent = self.hidden("", "");
        let asked = self.ask_for_tokens(&discovered, NO_CODE, NO_CODE, &sent).await;
        match asked.map_err(|failure| token_error(failure, &sent)) {
            Ok(_) | Err(IssuerError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
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
            // One that is encrypted, for example.
            let token = match Signed::read(token.trim()) {
                Ok(token) => token,
                Err(why) => return Ok(Err(format!("userinfo: {why}"))),
            };
            let checked = token.check_userinfo(&self.policy(discovered));
            checked.map_err(|error| IssuerError::Refused(format!("userinfo is invalid: {error}")))?;
            token.into_claims()
        } else {
            match serde_json::from_slice(answer.body()) {
                Ok(claims) => claims,
                // The text of the parser's error may contain part of the response.
                Err(_) => return Ok(Err("userinfo is not a JSON object".into())),
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
}

/// If the issuer refuses the code, the sign-in is refused. If it refuses the client, no one can sign in. Other errors mean
/// that the issuer is unavailable.
fn token_error(failure: TokenFailure, sent: &Hidden<'_>) -> IssuerError {
    match failure {
        RequestTokenError::Request(error) => IssuerError::Unavailable(sent.cover(&error.to_string())),
        RequestTokenError::ServerResponse(response) => {
            let why = described(&response, sent);
            match response.error().as_ref() {
                "invalid_client" | "unauthorized_client" => {
                    IssuerError::Misconfigured(format!("it refuses oidc-client-id and its secret: {why}"))
                }
                _ => IssuerError::Refused(format!("it gives no token: {why}")),
            }
        }
        RequestTokenError::Parse(..) => {
            IssuerError::Unavailable("the answer of its token endpoint is not a token".into())
        }
        RequestTokenError::Other(why) => IssuerError::Unavailable(sent.cover(&why)),
    }
}

/// The refusal of the token endpoint in its own words.
fn described(response: &StandardErrorResponse<CoreErrorResponseType>, sent: &Hidden<'_>) -> String {
    let error = sent.quoted(response.error().as_ref());
    match response.error_description() {
        Some(description) => format!("{error}: {}", sent.quoted(description)),
        None => error,
    }
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
