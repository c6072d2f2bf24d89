//! The address at which people reach this site.

use axum::http::{HeaderMap, header};
use portico_service::site::{PublicUrl, Sender, sender};

/// Where people reach this site: the public URL, or otherwise the host as the reader's browser knows it. (A proxy may
/// speak TLS without this host knowing it; the `Origin` of a form shows that.) Empty if the host's name is invalid.
pub(crate) fn origin(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> String {
    if let Some(public_url) = public_url {
        return public_url.to_string();
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let host = text(header::HOST).filter(|host| !host.is_empty() && host.bytes().all(is_part));
    match (host, text(header::ORIGIN)) {
        (Some(_), Some(origin)) if sender(headers, None) == Sender::OwnPage => origin.to_owned(),
        (Some(host), _) => format!("http://{host}"),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("evil\"<script>", Some("http://evil\"<script>"), ""),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(sent) = sent {
                headers.insert(header::ORIGIN, sent.parse().unwrap());
            }
            assert_eq!(origin(&headers, None), expected, "{host} {sent:?}");
            let public_url = "https://public.example".parse().unwrap();
            assert_eq!(origin(&headers, Some(&public_url)), "https://public.example");
        }
    }
}
