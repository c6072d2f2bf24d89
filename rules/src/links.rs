//! Links that lead nowhere, because they were written without their scheme: a browser takes `nas` in `nas:5000` for one.

use alloc::format;
use alloc::string::String;

use crate::rule::Rule;
use crate::sentences::Word;

/// Schemes after which a number is not a port.
const OF_NUMBERS: [&str; 6] = ["tel", "sms", "callto", "sip", "sips", "fax"];

/// How many characters of an address a message shows.
const SHOWN: usize = 100;

enum Problem {
    /// It has no scheme; the address that was meant.
    NoScheme(String),
    /// It begins with a drive, which a browser takes for the scheme. Browsers open no file of a computer from a page, so
    /// no address that would work can be named.
    OnDrive,
}

/// What is wrong with a new link that can be parsed as an absolute URL: its scheme is a drive, or a host before a port.
pub fn problem(href: &str) -> Option<Rule> {
    let meant = match find(href.trim())? {
        Problem::NoScheme(meant) => meant,
        Problem::OnDrive => return Some(Rule::FileOfComputer),
    };
    let shown = match meant.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &meant[..end]),
        None => meant,
    };
    Some(Rule::LinkWithoutScheme { meant: Word(shown) })
}

/// `None` for a link that can be followed.
fn find(href: &str) -> Option<Problem> {
    let (scheme, rest) = href.split_once(':')?;
    if rest.starts_with("//") {
        return None;
    }
    let is_among = |schemes: &[&str]| schemes.iter().any(|one| scheme.eq_ignore_ascii_case(one));
    // A message shows the address as one word.
    let word = |text: &str| text.replace(char::is_whitespace, "%20");
    match port(rest) {
        Some(port) if !is_among(&OF_NUMBERS) => {
            let scheme = if matches!(port, 443 | 8443) {
                "https"
            } else {
                "http"
            };
            Some(Problem::NoScheme(format!("{scheme}://{}", word(href))))
        }
        _ if is_among(&["localhost"]) => Some(Problem::NoScheme(String::from("http://localhost"))),
        _ if scheme.len() == 1 => Some(Problem::OnDrive),
        _ => None,
    }
}

/// The port with which a text begins, if it ends there or goes on as a URL does after a port.
fn port(text: &str) -> Option<u16> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let digits = &text[..end];
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|port| is_number && *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_its_scheme_is_refused_with_the_address_that_was_meant() {
        for (href, address) in [
            ("nas:5000", "http://nas:5000"),
            ("NAS:5000/", "http://NAS:5000/"),
            ("nas:1", "http://nas:1"),
            ("nas:65535?q", "http://nas:65535?q"),
            ("nas:08080#x", "http://nas:08080#x"),
            ("nas:443", "https://nas:443"),
            (" nas:5000/a b ", "http://nas:5000/a%20b"),
            ("localhost:3000", "http://localhost:3000"),
            ("LocalHost:3000/x", "http://LocalHost:3000/x"),
            ("localhost:", "http://localhost"),
            ("localhost:x", "http://localhost"),
            ("localhost:/x", "http://localhost"),
            ("jellyfin.local:8096", "http://jellyfin.local:8096"),
            ("nas.lan:8080/web/#/home", "http://nas.lan:8080/web/#/home"),
            ("mailto:25", "http://mailto:25"),
            ("x:80", "http://x:80"),
        ] {
            let meant = address.into();
            assert_eq!(problem(href), Some(Rule::LinkWithoutScheme { meant }), "{href}");
        }
    }

    #[test]
    fn a_file_on_a_drive_is_refused_without_an_address() {
        for href in [r"C:\Users\ada", " c:/Program Files/x", "c:", "c:x"] {
            assert_eq!(problem(href), Some(Rule::FileOfComputer), "{href}");
        }
    }

    #[test]
    fn a_link_that_can_be_followed_stays() {
        for href in [
            "file:///srv",
            "file:///C:/Users/ada",
            "http://nas:5000",
            "https://localhost:3000",
            "localhost://3000",
            "x://5000",
            "com.example.app://x",
            "mailto:ada@example.com",
            "mailto:25@example.com",
            "tel:112",
            "TEL:112",
            "sms:112",
            "callto:112",
            "sip:112",
            "sips:112",
            "fax:112",
            "http:example.com",
            "nas:",
            "nas:0",
            "nas:65536",
            "nas:+80",
            "nas:80x",
            "nas:80:90",
            "nas:/80",
            "magnet:?xt=1",
            "/relative",
            "",
        ] {
            assert_eq!(problem(href), None, "{href}");
        }
    }

    #[test]
    fn a_message_shows_the_beginning_of_a_long_address() {
        let long = format!("nas:5000/{}", "ä".repeat(8000));
        let shown = format!(
            "http://nas:5000/{}…",
            "ä".repeat(SHOWN - "http://nas:5000/".len())
        );
        assert_eq!(
            problem(&long),
            Some(Rule::LinkWithoutScheme { meant: Word(shown) })
        );
    }
}
