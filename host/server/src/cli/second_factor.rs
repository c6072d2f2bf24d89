//! `--second-factor`: who must have a second factor; and where people have passkeys.

use clap::ValueEnum;
use portico_http::PublicUrl;
use portico_service::second_factor::{RelyingParty, SecondFactorPolicy, relying_party};
use serde::Deserialize;
use tracing::info;

#[derive(Deserialize, ValueEnum, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SecondFactorChoice {
    Optional,
    Administrators,
    Everyone,
}

/// The setting, with its default.
pub fn policy(choice: Option<SecondFactorChoice>) -> SecondFactorPolicy {
    match choice {
        None | Some(SecondFactorChoice::Optional) => SecondFactorPolicy::Optional,
        Some(SecondFactorChoice::Administrators) => SecondFactorPolicy::Administrators,
        Some(SecondFactorChoice::Everyone) => SecondFactorPolicy::Everyone,
    }
}

/// The site whose passkeys people have, if the public URL is one at which browsers make them.
pub fn passkeys(public_url: Option<&PublicUrl>) -> Option<RelyingParty> {
    let url = public_url?;
    relying_party(url)
        .inspect_err(|why| info!("passkeys are off: the public URL is {url}, and {why}"))
        .ok()
}
