//! The service: who calls, what there is to call and who may call it, how often, and what is kept of it.
//!
//! A transport finds out the [`identity`] behind a request, finds the procedure in the
//! [`procedures::Table`], and has the [`service::Service`] run it.

pub mod audit;
mod dashboard;
pub mod external;
pub mod fair_semaphore;
pub mod hot_swap;
pub mod identity;
pub mod json;
pub mod procedures;
pub mod request_id;
mod run_blocking;
pub mod service;
pub mod sessions;
pub mod shape;
pub mod site;
pub mod throttle;
pub mod words;
