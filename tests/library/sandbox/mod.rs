//! Components written to misbehave, and what that costs: their own caller an error, and nobody
//! else anything. `docs/sandbox.md` is the promise.
//!
//! `tests/hostile` is a component that misbehaves when told to, in a running service (`attacks`,
//! `again`, `memory`) and in the sandbox by itself (`secrets`, `limits`); what Rust cannot say is
//! written by hand (`crafted`).

mod again;
mod attacks;
mod crafted;
mod harness;
mod honest;
mod limits;
mod memory;
mod page;
mod secrets;
mod service;
