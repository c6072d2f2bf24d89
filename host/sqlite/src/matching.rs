//! What a filter asks for, as the conditions of a statement and the values of their parameters.

use portico_storage::Slice;
use rusqlite::types::Value;
use rusqlite::{Params, params_from_iter};

/// The conditions of a filter, and the values of their parameters.
#[derive(Default)]
pub(super) struct Matching {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Matching {
    pub fn require(&mut self, condition: impl Into<String>) {
        self.conditions.push(condition.into());
    }

    /// Requires a comparison with this value: `column =`, say.
    pub fn compare(&mut self, comparison: &str, value: impl Into<Value>) {
        let value = self.parameter(value);
        self.require(format!("{comparison} {value}"));
    }

    /// Adds a parameter; returns how it is written.
    pub fn parameter(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// Requires that a name contains this text, byte by byte.
    pub fn require_name(&mut self, contains: &str) {
        if !contains.is_empty() {
            let text = self.parameter(contains.to_owned());
            self.require(format!("instr(name_key, {text}) > 0"));
        }
    }

    pub fn condition(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!("WHERE {}", self.conditions.join(" AND "))
    }

    pub fn values(&self) -> impl Params + '_ {
        params_from_iter(&self.values)
    }

    /// The statement that reads these columns of the records that match, by name. Of a page, the ids are found first:
    /// what stands before it is in the index on names, and no record before it is read.
    pub fn select(&mut self, columns: &str, table: &str, slice: Slice) -> String {
        let condition = self.condition();
        let limit = self.parameter(slice.limit.map_or(i64::MAX, i64::from));
        let offset = self.parameter(slice.offset);
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
