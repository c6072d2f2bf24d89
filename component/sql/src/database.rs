//! One transaction of the dashboard's database, as `portico-sql` asks for it.

use portico_sql::{Database, Insert, Lock, Row, Sql, Value};
use portico_storage::{Access, Constraint, Error, Result};

use crate::bindings::database::{self, Cell, Transaction};
use crate::configuration::Configuration;

/// One lazy transaction. A look-up is none: each of its statements is one call.
pub struct Statements {
    configuration: &'static Configuration,
    access: Access,
    transaction: Option<Transaction>,
    /// How it holds the writers' lock; `None` if it only reads, or has not begun.
    lock: Option<Lock>,
}

impl Statements {
    pub fn new(configuration: &'static Configuration, access: Access) -> Self {
        Self {
            configuration,
            access,
            transaction: None,
            lock: None,
        }
    }

    /// The transaction, which holds at least this lock if it writes.
    fn transaction(&mut self, lock: Lock) -> Result<&Transaction> {
        let begun = match self.transaction.take() {
            None => self.begin(lock),
            Some(begun) => self.raise(begun, lock),
        };
        Ok(self
            .transaction
            .insert(begun.map_err(|error| self.refusal(error))?))
    }

    fn begin(&mut self, lock: Lock) -> std::result::Result<Transaction, database::Error> {
        let configuration = self.configuration;
        if self.access != Access::Write {
            return database::begin(database::Access::Read, &configuration.begin_reading());
        }
        self.lock = Some(lock);
        database::begin(database::Access::Write, &configuration.begin_writing(lock))
    }

    /// Takes the writers' lock alone where the transaction holds it alongside others. SQLite has one writer anyway.
    fn raise(&mut self, begun: Transaction, lock: Lock) -> std::result::Result<Transaction, database::Error> {
        if self.lock.is_some_and(|held| held < lock) {
            self.lock = Some(lock);
            if !self.configuration.dialect.is_sqlite() {
                begun.execute(&self.configuration.take(lock), &[])?;
            }
        }
        Ok(begun)
    }

    fn refusal(&self, error: database::Error) -> Error {
        refusal(error, self.configuration.prefix)
    }

    /// Runs a statement that writes.
    fn run(&mut self, text: &str, lock: Lock, values: &[database::Value]) -> Result<u64> {
        let changed = self.transaction(lock)?.execute(text, values);
        changed.map_err(|error| self.refusal(error))
    }

    /// A parameter as the database takes it.
    fn parameter(&self, value: Value) -> database::Value {
        let dialect = self.configuration.dialect;
        match value {
            Value::Text(text) => database::Value::Text(text),
            Value::Number(number) => database::Value::Number(number),
            Value::Bool(truth) if dialect.is_sqlite() => database::Value::Number(truth.map(i64::from)),
            Value::Bool(truth) => database::Value::Truth(truth),
            Value::Bytes(bytes) => database::Value::Bytes(Some(bytes)),
            Value::Texts(texts) => database::Value::Text(Some(serde_json::Value::from(texts).to_string())),
            Value::Contained(text) => database::Value::Text(Some(dialect.contained(&text))),
        }
    }

    fn parameters(&self, values: Vec<Value>) -> Vec<database::Value> {
        values.into_iter().map(|value| self.parameter(value)).collect()
    }
}

impl Database for Statements {
    async fn fold<A: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        mut into: A,
        mut add: impl FnMut(&mut A, &dyn Row) -> Result<()> + Send + 'static,
    ) -> Result<A> {
        let text = self.configuration.texts.of(sql, self.access == Access::Write);
        let values = self.parameters(values);
        let rows = match self.access {
            Access::Lookup => database::look_up(&text, &values),
            Access::Read | Access::Write => self.transaction(sql.lock)?.query(&text, &values),
        };
        for row in rows.map_err(|error| self.refusal(error))? {
            add(&mut into, &Cells(row))?;
        }
        Ok(into)
    }

    async fn execute(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        let values = self.parameters(values);
        self.run(&self.configuration.texts.of(sql, true), sql.lock, &values)
    }

    /// All rows are one parameter, a JSON list of lists.
    async fn insert(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        let rows = rows.into_iter().map(|row| row.into_iter().map(json).collect());
        let rows: serde_json::Value = rows.collect::<Vec<serde_json::Value>>().into();
        let rows = database::Value::Text(Some(rows.to_string()));
        self.run(&self.configuration.texts.of_insert(into), into.lock, &[rows])
            .map(drop)
    }

    async fn insert_deferred(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        self.insert(into, rows).await
    }

    fn blocks_writers(&self) -> bool {
        self.lock.is_some()
    }

    async fn commit(mut self) -> Result<()> {
        let committed = self.transaction.take().map_or(Ok(()), Transaction::commit);
        committed.map_err(|error| self.refusal(error))
    }
}

