//! How statements are declared.
//!
//! A statement is written once for all databases: parameters as `$1`, tables as `~app` (the driver replaces `~` with
//! its prefix), and in square brackets what each [`Dialect`](crate::Dialect) writes in its own way.

use crate::parameter::Column;

/// How long a statement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// It touches a few records.
    Short,
    /// It reads many records, and its best plan depends on the parameters.
    Long,
    /// It writes as many records as refer to one record: no input bounds it.
    Unbounded,
}

/// Whether a statement of a write transaction may run alongside other writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lock {
    /// It may: row locks and unique indexes keep it isolated from them.
    Alongside,
    /// No other transaction writes meanwhile, because a rule rests on what it reads, or it touches many records.
    Alone,
}

/// A statement.
#[derive(Debug)]
pub struct Sql {
    /// The text, for every database.
    pub text: &'static str,
    /// How long it may take.
    pub span: Span,
    /// Whether it may run alongside other writers.
    pub lock: Lock,
}

impl Sql {
    const fn new(text: &'static str, span: Span, lock: Lock) -> Self {
        Self { text, span, lock }
    }

    /// A short statement, alongside other writers.
    pub(crate) const fn short(text: &'static str) -> Self {
        Self::new(text, Span::Short, Lock::Alongside)
    }

    /// A statement that reads many records, while no other transaction writes.
    pub(crate) const fn long(text: &'static str) -> Self {
        Self::new(text, Span::Long, Lock::Alone)
    }

    /// A statement that writes as many records as refer to one, while no other transaction writes.
    pub(crate) const fn unbounded(text: &'static str) -> Self {
        Self::new(text, Span::Unbounded, Lock::Alone)
    }

    /// The same, while no other transaction writes.
    pub(crate) const fn alone(self) -> Self {
        Self::new(self.text, self.span, Lock::Alone)
    }

    /// The same, alongside other writers.
    pub(crate) const fn alongside(self) -> Self {
        Self::new(self.text, self.span, Lock::Alongside)
    }
}

/// An insertion of any number of rows into a table.
#[derive(Debug)]
pub struct Insert {
    /// The table, without a prefix.
    pub table: &'static str,
    /// Its columns, in the order of the values.
    pub columns: &'static [(&'static str, Column)],
    /// Whether a row that is already there is left out; if not, it is an error.
    pub leaves_out_duplicates: bool,
    /// Whether it may run alongside other writers.
    pub lock: Lock,
}

/// Declares statements as constants, and lists them.
macro_rules! declare {
    ($($(#[$doc:meta])* $visibility:vis $name:ident = $statement:expr;)*) => {
        $($(#[$doc])* $visibility static $name: $crate::statement::Sql = $statement;)*
        pub(crate) static STATEMENTS: &[&$crate::statement::Sql] = &[$(&$name),*];
    };
}
pub(crate) use declare;
