//! The icons that are refused. The component checks those of apps, the host those of search engines.

use crate::rule::Rule;

/// What is wrong with an icon that a browser would run, or show as a page of the dashboard, if a client
/// used it in a link or a frame. The text is trimmed and has no control characters.
///
/// A browser ignores control characters and spaces before the scheme, and tabs and line ends within it. None of them is
/// left here, but U+FEFF may be, which JavaScript's `trim` removes.
pub fn problem(icon_url: &str) -> Option<Rule> {
    let icon_url = icon_url.trim_start_matches(|first: char| first.is_whitespace() || first == '\u{feff}');
    let (scheme, rest) = icon_url.split_once(':')?;
    if scheme.eq_ignore_ascii_case("javascript") {
        return Some(refused("javascript"));
    }
    if scheme.eq_ignore_ascii_case("vbscript") {
        return Some(refused("vbscript"));
    }
    if scheme.eq_ignore_ascii_case("data") && !is_image(rest) {
        return Some(Rule::NotImage);
    }
    None
}

fn refused(scheme: &str) -> Rule {
    Rule::RefusedScheme {
        scheme: scheme.into(),
    }
}

/// Whether the rest of a data URI begins with the MIME type of an image. Without a comma there is no
/// content, and with a MIME type that cannot be parsed the content is text
/// (<https://fetch.spec.whatwg.org/#data-url-processor>).
fn is_image(rest: &str) -> bool {
    let Some((head, _)) = rest.split_once(',') else {
        return false;
    };
    let mime = head.split_once(';').map_or(head, |(mime, _)| mime);
    let Some((kind, subtype)) = mime.trim().split_once('/') else {
        return false;
    };
    kind.eq_ignore_ascii_case("image") && !subtype.is_empty() && subtype.chars().all(is_of_token)
}

/// Whether a MIME type may hold this character (RFC 9110, *token*).
fn is_of_token(character: char) -> bool {
    character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)
}
