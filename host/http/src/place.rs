//! Where a browser has opened a page: at the public URL, or elsewhere.
//!
//! Cookies belong to a host name, and those for TLS are dropped without it; an issuer leads back to the public URL. So a
//! sign-in that begins elsewhere does not succeed.
//!
//! Only a proxy knows with which name and scheme it was asked. If it tells the host something else, a redirect to the
//! public URL arrives like the first request. Invariant: it is not redirected again, if the client keeps cookies. Browsers
//! do; one that refuses them ends after its own bound on redirects, and could not sign in either.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use axum::{
    body::Body,
    extract::ConnectInfo,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts, uri::Authority},
    response::Response,
};
use portico_service::{identity::cookie_of, shape::quote, site::PublicUrl};
use tracing::warn;

use crate::{address::TrustedProxies, admission::is_unclaimable};

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// htmx sends it with each request, also after a redirect, and opens the address that the answer names.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// The cookie of a browser that was just redirected to the public URL.
const REDIRECTED: &str = "portico_redirected";

/// A page that was not opened at the public URL.
#[derive(Debug)]
pub struct Elsewhere {
    /// The same page at the public URL.
    pub url: String,
    /// The host at which it was opened.
    pub host: String,
    may_redirect: bool,
    is_of_htmx: bool,
}

impl Elsewhere {
    /// Where a page was opened that belongs to a sign-in; `None` if it was at the public URL, as far as is known.
    pub fn of(parts: &Parts, public_url: Option<&PublicUrl>, proxies: &TrustedProxies) -> Option<Self> {
        let public_url = public_url?;
        let headers = &parts.headers;
        if is_led_here_by(headers, public_url) {
            return None;
        }
        let is_trusted = proxies.include(parts.extensions.get::<ConnectInfo<SocketAddr>>());
        let forwarded = |name| text(headers, name).filter(|_| is_trusted);
        let scheme = forwarded(FORWARDED_PROTO);
        let host = forwarded(FORWARDED_HOST).or_else(|| text(headers, header::HOST))?;
        let is_https = |scheme: &str| scheme.eq_ignore_ascii_case("https");
        if public_url.is_at(host) && scheme.is_none_or(|scheme| is_https(scheme) == public_url.is_secure()) {
            return None;
        }
        let authority = host.parse::<Authority>().ok()?;
        let was_redirected = cookie_of(headers, REDIRECTED).is_some();
        if was_redirected {
            warn_once(host, public_url);
        }
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        Some(Self {
            url: format!("{public_url}{path}"),
            host: host.to_owned(),
            // People who use an address may do so because the name does not work.
            may_redirect: !was_redirected && !is_unclaimable(authority.host()),
            is_of_htmx: text(headers, HX_REQUEST) == Some("true"),
        })
    }

    /// The redirect to the public URL; `None` if only the page can say where it has to be opened.
    pub fn redirect(&self) -> Option<Response> {
        let to = HeaderValue::from_str(&self.url)
            .ok()
            .filter(|_| self.may_redirect)?;
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        if self.is_of_htmx {
            // A page's scripts may not ask another origin, so the browser has to open the page. It was not redirected
            // yet, so it gets no cookie.
            headers.insert(HX_REDIRECT, to);
            return Some(response);
        }
        headers.insert(header::LOCATION, to);
        let cookie = format!("{REDIRECTED}=1; Path=/; Max-Age=10; HttpOnly; SameSite=Lax");
        headers.insert(header::SET_COOKIE, HeaderValue::try_from(cookie).ok()?);
        *response.status_mut() = StatusCode::SEE_OTHER;
        Some(response)
    }
}

/// Whether a link on a page of the public URL led here. (The pages tell their address to their own origin only.)
fn is_led_here_by(headers: &HeaderMap, public_url: &PublicUrl) -> bool {
    let referer = text(headers, header::REFERER).unwrap_or_default();
    let end = referer
        .match_indices('/')
        .nth(2)
        .map_or(referer.len(), |(end, _)| end);
    public_url.is_origin(&referer[..end])
}

