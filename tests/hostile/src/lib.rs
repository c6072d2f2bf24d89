//! A component that reads and writes apps as any other, until a text that it is given (an id, a
//! name, a query) asks for one of the ways to misbehave: see `misbehaviour`.
//!
//! The host serves it with `--component`, so that the same running host answers ordinary calls
//! beside it. It has no rules of its own and nothing of users; who may call what is the table of
//! the component that ships.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

#[path = "../../../component/src/access.rs"]
#[allow(dead_code, reason = "only the table is used")]
mod access;
mod bindings;
#[path = "../../../component/src/error.rs"]
#[allow(dead_code, reason = "only the table is used")]
mod error;
mod misbehaviour;
mod ordinary;
#[path = "../../../component/src/procedures.rs"]
mod procedures;
#[cfg(target_arch = "wasm32")]
#[path = "../../../component/src/runtime.rs"]
mod runtime;
mod secret;
mod unused;

/// What this component exports.
struct Plugin;

// Elsewhere the names of the exports are no valid symbols.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "the generated exports have to be found by name")]
mod exports {
    use crate::{Plugin, bindings};

    bindings::export!(Plugin with_types_in bindings);
}
