//! What was promised in `wit/`.
//!
//! Each version of the contract is recorded once, as text without comments (`recorded/*.wit`), with
//! a component that was built for it (`tests/fixtures/`). From then on:
//! - the text of a recorded version does not change;
//! - another text needs another version;
//! - a version that may stand for an earlier one (0.2.1 for 0.2.0) runs every component of it.

mod compare;
mod docs;
mod text;

pub use compare::{Verdict, check};
pub use docs::document;
pub use text::{Contract, Recorded};
