//! Where users and apps are stored, and everything else that a dashboard stores.
//!
//! There are two traits because there are two kinds of hosts. [`Storage`] is what the component asks for
//! (`wit/storage.wit`, one method for each function): a dashboard that embeds Portico implements only
//! that. [`DashboardStorage`] adds what Portico stores where it is the dashboard itself: keys, sessions,
//! invites, groups, boards, search engines, looks, pictures and the audit log.
//!
//! Invariants of every driver:
//! - A transaction that is dropped is undone. `commit` returns when all of the transaction is durable.
//! - Write transactions behave as if they ran one after the other. What a write transaction reads includes
//!   every earlier commit, and stays true until it ends.
//! - After a call in a transaction has failed, the transaction accepts no more writes and cannot be committed.
//! - "By name" is the order of the name-key's bytes, then of the id's.
//! - If the context has a call to audit, a write transaction writes its row before it commits.
//! - The driver enforces, inside the transaction, what must hold under concurrency: unique names, an
//!   invite taken once, a password replaced once.
#![warn(missing_docs)]

mod audit;
mod authentication;
mod boards;
mod context;
pub mod copying;
mod dashboard;
mod dashboard_records;
pub mod driver;
pub mod extras;
mod gate;
mod ids;
mod looks;
#[cfg(feature = "memory")]
pub mod memory;
pub mod nested;
mod new_password;
pub mod nice;
pub mod notes;
mod records;
mod second_factors;
pub mod secrets;
mod seen;
mod shared;
mod storage;
mod text_size;
mod view;
mod without_dashboard;

pub use audit::*;
pub use authentication::Authentication;
pub use boards::*;
pub use context::CallContext;
pub use dashboard::*;
pub use dashboard_records::*;
pub use gate::*;
pub use ids::Ids;
pub use looks::*;
pub use new_password::NewToken;
pub use records::*;
pub use second_factors::{MOST_SECOND_FACTORS, SecondFactor};
pub use seen::*;
pub use shared::{Change, MemoryRecords, RecordKey, RecordKind, SharedRecord, SharedRecords, Turn};
pub use storage::{Storage, Transaction};
pub use without_dashboard::WithoutDashboard;
