//! How statements are declared.
//!
//! A statement is written once for all databases: parameters as `$1`, tables as `~app` (the driver replaces `~` with
//! its prefix), and in square brackets what each [`Dialect`](crate::Dialect) writes in its own way.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::database::Column;
use crate::dialect::Dialect;

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
    ($($(#[$doc:meta])* $name:ident = $statement:expr;)*) => {
        $($(#[$doc])* static $name: $crate::statement::Sql = $statement;)*
        pub(crate) static STATEMENTS: &[&$crate::statement::Sql] = &[$(&$name),*];
    };
}
pub(crate) use declare;

/// Every statement.
pub fn statements() -> impl Iterator<Item = &'static Sql> {
    use crate::{apps, audit, boards, credentials, extras, groups, invites, search_engines, users};
    let all = [
        apps::STATEMENTS,
        audit::STATEMENTS,
        boards::STATEMENTS,
        credentials::STATEMENTS,
        extras::STATEMENTS,
        groups::STATEMENTS,
        invites::STATEMENTS,
        search_engines::STATEMENTS,
        users::STATEMENTS,
    ];
    all.into_iter().flatten().copied()
}

/// Every insertion.
pub fn inserts() -> [&'static Insert; 7] {
    use crate::{apps, audit, boards, groups};
    [
        &apps::INSERT,
        &audit::AUDIT,
        &boards::INSERT_ITEMS,
        &boards::INSERT_BOOKMARKS,
        &boards::SHARE_WITH_USERS,
        &boards::SHARE_WITH_GROUPS,
        &groups::INSERT_PERMISSIONS,
    ]
}

/// The statements as one database takes them. Each is rendered once.
pub struct Texts {
    dialect: Dialect,
    prefix: &'static str,
    rendered: RwLock<HashMap<Key, Arc<str>>>,
}

/// The address of a statement, and whether the transaction writes.
type Key = (usize, bool);

impl Texts {
    /// The statements in this dialect, on tables whose names begin with this prefix.
    pub fn new(dialect: Dialect, prefix: &'static str) -> Self {
        Self {
            dialect,
            prefix,
            rendered: RwLock::default(),
        }
    }

    /// The text of a statement in a transaction that writes, or in one that does not.
    pub fn of(&self, sql: &'static Sql, writes: bool) -> Arc<str> {
        self.text((std::ptr::from_ref(sql).addr(), writes), || {
            self.dialect.render(sql.text, self.prefix, writes)
        })
    }

    /// The text of an insertion.
    pub fn of_insert(&self, insert: &'static Insert) -> Arc<str> {
        self.text((std::ptr::from_ref(insert).addr(), true), || {
            self.dialect.render_insert(insert, self.prefix)
        })
    }

    fn text(&self, key: Key, render: impl FnOnce() -> String) -> Arc<str> {
        let known = |rendered: &HashMap<Key, Arc<str>>| rendered.get(&key).cloned();
        let known = known(&self.rendered.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let mut rendered = self.rendered.write().unwrap_or_else(PoisonError::into_inner);
            rendered.entry(key).or_insert_with(|| render().into()).clone()
        })
    }
}
