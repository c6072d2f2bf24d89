//! Finds out, from headers that no page can change or leave out, which site made a browser send a request.
//!
//! The same rule is applied to procedure calls, REST, sign-in, pages and the routes of Homarr: what `Sec-Fetch-Site`
//! says counts; if a browser does not send it, the request's `Origin` must be that of the public URL or that of the
//! request's `Host`.

use std::{
    fmt,
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
};

use http::{HeaderMap, HeaderName, Uri, header, uri::Scheme};
use portico_model::error::Error;
use portico_rules::refusal::{Refusal, SiteRule};
use tracing::warn;

use crate::shape::quote;

/// Who made a browser send a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A page of this service.
    OwnPage,
    /// Its user: the address bar, a bookmark.
    User,
    /// A page of another site.
    Foreign(ForeignSite),
    /// Nobody known: no browser sent the request, or it does not say.
    Unknown,
}

/// A site that is not this service's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignSite {
    /// The browser itself says so, in `Sec-Fetch-Site`.
    Said,
    /// Its `Origin` is neither that of the public URL nor that of this `Host`.
    Origin {
        /// As the browser sent it.
        origin: String,
        /// The same.
        host: String,
    },
}

impl ForeignSite {
    /// The refusal of what the site asked for, which sites cannot do. Logged once, because a proxy that changes `Host`
    /// makes this service's own pages look like those of another site.
    pub fn refuse(&self, what: SiteRule) -> Error {
        static WARNED: AtomicBool = AtomicBool::new(false);
        let refusal = self.refusal(what);
        if matches!(self, Self::Origin { .. }) && !WARNED.swap(true, Ordering::Relaxed) {
            warn!("a request was refused: {refusal}");
        }
        refusal.into()
    }

    /// The refusal, with the names that differ and what to do if both are this service's.
    pub fn refusal(&self, what: SiteRule) -> Refusal {
        match self {
            Self::Said => Refusal::OtherSite { what },
            Self::Origin { origin, host } => Refusal::OtherOrigin {
                what,
                origin: quote(origin),
                host: quote(host),
            },
        }
    }
}

