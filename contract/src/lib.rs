//! Keeps the promises of `wit/`.
//!
//! Each version of the contract is recorded once, as text without comments (`recorded/*.wit`), together with
//! a component that was built for it (`tests/fixtures/`). From then on:
//! - the text of a recorded version does not change;
//! - another text needs another version;
//! - a version that is compatible with an earlier one (1.0.1 with 1.0.0) runs every component of that one.

mod compare;
mod docs;
mod text;

pub use compare::{Verdict, check};
pub use docs::document;
pub use text::{Contract, Recorded};
