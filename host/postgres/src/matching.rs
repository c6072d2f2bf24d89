//! What a filter asks for, as the conditions of a statement and the values of their parameters.

use portico_storage::Slice;
use tokio_postgres::types::{ToSql, Type};

use super::query::Value;

/// The conditions of a filter, and the values of their parameters.
#[derive(Default)]
pub(super) struct Matching {
    conditions: Vec<String>,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Matching {
    pub fn require(&mut self, condition: impl Into<String>) {
        self.conditions.push(condition.into());
    }

    /// Requires a comparison with this value: `column =`, say.
    pub fn compare(&mut self, comparison: &str, value: impl ToSql + Sync + Send + 'static, kind: Type) {
        let value = self.parameter(value, kind);
        self.require(format!("{comparison} {value}"));
    }

    /// Adds a parameter; returns how it is written.
    pub fn parameter(&mut self, value: impl ToSql + Sync + Send + 'static, kind: Type) -> String {
        self.values.push((Box::new(value), kind));
        format!("${}", self.values.len())
    }

    pub fn condition(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!("WHERE {}", self.conditions.join(" AND "))
    }

    pub fn values(&self) -> Vec<(Value<'_>, Type)> {
        let values = self.values.iter();
        values
            .map(|(value, kind)| (&**value as Value<'_>, kind.clone()))
            .collect()
    }

    /// The statement that reads these columns of the records that match, by name. Of a page, the ids are found first:
    /// what stands before it is in the index on names, and no record before it is read.
    pub fn select(&mut self, columns: &str, table: &str, slice: Slice) -> String {
        let condition = self.condition();
        let limit = self.parameter(slice.limit.map_or(i64::MAX, i64::from), Type::INT8);
        let offset = self.parameter(i64::from(slice.offset), Type::INT8);
        let page = format!("{condition} ORDER BY name_key, id LIMIT {limit} OFFSET {offset}");
        if slice.limit.is_none() {
            return format!("SELECT {columns} FROM {table} {page}");
        }
        format!(
            "SELECT {columns} FROM {table} JOIN (SELECT id FROM {table} {page}) AS page USING (id)
            ORDER BY name_key, id"
        )
    }
}
