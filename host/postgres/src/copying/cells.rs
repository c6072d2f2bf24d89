//! Values of a copy, as PostgreSQL stores them: the only place where the two formats differ.
//!
//! Flags are booleans in PostgreSQL and 0 or 1 in a copy. A text with U+0000 cannot be stored.

use std::error::Error;

use anyhow::bail;
use bytes::BytesMut;
use portico_storage::copying::{Row, Value};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

#[derive(Debug)]
pub(super) enum Cell<'a> {
    Null,
    Flag(bool),
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The value for a column of this type; fails if it cannot be stored there.
    pub fn of(value: &'a Value, kind: &Type) -> anyhow::Result<Self> {
        Ok(match (value, kind) {
            (Value::Null, _) => Self::Null,
            (Value::Integer(flag @ 0..=1), &Type::BOOL) => Self::Flag(*flag == 1),
            (Value::Integer(number), &Type::INT8) => Self::Integer(*number),
            (Value::Text(text), &Type::TEXT) if text.contains('\0') => {
                bail!("contains U+0000, which PostgreSQL cannot store")
            }
            (Value::Text(text), &Type::TEXT) => Self::Text(text),
            (Value::Bytes(bytes), &Type::BYTEA) => Self::Bytes(bytes),
            (_, kind) => bail!("cannot be stored as {kind}"),
        })
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Flag(flag) => flag.to_sql(kind, out),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // `of` has checked the type.
        true
    }

    to_sql_checked!();
}

/// Reads a row that has the columns of a table.
pub(super) fn read(row: &tokio_postgres::Row) -> anyhow::Result<Row> {
    let columns = row.columns().iter().enumerate();
    columns
        .map(|(index, column)| {
            let value = match *column.type_() {
                Type::BOOL => row
                    .try_get::<_, Option<bool>>(index)?
                    .map(i64::from)
                    .map(Value::Integer),
                Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map(Value::Integer),
                Type::TEXT => row.try_get::<_, Option<String>>(index)?.map(Value::Text),
                Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Value::Bytes),
                ref other => bail!("the column {} is of type {other}", column.name()),
            };
            Ok(value.unwrap_or(Value::Null))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_column_cannot_hold_is_refused() {
        for (value, kind, problem) in [
            (Value::Integer(2), Type::BOOL, "as bool"),
            (Value::Text("a\0b".into()), Type::TEXT, "U+0000"),
            (Value::Text("a".into()), Type::BYTEA, "as bytea"),
        ] {
            let refused = Cell::of(&value, &kind).unwrap_err();
            assert!(refused.to_string().contains(problem), "{value:?}: {refused}");
        }
        assert!(matches!(
            Cell::of(&Value::Integer(1), &Type::BOOL),
            Ok(Cell::Flag(true))
        ));
        assert!(matches!(Cell::of(&Value::Null, &Type::TEXT), Ok(Cell::Null)));
    }
}
