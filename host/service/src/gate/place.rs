//! Where an app is, and where a request goes: origins and paths in the form in which they are compared.
//!
//! A browser, a proxy and an app may each read a path in another way: dot segments, encoded slashes, backslashes, empty
//! segments, parameters after `;`. Invariants:
//! - Origins are compared as browsers write them: the host in lower case and in Punycode, the port of the scheme left
//!   out. One dot at the end of a host does not count.
//! - Paths are compared by whole segments, decoded once.
//! - A path that programs read differently is marked, and never counts as the path of one app among several.

use std::{fmt, str::FromStr};

use percent_encoding::percent_decode_str;
use portico_rules::rule::Rule;
use url::{Host, Url};

use crate::site::PublicUrl;

/// The domain whose hosts the gate is in front of, such as `home.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDomain(String);

impl GateDomain {
    /// Whether a host, in lower case and without a dot at its end, is the domain or below it.
    pub fn has(&self, host: &str) -> bool {
        host.strip_suffix(&self.0)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

impl fmt::Display for GateDomain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for GateDomain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?} must be a domain of at least two names, such as home.example");
        let is_plain =
            |byte: u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let bare = text.trim().trim_start_matches('.').trim_end_matches('.');
        if !bare.bytes().all(is_plain) || !bare.contains('.') {
            return Err(expected());
        }
        match Host::parse(bare) {
            // Browsers keep no cookie for a domain of one name.
            Ok(Host::Domain(domain)) if domain.split('.').all(|name| !name.is_empty()) => Ok(Self(domain)),
            _ => Err(expected()),
        }
    }
}

/// Where apps can be for the gate: at the hosts of its domain, apart from this service's own.
#[derive(Clone, Debug)]
pub struct GateHosts {
    /// The domain.
    pub domain: GateDomain,
    /// This service's own address.
    pub own: PublicUrl,
}

impl GateHosts {
    /// The rule against a further address at another host; `None` if it may be kept.
    pub(crate) fn rule_against(&self, address: &str) -> Option<Rule> {
        let host = Place::of(address)?.origin.host;
        if host == self.own.host() {
            return Some(Rule::AtOwnHost);
        }
        let domain = (*self.domain.0).into();
        (!self.domain.has(&host)).then_some(Rule::NotOfGateDomain { domain })
    }
}

/// An origin: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    /// `https://wiki.home.example:443`
    text: String,
    /// In lower case, without a dot at its end.
    pub host: String,
}

