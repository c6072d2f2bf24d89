//! The service: callers and their access, the procedures, limits, and the audit log.
//!
//! A transport determines the [`identity`] behind a request, finds the procedure in the [`table`], and lets the
//! [`service::Service`] run it.

pub mod accounts;
pub mod audit;
mod browser;
mod checks;
mod dashboard;
pub mod external;
pub mod fair_semaphore;
pub mod gate;
pub mod hot_swap;
pub mod identity;
pub mod imported_keys;
mod issues;
pub mod json;
pub mod metrics;
pub mod pictures;
pub mod procedures;
pub mod reachability;
pub mod report;
pub mod request_id;
pub mod resources;
pub mod second_factor;
mod second_runtime;
pub mod service;
pub mod sessions;
pub mod shape;
pub mod sign_in;
pub mod site;
pub mod table;
pub mod throttle;
pub mod words;
