//! JPEG (ITU-T T.81): segments that begin with a marker, and between them the coded picture.

use super::exif::orientation_alone;
use super::{Kept, part, u16_be};

const SOI: usize = 2;
const MARKER_BYTES: usize = 2;
const EXIF: &[u8] = b"Exif\0\0";
/// The length of JFIF's segment without a thumbnail.
const JFIF_BYTES: usize = 14;

pub fn read(file: &[u8]) -> Kept {
    let mut kept = Kept::begin(file, SOI);
    let mut at = SOI;
    let mut has_exif = false;
    // What stands between a segment that is removed and the next marker may be its end.
    let mut is_removed = false;
    while let Some(begin) = next_marker(file, at) {
        if !is_removed {
            kept.push(&file[at..begin]);
        }
        let marker = file[begin + 1];
        at = begin + MARKER_BYTES;
        let length = match marker {
            0xd9 => {
                kept.push(&file[begin..at]);
                return kept;
            }
            // Markers without a segment.
            0x01 | 0xd0..=0xd8 => 0,
            _ => usize::from(u16_be(file, at).unwrap_or(0)),
        };
        let segment = part(file, begin, MARKER_BYTES + length);
        at = begin + segment.len();
        let content = segment.get(MARKER_BYTES + 2..).unwrap_or_default();
        let before = kept.file.len();
        match marker {
            0xe0 if content.starts_with(b"JFIF") => match content.get(..JFIF_BYTES - 2) {
                Some(head) if content.len() > JFIF_BYTES => {
                    kept.push(&[0xff, marker, 0, JFIF_BYTES as u8 + 2]);
                    kept.push(head);
                    kept.push(&[0, 0]);
                }
                _ => kept.push(segment),
            },
            0xe1 if !has_exif && content.starts_with(EXIF) => {
                has_exif = true;
                let exif = &content[EXIF.len()..];
                match orientation_alone(exif) {
                    Some(alone) if alone == exif => kept.push(segment),
                    Some(alone) => {
                        let length = 2 + EXIF.len() + alone.len();
                        kept.push(&[0xff, marker, 0, length as u8]);
                        kept.push(EXIF);
                        kept.push(&alone);
                    }
                    None => {}
                }
            }
            0xe2 if content.starts_with(b"ICC_PROFILE\0") => kept.push(segment),
            0xee if content.starts_with(b"Adobe") => kept.push(segment),
            // Other segments of applications, and comments.
            0xe0..=0xef | 0xfe => {}
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                if let (Some(height), Some(width)) = (u16_be(content, 1), u16_be(content, 3)) {
                    kept.note_size(width.into(), height.into());
                }
                kept.push(segment);
            }
            _ => kept.push(segment),
        }
        is_removed = kept.file.len() == before;
    }
    if !is_removed {
        kept.push(&file[at..]);
    }
    kept
}

/// Where the next marker is. In the coded picture a zero follows each 0xff; before a marker there may be several 0xff.
fn next_marker(file: &[u8], from: usize) -> Option<usize> {
    let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff);
    let found = file.get(from..)?.windows(MARKER_BYTES).position(is_marker);
    found.map(|position| from + position)
}