/// The sender of a request.
pub fn sender(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Sender {
    by_fetch_site(headers).unwrap_or_else(|| by_origin(headers, public_url))
}

/// The site other than this service that made a browser send a request, if any.
pub fn foreign_site(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Option<ForeignSite> {
    foreign(sender(headers, public_url))
}

/// The same, but if a request has both headers, both must be of this service. A proxy that changes `Host` does not hide
/// the name that another site made resolve to this service, which is in `Origin`.
pub fn foreign_site_by_either(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Option<ForeignSite> {
    by_fetch_site(headers)
        .and_then(foreign)
        .or_else(|| foreign(by_origin(headers, public_url)))
}

/// Whether a page of another site loads this as a part of itself, such as an image or a frame, and does not lead a person here.
pub fn is_embedded(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> bool {
    let is = |name, value| text(headers, HeaderName::from_static(name)).is_none_or(|sent| sent == value);
    let is_opened = is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document");
    !is_opened && foreign_site(headers, public_url).is_some()
}

fn foreign(sender: Sender) -> Option<ForeignSite> {
    match sender {
        Sender::Foreign(site) => Some(site),
        _ => None,
    }
}

fn by_fetch_site(headers: &HeaderMap) -> Option<Sender> {
    let site = text(headers, HeaderName::from_static("sec-fetch-site"))?;
    Some(match site {
        "same-origin" => Sender::OwnPage,
        "none" => Sender::User,
        _ => Sender::Foreign(ForeignSite::Said),
    })
}

fn by_origin(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Sender {
    let Some(origin) = text(headers, header::ORIGIN) else {
        return Sender::Unknown;
    };
    let host = text(headers, header::HOST).unwrap_or_default();
    let is_of_host = Origin::parse(origin).is_some_and(|origin| origin.is_at(host));
    if is_of_host || public_url.is_some_and(|url| url.is_origin(origin)) {
        return Sender::OwnPage;
    }
    Sender::Foreign(ForeignSite::Origin {
        origin: origin.into(),
        host: host.into(),
    })
}

/// A header's text; empty, which matches no site, if the header is repeated.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(values.next().map_or(first.to_str().unwrap_or_default(), |_| ""))
}

/// An origin with `http` or `https`.
#[derive(Clone, Copy)]
struct Origin<'a> {
    is_secure: bool,
    /// Host and port.
    authority: &'a str,
}

impl<'a> Origin<'a> {
    fn parse(origin: &'a str) -> Option<Self> {
        let (scheme, authority) = origin.split_once("://")?;
        let is_secure = scheme.eq_ignore_ascii_case("https");
        let is_known = is_secure || scheme.eq_ignore_ascii_case("http");
        (is_known && !authority.is_empty()).then_some(Self { is_secure, authority })
    }

    /// Whether it is the origin of this host, over either scheme. (A proxy may speak TLS without this host knowing it.)
    fn is_at(self, host: &str) -> bool {
        without_default_port(self.authority, self.is_secure)
            .eq_ignore_ascii_case(without_default_port(host, self.is_secure))
    }
}

/// Host and port without the port that the scheme implies. Browsers leave it out; some proxies add it.
fn without_default_port(authority: &str, is_secure: bool) -> &str {
    let port = if is_secure { ":443" } else { ":80" };
    authority.strip_suffix(port).unwrap_or(authority)
}

/// Where people reach the service: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    host: String,
    is_secure: bool,
}

impl PublicUrl {
    /// Whether it is reached over TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// The host, in lower case and without a port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether an origin, as browsers send it, is this one.
    pub fn is_origin(&self, origin: &str) -> bool {
        Origin::parse(origin).is_some_and(|origin| {
            origin.is_secure == self.is_secure && self.own().is_some_and(|own| origin.is_at(own.authority))
        })
    }

    /// Whether a `Host` is that of this URL. A port that is missing counts as the right one, because many proxies leave
    /// it out.
    pub fn is_at(&self, host: &str) -> bool {
        host.eq_ignore_ascii_case(&self.host) || self.own().is_some_and(|own| own.is_at(host))
    }

    fn own(&self) -> Option<Origin<'_>> {
        Origin::parse(&self.origin)
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.origin)
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?} must be like https://portico.example, without a path");
        let uri: Uri = text.parse().map_err(|_| expected())?;
        let scheme = uri
            .scheme()
            .filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let authority = uri.authority().filter(|authority| {
            !authority.as_str().contains('@') && !authority.host().is_empty() && !text.contains('#')
        });
        match (scheme, authority, uri.path_and_query().map(|path| path.as_str())) {
            (Some(scheme), Some(authority), None | Some("/")) => Ok(Self {
                origin: format!("{scheme}://{authority}").to_ascii_lowercase(),
                host: authority.host().to_ascii_lowercase(),
                is_secure: *scheme == Scheme::HTTPS,
            }),
            _ => Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_sender_is_known_by_the_headers() {
        let own = Sender::OwnPage;
        let said = Sender::Foreign(ForeignSite::Said);
        for (pairs, expected) in [
            (&[][..], Sender::Unknown),
            (&[("host", "a")], Sender::Unknown),
            (&[("sec-fetch-site", "same-origin")], own.clone()),
            (&[("sec-fetch-site", "none")], Sender::User),
            (&[("sec-fetch-site", "same-site")], said.clone()),
            (
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("origin", "http://a"),
                    ("host", "a"),
                ],
                said.clone(),
            ),
            (
                &[
                    ("sec-fetch-site", "same-origin"),
                    ("sec-fetch-site", "cross-site"),
                ],
                said,
            ),
            (&[("origin", "http://a:1"), ("host", "A:1")], own),
        ] {
            assert_eq!(sender(&headers(pairs), None), expected, "{pairs:?}");
        }
    }

    #[test]
    fn an_origin_is_own_if_it_is_that_of_the_host_or_of_the_public_url() {
        for (origin, host, is_own) in [
            ("http://home.lan", "home.lan", true),
            ("https://home.lan", "home.lan", true),
            ("http://home.lan", "home.lan:80", true),
            ("https://home.lan", "home.lan:443", true),
            ("http://home.lan:80", "home.lan", true),
            ("http://[::1]", "[::1]:80", true),
            ("http://home.lan:8080", "home.lan:8080", true),
            // The port of the other scheme is another origin.
            ("http://home.lan", "home.lan:443", false),
            ("https://home.lan", "home.lan:80", false),
            ("http://home.lan:8080", "home.lan", false),
            ("http://home.lan", "home.lan:8080", false),
            ("http://home.lan.evil.example", "home.lan", false),
            ("ftp://home.lan", "home.lan", false),
            ("http://", "", false),
            ("home.lan", "home.lan", false),
            ("null", "null", false),
            // The public URL.
            ("https://portico.example", "127.0.0.1:7575", true),
            ("HTTPS://Portico.Example:443", "127.0.0.1:7575", true),
            ("http://portico.example", "127.0.0.1:7575", false),
            ("https://portico.example:8443", "127.0.0.1:7575", false),
            ("https://evil.example", "portico.example", false),
        ] {
            let url = "https://portico.example:443".parse().unwrap();
            let sent = headers(&[("origin", origin), ("host", host)]);
            let own = sender(&sent, Some(&url)) == Sender::OwnPage;
            assert_eq!(own, is_own, "{origin} at {host}");
            assert_eq!(foreign_site_by_either(&sent, Some(&url)).is_none(), is_own);
        }
        let twice = headers(&[("origin", "http://a"), ("origin", "http://b"), ("host", "a")]);
        assert!(foreign_site(&twice, None).is_some());
    }

    #[test]
    fn if_both_headers_must_agree_a_foreign_origin_counts() {
        let contradiction = headers(&[
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://b"),
            ("host", "a"),
        ]);
        assert_eq!(foreign_site(&contradiction, None), None);
        assert!(foreign_site_by_either(&contradiction, None).is_some());
    }

    #[test]
    fn a_refusal_names_both_hosts_and_the_setting() {
        let sent = headers(&[("origin", "http://home.lan:8080"), ("host", "127.0.0.1:7575")]);
        let refused = foreign_site(&sent, None)
            .unwrap()
            .refuse(SiteRule::SignIn)
            .message;
        for word in [
            "cannot sign a user in.",
            "\"http://home.lan:8080\"",
            "\"127.0.0.1:7575\"",
            "--public-url",
        ] {
            assert!(refused.contains(word), "{refused}");
        }
        let said = ForeignSite::Said.refuse(SiteRule::SignIn).message;
        assert_eq!(said, "Another site cannot sign a user in");
    }

    #[test]
    fn a_public_url_is_scheme_host_and_port() {
        for (text, origin, is_secure) in [
            ("https://portico.example", "https://portico.example", true),
            (
                "HTTPS://Portico.Example:8443/",
                "https://portico.example:8443",
                true,
            ),
            ("http://[::1]:7575", "http://[::1]:7575", false),
        ] {
            let url: PublicUrl = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), url.is_secure()), (origin, is_secure));
            assert!(origin.contains(url.host()) && !url.host().contains("8443"));
        }
        for text in [
            "",
            "portico.example",
            "//portico.example",
            "ftp://portico.example",
            "https://",
            "https://me@portico.example",
            "https://portico.example/path",
            "https://portico.example?query",
            "https://portico.example/#fragment",
            "https://portico example",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }
}
