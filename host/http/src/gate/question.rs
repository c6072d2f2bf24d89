//! What a proxy asks about: the request of a browser, in headers.
//!
//! Traefik and Caddy send `X-Forwarded-Proto`, `-Host` and `-Uri`, nginx what its file says: the same, or
//! `X-Original-URL`. All pass on what else a client has sent. So a header counts only if it is there once, and both ways
//! must name the same.

use axum::http::{HeaderMap, HeaderName, header};
use portico_service::gate::Target;

const METHOD: HeaderName = HeaderName::from_static("x-forwarded-method");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const ORIGINAL_URL: HeaderName = HeaderName::from_static("x-original-url");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const REQUESTED_WITH: HeaderName = HeaderName::from_static("x-requested-with");
const SOCKET_KEY: HeaderName = HeaderName::from_static("sec-websocket-key");

/// What a proxy asks about.
pub(super) struct Asked {
    pub target: Target,
    /// Whether a person opens a page, and can be led to another one.
    pub opens_page: bool,
    /// Whether the proxy does not understand redirects, and only passes headers on (`auth_request` of nginx).
    pub only_statuses: bool,
}

/// What these headers ask about; `None` if they do not say it once and without contradiction.
pub(super) fn read(headers: &HeaderMap) -> Option<Asked> {
    let (proto, host, uri) = (one(headers, PROTO)?, one(headers, HOST)?, one(headers, URI)?);
    let original = one(headers, ORIGINAL_URL)?;
    let target = match original {
        None => Target::read(proto?, host?, uri?)?,
        Some(url) => {
            let target = Target::of_url(url)?;
            let (scheme, rest) = url.split_once("://")?;
            let end = rest.find(['/', '?', '#', '\\'])?;
            let same = Target::read(
                proto.unwrap_or(scheme),
                host.unwrap_or(&rest[..end]),
                uri.unwrap_or(&rest[end..]),
            )?;
            same.is_same(&target).then_some(target)?
        }
    };
    let method = one(headers, METHOD)?.unwrap_or("GET");
    Some(Asked {
        target,
        opens_page: matches!(method, "GET" | "HEAD") && opens_page(headers),
        only_statuses: original.is_some(),
    })
}

/// The text of a header that may be there once: outer `None` if it is there more than once, or not in visible ASCII.
#[expect(clippy::option_option, reason = "it may be missing, and it may be wrong")]
fn one(headers: &HeaderMap, name: HeaderName) -> Option<Option<&str>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Some(None);
    };
    match values.next() {
        Some(_) => None,
        None => value.to_str().ok().map(|text| Some(text.trim())),
    }
}

fn opens_page(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if headers.contains_key(SOCKET_KEY) || headers.contains_key(REQUESTED_WITH) {
        return false;
    }
    match text(FETCH_MODE) {
        Some(mode) => mode == "navigate" && text(FETCH_DEST).is_none_or(|dest| dest == "document"),
        None => text(header::ACCEPT).is_some_and(|kinds| kinds.contains("text/html")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(pairs: &[(&'static str, &str)]) -> Option<Asked> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let value = axum::http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::from_static(name), value);
        }
        read(&headers)
    }

    const FORWARDED: [(&str, &str); 3] = [
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "wiki.home.example"),
        ("x-forwarded-uri", "/page?x=1"),
    ];
    const ORIGINAL: (&str, &str) = ("x-original-url", "https://wiki.home.example/page?x=1");

    fn with(base: &[(&'static str, &'static str)], more: &[(&'static str, &'static str)]) -> Option<Asked> {
        read_from(&[base, more].concat())
    }

    #[test]
    fn both_ways_name_the_same() {
        let forwarded = with(&FORWARDED, &[]).unwrap();
        assert_eq!(forwarded.target.url(), "https://wiki.home.example/page?x=1");
        assert!(!forwarded.only_statuses);
        let original = with(&[ORIGINAL], &[]).unwrap();
        assert!(original.target.is_same(&forwarded.target) && original.only_statuses);
        for more in [
            &FORWARDED[..],
            &FORWARDED[..1],
            &[("x-forwarded-host", "WIKI.home.example:443")],
        ] {
            assert!(with(&[ORIGINAL], more).is_some(), "{more:?}");
        }
    }

    #[test]
    fn what_is_smuggled_in_with_it_is_refused() {
        for more in [
            &[("x-forwarded-host", "wiki.home.example")][..],
            &[("x-forwarded-host", "open.home.example")],
            &[("x-forwarded-proto", "http")],
            &[("x-forwarded-uri", "/open")],
            &[("x-original-url", "https://open.home.example/page?x=1")],
            &[("x-original-url", "https://wiki.home.example/page")],
            &[("x-original-url", "http://wiki.home.example/page?x=1")],
            &[("x-original-url", "/page?x=1")],
            &[("x-original-url", "")],
            &[ORIGINAL, ORIGINAL],
            &[("x-forwarded-method", "GET"), ("x-forwarded-method", "POST")],
        ] {
            assert!(with(&FORWARDED, more).is_none(), "{more:?}");
        }
        for more in [
            &[("x-forwarded-host", "open.home.example")][..],
            &[("x-forwarded-proto", "http")],
            &[("x-forwarded-uri", "/open")],
            &[("x-forwarded-uri", "/page")],
            &[("x-forwarded-host", "wiki.home.example, open.home.example")],
        ] {
            assert!(with(&[ORIGINAL], more).is_none(), "{more:?}");
        }
        for broken in [
            &FORWARDED[..2],
            &FORWARDED[1..],
            &[],
            &[("x-forwarded-proto", "https,http"), FORWARDED[1], FORWARDED[2]],
            &[
                FORWARDED[0],
                ("x-forwarded-host", "wiki.home.example, x"),
                FORWARDED[2],
            ],
            &[
                FORWARDED[0],
                ("x-forwarded-host", "wiki.home.ex\u{e4}mple"),
                FORWARDED[2],
            ],
            &[FORWARDED[0], FORWARDED[1], ("x-forwarded-uri", "page")],
        ] {
            assert!(with(broken, &[]).is_none(), "{broken:?}");
        }
    }

    #[test]
    fn a_person_opens_a_page_and_nothing_else_does() {
        let html = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        let navigate = ("sec-fetch-mode", "navigate");
        for (more, expected) in [
            (&[html][..], true),
            (&[navigate], true),
            (&[navigate, ("sec-fetch-dest", "document")], true),
            (&[("x-forwarded-method", "HEAD"), html], true),
            (&[], false),
            (&[("accept", "*/*")], false),
            (&[("accept", "application/json")], false),
            (&[navigate, ("sec-fetch-dest", "iframe")], false),
            (&[("sec-fetch-mode", "cors"), html], false),
            (&[("sec-fetch-mode", "websocket"), html], false),
            (&[html, ("x-requested-with", "XMLHttpRequest")], false),
            (&[html, ("sec-websocket-key", "x")], false),
            (&[("x-forwarded-method", "POST"), html], false),
            (&[("x-forwarded-method", "get"), html], false),
        ] {
            assert_eq!(with(&FORWARDED, more).unwrap().opens_page, expected, "{more:?}");
        }
    }
}
