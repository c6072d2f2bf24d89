//! What PostgreSQL alone can get wrong. What every driver must do is tested in `host/sqlite/tests/storage`.

mod concurrency;
mod copying;
mod interruptions;
#[path = "../../../../tests/support/postgresql.rs"]
mod postgresql;
mod records;
#[path = "../../../../tests/support/records.rs"]
mod records_to_store;
mod shared;
mod starting;
mod statements;
mod tls;
mod versions;

/// The oldest version that is brought up to date.
const FIRST: usize = 6;

/// The version of the schema that a new database gets.
const NEWEST: usize = 17;
