//! Where the picture of an icon is, according to the icon's URL.
//!
//! An app's icon may be any text that cannot run code, so this decides which of them are served:
//! - URLs with `http:` and `https:` are fetched;
//! - `data:` URLs contain their picture;
//! - paths (`/icons/x.svg`, `x.svg`) and other schemes (`mdi:home`, `blob:`) are refused: this host has no such files.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::error::IconError;

/// The longest URL that is fetched, in bytes.
const LONGEST: usize = 8192;

/// Where a picture is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PictureSource {
    /// At this URL, which has `http:` or `https:`.
    Web(Url),
    /// In the URL itself: the part of a `data:` URL after the scheme.
    Data(String),
}

impl PictureSource {
    /// Reads the URL of an icon.
    pub fn of(icon_url: &str) -> Result<Self, IconError> {
        let icon_url = icon_url.trim();
        if let Some((scheme, rest)) = icon_url.split_once(':')
            && scheme.eq_ignore_ascii_case("data")
        {
            return Ok(Self::Data(rest.to_owned()));
        }
        let url = Url::parse(icon_url).map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => IconError::new(
                "it is a path without a host, and this host has no such files: use a URL with http: or https:",
            ),
            error => IconError::new(format!("it is not a URL: {error}")),
        })?;
        fetchable(url).map(Self::Web)
    }
}

/// Whether an icon's URL may have a picture, as far as the URL itself says.
pub fn is_servable(icon_url: &str) -> bool {
    PictureSource::of(icon_url).is_ok()
}

/// A URL to fetch: of an icon, or of a redirect.
pub(crate) fn fetchable(mut url: Url) -> Result<Url, IconError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(IconError::new(format!(
            "icons are fetched by http: and https:, and not by {}:",
            url.scheme()
        )));
    }
    if has_credentials(&url) {
        return Err(IconError::new(
            "it holds a username or a password, which readers of the app would see",
        ));
    }
    url.set_fragment(None);
    if url.as_str().len() > LONGEST {
        return Err(IconError::new(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(url)
}

pub(crate) fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The content of a `data:` URL, from the part after the scheme.
pub(crate) fn data(rest: &str) -> Result<Vec<u8>, IconError> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let broken = || IconError::new("its data: URL cannot be decoded");
    let (head, body) = rest.split_once(',').ok_or_else(broken)?;
    let body: Vec<u8> = percent_decode_str(body).collect();
    let last = head.rsplit(';').next().unwrap_or_default();
    let is_base64 = head.contains(';') && last.trim().eq_ignore_ascii_case("base64");
    if !is_base64 {
        return Ok(body);
    }
    let digits: Vec<u8> = body
        .into_iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    LENIENT.decode(digits).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_the_web_are_fetched_as_browsers_read_them() {
        for (text, url) in [
            (" https://Example.com/a b.svg#x ", "https://example.com/a%20b.svg"),
            ("HTTP://example.com", "http://example.com/"),
            ("http:\\\\example.com\\x.png", "http://example.com/x.png"),
            ("http://2130706433/x", "http://127.0.0.1/x"),
            ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ] {
            assert_eq!(
                PictureSource::of(text),
                Ok(PictureSource::Web(Url::parse(url).unwrap())),
                "{text}"
            );
        }
    }

    #[test]
    fn paths_and_other_schemes_are_refused() {
        for text in [
            "/icons/x.svg",
            "icons/x.svg",
            "x",
            "//example.com/x.svg",
            "mdi:home",
            "blob:https://example.com/1",
            "ftp://example.com/x.png",
            "file:///etc/passwd",
            "http://",
            "http://me@example.com/x.png",
            "http://me:secret@example.com/x.png",
        ] {
            assert!(!is_servable(text), "{text}");
        }
        assert!(!is_servable(&format!(
            "http://example.com/{}",
            "x".repeat(LONGEST)
        )));
    }

    #[test]
    fn a_data_url_is_decoded_as_browsers_do() {
        let content = |text: &str| match PictureSource::of(text) {
            Ok(PictureSource::Data(rest)) => data(&rest).ok(),
            _ => None,
        };
        for (text, expected) in [
            ("data:image/gif;base64,R0lGODdh", Some("GIF87a")),
            ("DATA:image/gif;BASE64,R0lGODdh", Some("GIF87a")),
            ("data:image/gif; base64 ,R0lG%4FDdh", Some("GIF87a")),
            ("data:image/x;base64,YQ==", Some("a")),
            ("data:image/x;base64,YQ", Some("a")),
            (
                "data:image/svg+xml,<svg fill='#fff'/>",
                Some("<svg fill='#fff'/>"),
            ),
            ("data:image/svg+xml;charset=utf-8,%3Csvg/%3E", Some("<svg/>")),
            ("data:image/x;base64,?", None),
            ("data:image/x", None),
        ] {
            assert_eq!(content(text).as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }
}
