//! The browser of a request in a few words, as people recognise it in a list of their sessions.
//!
//! Invariants:
//! - What is read of `User-Agent` is bounded, and what is returned consists of names in this file, or of the name that
//!   a program gives itself: at most [`LONGEST`] letters, digits, `-`, `_`, `.` and spaces.
//! - It is a hint for people. Nothing is decided by it.

use http::{HeaderMap, header};

/// The most bytes that are read. Browsers send fewer than 300.
const MOST_READ: usize = 512;

/// The longest name of a program, in bytes.
const LONGEST: usize = 32;

/// A mark in the header, and what it says. The first that is there counts: browsers also name those that they descend
/// from.
const BROWSERS: [(&str, &str); 13] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

const SYSTEMS: [(&str, &str); 8] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
    ("FreeBSD", "FreeBSD"),
];

/// The browser and its system, such as `Firefox on Linux`, or the name of another program; `None` if the request names
/// none.
pub(crate) fn name_of(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get(header::USER_AGENT)?.as_bytes();
    let sent = &sent[..sent.len().min(MOST_READ)];
    let text = String::from_utf8_lossy(sent);
    let find = |names: &[(&str, &'static str)]| {
        let mut names = names.iter();
        names.find(|(mark, _)| text.contains(mark)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => Some(format!("{browser} on {system}")),
        (Some(name), None) => Some(name.to_owned()),
        (None, _) => program(&text),
    }
}

/// What a program calls itself before its version, such as `curl`.
fn program(text: &str) -> Option<String> {
    let name = text.split('/').next()?.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b' ');
    let is_name = (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_plain) && name != "Mozilla";
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(user_agent: &[u8]) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::USER_AGENT,
            http::HeaderValue::from_bytes(user_agent).unwrap(),
        );
        name_of(&headers)
    }

    #[test]
    fn browsers_are_named_with_their_system_and_not_with_what_they_descend_from() {
        for (sent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 \
                 Safari/537.36 Edg/126.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/17.5 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("curl/8.5.0", "curl"),
            ("python-requests/2.32", "python-requests"),
        ] {
            assert_eq!(name(sent.as_bytes()).as_deref(), Some(expected), "{sent}");
        }
    }

    #[test]
    fn hostile_headers_give_a_short_name_of_ours_or_none() {
        assert_eq!(name_of(&HeaderMap::new()), None);
        for sent in [
            &b""[..],
            b"   ",
            b"Mozilla/5.0",
            b"<script>alert(1)</script>",
            "Fire\u{202e}xof/1".as_bytes(),
            b"\xff\xfe\xfd",
            b"a\tb",
            &[b'a'; 60_000],
        ] {
            assert_eq!(name(sent), None, "{:?}", &sent[..sent.len().min(40)]);
        }
        let far = [&[b'x'; 600][..], b" Firefox/1 Linux"].concat();
        assert_eq!(name(&far), None, "what comes late is not read");
        let cut = [&[b' '; 511][..], "é Firefox/1".as_bytes()].concat();
        assert_eq!(name(&cut), None, "a character that is cut does no harm");
        let many = "Firefox/1 Linux ".repeat(1000);
        assert_eq!(name(many.as_bytes()).as_deref(), Some("Firefox on Linux"));
    }
}
