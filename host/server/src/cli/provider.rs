//! What the settings of the external identity providers (LDAP, OpenID Connect) share.
//!
//! They stay text until a provider is built from them: a wrong setting turns that provider off and does not prevent the
//! host from starting.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Deserializer};

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

/// A secret from this environment variable, or from the file that the setting names.
pub fn secret(variable: &str, setting: &str, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let secret = std::env::var_os(variable).filter(|secret| !secret.is_empty());
    let secret = match secret.map(|secret| secret.into_string().ok()) {
        Some(secret) => Some(secret.with_context(|| format!("{variable} is no text"))?),
        None => None,
    };
    let Some(file) = file else {
        return Ok(secret);
    };
    ensure!(secret.is_none(), "{variable} and {setting} are both set");
    let text = read_file(setting, file)?;
    let text = text.trim_end_matches(['\r', '\n']);
    let wrong = |what| format!("{setting}: {} {what}", file.display());
    ensure!(!text.is_empty(), wrong("is empty"));
    ensure!(
        !text.starts_with('\u{feff}'),
        wrong("begins with a byte order mark: save it as UTF-8 without one")
    );
    ensure!(
        text.trim() == text,
        wrong("has spaces or empty lines around the secret: remove them")
    );
    Ok(Some(text.to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_secret_has_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let read = |content: &str| {
            fs::write(&file, content).unwrap();
            let read = secret("PORTICO_NO_SUCH_SECRET", "oidc-client-secret-file", Some(&file));
            read.map_err(|error| error.to_string())
        };
        for content in ["a secret", "a secret\n", "a secret\r\n"] {
            assert_eq!(read(content), Ok(Some("a secret".into())), "{content:?}");
        }
        for (content, what) in [
            ("", "is empty"),
            ("\n", "is empty"),
            ("\u{feff}a secret", "byte order mark"),
            (" a secret", "spaces"),
            ("a secret \n", "spaces"),
            ("\ta secret", "spaces"),
            ("\na secret", "spaces"),
            (" ", "spaces"),
        ] {
            let error = read(content).expect_err(content);
            assert!(
                error.contains(what) && error.contains("oidc-client-secret-file"),
                "{content:?}: {error}"
            );
        }
    }
}
