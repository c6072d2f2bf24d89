//! Answers of the issuer in forms that the library reads: it is stricter than issuers are.

use std::{fmt, pin::Pin, time::Duration};

use openidconnect::{
    AccessToken, AsyncHttpClient, EmptyAdditionalClaims, HttpRequest, HttpResponse, OAuth2TokenResponse,
    RefreshToken, Scope, TokenResponse,
    core::{
        CoreGenderClaim, CoreIdToken, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
        CoreTokenType,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    fetch::{Failed, Fetch},
    token::{ED25519, EDDSA},
};

/// What the issuer answers to a code.
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

/// The library's client asks for this, and does not use it.
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

/// Fetches keys as the library reads them.
pub(super) struct Readable<'f>(pub &'f Fetch);

impl<'c> AsyncHttpClient<'c> for Readable<'_> {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(async move { Ok(readable(self.0.call(request).await?)) })
    }
}

fn readable(answer: HttpResponse) -> HttpResponse {
    answer.map(|body| match serde_json::from_slice::<Value>(&body) {
        Ok(said) if said.get("keys").is_some() => with_known_names(said).to_string().into_bytes(),
        _ => body,
    })
}

/// The keys of an issuer with the names of algorithms that the library knows.
fn with_known_names(mut keys: Value) -> Value {
    let keys_of = keys.get_mut("keys").and_then(Value::as_array_mut);
    for key in keys_of.into_iter().flatten() {
        if key.get("alg").and_then(Value::as_str) == Some(ED25519) {
            key["alg"] = EDDSA.into();
        }
    }
    keys
}
