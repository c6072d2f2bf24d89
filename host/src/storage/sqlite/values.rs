//! How the contract's values are written in columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Error, Result};

use crate::model::{ColorScheme, Provider, Timestamp};

impl ToSql for Provider {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            Self::Credentials => "credentials",
            Self::Oidc => "oidc",
            Self::Ldap => "ldap",
        }))
    }
}

impl FromSql for Provider {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "credentials" => Ok(Self::Credentials),
            "oidc" => Ok(Self::Oidc),
            "ldap" => Ok(Self::Ldap),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for ColorScheme {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Auto => "auto",
        }))
    }
}

impl FromSql for ColorScheme {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "light" => Ok(Self::Light),
            "dark" => Ok(Self::Dark),
            "auto" => Ok(Self::Auto),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A moment in a column. SQLite's integers have a sign; a moment that does not fit is an error.
pub(super) struct Moment(pub Timestamp);

impl ToSql for Moment {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let moment = i64::try_from(self.0).map_err(|error| Error::ToSqlConversionFailure(error.into()))?;
        Ok(ToSqlOutput::from(moment))
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let moment = value.as_i64()?;
        Timestamp::try_from(moment)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(moment))
    }
}
