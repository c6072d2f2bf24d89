//! What the binary `portico` has that a dashboard which embeds it does not need: icon sources, and the
//! data folder.

pub mod data_dir;
pub mod icons;
