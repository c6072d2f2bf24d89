//! Names of users.

use alloc::string::String;

use core::ops::RangeInclusive;

use portico_rules::rule::Rule;
use portico_rules::sentences::CodePoint;
use portico_rules::{bounds, names};

use super::issues::Checked;
use super::text;
use crate::bindings::types::Provider;

/// A username as it is stored, which is its own name-key: trimmed, NFC, lower case; 3 to 255 characters after that.
/// Names that are older than the rule of [`visible`] stay valid.
pub fn username(value: &str) -> Checked<String> {
    within(value, bounds::USERNAME)
}

/// The name of a user of this provider. An external provider decides what names are like, so there one may have 1 to 255
/// characters.
pub fn username_of(provider: Provider, value: &str) -> Checked<String> {
    match provider {
        Provider::Credentials => username(value),
        Provider::Oidc | Provider::Ldap => within(value, bounds::EXTERNAL_NAME),
    }
}

fn within(value: &str, length: RangeInclusive<usize>) -> Checked<String> {
    let value = value.trim();
    match names::key_to_find(value, *length.end()) {
        Some(key) => text::line(&key, length),
        // Its key is more than four times too long, so the value itself is too long as well.
        None => text::line(value, length),
    }
}

/// The username of a new user.
pub fn new_username(value: &str) -> Checked<String> {
    let name = username(value)?;
    visible(&name)?;
    Ok(name)
}

/// Refuses characters that are invisible or change the direction of text, because they make a name look
/// like another user's.
pub fn visible(name: &str) -> Checked<()> {
    match name.chars().find(|character| is_default_ignorable(*character)) {
        None => Ok(()),
        Some(found) => Err(Rule::InvisibleCharacter {
            found: CodePoint(found),
        }),
    }
}

/// The property Default_Ignorable_Code_Point of Unicode 16.0 (`DerivedCoreProperties.txt`), which includes all of
/// Bidi_Control (`PropList.txt`). It already includes unassigned characters that are reserved for it.
fn is_default_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::validate::rule;

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
            Err(rule("must have at least 3 characters, got 2"))
        );
        assert_eq!(username(""), Err(rule("must have at least 3 characters, got 0")));
        // Two letters and a combining mark: two characters once composed.
        assert!(username("ju\u{308}").is_err());
        // Two letters that become four characters in lower case.
        assert!(username("İİ").is_ok());
        assert!(username(&"ä".repeat(255)).is_ok());
        assert!(username(&"ä".repeat(256)).is_err());
        assert!(username(&"İ".repeat(128)).is_err());
    }

    #[test]
    fn that_of_an_external_provider_has_1_to_255_characters() {
        for provider in [Provider::Oidc, Provider::Ldap] {
            assert_eq!(username_of(provider, " Al "), Ok("al".into()));
            assert_eq!(username_of(provider, "A"), Ok("a".into()));
            assert_eq!(username_of(provider, " "), Err(rule("must not be empty")));
            assert!(username_of(provider, &"ä".repeat(256)).is_err());
            assert!(username_of(provider, "a\n").is_ok(), "it is trimmed");
            assert!(username_of(provider, "a\nb").is_err());
        }
        assert!(username_of(Provider::Credentials, "al").is_err());
    }

    #[test]
    fn of_one_that_is_much_too_long_no_key_is_computed() {
        // The key has two characters for each of these.
        let message = |got: usize| rule(&format!("must have at most 255 characters, got {got}"));
        assert_eq!(username(&"İ".repeat(500)), Err(message(1000)));
        assert_eq!(username(&"İ".repeat(5000)), Err(message(5000)));
    }

    #[test]
    fn it_holds_no_control_characters() {
        for refused in ["ali\0ce", "ali\nce", "\u{1}alice", "alice\u{9f}"] {
            assert!(username(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_new_one_has_no_invisible_characters() {
        for hidden in [
            '\u{202e}',
            '\u{200b}',
            '\u{115f}',
            '\u{200d}',
            '\u{feff}',
            '\u{ad}',
            '\u{fe0f}',
            '\u{e0041}',
        ] {
            for name in [
                format!("{hidden}alice"),
                format!("al{hidden}ice"),
                format!("ALICE{hidden}"),
            ] {
                let message = format!(
                    "must not contain invisible or bidirectional control characters, found U+{:04X}",
                    u32::from(hidden)
                );
                assert_eq!(new_username(&name), Err(rule(&message)));
                assert!(username(&name).is_ok(), "one that is stored stays");
            }
        }
        for seen in [
            "alice",
            "jürgen",
            "नमस्ते",
            "علي رضا",
            "🏠🏠🏠",
            "a\u{2800}b",
            "i\u{307}zm",
        ] {
            assert_eq!(new_username(seen), Ok(seen.into()));
        }
        assert!(new_username("ab").is_err());
    }

    #[test]
    fn what_is_not_seen_are_the_4174_characters_of_the_property() {
        let found = ('\0'..=char::MAX).filter(|character| is_default_ignorable(*character));
        let (count, sum) = found.fold((0, 0), |(count, sum), character| {
            (count + 1, sum + u64::from(u32::from(character)))
        });
        // The count is `DerivedCoreProperties.txt`'s own.
        assert_eq!((count, sum), (4174, 3_769_934_431));
        let bidi = ['\u{61c}', '\u{200e}', '\u{200f}'].into_iter();
        let mut bidi = bidi.chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        assert!(bidi.all(is_default_ignorable));
    }
}
