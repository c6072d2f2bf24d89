//! Query strings and HTML forms.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that stay as they are in a query string.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The keys and values; text that is not UTF-8 is replaced.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key), decode(value))
    })
}

/// The first value of a key.
pub(crate) fn value_of(text: &str, key: &str) -> Option<String> {
    pairs(text).find_map(|(name, value)| (name == key).then_some(value))
}

/// Escapes a text for a query string or a part of a path.
pub(crate) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// A part of a path as it was before it was escaped.
pub(crate) fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn decode(text: &str) -> String {
    unescape(&text.replace('+', " "))
}
