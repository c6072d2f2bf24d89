//! What a driver implements: one transaction of a SQL database.

use portico_storage::{Error, Result};

use crate::parameter::Value;
use crate::statement::{Insert, Sql};

/// One lazy transaction. It begins with its first statement, takes the lock that the statement names, and is rolled
/// back when it is dropped without a commit.
///
/// A driver turns its own errors into those of `portico-storage`; [`constraint`](crate::constraint) knows the names of
/// the schema's constraints. When the future of a call is dropped, it cancels the statement that runs.
pub trait Database: Send + 'static {
    /// Runs a statement that reads, and adds its rows to a value one by one, so that a result that becomes too large is
    /// never in memory as a whole. An error from `add` stops the statement and is returned.
    fn fold<A: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        into: A,
        add: impl FnMut(&mut A, &dyn Row) -> Result<()> + Send + 'static,
    ) -> impl Future<Output = Result<A>> + Send;

    /// Runs a statement that writes. Returns how many rows it changed.
    fn execute(&mut self, sql: &'static Sql, values: Vec<Value>) -> impl Future<Output = Result<u64>> + Send;

    /// Inserts rows.
    fn insert(
        &mut self,
        into: &'static Insert,
        rows: Vec<Vec<Value>>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Inserts rows that depend on nothing that is stored, at the commit or before. Until then the transaction may hold
    /// no lock, and a driver may make many such transactions durable together.
    fn insert_deferred(
        &mut self,
        into: &'static Insert,
        rows: Vec<Vec<Value>>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Whether it makes other writers wait.
    fn blocks_writers(&self) -> bool;

    /// Makes everything durable, or nothing.
    fn commit(self) -> impl Future<Output = Result<()>> + Send;
}

/// A row of a result. Columns are numbered from 0; `None` is NULL.
pub trait Row {
    /// A text.
    fn get_text(&self, column: usize) -> Result<Option<String>>;
    /// A whole number.
    fn get_number(&self, column: usize) -> Result<Option<i64>>;
    /// A truth value.
    fn get_bool(&self, column: usize) -> Result<Option<bool>>;
    /// Bytes.
    fn get_bytes(&self, column: usize) -> Result<Option<Vec<u8>>>;
}

/// Columns that are never NULL.
impl dyn Row + '_ {
    pub(crate) fn text(&self, column: usize) -> Result<String> {
        self.get_text(column)?.ok_or_else(|| invalid("text"))
    }

    pub(crate) fn number(&self, column: usize) -> Result<i64> {
        self.get_number(column)?.ok_or_else(|| invalid("number"))
    }

    pub(crate) fn bool(&self, column: usize) -> Result<bool> {
        self.get_bool(column)?.ok_or_else(|| invalid("truth value"))
    }
}

/// The error of a column that holds what no statement of this crate writes.
pub(crate) fn invalid(what: &str) -> Error {
    Error::Unavailable(format!("a stored {what} is invalid"))
}
