//! Passwords: long enough, and short enough to hash quickly. There is no other rule.

use alloc::string::String;

use portico_rules::{bounds, passwords};

use super::issues::Checked;
use super::text;

/// A new password as it is hashed: in NFC, and otherwise as it is.
pub fn password(value: &str) -> Checked<String> {
    // Composing a long text in vain would take longer than everything else.
    if value.chars().nth(passwords::MOST_NEW).is_some() {
        text::length(value, bounds::PASSWORD)?;
    }
    let composed = passwords::composed(value);
    text::length(&composed, bounds::PASSWORD)?;
    Ok(composed.into_owned())
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::validate::rule;

    #[test]
    fn only_the_length_counts() {
        for accepted in [
            "        ",
            "12345678",
            "pässwörd",
            "\0\0\0\0\0\0\0\0",
            &"🔑".repeat(255),
        ] {
            assert_eq!(password(accepted), Ok(accepted.into()));
        }
        for refused in ["", "1234567", "🔑🔑🔑🔑", &"a".repeat(256)] {
            assert!(password(refused).is_err());
        }
    }

    #[test]
    fn the_length_counts_after_composing() {
        let decomposed = |count| "u\u{308}".repeat(count);
        assert_eq!(
            password(&decomposed(4)),
            Err(rule("must have at least 8 characters, got 4"))
        );
        assert_eq!(password(&decomposed(8)), Ok("ü".repeat(8)));
        assert_eq!(password(&decomposed(255)), Ok("ü".repeat(255)));
        assert_eq!(
            password(&decomposed(256)),
            Err(rule("must have at most 255 characters, got 256"))
        );
        // One character that has three in NFC.
        assert!(password(&"\u{fb2c}".repeat(86)).is_err());
        assert_eq!(
            password(&"\u{301}".repeat(1_000_000)),
            Err(rule("must have at most 255 characters, got 1000000"))
        );
    }

    #[test]
    fn the_message_does_not_repeat_the_password() {
        let message = password("hunter2").unwrap_err().to_string();
        assert_eq!(message, "must have at least 8 characters, got 7");
        let message = password(&format!("{}x", "a".repeat(2000)))
            .unwrap_err()
            .to_string();
        assert_eq!(message, "must have at most 255 characters, got 2001");
    }
}
