//! Text that others wrote, made fit for a terminal.
//!
//! Invariant: what a document, the data or a server says reaches the standard output and the standard
//! error only with its control characters spelled out.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use serde_json::Value;

/// Whether a terminal obeys a character: control characters (C0, DEL, C1) move the cursor, set colours
/// or begin a new line, as the separators U+2028 and U+2029 may; bidirectional controls change the order of
/// the text around them.
pub fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The same in a text of several lines, with tabs.
pub fn is_obeyed_in_lines(letter: char) -> bool {
    is_obeyed(letter) && !matches!(letter, '\n' | '\t')
}

/// A text that stands inside a line: `\u{1b}[31m`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed, |out, letter| {
        write!(out, "{}", letter.escape_unicode())
    })
}

/// A text of several lines, whose line ends and tabs are Portico's own.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed_in_lines, |out, letter| {
        write!(out, "{}", letter.escape_unicode())
    })
}

/// A value as JSON that means the same and that a terminal shows.
pub fn json(value: &Value) -> serde_json::Result<String> {
    Ok(quoted(&serde_json::to_string_pretty(value)?).into_owned())
}

/// A text in JSON or YAML, of which only double-quoted parts hold what a terminal obeys, with that
/// escaped as both languages do.
pub fn quoted(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed_in_lines, |out, letter| {
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
        // Writing to a text cannot fail.
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

    const OBEYED: [char; 14] = [
        '\0', '\u{7}', '\u{8}', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}', '\u{200f}',
        '\u{2028}', '\u{202e}', '\u{2066}', '\u{2069}',
    ];

    #[test]
    fn what_a_terminal_obeys_is_spelled_out_and_the_rest_stays() {
        assert_eq!(
            printable("a\u{1b}[31m\u{9b}2J\nb\u{202e}"),
            "a\\u{1b}[31m\\u{9b}2J\\u{a}b\\u{202e}"
        );
        assert_eq!(visible("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
        for letter in OBEYED {
            let text = format!("a{letter}b");
            for shown in [printable(&text), visible(&text), quoted(&text)] {
                assert!(!shown.contains(letter), "{letter:?}");
            }
        }
        // Joiners belong to words and to emoji.
        let plain = "Zoë ÅNGSTRÖM 🧑\u{200d}🚀 \u{644}\u{627} \\u{1b}";
        assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn json_means_the_same() {
        let text: String = OBEYED.iter().collect();
        let value = json!({ "list": [text, "plain"], text: 1 });
        let written = json(&value).unwrap();
        assert!(!written.contains(is_obeyed_in_lines), "{written}");
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
