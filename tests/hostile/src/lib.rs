//! A component that reads and writes apps like any other, unless its input (an id, a name, a query)
//! asks for one of the misbehaviours in `misbehaviour`.
//!
//! The host serves it with `--component`, so the same host answers ordinary calls at the same time. It
//! has no rules and no users. Its table of procedures is that of the component that ships.
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
#[path = "../../../component/src/plugin.rs"]
mod plugin;
#[path = "../../../component/src/procedures.rs"]
#[allow(dead_code, reason = "only the table is used")]
mod procedures;
#[cfg(target_arch = "wasm32")]
#[path = "../../../component/src/runtime.rs"]
mod runtime;
mod secret;
mod unused;

// On other targets the names of the exports are not valid symbols.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "the generated exports have to be found by name")]
mod exports {
    use crate::bindings;
    use crate::plugin::Plugin;

    bindings::export!(Plugin with_types_in bindings);
}
