//! `--second-factor`: who must have a second factor.

use clap::ValueEnum;
use portico_service::second_factor::SecondFactorPolicy;
use serde::Deserialize;

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
