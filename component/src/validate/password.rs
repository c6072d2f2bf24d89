//! Passwords: long enough, and short enough to hash quickly. There is no other rule.

use portico_rules::bounds;

use super::issues::Checked;
use super::text;

/// A password, taken as it is.
pub fn password(value: &str) -> Checked<()> {
    text::length(value, bounds::PASSWORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_length_counts() {
        for accepted in [
            "        ",
            "12345678",
            "pässwörd",
            "\0\0\0\0\0\0\0\0",
            &"🔑".repeat(255),
        ] {
            assert_eq!(password(accepted), Ok(()));
        }
        for refused in ["", "1234567", "🔑🔑🔑🔑", &"a".repeat(256)] {
            assert!(password(refused).is_err());
        }
    }

    #[test]
    fn the_message_does_not_repeat_the_password() {
        let message = password("hunter2").unwrap_err();
        assert_eq!(message, "must have at least 8 characters, got 7");
    }
}
