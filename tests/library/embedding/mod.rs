//! Dashboards that took Portico in, each in its language and over a database of its own: the
//! examples. They run the one file that ships, answer the shared cases (`cases.json`, by the
//! unmodified tRPC client) and keep every rule of the storage kit.

mod dashboard;
mod node;
mod python;
mod rust;
