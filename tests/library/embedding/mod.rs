//! The examples: dashboards that embed Portico, each in its language and over a database of its own. They
//! run the one file that ships, answer the shared cases (`tests/embedding/cases.json`, by the unmodified
//! tRPC client) and keep every rule of the storage kit.

mod dashboard;
mod first_hosts;
mod node;
mod postgresql;
mod python;
mod rust;
