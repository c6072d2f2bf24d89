//! How the contract's values are stored in columns.

use portico_model::{ColorScheme, Provider, Timestamp};
use portico_storage::{Result, SecretHash, Slice};

use crate::database::{Row, invalid};
use crate::parameter::Value;

/// The word of a provider.
pub(crate) fn provider_text(provider: Provider) -> &'static str {
    match provider {
        Provider::Credentials => "credentials",
        Provider::Oidc => "oidc",
        Provider::Ldap => "ldap",
    }
}

/// The provider in a column that may be NULL.
pub(crate) fn optional_provider(row: &dyn Row, column: usize) -> Result<Option<Provider>> {
    Ok(match row.get_text(column)?.as_deref() {
        None => None,
        Some("credentials") => Some(Provider::Credentials),
        Some("oidc") => Some(Provider::Oidc),
        Some("ldap") => Some(Provider::Ldap),
        Some(_) => return Err(invalid("provider")),
    })
}

pub(crate) fn provider(row: &dyn Row, column: usize) -> Result<Provider> {
    optional_provider(row, column)?.ok_or_else(|| invalid("provider"))
}

/// The word of a colour scheme.
pub(crate) fn color_scheme_text(scheme: ColorScheme) -> &'static str {
    match scheme {
        ColorScheme::Light => "light",
        ColorScheme::Dark => "dark",
        ColorScheme::Auto => "auto",
    }
}

pub(crate) fn color_scheme(row: &dyn Row, column: usize) -> Result<ColorScheme> {
    Ok(match row.text(column)?.as_str() {
        "light" => ColorScheme::Light,
        "dark" => ColorScheme::Dark,
        "auto" => ColorScheme::Auto,
        _ => return Err(invalid("colour scheme")),
    })
}

/// A timestamp as it is stored. Integers of databases are signed: a timestamp that does not fit is an error.
pub(crate) fn millis(timestamp: Timestamp) -> Result<Value> {
    optional_millis(Some(timestamp))
}

pub(crate) fn optional_millis(timestamp: Option<Timestamp>) -> Result<Value> {
    let millis = timestamp.map(i64::try_from).transpose();
    millis.map(Value::Number).map_err(|_| invalid("timestamp"))
}

pub(crate) fn optional_timestamp(row: &dyn Row, column: usize) -> Result<Option<Timestamp>> {
    let timestamp = row.get_number(column)?.map(Timestamp::try_from).transpose();
    timestamp.map_err(|_| invalid("timestamp"))
}

pub(crate) fn timestamp(row: &dyn Row, column: usize) -> Result<Timestamp> {
    optional_timestamp(row, column)?.ok_or_else(|| invalid("timestamp"))
}

/// A number that is never negative.
pub(crate) fn unsigned(row: &dyn Row, column: usize) -> Result<u64> {
    Ok(row.number(column)?.unsigned_abs())
}

/// The number, or the largest that a column holds if it is larger.
pub(crate) fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn secret(row: &dyn Row, column: usize) -> Result<SecretHash> {
    let bytes = row.get_bytes(column)?.unwrap_or_default();
    bytes.try_into().map_err(|_| invalid("hash"))
}

/// The parameters of `LIMIT` and `OFFSET`.
pub(crate) fn bounds(slice: Slice) -> [Value; 2] {
    let limit = slice.limit.map_or(i64::MAX, i64::from);
    [limit.into(), slice.offset.into()]
}
