//! The values of the contract's interface `types`, with time and errors.
//!
//! The types are at the root of the crate, where the generated bindings look for them.
#![warn(missing_docs)]

pub mod error;
mod second_factor;
pub mod time;
mod types;

pub use self::second_factor::{FactorKind, MissingFactor};
pub use self::time::Timestamp;
/// The rules and refusals in words.
pub use portico_rules::{refusal, rule, sentences};

/// The icon of an app whose name fits no icon. The app is shown with its first letter until one is found.
pub const DEFAULT_ICON: &str = "/icons/default.svg";

/// Where uploaded pictures are served: this, and then the id. It is how icons of apps and search engines name them.
pub const PICTURES: &str = "/api/pictures/";

pub use self::types::*;
