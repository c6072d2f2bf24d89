//! The one way in which names are compared: see `wit/storage.wit`, *name-key*.

use alloc::string::String;
use alloc::vec::Vec;

use unicode_normalization::UnicodeNormalization;

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::names as contract;

/// The name-key of a name: NFC, lower case by character, NFC.
///
/// By character and without a locale, so that it is the same everywhere and of a part what it is
/// of the whole: a capital sigma becomes the same letter at the end of a word as inside.
pub fn key(name: &str) -> String {
    if name.is_ascii() {
        // The same, and most names are.
        return name.to_ascii_lowercase();
    }
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

impl contract::Guest for Plugin {
    fn keys(names: Vec<String>) -> Vec<String> {
        names.iter().map(|name| key(name)).collect()
    }
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
    fn a_name_in_ascii_has_the_key_that_it_has_inside_of_another() {
        let name: String = (0..128).map(char::from).collect();
        let longer = key(&alloc::format!("{name}é"));
        assert_eq!(longer, alloc::format!("{}é", key(&name)));
    }

    #[test]
    fn the_turkish_dotted_capital_keeps_its_dot() {
        assert_eq!(key("İ"), "i\u{307}");
    }
}
