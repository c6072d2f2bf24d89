//! Profile images.

use alloc::format;
use alloc::string::{String, ToString};

use portico_rules::bounds;

use super::issues::Checked;
use super::url;

/// The most characters of an image.
const MAX: usize = *bounds::IMAGE.end();

/// How many bytes at the beginning identify the format.
const SIGNATURE_BYTES: usize = 12;

/// An image as a data URI: PNG, JPEG, GIF or WebP in strict base64 (padded, no stray bits at the
/// end), which begins with the signature of its format. It is trimmed, because tools often write a
/// line end after base64.
pub fn data_uri(value: &str) -> Checked<String> {
    let value = value.trim();
    // Counting bytes is enough, because the rest accepts only ASCII.
    if value.len() > MAX {
        return Err(format!(
            "must have at most {MAX} characters, got {}",
            value.chars().count()
        ));
    }
    let (mime, body) = split(value).ok_or("must be a data URI: data:image/...;base64,...")?;
    let is_format =
        signature_of(mime).ok_or("must be of type image/png, image/jpeg, image/gif or image/webp")?;
    let signature = first_bytes_of_base64(body).ok_or("must be in base64 with its padding")?;
    if !is_format(&signature) {
        return Err(format!(
            "must be the image that its type says: {}",
            mime.to_ascii_lowercase()
        ));
    }
    Ok(value.to_string())
}

/// The image of a user of an external provider: a data URI as above or a link by HTTP or HTTPS.
pub fn external(value: &str) -> Checked<String> {
    let value = value.trim();
    if value
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("data:"))
    {
        return data_uri(value);
    }
    let link = url::ping_url(value).ok().flatten();
    link.ok_or_else(|| String::from("must be a data URI of an image or a URL with http: or https:"))
}

/// The MIME type and the base64 of `data:TYPE;base64,BASE64`, in any case.
fn split(value: &str) -> Option<(&str, &str)> {
    let (head, body) = value.split_once(',')?;
    let (scheme, rest) = head.split_once(':')?;
    let (mime, encoding) = rest.split_once(';')?;
    (scheme.eq_ignore_ascii_case("data") && encoding.eq_ignore_ascii_case("base64")).then_some((mime, body))
}

type Signature = [u8; SIGNATURE_BYTES];
type IsFormat = fn(&Signature) -> bool;

