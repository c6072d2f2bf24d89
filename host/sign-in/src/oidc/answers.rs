//! Adapts responses of issuers to the OpenID Connect library, which is stricter than many issuers.

use std::{fmt, pin::Pin, time::Duration};

use openidconnect::{
    AccessToken, AsyncHttpClient, EmptyAdditionalClaims, HttpRequest, HttpResponse, OAuth2TokenResponse,
    RefreshToken, Scope, TokenResponse,
    core::{
        CoreGenderClaim, CoreIdToken, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
        CoreTokenType,
    },
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    fetch::{Failed, Fetch},
    hidden::Hidden,
    token::{ED25519, EDDSA},
};

/// The response of the token endpoint.
#[derive(Deserialize, Serialize)]
pub(super) struct Tokens {
    access_token: AccessToken,
    id_token: Option<String>,
}

impl Tokens {
    /// The ID token as the issuer sent it.
    pub fn id_token(&self) -> Option<&str> {
        self.id_token.as_deref()
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(tokens)")
    }
}

impl OAuth2TokenResponse for Tokens {
    type TokenType = CoreTokenType;

    fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    fn token_type(&self) -> &CoreTokenType {
        &CoreTokenType::Bearer
    }

    fn expires_in(&self) -> Option<Duration> {
        None
    }

    fn refresh_token(&self) -> Option<&RefreshToken> {
        None
    }

    fn scopes(&self) -> Option<&Vec<Scope>> {
        None
    }
}

/// Required by the library's client, which does not use it.
impl
    TokenResponse<
        EmptyAdditionalClaims,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    > for Tokens
{
    fn id_token(&self) -> Option<&CoreIdToken> {
        None
    }
}

/// A client that renames algorithms in fetched keys to names that the library knows.
pub(super) struct KeyFetch<'f>(pub &'f Fetch);

impl<'c> AsyncHttpClient<'c> for KeyFetch<'_> {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(async move { Ok(adapted(self.0.call(request).await?)) })
    }
}

/// A client of the token endpoint. An issuer that fails or is too busy says nothing of the code, whatever its answer
/// looks like.
pub(super) struct TokenFetch<'f> {
    pub fetch: &'f Fetch,
    /// What is sent, and does not get into the error.
    pub sent: &'f Hidden<'f>,
}

impl<'c> AsyncHttpClient<'c> for TokenFetch<'_> {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(async move {
            let answer = self.fetch.call(request).await?;
            let status = answer.status();
            if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
                return Err(Failed::new(format!(
                    "its token endpoint: {status}{}",
                    self.reason(answer.body())
                )));
            }
            Ok(answer)
        })
    }
}

impl TokenFetch<'_> {
    /// The error in the body of a refusal, as far as it has one.
    fn reason(&self, body: &[u8]) -> String {
        let refusal: Value = serde_json::from_slice(body).unwrap_or_default();
        let parts = ["error", "error_description"].into_iter();
        parts
            .filter_map(|part| Some(self.sent.quoted(refusal.get(part)?.as_str()?)))
            .fold(String::new(), |reason, part| format!("{reason}: {part}"))
    }
}

fn adapted(answer: HttpResponse) -> HttpResponse {
    answer.map(|body| match serde_json::from_slice::<Value>(&body) {
        Ok(json) if json.get("keys").is_some() => with_known_names(json).to_string().into_bytes(),
        _ => body,
    })
}

/// Renames algorithms in an issuer's keys to names that the library knows.
fn with_known_names(mut keys: Value) -> Value {
    let keys_of = keys.get_mut("keys").and_then(Value::as_array_mut);
    for key in keys_of.into_iter().flatten() {
        if key.get("alg").and_then(Value::as_str) == Some(ED25519) {
            key["alg"] = EDDSA.into();
        }
    }
    keys
}
