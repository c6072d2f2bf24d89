//! Brings a database to the version that this binary knows.
//!
//! `PRAGMA user_version` counts the migrations that a database has had. A released migration never
//! changes: a later change is a new one at the end.

use std::borrow::Cow;

use anyhow::{Context, bail, ensure};
use rusqlite::{Connection, TransactionBehavior};
use tracing::info;

use super::ranges;

/// The version that this binary knows.
pub(super) const NEWEST: usize = 11;

fn migrations() -> [Cow<'static, str>; NEWEST] {
    [
        include_str!("migrations/0001_initial.sql").into(),
        include_str!("migrations/0002_app_search.sql").into(),
        include_str!("migrations/0003_sessions.sql").into(),
        include_str!("migrations/0004_identities.sql").into(),
        include_str!("migrations/0005_audit.sql").into(),
        include_str!("migrations/0006_app_search_tail.sql").into(),
        include_str!("migrations/0007_user_by_email.sql").into(),
        include_str!("migrations/0008_disabled_users.sql").into(),
        ranges::migration().into(),
        include_str!("migrations/0010_imported_keys.sql").into(),
        include_str!("migrations/0011_extras.sql").into(),
    ]
}

/// Marks a database as Portico's ("Prtc"); the first migration sets it.
pub(super) const APPLICATION_ID: i64 = 0x5072_7463;

/// Runs the missing migrations. Refuses the database of another program, or of a newer binary.
pub(super) fn run(connection: &mut Connection) -> anyhow::Result<()> {
    let application_id = number(connection, "PRAGMA application_id")?;
    let is_empty = number(connection, "SELECT count(*) FROM sqlite_schema")? == 0;
    ensure!(
        application_id == APPLICATION_ID || is_empty,
        "it is the database of another program: choose another data directory"
    );
    let done = version(connection)?;
    if done == NEWEST {
        return Ok(());
    }
    if done > 0 {
        info!(
            "bringing the tables from version {done} to {NEWEST}: with a million records this may take half a minute"
        );
    }
    migrate(connection, done, NEWEST)
}

/// How many migrations a database has had. Refuses the database of a newer binary.
pub(super) fn version(connection: &Connection) -> anyhow::Result<usize> {
    let version = number(connection, "PRAGMA user_version")?;
    let known = NEWEST as i64;
    if version > known {
        bail!(
            "it is of version {version}, and this portico knows versions up to {known}: run the newer portico \
             that wrote it, or restore a backup from before the upgrade"
        );
    }
    usize::try_from(version).context("its version is negative")
}

/// An empty database of a version, in memory.
pub(super) fn build(version: usize) -> anyhow::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    migrate(&mut connection, 0, version)?;
    Ok(connection)
}

/// Brings a database from one version to another.
fn migrate(connection: &mut Connection, from: usize, to: usize) -> anyhow::Result<()> {
    // A migration that rebuilds a table drops it first, which must not delete what refers to it.
    connection.pragma_update(None, "foreign_keys", false)?;
    for (index, migration) in migrations().iter().enumerate().take(to).skip(from) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(migration)?;
        let dangling = transaction.prepare("PRAGMA foreign_key_check")?.exists([])?;
        ensure!(!dangling, "a record refers to a missing record: restore a backup");
        transaction.pragma_update(None, "user_version", index as i64 + 1)?;
        transaction.commit()?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

pub(super) fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}
