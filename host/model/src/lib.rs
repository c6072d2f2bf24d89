//! The values of the contract's interface `types`, with time and errors.
//!
//! The types are at the root of the crate, where the generated bindings look for them.
#![warn(missing_docs)]

pub mod error;
pub mod time;
mod types;

pub use self::time::Timestamp;
pub use self::types::*;
