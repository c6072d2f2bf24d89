//! The libraries below the program: the component in its sandbox, storage that fails, drivers that must
//! agree, and dashboards that embed Portico.
//!
//! `cargo nextest` runs each test in a process of its own: some measure their process, or set its log.

mod board_editor;
mod component;
mod embed;
mod embedding;
mod faults;
mod same_answers;
mod sandbox;
