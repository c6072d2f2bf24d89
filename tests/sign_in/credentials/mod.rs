//! Passwords, sessions and keys, as an attacker would try them.

mod answers;
mod cookies;
mod harness;
mod hashes;
mod keys;
mod onboarding;
mod passwords;
mod sessions;
mod throttling;
