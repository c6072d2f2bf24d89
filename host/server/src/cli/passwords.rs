//! `--password-sign-in`: who may sign in with a password, and whether anyone is left who can administer.

use anyhow::ensure;
use clap::ValueEnum;
use portico_http::HttpSettings;
use portico_model::Provider;
use portico_service::sign_in::PasswordSignIn;
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
    let prefixes: Vec<String> = issuer
        .into_iter()
        .chain(http.proxy_sign_in.as_ref().map(|_| "proxy"))
        .map(|issuer| format!("{issuer} "))
        .collect();
    let has_directory = http.providers.ldap.is_some();
    let is_current = |provider: Provider, subject: &str| match provider {
        Provider::Oidc => prefixes.iter().any(|prefix| subject.starts_with(prefix)),
        Provider::Ldap => has_directory,
        Provider::Credentials => false,
    };
    let found = host
        .service
        .administrator_signs_in_elsewhere(&is_current, "start")
        .await;
    ensure!(
        found.map_err(|error| anyhow::anyhow!(error.message))?,
        "--password-sign-in off: no enabled administrator has signed in by a provider that is set up now, so no one could \
         administer. Start with --password-sign-in administrators, sign in by the provider, and give that user admin"
    );
    Ok(())
}
