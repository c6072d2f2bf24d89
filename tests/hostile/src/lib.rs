//! A component that reads and writes apps like any other, unless its input (an id, a name, a query)
//! asks for one of the misbehaviours in `misbehaviour`.
//!
//! The host serves it with `--component`, so the same host answers ordinary calls at the same time. It
//! has no rules and no users. Its table of procedures is that of the component that ships.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod bindings;
mod described;
mod misbehaviour;
mod ordinary;
mod secret;
mod unused;

/// What this component exports.
pub struct Plugin;

/// The panic handler of the component that ships.
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
