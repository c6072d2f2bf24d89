//! What a text, a number or a list may be: one module for each kind of value.
//!
//! A rule returns the value as it is stored (trimmed, normalised), or what is wrong with it; never
//! the value of a secret.
//!
//! Every text except passwords is trimmed by `str::trim`, which removes White_Space (Unicode) at both ends, including
//! line ends. Ids, tokens and choices are compared as they are.

pub mod change;
pub mod email;
pub mod icon;
pub mod image;
mod issues;
pub mod number;
pub mod password;
pub mod text;
pub mod url;
pub mod username;

pub use issues::{Checked, Issues, field, whole};

/// The rule that this sentence says.
#[cfg(test)]
pub fn rule(sentence: &str) -> portico_rules::rule::Rule {
    portico_rules::rule::Rule::parse(sentence).expect("a rule")
}
