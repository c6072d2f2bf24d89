//! One pending sign-in, and what is derived from its secrets.

use portico_model::{Timestamp, error::Error};
use portico_service::external::{Invitation, PATIENCE_SECONDS};
use portico_service::throttle::Source;
use portico_storage::{SecretHash, hash_secret};

/// How long a sign-in may take.
pub(super) const TIME_LIMIT: Timestamp = PATIENCE_SECONDS * 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::oidc) struct Entry {
    /// The path to which the browser is sent at the end.
    pub return_to: String,
    /// What its attempt counts for. The attempt fails unless it is resumed.
    pub source: Option<Source>,
    /// The invite with which a person who has no user yet becomes one.
    pub invitation: Option<Invitation>,
}

/// Why a sign-in is not taken.
#[derive(Debug)]
pub(in crate::oidc) enum NotTaken {
    /// There is no such sign-in, for this reason.
    Unknown(&'static str),
    /// The store does not respond.
    Failed(Error),
}

/// The nonce that the ID token of a sign-in must contain.
pub(in crate::oidc) fn nonce(browser: &str, state: &str) -> String {
    derived("nonce", browser, state)
}

/// The PKCE verifier of a sign-in (RFC 7636): 64 characters, of 256 bits.
pub(in crate::oidc) fn verifier(browser: &str, state: &str) -> String {
    derived("verifier", browser, state)
}

/// A value that only a holder of the browser's secret can compute.
fn derived(purpose: &str, browser: &str, state: &str) -> String {
    hex(&hash_secret(&format!(
        "portico oidc {purpose}\n{browser}\n{state}"
    )))
}

pub(super) fn hex(hash: &SecretHash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_and_verifier_are_of_one_sign_in_and_have_the_form_of_their_standards() {
        let derive = [nonce, verifier];
        let mut all: Vec<_> = [("one", "a"), ("one", "b"), ("two", "a"), ("tw", "oa")]
            .into_iter()
            .flat_map(|(browser, state)| derive.map(|derive| derive(browser, state)))
            .collect();
        assert!(all.iter().all(|text| (43..=128).contains(&text.len())));
        assert!(
            all.iter()
                .flat_map(|text| text.bytes())
                .all(|byte| byte.is_ascii_alphanumeric())
        );
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
