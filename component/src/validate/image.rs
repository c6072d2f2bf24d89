//! Profile images.

use alloc::string::{String, ToString};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portico_rules::rule::Rule;
use portico_rules::sentences::Word;
use portico_rules::{bounds, pictures::Format};

use super::issues::Checked;
use super::url;

/// The most characters of an image.
const MAX: usize = *bounds::IMAGE.end();

/// An image as a data URI: PNG, JPEG, GIF or WebP in strict base64 (padded, no stray bits at the
/// end), which begins with the signature of its format. It is trimmed, because tools often write a
/// line end after base64. Images that are older than the rules of [`new`] stay valid.
pub fn data_uri(value: &str) -> Checked<String> {
    let value = value.trim();
    // Counting bytes is enough, because the rest accepts only ASCII.
    if value.len() > MAX {
        return Err(Rule::TooLong {
            most: MAX,
            got: value.chars().count(),
        });
    }
    let (mime, body) = split(value).ok_or(Rule::NotDataUri)?;
    let format = Format::of(mime).ok_or(Rule::NotPictureType)?;
    let file = STANDARD.decode(body).map_err(|_| Rule::NotBase64)?;
    if !format.begins(&file) {
        return Err(Rule::NotThatPicture {
            mime: Word(mime.to_ascii_lowercase()),
        });
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
    link.ok_or(Rule::NotPicture)
}

/// A new image as it is stored: a picture in a data URI loses its metadata, and must not be larger than browsers can
/// draw, as far as its size can be read. A link stays as it is.
pub fn new(image: &str) -> Checked<String> {
    let picture = split(image).and_then(|(mime, body)| {
        let file = STANDARD.decode(body).ok()?;
        Some((Format::of(mime)?, file, body.len()))
    });
    let Some((format, file, body_length)) = picture else {
        return Ok(image.to_string());
    };
    let kept = format.read(&file).drawable()?;
    if kept == file {
        return Ok(image.to_string());
    }
    let mut cleaned = String::from(&image[..image.len() - body_length]);
    STANDARD.encode_string(&kept, &mut cleaned);
    Ok(cleaned)
}

/// The MIME type and the base64 of `data:TYPE;base64,BASE64`, in any case.
fn split(value: &str) -> Option<(&str, &str)> {
    let (head, body) = value.split_once(',')?;
    let (scheme, rest) = head.split_once(':')?;
    let (mime, encoding) = rest.split_once(';')?;
    (scheme.eq_ignore_ascii_case("data") && encoding.eq_ignore_ascii_case("base64")).then_some((mime, body))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::validate::rule;

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
            Err(rule("must be the image that its type says: image/png"))
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
    fn an_image_has_at_most_350000_characters() {
        let head = png(PNG);
        let longest = format!("{head}{}", "A".repeat((MAX - head.len()) / 4 * 4));
        assert!(MAX - longest.len() < 4);
        assert!(data_uri(&longest).is_ok());
        assert_eq!(
            data_uri(&format!("{longest}AAAA")),
            Err(Rule::TooLong {
                most: 350_000,
                got: longest.len() + 4
            })
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

    /// A GIF of this size, with this after its head.
    fn gif(width: u16, height: u16, rest: &[u8]) -> String {
        let mut file = b"GIF89a".to_vec();
        file.extend(width.to_le_bytes());
        file.extend(height.to_le_bytes());
        file.extend([0; 3]);
        file.extend(rest);
        format!("DATA:image/Gif;BASE64,{}", STANDARD.encode(file))
    }

    #[test]
    fn a_new_image_loses_its_metadata_and_keeps_all_else() {
        let comment = gif(1, 1, b"!\xfe\x04Lviv\0;");
        assert_eq!(new(&comment), Ok(gif(1, 1, b";")));
        for kept in [
            gif(1, 1, b";"),
            gif(0, 0, b""),
            "data:image/png;base64,iVBORw0KGgo=".into(),
            "https://example.com/a,b.png".into(),
            "https://example.com/data:image/gif;base64,R0lG".into(),
        ] {
            assert_eq!(new(&kept), Ok(kept.clone()));
        }
    }

    #[test]
    fn a_new_image_has_at_most_8192_pixels_a_side_and_40_megapixels() {
        for (width, height) in [(8192, 1), (1, 8192), (8192, 4882), (8000, 5000)] {
            let accepted = gif(width, height, b";");
            assert_eq!(new(&accepted), Ok(accepted.clone()));
        }
        for (width, height) in [(8193, 1), (1, 8193), (65535, 65535), (8192, 4883), (8192, 8192)] {
            let refused = gif(width, height, b";");
            assert!(data_uri(&refused).is_ok(), "one that is stored stays");
            let message =
                format!("must have at most 8192 pixels a side and 40000000 in all, got {width}x{height}");
            assert_eq!(new(&refused), Err(rule(&message)));
        }
    }
}
