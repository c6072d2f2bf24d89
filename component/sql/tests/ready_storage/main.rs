//! The ready storage as a host runs it: over SQLite and PostgreSQL, alone and composed with the rules.
//!
//! `make storage-component` builds the files that are tested.

mod bindings;
mod bridge;
mod databases;
mod files;
mod gate;
mod host;
mod kit;
mod people;
mod plugin;
#[path = "../../../../tests/support/postgresql.rs"]
mod postgresql;
mod prefixes;
mod storage;
