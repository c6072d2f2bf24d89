//! The service as its clients see it: procedure calls, REST, the description of both, who may call what,
//! and the audit log. Nearly all of these tests start the program `portico` and talk HTTP to it.
//!
//! `cargo nextest` runs each test in a process of its own: some measure their process, or set its log.

mod access;
mod app_status;
mod apps;
mod audit;
mod bad_input;
mod board_rights;
mod boards;
mod clients;
mod dashboard;
mod disabled;
mod homarr;
mod home_boards;
mod icon_files;
mod keys_and_invites;
mod limited_keys;
mod long_calls;
mod looks;
mod lost_access;
mod openapi;
mod own;
mod password_links;
mod pictures;
mod profiles;
mod races;
mod refusals;
mod rest;
mod state;
mod trpc;
mod visibility;
