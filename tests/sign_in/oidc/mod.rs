//! Sign-in by OpenID Connect, against the certified `oidc-provider` as a server of its own, and
//! against what it does not do by itself.

mod attacks;
mod browser;
mod groups;
mod harness;
mod linking;
mod settings;
mod sign_in;
mod tokens;
mod trouble;
mod users;
