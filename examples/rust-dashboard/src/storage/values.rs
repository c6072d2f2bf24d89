//! The contract's values, as the dashboard's tables store them.

use portico::model::{ColorScheme, Provider};
use rusqlite::{
    Result,
    types::{FromSqlError, Type},
};
use sha2::{Digest, Sha256};

/// A provider as the tables name it.
pub fn source(provider: Provider) -> &'static str {
    match provider {
        Provider::Credentials => "local",
        Provider::Oidc => "sso",
        Provider::Ldap => "directory",
    }
}

/// A provider by its name in the tables.
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

/// A color scheme as the tables name it.
pub fn look(scheme: ColorScheme) -> &'static str {
    match scheme {
        ColorScheme::Light => "day",
        ColorScheme::Dark => "night",
        ColorScheme::Auto => "system",
    }
}

/// A time; later ones than SQLite can hold become the latest that it can.
pub fn moment(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}

/// A limit as SQLite's `LIMIT` takes it; `None` means unlimited.
pub fn limit(limit: Option<u32>) -> i64 {
    limit.map_or(-1, Into::into)
}

/// The hash of a secret: the secret itself is not stored.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}
