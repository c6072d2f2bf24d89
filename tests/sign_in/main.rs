//! Credentials of every kind: passwords, sessions, keys, OpenID Connect and LDAP, and secrets that must
//! not come out.
//!
//! `cargo nextest` runs each test in a process of its own: some measure their process, or set its log.

mod console;
mod credentials;
mod failed;
mod gate;
mod ldap;
mod oidc;
mod origins;
mod passwords_off;
mod proxy;
mod second_factor;
mod secrets;
mod signing_in;
