//! The entry points that libFuzzer calls. `FUZZ_TARGET` says which target gets its bytes.
#![no_main]
#![expect(
    unsafe_code,
    reason = "libFuzzer calls C functions by their names, with a pointer and a length"
)]

use std::{env, ffi::c_int, panic, process, slice, sync::OnceLock};

use portico_fuzz::Target;

static TARGET: OnceLock<Target> = OnceLock::new();

#[unsafe(no_mangle)]
extern "C" fn LLVMFuzzerInitialize(_count: *const c_int, _arguments: *const *const *const u8) -> c_int {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        default(panic);
        // On any thread: libFuzzer then keeps the input.
        process::abort();
    }));
    let name = env::var("FUZZ_TARGET").unwrap_or_default();
    let found = portico_fuzz::find(&name);
    TARGET.get_or_init(|| found.unwrap_or_else(|| panic!("FUZZ_TARGET={name} is no target")));
    0
}

#[unsafe(no_mangle)]
extern "C" fn LLVMFuzzerTestOneInput(bytes: *const u8, length: usize) -> c_int {
    let input = match length {
        0 => &[],
        // SAFETY: libFuzzer gives this many bytes, which stay until this function returns.
        length => unsafe { slice::from_raw_parts(bytes, length) },
    };
    if let Some(target) = TARGET.get() {
        target(input);
    }
    0
}
