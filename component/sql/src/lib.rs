//! The ready storage: `host/sql` over the connection of a dashboard that has no users and apps of its own.
//!
//! A component of the world `ready-storage` in `wit/`. It knows the statements and the tables; the host knows the driver
//! and the connection. Invariants:
//! - Each exported function is one transaction, begun with its first statement. A look-up is one call of the database.
//! - Every text of a statement comes from `portico-sql` or from `migrations/`; nothing of an input is ever part of it.
//! - A function that writes is tried again as the component with the rules does it, because its caller may be any host.
//!
//! It is compiled for `wasm32-unknown-unknown`, where std imports nothing: no `wasi:cli`, no `wasi:io`. All futures of
//! `portico-sql` are ready at once there (`executor.rs`), because an import returns when its work is done.

mod bindings;
mod configuration;
mod convert;
mod database;
mod environment;
mod executor;
mod migrations;
mod note;
mod people;
mod storage;
mod transaction;

/// What this component exports: each module implements its interface for it.
pub struct ReadyStorage;

// On other targets the names of the exports are not valid symbols.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "the generated exports have to be found by name")]
mod exports {
    use crate::{ReadyStorage, bindings};

    bindings::export!(ReadyStorage with_types_in bindings);
}
