//! Escapes text that others wrote, for the terminal.
//!
//! Invariant: text from a document, the data or a server reaches the standard output and the standard
//! error only with its control characters escaped.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use serde_json::Value;

/// Whether a terminal interprets a character instead of showing it. Control characters (C0, DEL, C1) move
/// the cursor, set colours or begin a new line, as the separators U+2028 and U+2029 may; bidirectional
/// controls change the order of the text around them.
pub fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The same, except for line ends and tabs.
pub fn is_control_in_lines(letter: char) -> bool {
    is_control(letter) && !matches!(letter, '\n' | '\t')
}

/// Text within a line: control characters become `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_control, |out, letter| {
        write!(out, "{}", letter.escape_unicode())
    })
}

/// Text of several lines: line ends and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_control_in_lines, |out, letter| {
        write!(out, "{}", letter.escape_unicode())
    })
}

/// A value as JSON, with control characters escaped.
pub fn json(value: &Value) -> serde_json::Result<String> {
    Ok(quoted(&serde_json::to_string_pretty(value)?).into_owned())
}

/// JSON or YAML, with control characters escaped as both languages do. Only double-quoted parts may
/// contain any.
pub fn quoted(text: &str) -> Cow<'_, str> {
    escaped(text, is_control_in_lines, |out, letter| {
        write!(out, "\\u{:04x}", u32::from(letter))
    })
}

fn escaped(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char) -> fmt::Result,
) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        // Writing to a `String` cannot fail.
        let _ = if is_escaped(letter) {
            escape(&mut out, letter)
        } else {
            out.write_char(letter)
        };
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CONTROLS: [char; 14] = [
        '\0', '\u{7}', '\u{8}', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}', '\u{200f}',
        '\u{2028}', '\u{202e}', '\u{2066}', '\u{2069}',
    ];

    #[test]
    fn control_characters_are_escaped_and_the_rest_stays() {
        assert_eq!(
            printable("a\u{1b}[31m\u{9b}2J\nb\u{202e}"),
            "a\\u{1b}[31m\\u{9b}2J\\u{a}b\\u{202e}"
        );
        assert_eq!(visible("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
        for letter in CONTROLS {
            let text = format!("a{letter}b");
            for shown in [printable(&text), visible(&text), quoted(&text)] {
                assert!(!shown.contains(letter), "{letter:?}");
            }
        }
        // Joiners are parts of words and emoji.
        let plain = "Zoë ÅNGSTRÖM 🧑\u{200d}🚀 \u{644}\u{627} \\u{1b}";
        assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let text: String = CONTROLS.iter().collect();
        let value = json!({ "list": [text, "plain"], text: 1 });
        let written = json(&value).unwrap();
        assert!(!written.contains(is_control_in_lines), "{written}");
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
