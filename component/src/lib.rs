//! The rules of users and apps: who may do what, and what they may write.
//!
//! A component of the world `plugin` in `wit/`, where every function, type and error is described. It has no I/O of its
//! own: it reads and writes data through the imported `storage`, in one transaction at a time. Most calls need one.
//! Calls that hash read in a first one and write in a second, and a transaction that collides with another is tried
//! again. The component knows nothing about HTTP, JSON or SQL.
//!
//! Each procedure takes the same steps in the same order: **authorise** (the table in `procedures`), **validate**
//! (reports all broken rules together), **look** (a short read that refuses early, before a password is hashed in
//! vain), **hash**, **transact** (which checks again what matters), **return**. No password is hashed and no icon
//! fetched inside a transaction.
//!
//! On `wasm32` the crate is `no_std`: std would import `wasi:cli` and `wasi:io`, and a host would
//! have to provide what this component must not have. On other targets it is an ordinary crate, so
//! that the modules without imports have ordinary unit tests.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod access;
mod apps;
mod bindings;
mod environment;
mod error;
mod names;
mod password;
mod procedures;
mod sign_in;
mod state;
mod transaction;
mod users;
mod validate;

/// What this component exports: each area implements its interface for it.
pub struct Plugin;

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    portico_guest::trap(info, |place| {
        bindings::log::write(bindings::log::Level::Error, place)
    })
}

// On other targets the names of the exports are not valid symbols.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "the generated exports have to be found by name")]
mod exports {
    use crate::{Plugin, bindings};

    bindings::export!(Plugin with_types_in bindings);
}
