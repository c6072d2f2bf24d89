//! The sandbox: where the component runs, and everything that it can reach.
//!
//! Invariants:
//! - Nothing of one caller's call is visible in another caller's: an instance serves one call, or
//!   the calls of one signed-in user (`warm.rs`).
//! - Memory, tables, transactions, time, calls of the host, log lines and the size of what crosses the boundary are
//!   limited ([`Limits`]). If a call exceeds a limit, only that call ends, with an error; its transaction rolls back,
//!   because it is dropped with the instance.
//! - Memory is also bounded over all calls: large ones wait for each other (`memory.rs`).
//! - A call that hashes waits for one limit, [`Limits::hashing`], before it comes here (`hashing.rs`).
//! - Processor time is that of the component and of what the host does for it: its clock stops while a call waits for a
//!   permit, for storage or for an icon (`meter.rs`). Another clock runs from the beginning of the call to its end.

mod bindings;
mod collisions;
mod compiled;
mod compiler;
mod component;
mod engine;
mod exports;
mod hashing;
pub mod icons;
mod imports;
pub mod inspect;
mod instance;
mod limits;
mod memory;
mod meter;
pub mod metrics;
mod prepared;
mod records;
mod sandbox;
mod state;
mod transaction;
mod warm;

pub use crate::{
    bindings::exports::portico::dashboard::{
        procedures::{Access, Cost, Kind, Procedure as Described},
        sign_in::{Identity as ExternalIdentity, Linking, SignedIn},
        state::{Secret, TimestampChange, WantedApp, WantedUser},
    },
    compiler::{Compiler, compile},
    component::{COMPONENT, ComponentVersion, Included, Wasm, read_file},
    instance::{CallPermit, Instance},
    limits::Limits,
    sandbox::{Compiled, Sandbox},
    state::{Imports, State},
};