impl Origin {
    fn of(url: &Url) -> Option<Self> {
        let scheme = Some(url.scheme()).filter(|scheme| matches!(*scheme, "http" | "https"))?;
        let host = url.host_str()?;
        let host = host.strip_suffix('.').unwrap_or(host).to_owned();
        let port = url.port_or_known_default()?;
        (!host.is_empty()).then(|| Self {
            text: format!("{scheme}://{host}:{port}"),
            host,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A path by its segments, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub segments: Vec<String>,
    /// Whether every program reads it like this.
    pub is_plain: bool,
}

impl Path {
    /// The path of a URL or a request, without its query.
    fn read(path: &str) -> Self {
        let has_other = path
            .bytes()
            .any(|byte| !byte.is_ascii_graphic() || matches!(byte, b'\\' | b'#'));
        let mut is_plain = path.starts_with('/') && !has_other && !path.contains("//");
        let inner = path.strip_prefix('/').unwrap_or(path);
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        let mut segments = Vec::new();
        for raw in inner.split('/').filter(|_| !inner.is_empty()) {
            let (segment, is_plain_segment) = decode(raw);
            is_plain &= is_plain_segment;
            segments.push(segment);
        }
        Self { segments, is_plain }
    }
}

/// A segment decoded once, and whether every program reads it like this.
fn decode(raw: &str) -> (String, bool) {
    let has_broken = has_escape_that(raw, |escape| !is_escape(escape));
    let Ok(segment) = percent_decode_str(raw).decode_utf8() else {
        return (raw.to_owned(), false);
    };
    let is_read_differently =
        |letter: char| letter.is_control() || matches!(letter, '/' | '\\' | '?' | '#' | ';');
    let is_plain = !has_broken
        && !segment.chars().any(is_read_differently)
        // What is decoded twice becomes something else.
        && !has_escape_that(&segment, is_escape)
        // Dot segments, and what Windows takes for the name without its end.
        && !segment.ends_with(['.', ' ']);
    (segment.into_owned(), is_plain)
}

fn has_escape_that(text: &str, is_so: impl Fn(&[u8]) -> bool) -> bool {
    text.match_indices('%').any(|(at, _)| {
        let rest = &text.as_bytes()[at + 1..];
        is_so(&rest[..rest.len().min(2)])
    })
}

fn is_escape(escape: &[u8]) -> bool {
    escape.len() == 2 && escape.iter().all(u8::is_ascii_hexdigit)
}

/// Where an app is: everything at and below a path of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub origin: Origin,
    pub path: Path,
}

impl Place {
    /// The place that a URL names; `None` if it is not one of the web.
    pub fn of(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let origin = Origin::of(&url)?;
        let path = Path::read(url.path());
        Some(Self { origin, path })
    }
}

/// A further address as it is kept; `None` if it cannot be one: a URL with `http:` or `https:` whose path every program
/// reads alike, without a username, a query and a fragment, at a host and not at a pattern of hosts.
pub fn kept_address(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok()?;
    let is_bare = url.username().is_empty()
        && url.password().is_none()
        // The name of no host: `*.home.example` would never fit.
        && !url.host_str()?.contains('*')
        && url.query().is_none()
        && url.fragment().is_none();
    Place::of(url.as_str()).filter(|place| is_bare && place.path.is_plain)?;
    Some(url.into())
}

/// What a request asks for at a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) origin: Origin,
    pub(super) path: Path,
    /// The URL, to return to.
    url: String,
}

impl Target {
    /// What was asked for with this scheme, this `Host`, and this path with its query; `None` if that is not what a
    /// browser sends.
    pub fn read(scheme: &str, host: &str, uri: &str) -> Option<Self> {
        // Proxies name the schemes of WebSockets, too.
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => "http",
            "https" | "wss" => "https",
            _ => return None,
        };
        let is_of_host = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']')
        };
        if host.is_empty() || !host.bytes().all(is_of_host) || !uri.starts_with('/') {
            return None;
        }
        let mut url = Url::parse(&format!("{scheme}://{host}/")).ok()?;
        let origin = Origin::of(&url)?;
        // Browsers send no cookie of the domain to a host with a dot at its end.
        url.set_host(Some(&origin.host)).ok()?;
        let path = uri.split('?').next().unwrap_or_default();
        Some(Self {
            path: Path::read(path),
            url: format!("{}{uri}", url.origin().ascii_serialization()),
            origin,
        })
    }

    /// What this URL names, as a proxy writes it.
    pub fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#', '\\'])?;
        Self::read(scheme, &rest[..end], &rest[end..])
    }

    /// The URL, to return to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its scheme, host and port.
    pub(super) fn origin(&self) -> &str {
        self.origin.as_str()
    }

    /// Whether both name the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_at_least_two_names() {
        let domain: GateDomain = " .Home.Example. ".parse().unwrap();
        assert_eq!(domain.to_string(), "home.example");
        for host in ["home.example", "a.home.example", "b.a.home.example"] {
            assert!(domain.has(host), "{host}");
        }
        for host in [
            "nothome.example",
            "example",
            "home.example.evil.example",
            ".example",
            "",
        ] {
            assert!(!domain.has(host), "{host}");
        }
        assert_eq!(
            "b\u{fc}cher.example".parse::<GateDomain>().unwrap().to_string(),
            "xn--bcher-kva.example"
        );
        for bad in [
            "",
            "lan",
            "192.0.2.1",
            "[::1]",
            "a..example",
            "home.example/x",
            "https://home.example",
            "a b.c",
            "%61.example",
            "home.example:443",
        ] {
            assert!(bad.parse::<GateDomain>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_further_address_is_kept_as_browsers_write_it() {
        for (text, kept) in [
            (" HTTPS://Wiki.Home.Example:443 ", "https://wiki.home.example/"),
            (
                "https://b\u{fc}cher.home.example/a/../b",
                "https://xn--bcher-kva.home.example/b",
            ),
            (
                "http://nas.home.example:5000/x/",
                "http://nas.home.example:5000/x/",
            ),
        ] {
            assert_eq!(kept_address(text).as_deref(), Some(kept), "{text}");
        }
        for text in [
            "",
            "/x",
            "ftp://a.b/",
            "https://u@a.b/",
            "https://a.b/?x",
            "https://a.b/#x",
            "https://a.b/x%2fy",
            "https://a.b//x",
            "javascript:1",
            "https://*.a.b/",
            "https://*/",
        ] {
            assert_eq!(kept_address(text), None, "{text}");
        }
    }

    #[test]
    fn a_further_address_is_at_a_host_of_the_domain_and_not_at_the_own_one() {
        let hosts = GateHosts {
            domain: "home.example".parse().unwrap(),
            own: "https://portico.home.example".parse().unwrap(),
        };
        for (address, is_kept) in [
            ("https://wiki.home.example/x", true),
            ("http://home.example:81/", true),
            ("https://evil.example/", false),
            ("https://nothome.example/", false),
            ("https://portico.home.example:9000/", false),
            ("https://Portico.Home.Example./wiki", false),
        ] {
            assert_eq!(hosts.rule_against(address).is_none(), is_kept, "{address}");
        }
    }

    #[test]
    fn what_a_browser_does_not_send_names_nothing() {
        for (scheme, host, uri) in [
            ("ftp", "a.b", "/"),
            ("", "a.b", "/"),
            ("https, http", "a.b", "/"),
            ("https", "", "/"),
            ("https", "a.b, c.d", "/"),
            ("https", "a b", "/"),
            ("https", "user@a.b", "/"),
            ("https", "a.b/x", "/"),
            ("https", "a.b\\x", "/"),
            ("https", "a.b#x", "/"),
            ("https", "a.b?x", "/"),
            ("https", "%61.b", "/"),
            ("https", "a.b:99999", "/"),
            ("https", "a.b:x", "/"),
            ("https", "[::1", "/"),
            ("https", "a.b", ""),
            ("https", "a.b", "x"),
            ("https", "a.b", "http://c.d/"),
            ("https", "a.b", "*"),
        ] {
            assert_eq!(Target::read(scheme, host, uri), None, "{scheme} {host} {uri}");
        }
        for url in [
            "",
            "/x",
            "https://",
            "https://a.b",
            "https://a.b?x",
            "https://a.b\\@c.d/",
            "https:/a.b/",
            "a.b/",
        ] {
            assert_eq!(Target::of_url(url), None, "{url}");
        }
        let one = Target::of_url("https://A.b:443/x?y=/../z").unwrap();
        assert!(one.is_same(&Target::read("wss", "a.b", "/x?y=/../z").unwrap()));
        assert_eq!(one.url(), "https://a.b/x?y=/../z");
        assert_eq!(
            Target::of_url("http://a.b.:8080/").unwrap().url(),
            "http://a.b:8080/"
        );
    }
}
