//! Passwords, sessions and keys, as an attacker would try them.

mod answers;
mod cookies;
pub mod harness;
mod hashes;
mod keys;
mod onboarding;
mod passkeys;
mod passwords;
mod sessions;
mod throttling;
