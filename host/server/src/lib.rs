//! The parts of the binary `portico` that tests and benchmarks use too: icon sources, the data directory and its
//! backups, and metrics.

pub mod backups;
pub mod data_dir;
pub mod icons;
pub mod metrics;
