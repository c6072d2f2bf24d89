//! What the headers of a request say about the site that sent it, and about the address at which people reach this one.

use axum::http::{HeaderMap, HeaderName, header};
use portico_http::PublicUrl;

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The name of the host that was asked, with its port.
fn host(headers: &HeaderMap) -> Option<&str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    text(headers, header::HOST).filter(|host| !host.is_empty() && host.bytes().all(is_part))
}

/// The site that sent the request, if it is this host.
fn own_sender(headers: &HeaderMap) -> Option<&str> {
    let host = host(headers)?;
    text(headers, header::ORIGIN).filter(|origin| {
        ["http://", "https://"]
            .iter()
            .any(|scheme| origin.strip_prefix(scheme) == Some(host))
    })
}

/// Whether the browser says that a page of this site sent the request.
pub(crate) fn is_from_own_page(headers: &HeaderMap) -> bool {
    match text(headers, HeaderName::from_static("sec-fetch-site")) {
        Some(site) => site == "same-origin",
        // Browsers send it only if they trust the address, for example with TLS.
        None => own_sender(headers).is_some(),
    }
}

/// Where people reach this site: the public URL, or otherwise the host as the reader's browser knows it. (A proxy may
/// speak TLS without this host knowing it; the `Origin` of a form shows that.) Empty if the host's name is invalid.
pub(crate) fn origin(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> String {
    match (public_url, own_sender(headers), host(headers)) {
        (Some(public_url), _, _) => public_url.to_string(),
        (None, Some(origin), _) => origin.to_owned(),
        (None, None, Some(host)) => format!("http://{host}"),
        (None, None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, more: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        for (name, value) in more {
            headers.insert(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_link_begins_with_the_public_url_or_as_the_reader_reaches_the_console() {
        for (host, sent, expected) in [
            ("nas:7575", None, "http://nas:7575"),
            (
                "home.example",
                Some("https://home.example"),
                "https://home.example",
            ),
            (
                "home.example",
                Some("https://evil.example"),
                "http://home.example",
            ),
            ("[::1]:80", None, "http://[::1]:80"),
            ("evil\"<script>", None, ""),
        ] {
            let sent: Vec<_> = sent.map(|sent| ("origin", sent)).into_iter().collect();
            let headers = headers(host, &sent);
            assert_eq!(origin(&headers, None), expected, "{host} {sent:?}");
            let public_url = "https://public.example".parse().unwrap();
            assert_eq!(origin(&headers, Some(&public_url)), "https://public.example");
        }
    }

    #[test]
    fn a_request_is_from_an_own_page_if_the_browser_says_so() {
        let own = ("origin", "http://nas:7575");
        for (more, expected) in [
            (vec![], false),
            (vec![own], true),
            (vec![("origin", "null")], false),
            (vec![("origin", "http://nas")], false),
            (vec![("sec-fetch-site", "same-origin")], true),
            (vec![("sec-fetch-site", "cross-site"), own], false),
            (vec![("sec-fetch-site", "none")], false),
        ] {
            assert_eq!(
                is_from_own_page(&headers("nas:7575", &more)),
                expected,
                "{more:?}"
            );
        }
    }
}
