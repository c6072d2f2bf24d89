//! The program `portico` on its machine: the command line, files and disks, kills and stops, backups,
//! other components, and clients that mean harm.
//!
//! `cargo nextest` runs each test in a process of its own: some measure their process, or set its log.

mod apply;
mod backup;
mod checks;
mod command_line;
mod console;
mod copy;
mod damage;
mod demo;
mod disks;
mod durability;
mod gate;
mod hostile_clients;
mod icon_sources;
mod import;
mod inspect;
mod metrics;
mod postgresql;
mod postgresql_failover;
mod postgresql_hosts;
mod recorded;
mod reload;
mod restarts;
mod scale_files;
mod service_manager;
mod starting;
mod stopping;
