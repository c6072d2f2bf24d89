//! What PostgreSQL alone can get wrong. What every driver must answer is in `host/sqlite/tests/storage`.

mod concurrency;
mod interruptions;
#[path = "../../../../tests/support/postgresql.rs"]
mod postgresql;
mod records;
mod shared;
mod starting;
mod tls;
mod versions;
