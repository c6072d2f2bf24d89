//! What is read, and what is not.

use std::io::{self, Read, Write};

use anyhow::ensure;

/// The largest database that is read, including its log. Real ones have some megabytes.
pub const MOST_BYTES: u64 = 512 << 20;

/// Why a database with a rollback journal is not read.
pub(crate) const IN_A_CHANGE: &str =
    "Homarr was stopped in the middle of a change: start Homarr, stop it, and try again";

/// What to do with the data of another edition.
pub(crate) fn other_edition(edition: &str) -> String {
    format!(
        "it is from Homarr's edition for {edition}, and only its edition for SQLite can be read: apply the users, \
         apps and boards as a document instead (`portico apply`, docs/desired-state.md); people then get new \
         passwords (`portico recover`), and scripts new keys"
    )
}

/// Copies at most this many bytes, and refuses more. Returns how many it copied.
pub(crate) fn copy_bounded(from: &mut impl Read, into: &mut impl Write, most: u64) -> anyhow::Result<u64> {
    let copied = io::copy(&mut from.take(most + 1), into)?;
    ensure!(
        copied <= most,
        "the database is larger than {} MiB, which no database of Homarr is",
        MOST_BYTES >> 20
    );
    Ok(copied)
}