/// A value in JSON. No insertion has bytes or lists.
fn json(value: Value) -> serde_json::Value {
    match value {
        Value::Text(text) => text.into(),
        Value::Number(number) => number.into(),
        Value::Bool(truth) => truth.into(),
        Value::Contained(text) => text.into(),
        Value::Texts(texts) => texts.into(),
        Value::Bytes(_) => unreachable!("no insertion has bytes"),
    }
}

/// A refusal of the database, in the words of storage.
pub fn refusal(error: database::Error, prefix: &str) -> Error {
    match error {
        database::Error::Retry => Error::Retry,
        database::Error::Reference => Error::Constraint(Constraint::Reference),
        database::Error::TooLarge => Error::TooLarge,
        database::Error::Unavailable(text) => Error::Unavailable(text),
        database::Error::Unique(name) => {
            let plain = without_prefix(&name, prefix);
            Error::Constraint(portico_sql::constraint(&plain).unwrap_or(Constraint::Other(name)))
        }
    }
}

/// The name of a constraint, or SQLite's list of columns, as without a prefix.
fn without_prefix(name: &str, prefix: &str) -> String {
    let columns = name.split(", ");
    let columns: Vec<_> = columns
        .map(|column| column.strip_prefix(prefix).unwrap_or(column))
        .collect();
    columns.join(", ")
}

struct Cells(Vec<Cell>);

impl Cells {
    fn cell(&self, column: usize) -> Result<&Cell> {
        self.0.get(column).ok_or_else(|| {
            let (columns, column) = (self.0.len(), column + 1);
            Error::Unavailable(format!(
                "the driver gave a row of {columns} columns, without column {column}"
            ))
        })
    }
}

fn unexpected<T>(column: usize, what: &str) -> Result<T> {
    Err(Error::Unavailable(format!(
        "the driver gave no {what} in column {}",
        column + 1
    )))
}

impl Row for Cells {
    fn get_text(&self, column: usize) -> Result<Option<String>> {
        match self.cell(column)? {
            Cell::Null => Ok(None),
            Cell::Text(text) => Ok(Some(text.clone())),
            _ => unexpected(column, "text"),
        }
    }

    fn get_number(&self, column: usize) -> Result<Option<i64>> {
        match self.cell(column)? {
            Cell::Null => Ok(None),
            Cell::Number(number) => Ok(Some(*number)),
            // Some drivers have no integers of 64 bits.
            Cell::Text(digits) => digits.parse().map(Some).or_else(|_| unexpected(column, "number")),
            _ => unexpected(column, "number"),
        }
    }

    fn get_bool(&self, column: usize) -> Result<Option<bool>> {
        match self.cell(column)? {
            Cell::Null => Ok(None),
            Cell::Truth(truth) => Ok(Some(*truth)),
            Cell::Number(0) => Ok(Some(false)),
            Cell::Number(1) => Ok(Some(true)),
            _ => unexpected(column, "truth value"),
        }
    }

    fn get_bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        match self.cell(column)? {
            Cell::Null => Ok(None),
            Cell::Bytes(bytes) => Ok(Some(bytes.clone())),
            _ => unexpected(column, "bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_is_found_by_its_name_with_the_prefix() {
        for (name, constraint) in [
            ("p_app.id", Constraint::Id),
            ("p_app_pkey", Constraint::Id),
            (
                "p_user_account.name_key, p_user_account.provider",
                Constraint::UserName,
            ),
            ("p_user_account_by_provider", Constraint::UserName),
            ("p_identity.user_id, p_identity.provider", Constraint::Identity),
            (
                "app_pkey_of_the_dashboard",
                Constraint::Other("app_pkey_of_the_dashboard".into()),
            ),
        ] {
            let refused = refusal(database::Error::Unique(name.into()), "p_");
            assert_eq!(refused, Error::Constraint(constraint));
        }
    }

    #[test]
    fn a_driver_without_large_integers_or_truth_values_is_understood() {
        let row = Cells(vec![
            Cell::Text("9007199254740993".into()),
            Cell::Number(1),
            Cell::Null,
            Cell::Text("x".into()),
        ]);
        assert_eq!(row.get_number(0), Ok(Some(9_007_199_254_740_993)));
        assert_eq!(row.get_bool(1), Ok(Some(true)));
        assert_eq!((row.get_text(2), row.get_bytes(2)), (Ok(None), Ok(None)));
        for wrong in [
            row.get_number(3).is_err(),
            row.get_bool(3).is_err(),
            row.get_text(4).is_err(),
        ] {
            assert!(wrong);
        }
    }
}
