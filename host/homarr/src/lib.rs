//! Moves the data of Homarr to Portico: reads its database into plain records, and plans what an import writes.
//!
//! Invariants:
//! - The database may come from anyone. Nothing in it runs, and everything that is read from it is bounded
//!   (`source.rs`, `archive.rs`, `rows.rs`).
//! - Only schemas of Homarr whose commit is known are read (`schema.rs`).
//! - What is not imported as it was has a note in the [`Report`].
//! - Planning is pure. The caller lets Portico's own procedures check the records (`document.rs`), and writes the plan
//!   in one transaction.

mod archive;
mod board;
mod boards;
mod convert;
mod dashboard;
mod document;
mod fates;
mod homarr;
mod ids;
mod limits;
mod merge;
mod names;
mod places;
mod present;
mod report;
mod rows;
mod schema;
mod source;
mod tables;
#[cfg(test)]
mod tests;

pub use board::{Board, Item};
pub use convert::{Surroundings, convert};
pub use dashboard::{Dashboard, Group, Invite, Key, User};
pub use document::{Repair, check_rounds, document, make_names_unique};
pub use homarr::Homarr;
pub use merge::{Plan, merge};
pub use names::Keys;
pub use present::Present;
pub use report::{Count, Kind, Note, Report, What};
pub use schema::{SUPPORTED, Schema};
pub use source::FileKind;
