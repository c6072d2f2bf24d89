//! The contract's values as the dashboard's tables hold them.

use portico::model::{ColorScheme, Provider};
use rusqlite::{
    Result,
    types::{FromSqlError, Type},
};
use sha2::{Digest, Sha256};

/// Who vouches for a person.
pub fn source(provider: Provider) -> &'static str {
    match provider {
        Provider::Credentials => "local",
        Provider::Oidc => "sso",
        Provider::Ldap => "directory",
    }
}

/// The same the other way round.
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

/// How the dashboard looks to a person.
pub fn look(scheme: ColorScheme) -> &'static str {
    match scheme {
        ColorScheme::Light => "day",
        ColorScheme::Dark => "night",
        ColorScheme::Auto => "system",
    }
}

/// A moment; SQLite has none that are later than the latest of these.
pub fn moment(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}

/// How many at most, as SQLite counts.
pub fn limit(limit: Option<u32>) -> i64 {
    limit.map_or(-1, Into::into)
}

/// All that is kept of a secret.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}
