//! Plain texts: trimming, length, and control characters.
//!
//! Lengths count Unicode scalar values after trimming.

use alloc::string::{String, ToString};
use core::ops::RangeInclusive;

use portico_rules::rule::Rule;
use portico_rules::sentences::CodePoint;
use portico_rules::{bounds, direction};

use super::issues::Checked;

/// Whether storage can hold a text: some databases cannot hold U+0000.
pub fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// The name of a new app.
pub fn new_app_name(value: &str) -> Checked<String> {
    let name = app_name(value)?;
    keeps_direction(&name)?;
    Ok(name)
}

/// The description of a new app.
pub fn new_description(value: &str) -> Checked<Option<String>> {
    let description = description(value)?;
    description.as_deref().map_or(Ok(()), keeps_direction)?;
    Ok(description)
}

/// Refuses characters that change the direction of text.
pub fn keeps_direction(text: &str) -> Checked<()> {
    direction::problem(text).map_or(Ok(()), Err)
}

/// The name of an app. Names and descriptions that are older than the rule of [`keeps_direction`] stay valid.
pub fn app_name(value: &str) -> Checked<String> {
    line(value.trim(), bounds::APP_NAME)
}

/// The description of an app; `""` means none. May contain newlines and tabs.
pub fn description(value: &str) -> Checked<Option<String>> {
    let value = value.trim();
    length(value, bounds::DESCRIPTION)?;
    no_control_characters(value, &['\n', '\t'])?;
    Ok((!value.is_empty()).then(|| value.to_string()))
}

/// A text of one line.
pub fn line(value: &str, bounds: RangeInclusive<usize>) -> Checked<String> {
    length(value, bounds)?;
    no_control_characters(value, &[])?;
    Ok(value.to_string())
}

/// The length of a text.
pub fn length(value: &str, bounds: RangeInclusive<usize>) -> Checked<()> {
    let length = value.chars().count();
    if length == 0 && *bounds.start() == 1 {
        Err(Rule::Empty)
    } else if length < *bounds.start() {
        Err(Rule::TooShort {
            least: *bounds.start(),
            got: length,
        })
    } else if length > *bounds.end() {
        Err(Rule::TooLong {
            most: *bounds.end(),
            got: length,
        })
    } else {
        Ok(())
    }
}

/// Refuses control characters, except these.
pub fn no_control_characters(value: &str, except: &[char]) -> Checked<()> {
    match value
        .chars()
        .find(|character| character.is_control() && !except.contains(character))
    {
        None => Ok(()),
        Some(found) => Err(Rule::ControlCharacter {
            found: CodePoint(found),
        }),
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::validate::rule;

    #[test]
    fn an_app_name_is_trimmed_and_has_1_to_64_characters() {
        assert_eq!(app_name("  Jellyfin \n"), Ok("Jellyfin".into()));
        assert_eq!(app_name("\u{3000}映画\u{a0}"), Ok("映画".into()));
        assert_eq!(app_name(&"🎬".repeat(64)), Ok("🎬".repeat(64)));
        assert_eq!(
            app_name(&"🎬".repeat(65)),
            Err(rule("must have at most 64 characters, got 65"))
        );
        assert_eq!(
            app_name(&format!(" {} ", "a".repeat(64))).map(|name| name.len()),
            Ok(64)
        );
        for empty in ["", "   ", "\t\n"] {
            assert_eq!(app_name(empty), Err(rule("must not be empty")));
        }
    }

    #[test]
    fn names_hold_no_control_characters() {
        for (name, found) in [
            ("a\0b", "0000"),
            ("a\tb", "0009"),
            ("a\u{7f}b", "007F"),
            ("a\u{85}b", "0085"),
        ] {
            let message = format!("must not contain control characters, found U+{found}");
            assert_eq!(app_name(name), Err(rule(&message)));
        }
    }

    #[test]
    fn a_description_may_hold_newline_and_tab_and_be_absent() {
        assert_eq!(description(" one\n\ttwo "), Ok(Some("one\n\ttwo".into())));
        assert_eq!(description(" \n "), Ok(None));
        assert_eq!(description(&"ä".repeat(512)), Ok(Some("ä".repeat(512))));
        assert_eq!(
            description(&"a".repeat(1_000_000)),
            Err(rule("must have at most 512 characters, got 1000000"))
        );
        for refused in ["a\0", "a\rb", "\u{1b}[2J"] {
            assert!(description(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn new_names_and_descriptions_do_not_change_the_direction_of_text() {
        for changing in ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            let text = format!("a{changing}b");
            let message = format!(
                "must not contain characters that change the direction of text, found U+{:04X}",
                u32::from(changing)
            );
            assert_eq!(new_app_name(&text), Err(rule(&message)));
            assert_eq!(new_description(&text), Err(rule(&message)));
            assert_eq!(app_name(&text), Ok(text.clone()), "one that is stored stays");
            assert_eq!(description(&text), Ok(Some(text)));
        }
        let marked = "מדיה\u{200f} (NAS)\u{200e}";
        assert_eq!(new_app_name(marked), Ok(marked.into()));
        assert_eq!(new_description(marked), Ok(Some(marked.into())));
        assert_eq!(new_description(" "), Ok(None));
    }

    #[test]
    fn an_app_name_keeps_joiners_and_variation_selectors() {
        for name in ["👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(app_name(name), Ok(name.into()));
        }
    }
}
