//! Keys and tokens that clients send, and what an issuer signs: no bytes are a token that a key has not signed.

use std::time::{Duration, SystemTime};

use openidconnect::{AccessToken, core::CoreJsonWebKey};
use portico_storage::{CredentialKey, secrets};

use crate::token::{Signed, TokenPolicy};

/// The public key of RFC 7515's example A.3.
const KEY: &str = r#"{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;

pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    if let Some((CredentialKey::Key(id), _)) = secrets::parse(text) {
        assert!(
            text.starts_with(&format!("{id}.")),
            "the id is not that of the text"
        );
    }
    if secrets::parse_own(text).is_some() {
        assert!(text.len() <= 128 && text.is_ascii());
        assert!(secrets::imported_key(text).is_none(), "it is a key of two forms");
    }
    let Ok(signed) = Signed::read(text) else {
        return;
    };
    let keys: [CoreJsonWebKey; 1] = [serde_json::from_str(KEY).expect("a key")];
    let policy = TokenPolicy {
        issuer: "https://issuer.example",
        keys: &keys,
        client_id: "portico",
        trusted_audiences: &[],
    };
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let access_token = AccessToken::new("access".into());
    let checked = signed.check_id_token(&policy, "nonce", &access_token, now);
    assert!(checked.is_err(), "a token that nobody signed is valid");
    assert!(
        signed.check_userinfo(&policy).is_err(),
        "userinfo that nobody signed is valid"
    );
}
