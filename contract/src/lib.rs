//! Keeps the promises of `wit/`.
//!
//! Each version of the contract is recorded once, as text without comments (`recorded/*.wit`), together with
//! a component that was built for it (`tests/fixtures/`). From then on:
//! - the text of a recorded version does not change; another text needs another version;
//! - a component of 1.x runs in a host of 1.0.0: it imports nothing that 1.0.0 lacks, and exports all that 1.0.0
//!   exports;
//! - a component of 1.0.0 runs in a host of 1.x: imports and exports of 1.0.0 keep their types. What 1.x exports
//!   besides is optional for hosts.

mod composition;
mod docs;
mod promises;
mod text;

pub use composition::{componentize, compose};
pub use docs::document;
pub use promises::check_promises;
pub use text::{Contract, Recorded};
