//! Moves the data of Homarr to Portico: reads its database into plain records, and plans what an import writes.
//!
//! Invariants:
//! - The database may come from anyone. Nothing in it runs, and everything that is read from it is bounded
//!   (`source.rs`, `archive.rs`, `tar.rs`, `rows.rs`).
//! - A schema of Homarr is read if it begins with one whose commit is known (`schema.rs`). What is new in it, and whatever
//!   else is not read, is reported (`inventory.rs`).
//! - What is not imported as it was has a note in the [`Report`].
//! - Planning is pure. The caller lets Portico's own procedures check the records (`document.rs`), and writes the plan
//!   in one transaction.

mod archive;
mod board;
mod boards;
mod branding;
mod convert;
mod dashboard;
mod document;
mod entries;
mod fates;
mod grid;
mod homarr;
mod homes;
mod ids;
mod inventory;
mod kinds;
mod limits;
mod merge;
mod names;
mod pictures;
mod places;
mod present;
mod report;
mod rows;
mod schema;
mod source;
mod tables;
mod tar;
#[cfg(test)]
mod tests;

pub use board::{Board, Item};
pub use branding::Branding;
pub use convert::{Surroundings, convert};
pub use dashboard::{Dashboard, Group, Invite, Key, User};
pub use document::{Repair, check_rounds, document, make_names_unique};
pub use homarr::Homarr;
pub use kinds::FileKind;
pub use merge::{Plan, merge};
pub use names::Keys;
pub use present::Present;
pub use report::{Count, Kind, Note, Report, What, shown};
pub use schema::{Identified, SUPPORTED, Schema};
