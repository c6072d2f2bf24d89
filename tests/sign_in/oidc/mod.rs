//! Sign-in by OpenID Connect, against the certified `oidc-provider` as a server of its own, which also
//! misbehaves when a test says so.

mod admission;
mod attacks;
mod browser;
mod group_rules;
mod groups;
pub mod harness;
mod invites;
mod linking;
mod postgresql_hosts;
mod relink;
mod settings;
mod sign_in;
mod sign_out;
mod tokens;
mod trouble;
mod users;
