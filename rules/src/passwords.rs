//! The form in which passwords are hashed and compared.

use alloc::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::bounds;
use crate::names::MOST_DECOMPOSED;

/// The most characters of a password that is checked: more than any that a dashboard has stored.
pub const MOST_CHECKED: usize = 4096;

/// The most characters of a new password as it is sent. The NFC of a longer one is too long as well.
pub const MOST_NEW: usize = *bounds::PASSWORD.end() * MOST_DECOMPOSED;

/// A password in NFC. Systems write the same letter as one character or as several: `ä`, or `a` and two dots.
pub fn composed(password: &str) -> Cow<'_, str> {
    if password.is_ascii() {
        return Cow::Borrowed(password);
    }
    Cow::Owned(password.nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_composed_and_compatibility_and_case_stay() {
        for (sent, kept) in [
            ("a\u{308}o\u{308}u\u{308}", "äöü"),
            ("äöü", "äöü"),
            ("correct horse", "correct horse"),
            ("\u{212b}", "Å"),
            ("ﬁ①Ａ", "ﬁ①Ａ"),
            ("\u{fb2c}", "\u{5e9}\u{5bc}\u{5c1}"),
            ("", ""),
        ] {
            assert_eq!(composed(sent), kept);
            assert_eq!(composed(kept), kept);
        }
    }

    #[test]
    fn a_character_that_is_written_in_as_many_as_possible_is_one_again() {
        let written = "\u{3b1}\u{313}\u{300}\u{345}".repeat(*bounds::PASSWORD.end());
        assert_eq!(written.chars().count(), MOST_NEW);
        assert_eq!(composed(&written).chars().count(), *bounds::PASSWORD.end());
    }
}
