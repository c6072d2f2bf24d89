//! What std would do on a panic.

use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

/// A text in a fixed buffer, so that writing to it does not allocate. The rest is cut off.
struct Message {
    bytes: [u8; 1024],
    length: usize,
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fitting = text.floor_char_boundary(self.bytes.len() - self.length);
        self.bytes[self.length..self.length + fitting].copy_from_slice(&text.as_bytes()[..fitting]);
        self.length += fitting;
        if fitting == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

/// Logs where the panic happened, then traps, and the host rolls back. The message of the panic is not
/// logged: it may quote an input, even a password.
pub fn trap(info: &PanicInfo, log: fn(&str)) -> ! {
    // A panic while logging a panic traps immediately.
    static PANICKING: AtomicBool = AtomicBool::new(false);
    if !PANICKING.swap(true, Ordering::Relaxed) {
        let mut message = Message {
            bytes: [0; 1024],
            length: 0,
        };
        // An error only means that the text was cut.
        let _ = match info.location() {
            Some(location) => write!(message, "panicked at {location}"),
            None => message.write_str("panicked"),
        };
        if let Ok(text) = core::str::from_utf8(&message.bytes[..message.length]) {
            log(text);
        }
    }
    core::arch::wasm32::unreachable()
}