fn signature_of(mime: &str) -> Option<IsFormat> {
    let formats: [(&str, IsFormat); 4] = [
        ("image/png", |bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n")),
        ("image/jpeg", |bytes| bytes.starts_with(b"\xff\xd8\xff")),
        ("image/gif", |bytes| {
            bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a")
        }),
        ("image/webp", |bytes| {
            bytes.starts_with(b"RIFF") && bytes.ends_with(b"WEBP")
        }),
    ];
    formats
        .into_iter()
        .find(|(name, _)| mime.eq_ignore_ascii_case(name))
        .map(|(_, is_format)| is_format)
}

/// Checks the whole base64 text and decodes its first bytes, padded with zeros. `None` if it is not strict base64.
fn first_bytes_of_base64(text: &str) -> Option<Signature> {
    let digits = text.trim_end_matches('=');
    // Bits of the last digit that are not part of a byte.
    let stray_bits: u8 = match (text.len() % 4, text.len() - digits.len()) {
        (0, 0) => 0,
        (0, 1) => 0b11,
        (0, 2) => 0b1111,
        _ => return None,
    };
    let mut bytes = Signature::default();
    let mut last = 0;
    for (index, digit) in digits.bytes().enumerate() {
        last = value_of_digit(digit)?;
        let bit = index * 6;
        // The 6 bits are in one byte or across two.
        let [high, low] = (u16::from(last) << (10 - bit % 8)).to_be_bytes();
        if let Some(byte) = bytes.get_mut(bit / 8) {
            *byte |= high;
        }
        if let Some(byte) = bytes.get_mut(bit / 8 + 1) {
            *byte |= low;
        }
    }
    (last & stray_bits == 0).then_some(bytes)
}

fn value_of_digit(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// The first 12 bytes of a PNG.
    const PNG: &str = "iVBORw0KGgoAAAAN";

    fn png(body: &str) -> String {
        format!("data:image/png;base64,{body}")
    }

    #[test]
    fn the_four_formats_are_accepted() {
        for accepted in [
            "data:image/png;base64,iVBORw0KGgo=",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            "data:image/jpeg;base64,/9j/4AAQSkZJRg==",
            "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
            "data:image/gif;base64,R0lGODdh",
            "data:image/webp;base64,UklGRiQAAABXRUJQVlA4",
            "data:IMAGE/PNG;base64,iVBORw0KGgo=",
            "DATA:image/Png;BASE64,iVBORw0KGgo=",
        ] {
            assert_eq!(data_uri(accepted), Ok(accepted.into()));
            assert_eq!(data_uri(&format!(" \t{accepted}\r\n")), Ok(accepted.into()));
        }
    }

    #[test]
    fn another_type_or_form_is_refused() {
        for refused in [
            "",
            "data:",
            "image",
            "https://example.com/x.png",
            "data:image/svg+xml;base64,PHN2Zz4=",
            "data:image/jpg;base64,/9j/4AAQSkZJRg==",
            "data:text/html;base64,iVBORw0KGgo=",
            "data:image/png,iVBORw0KGgo=",
            "data:image/png;charset=utf-8;base64,iVBORw0KGgo=",
            "data:image/png;base64 ,iVBORw0KGgo=",
            "data:image/png;base64, iVBORw0KGgo=",
            "\u{feff}data:image/png;base64,iVBORw0KGgo=",
            "data:image/png\0;base64,iVBORw0KGgo=",
        ] {
            assert!(data_uri(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn the_bytes_must_be_of_the_type() {
        for refused in [
            png(""),
            png("AAAA"),
            png("iVBORw=="),
            png("/9j/4AAQSkZJRg=="),
            "data:image/jpeg;base64,iVBORw0KGgo=".into(),
            "data:image/gif;base64,R0lGODhh".into(),
            "data:image/webp;base64,UklGRiQAAABXQVZFVlA4".into(),
            "data:image/webp;base64,UklGRg==".into(),
        ] {
            assert!(data_uri(&refused).is_err(), "{refused}");
        }
        assert_eq!(
            data_uri("data:image/PNG;base64,AAAA"),
            Err("must be the image that its type says: image/png".into())
        );
    }

    #[test]
    fn base64_is_strict() {
        for tail in ["", "AA==", "AAA=", "AAAA", "/+09", "Zg==", "Zm8="] {
            assert!(data_uri(&png(&format!("{PNG}{tail}"))).is_ok(), "{tail:?}");
        }
        for tail in [
            "A", "AA", "AAA", "AA=", "A===", "====", "=", "AA==AAAA", "AAA=AAA=", "AAAA====", "AB==", "AAB=",
            "A-_A", "AA A", "AA\nA", "AAA\0", "ÄAA", "AAA%",
        ] {
            assert!(data_uri(&png(&format!("{PNG}{tail}"))).is_err(), "{tail:?}");
        }
    }

    #[test]
    fn the_first_bytes_are_decoded_in_order() {
        assert_eq!(
            first_bytes_of_base64("AQIDBAUGBwgJCgsMDQ4P"),
            Some([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        );
        assert_eq!(
            first_bytes_of_base64("/w=="),
            Some([255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        );
        assert_eq!(
            first_bytes_of_base64("//8="),
            Some([255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        );
        assert_eq!(first_bytes_of_base64(""), Some([0; 12]));
        let digits: Vec<u8> = (0..=255).filter(|byte| value_of_digit(*byte).is_some()).collect();
        assert_eq!(digits.len(), 64);
    }

    #[test]
    fn an_image_has_at_most_350000_characters() {
        let head = png(PNG);
        let longest = format!("{head}{}", "A".repeat((MAX - head.len()) / 4 * 4));
        assert!(MAX - longest.len() < 4);
        assert!(data_uri(&longest).is_ok());
        assert_eq!(
            data_uri(&format!("{longest}AAAA")),
            Err(format!(
                "must have at most 350000 characters, got {}",
                longest.len() + 4
            ))
        );
    }

    #[test]
    fn a_picture_from_a_provider_is_a_link_or_an_image() {
        for accepted in [
            "https://example.com/a.png",
            "HTTP://x/",
            "data:image/gif;base64,R0lGODdh",
        ] {
            assert_eq!(external(accepted), Ok(accepted.into()));
            assert_eq!(external(&format!("\n{accepted} ")), Ok(accepted.into()));
        }
        for refused in [
            "",
            "javascript:alert(1)",
            "/a.png",
            "data:text/html,x",
            "ftp://x/a.png",
        ] {
            assert!(external(refused).is_err(), "{refused:?}");
        }
    }
}
