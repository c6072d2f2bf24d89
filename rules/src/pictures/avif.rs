//! AVIF: boxes of ISO 14496-12. Only the size of each image in it is read.

use super::{Kept, u32_be};

/// The kind of the box with an image's size: width and height come after its kind and its version.
const SIZE: &[u8; 4] = b"ispe";

pub fn begins(file: &[u8]) -> bool {
    file.get(4..8) == Some(b"ftyp") && matches!(file.get(8..12), Some(b"avif" | b"avis"))
}

/// The boxes lie in boxes of many kinds, so they are found by their name. That the name also occurs in pixels is too
/// unlikely to matter.
pub fn read(file: &[u8]) -> Kept {
    let mut kept = Kept::begin(file, file.len());
    for (at, _) in file
        .windows(SIZE.len())
        .enumerate()
        .filter(|(_, kind)| kind == SIZE)
    {
        if let (Some(width), Some(height)) = (u32_be(file, at + 8), u32_be(file, at + 12)) {
            kept.note_size(width, height);
        }
    }
    kept
}