/// The first value of a header, which is the one of the proxy that is nearest to the browser.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let value = headers.get(name)?.to_str().ok()?;
    value
        .split(',')
        .next()
        .map(str::trim)
        .filter(|value| !value.is_empty())
}

fn warn_once(host: &str, public_url: &PublicUrl) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        warn!(
            "a browser was redirected to {public_url}, and its request arrived for the host {} again: let the proxy \
             pass the header Host on unchanged, or name it in --trusted-proxies and let it set X-Forwarded-Host and \
             X-Forwarded-Proto",
            quote(host)
        );
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    const PROXY: &str = "10.0.0.1:4711";

    /// Where `/sign-in?next=%2Fx` was opened with these headers, sent by this peer.
    fn opened(public_url: &str, peer: &str, headers: &[(&str, &str)]) -> Option<Elsewhere> {
        let mut request = Request::builder().uri("/sign-in?next=%2Fx");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let peer: SocketAddr = peer.parse().unwrap();
        parts.extensions.insert(ConnectInfo(peer));
        let proxies = "10.0.0.1".parse().unwrap();
        Elsewhere::of(&parts, Some(&public_url.parse().unwrap()), &proxies)
    }

    #[test]
    fn a_page_at_another_name_or_scheme_is_elsewhere() {
        for (headers, is_elsewhere) in [
            (&[("host", "home.lan")][..], false),
            (&[("host", "HOME.lan:443")], false),
            (&[("host", "nas.lan")], true),
            (&[("host", "home.lan:7575")], true),
            (&[("host", "home.lan.evil.example")], true),
            (&[("host", "home.lan"), ("x-forwarded-proto", "https")], false),
            (
                &[("host", "home.lan"), ("x-forwarded-proto", "HTTPS, http")],
                false,
            ),
            (&[("host", "home.lan"), ("x-forwarded-proto", "http")], true),
            (
                &[("host", "portico:7575"), ("x-forwarded-host", "home.lan")],
                false,
            ),
            (&[("host", "home.lan"), ("x-forwarded-host", "nas.lan")], true),
            (&[("host", "127.0.0.1:7575")], true),
            // A link on a page of the public URL led here.
            (
                &[("host", "portico:7575"), ("referer", "https://home.lan/sign-in")],
                false,
            ),
            (
                &[
                    ("host", "portico:7575"),
                    ("referer", "https://home.lan.evil.example/"),
                ],
                true,
            ),
            // What is not a host says nothing.
            (&[], false),
            (&[("host", "a b")], false),
        ] {
            let found = opened("https://home.lan", PROXY, headers);
            assert_eq!(found.is_some(), is_elsewhere, "{headers:?}");
            assert!(
                found.is_none_or(|found| found.url == "https://home.lan/sign-in?next=%2Fx"),
                "{headers:?}"
            );
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_with_which_scheme_it_was_asked() {
        let headers = [("host", "home.lan"), ("x-forwarded-proto", "http")];
        assert!(opened("https://home.lan", PROXY, &headers).is_some());
        // A proxy that speaks TLS and says nothing of it, and one that nobody has named.
        assert!(opened("https://home.lan", PROXY, &headers[..1]).is_none());
        assert!(opened("https://home.lan", "192.0.2.1:1", &headers).is_none());
    }

    #[test]
    fn a_browser_is_redirected_once_and_never_from_an_address() {
        let redirect = |host: &str, cookie: &str| {
            let found = opened("https://home.lan", PROXY, &[("host", host), ("cookie", cookie)]);
            found.expect("elsewhere").redirect()
        };
        let redirected = redirect("nas.lan", "").expect("a redirect");
        let cookie = redirected.headers()[header::SET_COOKIE].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap();
        assert!(redirect("nas.lan", cookie).is_none());
        for address in [
            "127.0.0.1:7575",
            "192.0.2.7",
            "[::1]:7575",
            "[2001:db8::1]",
            "LocalHost:1",
        ] {
            assert!(redirect(address, "").is_none(), "{address}");
        }
    }
}
