//! Which site made a browser send a request, as the browser itself says. No page can change or leave out
//! what is looked at here.

use axum::http::{HeaderMap, HeaderName, header};

/// Whether a browser says that another site made it send this request. Browsers say so in
/// `Sec-Fetch-Site`; older ones only name the `Origin`. What is no browser says neither.
pub(crate) fn is_cross_site(headers: &HeaderMap) -> bool {
    let is_own = site_is_own(headers).or_else(|| origin_is_host(headers));
    is_own.is_some_and(|is_own| !is_own)
}

/// Whether nothing that a browser says of who made it send this request names another site. Stricter
/// than what the cookie needs: both headers count where both are there.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    site_is_own(headers) != Some(false) && origin_is_host(headers) != Some(false)
}

/// By `Sec-Fetch-Site`: a page of this host (`same-origin`), or nobody but whoever uses the browser
/// (`none`: the address bar, a bookmark).
fn site_is_own(headers: &HeaderMap) -> Option<bool> {
    let site = text(headers, HeaderName::from_static("sec-fetch-site"))?;
    Some(matches!(site, "same-origin" | "none"))
}

/// By `Origin`: it is the `Host` that was asked.
fn origin_is_host(headers: &HeaderMap) -> Option<bool> {
    let origin = text(headers, header::ORIGIN)?;
    let host = text(headers, header::HOST).unwrap_or_default();
    let origin = origin.split_once("://");
    Some(origin.is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host)))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    Some(headers.get(name)?.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn another_site_is_known_by_what_the_browser_says() {
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
