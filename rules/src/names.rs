//! How names are compared everywhere: see `wit/storage.wit`, *name-key*.

use alloc::string::String;

use unicode_normalization::UnicodeNormalization;

/// The name-key of a name: NFC, lower case by character, NFC.
///
/// By character and without a locale, so that the result is the same everywhere, and the key of a part of a name is
/// part of the name's key: a capital sigma becomes the same letter at the end of a word as inside a word.
pub fn key(name: &str) -> String {
    if name.is_ascii() {
        // The same result, but faster, because most names are ASCII.
        return name.to_ascii_lowercase();
    }
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// A character decomposes into at most this many. So the key of a name has at most four times the characters
/// of the name, and at least a quarter of them: a test measures both over all of Unicode.
pub(crate) const MOST_DECOMPOSED: usize = 4;

/// The name-key of a text to search for, unless it is longer than the key of any name of at most `longest` characters,
/// or contains a character that no name has: then no such name contains it.
pub fn key_to_find(searched: &str, longest: usize) -> Option<String> {
    let longest_key = longest * MOST_DECOMPOSED;
    if searched.contains('\0') {
        return None;
    }
    // Computing the key of a long text in vain would take longer than everything else.
    if searched.chars().nth(longest_key * MOST_DECOMPOSED).is_some() {
        return None;
    }
    let key = key(searched);
    key.chars().nth(longest_key).is_none().then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_or_composition_have_one_key() {
        for (left, right) in [
            ("Jellyfin", "JELLYFIN"),
            ("ÄRGER", "a\u{308}rger"),
            ("Ångström", "\u{212b}NGSTRÖM"),
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευσ"),
            ("\u{1e9e}", "ß"),
            ("Ǆ", "ǆ"),
        ] {
            assert_eq!(key(left), key(right));
        }
    }

    #[test]
    fn names_that_are_different_words_keep_different_keys() {
        for (left, right) in [
            ("straße", "strasse"),
            ("ı", "i"),
            ("σ", "ς"),
            ("ﬁ", "fi"),
            ("é", "e"),
        ] {
            assert_ne!(key(left), key(right));
        }
    }

    #[test]
    fn the_key_of_a_key_is_itself() {
        for name in [
            "İstanbul",
            "IŞIK",
            "ΟΔΥΣΣΕΥΣ",
            "Ὀδυσσεύς",
            "🏠 Home",
            "\u{1e9b}\u{323}",
            "ẞ",
            "",
            "日本",
        ] {
            assert_eq!(key(&key(name)), key(name), "{name}");
        }
    }

    #[test]
    fn a_name_in_ascii_has_the_same_key_as_inside_a_longer_name() {
        let name: String = (0..128).map(char::from).collect();
        let longer = key(&alloc::format!("{name}é"));
        assert_eq!(longer, alloc::format!("{}é", key(&name)));
    }

    #[test]
    fn the_turkish_dotted_capital_keeps_its_dot() {
        assert_eq!(key("İ"), "i\u{307}");
    }

    fn decomposed(text: impl Iterator<Item = char>) -> usize {
        text.nfd().count()
    }

    #[test]
    fn a_key_is_at_most_four_times_as_long_as_its_name_and_at_least_a_quarter_as_long() {
        // NFC never has more characters than NFD, and NFD of a text is that of its characters in
        // another order. So it is enough to look at each character by itself.
        let mut longest_key = 0;
        for character in '\0'..=char::MAX {
            let parts: Vec<char> = [character].into_iter().nfd().collect();
            assert!(parts.len() <= MOST_DECOMPOSED, "{character:?}");
            // Lower case makes it neither longer nor shorter, composed or not.
            assert_eq!(decomposed(character.to_lowercase()), parts.len(), "{character:?}");
            for part in parts {
                assert_eq!(decomposed(part.to_lowercase()), 1, "{part:?} of {character:?}");
            }
            longest_key = longest_key.max(key(character.encode_utf8(&mut [0; 4])).chars().count());
        }
        // The longest key of one character; a text may reach more than its characters alone.
        assert_eq!(longest_key, 3);
    }

    #[test]
    fn the_key_of_every_name_can_be_found() {
        // U+FB2C has three characters in NFC, U+1F82 has four in NFD, U+0130 two in lower case.
        for character in [
            'a',
            '\u{fb2c}',
            '\u{1f82}',
            '\u{130}',
            '\u{1d160}',
            '\u{ac01}',
            '😀',
        ] {
            let name: String = core::iter::repeat_n(character, 64).collect();
            assert_eq!(key_to_find(&name, 64), Some(key(&name)), "{character:?}");
            let typed: String = name.nfd().collect();
            assert_eq!(key_to_find(&typed, 64), Some(key(&name)), "{character:?}");
        }
    }

    #[test]
    fn a_text_longer_than_every_key_is_not_searched_for() {
        assert_eq!(key_to_find(&"a".repeat(256), 64), Some("a".repeat(256)));
        assert_eq!(key_to_find(&"a".repeat(257), 64), None);
        assert_eq!(key_to_find(&"\u{301}".repeat(1_000_000), 64), None);
    }
}
