//! The texts of statements as one database takes them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::dialect::Dialect;
use crate::statement::{Insert, Sql};

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
