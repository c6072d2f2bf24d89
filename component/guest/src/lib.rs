//! What std would provide to a component: the allocator, and what happens at a panic.

#![no_std]
#![cfg(target_arch = "wasm32")]

mod allocator;
mod panic;

pub use panic::trap;
