//! What a driver implements: one transaction of a SQL database.

use portico_storage::{Error, Result};

use crate::dialect::Dialect;
use crate::statement::{Insert, Sql};

/// One lazy transaction. It begins with its first statement, takes the lock that the statement names, and is rolled
/// back when it is dropped without a commit.
///
/// A driver turns its own errors into those of `portico-storage`; [`constraint`](crate::constraint) knows the names of
/// the schema's constraints. When the future of a call is dropped, it cancels the statement that runs.
pub trait Database: Send + 'static {
    /// How this database writes what differs between databases.
    const DIALECT: Dialect;

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

/// A parameter of a statement. It has a type even where it is NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(Option<String>),
    /// A whole number.
    Number(Option<i64>),
    /// A truth value.
    Bool(Option<bool>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list of texts, for `[among …]`.
    Texts(Vec<String>),
    /// A text to find inside others, for `[contains …]`.
    Contained(String),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Texts.
    Text,
    /// Whole numbers of 64 bits.
    Number,
}

impl Value {
    /// Whether a database can hold it: PostgreSQL has no text with U+0000, and SQLite's `json_each` cuts it there.
    pub(crate) fn is_storable(&self) -> bool {
        let is_storable = |text: &String| !text.contains('\0');
        match self {
            Self::Text(text) => text.as_ref().is_none_or(is_storable),
            Self::Contained(text) => is_storable(text),
            Self::Texts(texts) => texts.iter().all(is_storable),
            Self::Number(_) | Self::Bool(_) | Self::Bytes(_) => true,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(Some(text.clone()))
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(Some(number.into()))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(Some(truth))
    }
}

impl From<Option<bool>> for Value {
    fn from(truth: Option<bool>) -> Self {
        Self::Bool(truth)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
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
