//! What the settings of those who vouch for users have in common: all are text until a provider is
//! made of them, for what is not understood must not keep the host from starting.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Deserializer};

/// Reads a text, a number or a truth value of the settings file as text.
pub fn as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Text(String),
        Number(i64),
        Fraction(f64),
        Boolean(bool),
    }
    Ok(Some(match Given::deserialize(deserializer)? {
        Given::Text(text) => text,
        Given::Number(number) => number.to_string(),
        Given::Fraction(fraction) => fraction.to_string(),
        Given::Boolean(boolean) => boolean.to_string(),
    }))
}

/// What a setting says: an empty variable of the environment says nothing.
pub fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// A time limit in whole seconds; what it may be is for the provider to say.
pub fn time_limit(setting: &str, text: &Option<String>) -> anyhow::Result<Option<Duration>> {
    let Some(text) = given(text) else {
        return Ok(None);
    };
    let seconds = text.parse().map(Duration::from_secs);
    Ok(Some(seconds.with_context(|| {
        format!("{setting} {text:?} must be a number of seconds")
    })?))
}

/// A secret: in this variable of the environment, or in the file that this setting names.
pub fn secret(variable: &str, setting: &str, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let given = std::env::var_os(variable).filter(|secret| !secret.is_empty());
    let given = given.map(|secret| secret.into_string().ok());
    let given = match given {
        Some(secret) => Some(secret.with_context(|| format!("{variable} is no text"))?),
        None => None,
    };
    let Some(file) = file else {
        return Ok(given);
    };
    ensure!(given.is_none(), "{variable} and {setting} are both set");
    let text = read(setting, file)?;
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The file that a setting names.
pub fn read(setting: &str, file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("{setting}: cannot read {}", file.display()))
}
