//! The component driven directly, through wasmtime, with storage in memory: what only shows with a
//! clock, a storage or a host of the test's own.

mod collisions;
mod contract;
mod harness;
mod linking;
mod rules;
mod state;
mod storage;
mod stored;
