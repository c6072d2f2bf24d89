//! The parts of the binary `portico` that tests and benchmarks use too: icon sources and the data
//! directory.

pub mod data_dir;
pub mod icons;
