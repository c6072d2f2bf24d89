//! Names of users.

use alloc::string::String;

use super::{Checked, text};
use crate::names;

/// The most characters that a username has.
pub const MAX: usize = 255;

/// A username as it is stored, which is its own name-key: trimmed, NFC, lower case; 3 to 255
/// characters after that.
pub fn username(value: &str) -> Checked<String> {
    text::line(&names::key(value.trim()), 3..=MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_username_is_trimmed_composed_and_lower_cased() {
        for (sent, stored) in [
            ("  Alice ", "alice"),
            ("JU\u{308}RGEN", "jürgen"),
            ("STRASSE", "strasse"),
            ("Ὀδυσσεύς", "ὀδυσσεύς"),
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευσ"),
            ("İZMİR", "i\u{307}zmi\u{307}r"),
            ("🏠🏠🏠", "🏠🏠🏠"),
            ("Anna Maria", "anna maria"),
            ("../x", "../x"),
        ] {
            assert_eq!(username(sent), Ok(stored.into()));
            assert_eq!(names::key(stored), stored);
        }
    }

    #[test]
    fn its_length_counts_after_normalising() {
        assert_eq!(
            username(" ab "),
            Err("must have at least 3 characters, got 2".into())
        );
        assert_eq!(username(""), Err("must have at least 3 characters, got 0".into()));
        // Two letters and a combining mark: two characters once composed.
        assert!(username("ju\u{308}").is_err());
        // Two letters that become four characters in lower case.
        assert!(username("İİ").is_ok());
        assert!(username(&"ä".repeat(255)).is_ok());
        assert!(username(&"ä".repeat(256)).is_err());
        assert!(username(&"İ".repeat(128)).is_err());
    }

    #[test]
    fn it_holds_no_control_characters() {
        for refused in ["ali\0ce", "ali\nce", "\u{1}alice", "alice\u{9f}"] {
            assert!(username(refused).is_err(), "{refused:?}");
        }
    }
}
