//! Finds out, from headers that no page can change or leave out, which site made a browser send a request.

use http::{HeaderMap, HeaderName, header};

/// Whether another site made a browser send this request. Browsers say so in `Sec-Fetch-Site`; older ones only
/// send `Origin`. Other clients send neither.
pub(crate) fn is_cross_site(headers: &HeaderMap) -> bool {
    let is_own = site_is_own(headers).or_else(|| origin_is_host(headers));
    is_own.is_some_and(|is_own| !is_own)
}

/// Whether neither header names another site. This is stricter than what the cookie needs: if a request has both
/// headers, both must agree.
pub fn is_same_origin(headers: &HeaderMap) -> bool {
    site_is_own(headers) != Some(false) && origin_is_host(headers) != Some(false)
}

/// By `Sec-Fetch-Site`: a page of this host (`same-origin`) or the user (`none`: the address bar, a bookmark)
/// caused the request.
fn site_is_own(headers: &HeaderMap) -> Option<bool> {
    let site = text(headers, HeaderName::from_static("sec-fetch-site"))?;
    Some(matches!(site, "same-origin" | "none"))
}

/// By `Origin`: its host is the request's `Host`.
fn origin_is_host(headers: &HeaderMap) -> Option<bool> {
    let origin = text(headers, header::ORIGIN)?;
    let host = text(headers, header::HOST).unwrap_or_default();
    let origin = origin.split_once("://");
    Some(origin.is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host)))
}

/// A header's text; empty, which matches no site, if the header is repeated.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(values.next().map_or(first.to_str().unwrap_or_default(), |_| ""))
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
    fn another_site_is_recognised_by_the_headers() {
        for (pairs, cross_site) in [
            (&[][..], false),
            (&[("sec-fetch-site", "same-origin")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "same-site")], true),
            (
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("origin", "http://a"),
                    ("host", "a"),
                ],
                true,
            ),
            (&[("origin", "http://a:1"), ("host", "A:1")], false),
            (&[("origin", "http://a:1"), ("host", "a:2")], true),
            (&[("origin", "null"), ("host", "a")], true),
            (
                &[
                    ("sec-fetch-site", "same-origin"),
                    ("sec-fetch-site", "cross-site"),
                ],
                true,
            ),
            (
                &[("origin", "http://a"), ("origin", "http://b"), ("host", "a")],
                true,
            ),
        ] {
            assert_eq!(is_cross_site(&headers(pairs)), cross_site, "{pairs:?}");
            assert_eq!(is_same_origin(&headers(pairs)), !cross_site, "{pairs:?}");
        }
        let contradiction = [
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://b"),
            ("host", "a"),
        ];
        assert!(!is_same_origin(&headers(&contradiction)));
    }
}
