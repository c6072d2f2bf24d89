//! What the settings of the external identity providers (LDAP, OpenID Connect) share.
//!
//! They stay text until a provider is built from them: a wrong setting turns that provider off and does not prevent the
//! host from starting.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Deserializer};

use super::secret;

/// Reads text, a number or a boolean of the settings file as text.
pub fn as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Scalar {
        Text(String),
        Number(i64),
        Fraction(f64),
        Boolean(bool),
    }
    Ok(Some(match Scalar::deserialize(deserializer)? {
        Scalar::Text(text) => text,
        Scalar::Number(number) => number.to_string(),
        Scalar::Fraction(fraction) => fraction.to_string(),
        Scalar::Boolean(boolean) => boolean.to_string(),
    }))
}

/// The value of a setting. An empty text counts as not set.
pub fn value(setting: &Option<String>) -> Option<&str> {
    setting.as_deref().filter(|text| !text.is_empty())
}

/// The value of a setting, or its default.
pub fn value_or(setting: &Option<String>, default: String) -> String {
    value(setting).map_or(default, Into::into)
}

/// A time limit in whole seconds. The provider checks its range.
pub fn time_limit(name: &str, setting: &Option<String>, default: Duration) -> anyhow::Result<Duration> {
    let Some(text) = value(setting) else {
        return Ok(default);
    };
    let seconds = text.parse().map(Duration::from_secs);
    seconds.with_context(|| format!("{name} {text:?} must be a number of seconds"))
}

/// The secret of a setting, from this environment variable or from its file.
pub fn secret(variable: &str, setting: &str, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let secret = std::env::var_os(variable).filter(|secret| !secret.is_empty());
    let secret = match secret.map(|secret| secret.into_string().ok()) {
        Some(secret) => Some(secret.with_context(|| format!("{variable} is not text"))?),
        None => None,
    };
    secret::read(setting, secret.as_deref(), file)
}

/// The content of the file that a setting names.
pub fn read_file(setting: &str, file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("{setting}: cannot read {}", file.display()))
}

/// A setting that is on or off.
pub fn switch(name: &str, text: &Option<String>) -> anyhow::Result<Option<bool>> {
    Ok(match value(text) {
        None => None,
        Some("on") => Some(true),
        Some("off") => Some(false),
        Some(_) => bail!("{name} must be on or off"),
    })
}
