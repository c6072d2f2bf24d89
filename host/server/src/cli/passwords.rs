//! `--password-sign-in`: who may sign in with a password, and whether anyone is left who can administer.

use anyhow::ensure;
use clap::ValueEnum;
use portico_http::HttpSettings;
use portico_service::sign_in::{PasswordSignIn, WaysIn};
use serde::Deserialize;

use super::{host::Host, settings::Settings};

#[derive(Deserialize, ValueEnum, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum PasswordSignInChoice {
    On,
    Administrators,
    Off,
}

/// The setting, with its default.
pub fn policy(choice: Option<PasswordSignInChoice>) -> PasswordSignIn {
    match choice {
        None | Some(PasswordSignInChoice::On) => PasswordSignIn::On,
        Some(PasswordSignInChoice::Administrators) => PasswordSignIn::Administrators,
        Some(PasswordSignInChoice::Off) => PasswordSignIn::Off,
    }
}

/// Refuses to turn passwords off if no enabled administrator is known at a provider that is set up now.
pub async fn require_another_way(
    host: &Host,
    settings: &Settings,
    http: &HttpSettings,
) -> anyhow::Result<()> {
    if host.service.passwords != PasswordSignIn::Off {
        return Ok(());
    }
    let issuer = http.providers.oidc.as_ref().and(settings.oidc.issuer());
    let proxy = http.proxy_sign_in.as_ref().map(|_| "proxy");
    let has_directory = http.providers.ldap.is_some();
    let ways_in = WaysIn::new(issuer.into_iter().chain(proxy), has_directory);
    let found = host.service.leave_only(ways_in, "start").await;
    ensure!(
        found.map_err(|error| anyhow::anyhow!(error.message))?,
        "--password-sign-in off: no enabled administrator has signed in by a provider that is set up now, so no one could \
         administer. Start with --password-sign-in administrators, sign in by the provider, and give that user admin"
    );
    Ok(())
}
