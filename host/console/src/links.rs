//! Links as people type them, often without a scheme, and paths of this site that people return to.

use portico_rules::rule::{Rule, UrlProblem};

/// Schemes that run text, or open something that is not a page.
const NOT_OPENED: [&str; 6] = ["javascript", "vbscript", "data", "blob", "about", "file"];

/// Those of them that the API stores.
const STORED_ONLY: [&str; 3] = ["blob", "about", "file"];

/// Schemes of links without a host, of which some look like a host with a port.
const WITHOUT_HOST: [&str; 13] = [
    "javascript",
    "vbscript",
    "data",
    "blob",
    "about",
    "file",
    "mailto",
    "tel",
    "sms",
    "callto",
    "sip",
    "sips",
    "fax",
];

/// Whether a stored URL may be used in a link. (The component refuses others; this is a second check.)
pub(crate) fn may_be_opened(href: &str) -> bool {
    let plain: String = href
        .chars()
        .filter(|letter| !letter.is_control() && !letter.is_whitespace())
        .collect();
    let Some((scheme, _)) = plain.split_once(':') else {
        return false;
    };
    let scheme = scheme.to_ascii_lowercase();
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme && !scheme.is_empty() && !NOT_OPENED.contains(&scheme.as_str())
}

/// The link that was probably meant, if the text is a host without a scheme, perhaps with a port and a path. What is most
/// likely in a home network (an address, a port, a name of one label) has `http:`, everything else `https:`.
pub(crate) fn complete(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("//").unwrap_or(text);
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    if rest.contains(char::is_whitespace) {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        // The colons of an address in brackets.
        _ if authority.ends_with(']') => (authority, None),
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|byte| byte.is_ascii_digit());
    if port.is_some_and(|port| !is_port(port)) {
        return None;
    }
    let is_v6 = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
    };
    if port.is_some() && WITHOUT_HOST.contains(&host.to_ascii_lowercase().as_str()) {
        return None;
    }
    if !is_v6 && !host.trim_end_matches('.').split('.').all(is_label) {
        return None;
    }
    let is_at_home =
        is_v6 || port.is_some() || !host.contains('.') || host.parse::<std::net::Ipv4Addr>().is_ok();
    let scheme = if is_at_home { "http" } else { "https" };
    Some(format!("{scheme}://{text}"))
}

/// What the API will say of a new link, as far as that can be told without reading it as browsers do.
pub(crate) fn problem(href: &str) -> Option<Rule> {
    let relative = Rule::NotAbsoluteUrl {
        why: UrlProblem::NoScheme,
    };
    let Some((scheme, _)) = href.split_once(':') else {
        return Some(relative);
    };
    let scheme = scheme.to_ascii_lowercase();
    let mut letters = scheme.bytes();
    let is_scheme = letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'-' | b'.'));
    if !is_scheme {
        return Some(relative);
    }
    if NOT_OPENED.contains(&&*scheme) && !STORED_ONLY.contains(&&*scheme) {
        let scheme = (&*scheme).into();
        return Some(Rule::RefusedScheme { scheme });
    }
    portico_rules::links::problem(href)
}

/// Whether a text is a link of the web.
pub(crate) fn is_web(text: &str) -> bool {
    let scheme = text.split(':').next().unwrap_or_default();
    text.contains(':')
        && ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
}

/// What people should see before a link is saved.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// It becomes this link.
    Completed(String),
    /// It is stored, and tiles do not lead to it.
    NotOpened,
}

impl Advice {
    /// `None` if nothing is to be said, or if the API refuses the text anyway.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if let Some(link) = complete(text) {
            return Some(Self::Completed(link));
        }
        let scheme = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
        (STORED_ONLY.contains(&scheme.as_str()) && text.contains(':')).then_some(Self::NotOpened)
    }
}

/// A path of this site as a browser reads it, or otherwise the first page.
pub(crate) fn own_path(next: &str) -> &str {
    let mut bytes = next.bytes();
    // Something that is not a page would be shown as one.
    let is_page = !["/api/", "/icons/", "/console/", "/state/export.json"]
        .iter()
        .any(|other| next.starts_with(other));
    let is_own = is_page
        && bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && next.len() <= 512;
    if is_own { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_run_text_are_not_shown_as_links() {
        for good in ["https://nas.example", "HTTP://a", "ssh://host", "mailto:a@b.c"] {
            assert!(may_be_opened(good), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            " java\nscript:alert(1)",
            "JAVASCRIPT:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//host",
            "/path",
            "",
            "\u{1}javascript:x",
        ] {
            assert!(!may_be_opened(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_host_without_a_scheme_gets_the_likely_one() {
        for (text, link) in [
            ("nas.home.lan:5000", "http://nas.home.lan:5000"),
            ("nas", "http://nas"),
            ("nas/photos", "http://nas/photos"),
            ("localhost:8080/a?b=c:d", "http://localhost:8080/a?b=c:d"),
            ("192.168.1.2", "http://192.168.1.2"),
            ("[fd00::1]:80", "http://[fd00::1]:80"),
            ("[fd00::1]", "http://[fd00::1]"),
            (" cloud.example.org/x ", "https://cloud.example.org/x"),
            ("//cloud.example.org", "https://cloud.example.org"),
            ("b\u{fc}cher.example", "https://b\u{fc}cher.example"),
        ] {
            assert_eq!(complete(text).as_deref(), Some(link), "{text}");
        }
        for text in [
            "",
            "https://nas.example",
            "mailto:a@b.c",
            "mailto:1@b.c",
            "tel:112",
            "javascript:1",
            "javascript:alert(1)",
            "/path",
            "two words",
            "a b:80",
            "nas:99999",
            "nas:+80",
            "user@nas",
            "[fd00::1",
            "a..b",
        ] {
            assert_eq!(complete(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_api_refuses_of_a_link_is_said_before() {
        for (href, said) in [
            ("javascript:1", "must not be a URL of the scheme javascript:"),
            ("DATA:text/html,x", "must not be a URL of the scheme data:"),
            (
                "/nowhere",
                "must be an absolute URL (relative URL without a base)",
            ),
            (
                "two words",
                "must be an absolute URL (relative URL without a base)",
            ),
            ("a b:80", "must be an absolute URL (relative URL without a base)"),
            (
                "nas:5000",
                "must be an absolute URL: did you mean http://nas:5000?",
            ),
        ] {
            let problem = problem(href).map(|rule| rule.to_string());
            assert_eq!(problem.as_deref(), Some(said), "{href}");
        }
        for href in ["https://nas", "file:///x", "mailto:a@b.c", "svn+ssh://x"] {
            assert_eq!(problem(href), None, "{href}");
        }
        assert!(is_web("HTTPS://a") && !is_web("httpsx://a") && !is_web("http"));
    }

    #[test]
    fn what_cannot_be_opened_is_said() {
        assert_eq!(Advice::of("file:///etc/motd"), Some(Advice::NotOpened));
        assert_eq!(Advice::of("https://nas.example"), None);
        assert_eq!(Advice::of(" "), None);
    }

    #[test]
    fn people_return_to_a_path_of_this_site_only() {
        assert_eq!(own_path("/apps?page=2"), "/apps?page=2");
        for foreign in [
            "/api/trpc/<b>",
            "/icons/apps/x",
            "/state/export.json",
            "",
            "apps",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/\t/evil.example",
        ] {
            assert_eq!(own_path(foreign), "/", "{foreign:?}");
        }
    }
}
