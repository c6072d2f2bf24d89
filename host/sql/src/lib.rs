//! Every statement of Portico's storage, once.
//!
//! A driver carries the statements: it implements [`Database`], one lazy transaction, and gets [`SqlTransaction`],
//! which implements the traits of `portico-storage` on it. What differs between databases is in [`Dialect`] and in the
//! schemas, and nowhere else.
//!
//! Invariants:
//! - A statement is a constant that [`statements`] lists, with how long it may take ([`Span`]) and whether it may run
//!   alongside other writers ([`Lock`]). One test prepares all of them on every database.
//! - No text with U+0000 reaches a database: a look-up by one finds nothing, and a write of one is refused.
//! - After a statement has failed, the transaction runs no other and cannot be committed.
#![warn(missing_docs)]

mod apps;
mod audit;
mod boards;
mod contract;
mod credentials;
mod dashboard;
mod database;
mod dialect;
mod extras;
mod gate;
mod groups;
mod home_boards;
mod invites;
mod looks;
mod parameter;
mod password_links;
mod pictures;
mod search_engines;
mod second_factors;
mod seen;
mod statement;
mod texts;
mod transaction;
mod users;
mod values;
mod views;

pub use audit::{AUDIT, audit_values};
pub use database::{Database, Row};
pub use dialect::{Dialect, columns_of, constraint};
pub use parameter::{Column, Value};
pub use statement::{Insert, Lock, Span, Sql};
pub use texts::Texts;
pub use transaction::{RecentVisibility, Settings, SqlTransaction, Visibility};

/// Every statement.
pub fn statements() -> impl Iterator<Item = &'static Sql> {
    let all = [
        apps::STATEMENTS,
        audit::STATEMENTS,
        boards::STATEMENTS,
        credentials::STATEMENTS,
        extras::STATEMENTS,
        gate::STATEMENTS,
        groups::STATEMENTS,
        home_boards::STATEMENTS,
        invites::STATEMENTS,
        looks::STATEMENTS,
        password_links::STATEMENTS,
        pictures::STATEMENTS,
        search_engines::STATEMENTS,
        second_factors::STATEMENTS,
        seen::STATEMENTS,
        users::STATEMENTS,
    ];
    all.into_iter().flatten().copied()
}

/// Every insertion.
pub fn inserts() -> [&'static Insert; 10] {
    [
        &apps::INSERT,
        &AUDIT,
        &boards::INSERT_ITEMS,
        &boards::INSERT_BOOKMARKS,
        &boards::SHARE_WITH_USERS,
        &boards::SHARE_WITH_GROUPS,
        &extras::INSERT_PICTURES,
        &groups::INSERT_PERMISSIONS,
        &invites::INSERT_GROUPS,
        &invites::JOIN_GROUPS,
    ]
}
