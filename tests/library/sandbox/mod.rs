//! Components that misbehave: their own caller gets an error, and no other caller notices.
//! `docs/sandbox.md` is the promise.
//!
//! `tests/hostile` is a component that misbehaves when told to, in a running service (`attacks`,
//! `again`, `memory`) and in the sandbox by itself (`secrets`, `limits`). Components that Rust
//! cannot express are written by hand (`crafted`).

mod again;
mod attacks;
mod compiling;
mod crafted;
mod harness;
mod honest;
mod limits;
mod memory;
mod page;
mod secrets;
mod service;
