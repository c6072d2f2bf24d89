//! What counts as a picture: only the content decides.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::{error::IconError, svg};

/// The largest picture, in bytes.
pub const LARGEST: usize = 1 << 20;

/// A picture that browsers show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    content_type: &'static str,
    bytes: Bytes,
    hash: [u8; 12],
}

impl Picture {
    /// Recognises a picture. Takes some milliseconds for a large one.
    pub fn of(bytes: impl Into<Bytes>) -> Result<Self, IconError> {
        let bytes = bytes.into();
        if bytes.len() > LARGEST {
            return Err(IconError::new(format!("it is larger than {LARGEST} bytes")));
        }
        let Some(content_type) = content_type(&bytes) else {
            return Err(IconError::new(
                "it is not a picture: PNG, JPEG, GIF, WebP, AVIF, ICO, BMP or SVG",
            ));
        };
        let mut hash = [0; 12];
        hash.copy_from_slice(&Sha256::digest(&bytes)[..12]);
        Ok(Self {
            content_type,
            bytes,
            hash,
        })
    }

    /// Its type, for `Content-Type`.
    pub fn content_type(&self) -> &'static str {
        self.content_type
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn tag(&self) -> String {
        let hash: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"{hash}\"")
    }

    /// Whether it is a document that could contain scripts.
    pub(crate) fn is_svg(&self) -> bool {
        self.content_type == SVG
    }
}

const SVG: &str = "image/svg+xml";

fn content_type(bytes: &[u8]) -> Option<&'static str> {
    let at = |start: usize, text: &[u8]| bytes.get(start..).is_some_and(|rest| rest.starts_with(text));
    let is_avif = || at(4, b"ftyp") && [b"avif", b"avis"].iter().any(|brand| at(8, *brand));
    // Its header says how many pictures there are; each has an entry of 16 bytes.
    let is_ico = || {
        let count = usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
        (1..=255).contains(&count) && bytes.len() > 6 + 16 * count
    };
    // Its header has its size, and then the size of the next header.
    let is_bmp = || {
        let size = |start: usize| {
            bytes
                .get(start..start + 4)?
                .try_into()
                .ok()
                .map(u32::from_le_bytes)
        };
        size(2).is_some_and(|size| size as usize == bytes.len())
            && size(14).is_some_and(|header| [12, 40, 52, 56, 108, 124].contains(&header))
    };
    if at(0, b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if at(0, b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
        Some("image/gif")
    } else if at(0, b"RIFF") && at(8, b"WEBP") {
        Some("image/webp")
    } else if is_avif() {
        Some("image/avif")
    } else if bytes.len() > 6 && at(0, b"\0\0\x01\0") && is_ico() {
        Some("image/x-icon")
    } else if at(0, b"BM") && is_bmp() {
        Some("image/bmp")
    } else if svg::is_svg(bytes) {
        Some(SVG)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> Option<&'static str> {
        Picture::of(bytes.to_vec())
            .ok()
            .map(|picture| picture.content_type())
    }

    #[test]
    fn a_picture_is_recognised_by_its_content() {
        let ico = [&b"\0\0\x01\0\x01\0"[..], &[0; 17]].concat();
        let mut bmp = [&b"BM\x1e\0\0\0"[..], &[0; 24]].concat();
        bmp[14] = 12;
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF87a", "image/gif"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"\0\0\0\x1cftypavif", "image/avif"),
            (b"\0\0\0\x1cftypavis", "image/avif"),
            (&ico, "image/x-icon"),
            (&bmp, "image/bmp"),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        ] {
            assert_eq!(kind(bytes), Some(expected), "{bytes:?}");
            assert_eq!(kind(&bytes[1..]), None, "{bytes:?}");
        }
    }

    #[test]
    fn anything_else_is_no_picture() {
        for bytes in [
            &b""[..],
            b"x",
            b"<!doctype html><html><body><svg xmlns='http://www.w3.org/2000/svg'/></body></html>",
            b"{\"svg\": true}",
            b"\x1f\x8b\x08\0\0\0\0\0",
            b"RIFF\0\0\0\0WAVE",
            b"\0\0\0\x1cftypmp42",
            b"\0\0\x01\0\x01\0",
            b"\0\0\x01\0\0\0\0\0",
            b"\0\0\x01\xba<html>",
            b"BM says hello",
            b"%PDF-1.7",
        ] {
            assert_eq!(kind(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_picture_has_at_most_one_mebibyte() {
        let mut bytes = b"GIF89a".to_vec();
        bytes.resize(1 << 20, 0);
        assert_eq!(kind(&bytes), Some("image/gif"));
        bytes.push(0);
        assert_eq!(kind(&bytes), None);
    }
}
