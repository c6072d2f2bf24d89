//! How the contract's values are stored in columns.

use portico_model::{ColorScheme, Provider, Timestamp};
use portico_storage::{Constraint, Error, SecretHash};
use tokio_postgres::Row;

use super::query::{Failure, Result};

/// The word of a provider.
pub(super) fn provider_text(provider: Provider) -> &'static str {
    match provider {
        Provider::Credentials => "credentials",
        Provider::Oidc => "oidc",
        Provider::Ldap => "ldap",
    }
}

/// The provider in a column that may be NULL.
pub(super) fn optional_provider(row: &Row, index: usize) -> Result<Option<Provider>> {
    Ok(match row.try_get(index)? {
        None => None,
        Some("credentials") => Some(Provider::Credentials),
        Some("oidc") => Some(Provider::Oidc),
        Some("ldap") => Some(Provider::Ldap),
        Some(_) => return Err(unexpected("a provider")),
    })
}

pub(super) fn provider(row: &Row, index: usize) -> Result<Provider> {
    optional_provider(row, index)?.ok_or_else(|| unexpected("a provider"))
}

/// The word of a colour scheme.
pub(super) fn color_scheme_text(scheme: ColorScheme) -> &'static str {
    match scheme {
        ColorScheme::Light => "light",
        ColorScheme::Dark => "dark",
        ColorScheme::Auto => "auto",
    }
}

pub(super) fn color_scheme(row: &Row, index: usize) -> Result<ColorScheme> {
    Ok(match row.try_get(index)? {
        "light" => ColorScheme::Light,
        "dark" => ColorScheme::Dark,
        "auto" => ColorScheme::Auto,
        _ => return Err(unexpected("a colour scheme")),
    })
}

/// A timestamp as it is stored. PostgreSQL's integers have a sign: one that does not fit is an error.
pub(super) fn millis(timestamp: Timestamp) -> Result<i64> {
    i64::try_from(timestamp).map_err(|_| unexpected("a timestamp"))
}

pub(super) fn optional_millis(timestamp: Option<Timestamp>) -> Result<Option<i64>> {
    timestamp.map(millis).transpose()
}

/// A timestamp in a column that may be NULL.
pub(super) fn optional_timestamp(row: &Row, index: usize) -> Result<Option<Timestamp>> {
    let timestamp: Option<i64> = row.try_get(index)?;
    let timestamp = timestamp.map(Timestamp::try_from).transpose();
    timestamp.map_err(|_| unexpected("a timestamp"))
}

pub(super) fn timestamp(row: &Row, index: usize) -> Result<Timestamp> {
    optional_timestamp(row, index)?.ok_or_else(|| unexpected("a timestamp"))
}

pub(super) fn secret(row: &Row, index: usize) -> Result<SecretHash> {
    let bytes: &[u8] = row.try_get(index)?;
    bytes.try_into().map_err(|_| unexpected("a hash"))
}

/// A count.
pub(super) fn count(row: &Row, index: usize) -> Result<u64> {
    Ok(row.try_get::<_, i64>(index)?.unsigned_abs())
}

/// Whether a text can be stored. One with U+0000 cannot, so no record has it or contains it.
pub(super) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// The longest id of a new record, in bytes: an entry of an index has less than 2,704, and may hold a name.
const LONGEST_ID: usize = 512;

/// Refuses the id of a new record that cannot be held.
pub(super) fn check_new_id(id: &str) -> Result<()> {
    if id.len() <= LONGEST_ID && is_storable(id) {
        return Ok(());
    }
    Err(Failure::Storage(Error::Constraint(Constraint::Id)))
}

/// The number, or PostgreSQL's largest integer if it is larger.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A column holds something that this driver did not write, or could not.
pub(super) fn unexpected(what: &str) -> Failure {
    Failure::Storage(Error::Unavailable(format!("{what} is none that can be stored")))
}
