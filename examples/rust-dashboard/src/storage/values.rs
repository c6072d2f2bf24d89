//! Converts the contract's values to and from the dashboard's tables.

use portico::model::{ColorScheme, Provider};
use rusqlite::{
    Result,
    types::{FromSqlError, Type},
};
use sha2::{Digest, Sha256};

/// The identity provider of a person.
pub fn source(provider: Provider) -> &'static str {
    match provider {
        Provider::Credentials => "local",
        Provider::Oidc => "sso",
        Provider::Ldap => "directory",
    }
}

/// The reverse.
pub fn provider(source: &str) -> Result<Provider> {
    match source {
        "local" => Ok(Provider::Credentials),
        "sso" => Ok(Provider::Oidc),
        "directory" => Ok(Provider::Ldap),
        _ => Err(rusqlite::Error::FromSqlConversionFailure(
            0,
            Type::Text,
            FromSqlError::InvalidType.into(),
        )),
    }
}

/// The colour scheme of a person.
pub fn look(scheme: ColorScheme) -> &'static str {
    match scheme {
        ColorScheme::Light => "day",
        ColorScheme::Dark => "night",
        ColorScheme::Auto => "system",
    }
}

/// A time, limited to the largest integer of SQLite.
pub fn moment(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}

/// A limit on rows, limited to the largest integer of SQLite.
pub fn limit(limit: Option<u32>) -> i64 {
    limit.map_or(-1, Into::into)
}

/// The hash that is stored for a secret.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}
