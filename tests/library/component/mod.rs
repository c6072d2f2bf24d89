//! The component driven directly, through wasmtime, with storage in memory: tests that need a clock, a
//! storage or a host of their own.

mod collisions;
mod contract;
mod harness;
mod linking;
mod procedures;
mod rules;
mod spellings;
mod state;
mod storage;
mod stored;
