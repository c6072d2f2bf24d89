//! Pictures without what they say about where, when and by whom they were made.
//!
//! Their bytes come from anyone. Each format is read once, from front to back. A part that claims to be longer than
//! what is left ends there, and from where a picture cannot be read it is kept as it is: so a damaged picture stays
//! what it was. What follows the end of a picture is not part of it, and goes.
//!
//! Only the kinds of parts that decoders need are kept, because there is no list of all that hold metadata. In AVIF the known
//! kinds become zeros instead (`avif.rs`); an ICO is as clean as the PNGs in it.

mod avif;
mod exif;
mod gif;
mod ico;
mod jpeg;
mod png;
mod webp;

use alloc::vec::Vec;

use crate::{bounds, rule::Rule};

/// The formats of pictures that people upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    Gif,
    Webp,
    Avif,
    Ico,
}

impl Format {
    /// The formats of profile pictures.
    const OF_PROFILES: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp];
    /// All of them.
    const ALL: [Self; 6] = [
        Self::Png,
        Self::Jpeg,
        Self::Gif,
        Self::Webp,
        Self::Avif,
        Self::Ico,
    ];

    /// The format of profile pictures with this MIME type, in any case.
    pub fn of(mime: &str) -> Option<Self> {
        let mut formats = Self::OF_PROFILES.into_iter();
        formats.find(|format| mime.eq_ignore_ascii_case(format.mime()))
    }

    /// The format of a file, by how it begins.
    pub fn recognise(file: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.begins(file))
    }

    /// Its MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Avif => "image/avif",
            Self::Ico => "image/x-icon",
        }
    }

    /// Whether a file begins as this format does.
    pub fn begins(self, file: &[u8]) -> bool {
        match self {
            Self::Png => file.starts_with(png::SIGNATURE),
            Self::Jpeg => file.starts_with(b"\xff\xd8\xff"),
            Self::Gif => file.starts_with(b"GIF87a") || file.starts_with(b"GIF89a"),
            Self::Webp => file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP"),
            Self::Avif => avif::begins(file),
            Self::Ico => ico::begins(file),
        }
    }

    /// Reads a file that begins as this format does.
    pub fn read(self, file: &[u8]) -> Kept {
        let mut kept = match self {
            Self::Png => png::read(file),
            Self::Jpeg => jpeg::read(file),
            Self::Gif => gif::read(file),
            Self::Webp => webp::read(file),
            Self::Avif => avif::read(file),
            Self::Ico => ico::read(file),
        };
        if !self.begins(&kept.file) {
            // There was no picture besides the metadata.
            kept.file = file.to_vec();
        }
        kept
    }
}

/// What is kept of a picture.
pub struct Kept {
    /// The picture without metadata; never longer than it was.
    pub file: Vec<u8>,
    /// Width and height, if they can be read and are more than a picture may have.
    pub too_large: Option<(u32, u32)>,
}

impl Kept {
    /// The picture, or the rule that it breaks: one that browsers cannot draw is refused, as far as its size can be read.
    pub fn drawable(self) -> Result<Vec<u8>, Rule> {
        match self.too_large {
            None => Ok(self.file),
            Some((width, height)) => Err(Rule::TooManyPixels {
                side: bounds::IMAGE_SIDE,
                all: bounds::IMAGE_PIXELS,
                width,
                height,
            }),
        }
    }

    /// Begins with these bytes of a file.
    fn begin(file: &[u8], header: usize) -> Self {
        let mut kept = Self {
            file: Vec::with_capacity(file.len()),
            too_large: None,
        };
        kept.push(&file[..header.min(file.len())]);
        kept
    }

    fn push(&mut self, part: &[u8]) {
        self.file.extend_from_slice(part);
    }

    /// Notes the size of the picture, or of a frame in it.
    fn note_size(&mut self, width: u32, height: u32) {
        let pixels = u64::from(width) * u64::from(height);
        if width.max(height) > bounds::IMAGE_SIDE || pixels > bounds::IMAGE_PIXELS {
            self.too_large.get_or_insert((width, height));
        }
    }
}

/// The part of a file from here, as long as it claims to be or as the file is.
fn part(file: &[u8], begin: usize, length: usize) -> &[u8] {
    let begin = begin.min(file.len());
    let end = begin.saturating_add(length).min(file.len());
    &file[begin..end]
}

fn u16_be(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

fn u16_le(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

fn u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

fn u32_le(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests;
