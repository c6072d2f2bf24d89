//! The audit log: one row for whatever is done or refused, with the right fields, and nothing that is
//! secret or without bounds.

mod bounds;
mod harness;
mod providers;
mod rows;
mod same_commit;
mod table;
