//! How the contract's values are stored in columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Error, Result, Row};

use portico_model::{ColorScheme, Provider, Timestamp};

/// An enumeration, stored as text.
pub(super) struct EnumText<T>(pub T);

/// The word of a provider.
pub(super) fn provider_text(provider: Provider) -> &'static str {
    match provider {
        Provider::Credentials => "credentials",
        Provider::Oidc => "oidc",
        Provider::Ldap => "ldap",
    }
}

impl ToSql for EnumText<Provider> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(provider_text(self.0)))
    }
}

impl FromSql for EnumText<Provider> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "credentials" => Ok(Self(Provider::Credentials)),
            "oidc" => Ok(Self(Provider::Oidc)),
            "ldap" => Ok(Self(Provider::Ldap)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for EnumText<ColorScheme> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self.0 {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
            ColorScheme::Auto => "auto",
        }))
    }
}

impl FromSql for EnumText<ColorScheme> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "light" => Ok(Self(ColorScheme::Light)),
            "dark" => Ok(Self(ColorScheme::Dark)),
            "auto" => Ok(Self(ColorScheme::Auto)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A timestamp, stored as an integer. SQLite's integers have a sign: one that does not fit is an error.
pub(super) struct TimestampMillis(pub Timestamp);

impl ToSql for TimestampMillis {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let moment = i64::try_from(self.0).map_err(|error| Error::ToSqlConversionFailure(error.into()))?;
        Ok(ToSqlOutput::from(moment))
    }
}

impl FromSql for TimestampMillis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let moment = value.as_i64()?;
        Timestamp::try_from(moment)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(moment))
    }
}

/// A timestamp in a column that may be NULL.
pub(super) fn optional_timestamp(row: &Row<'_>, index: usize) -> Result<Option<Timestamp>> {
    let timestamp: Option<TimestampMillis> = row.get(index)?;
    Ok(timestamp.map(|timestamp| timestamp.0))
}
