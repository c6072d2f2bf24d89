//! ICO: a directory of pictures, each a bitmap or a PNG.

use super::{Kept, png, u16_le, u32_be, u32_le};

/// Reserved, kind, count.
const HEAD: usize = 6;
const ENTRY: usize = 16;

pub fn begins(file: &[u8]) -> bool {
    let count = u16_le(file, 4).map_or(0, usize::from);
    file.starts_with(b"\0\0\x01\0") && (1..=255).contains(&count) && file.len() > HEAD + ENTRY * count
}

pub fn read(file: &[u8]) -> Kept {
    let mut kept = Kept::begin(file, file.len());
    let count = u16_le(file, 4).map_or(0, usize::from);
    for entry in (0..count).map(|index| HEAD + ENTRY * index) {
        let Some(picture) = u32_le(file, entry + 12).and_then(|at| file.get(at as usize..)) else {
            continue;
        };
        // A bitmap says its height twice as large, for its mask.
        let size = match picture.starts_with(png::SIGNATURE) {
            true => (u32_be(picture, 16), u32_be(picture, 20)),
            false => (u32_le(picture, 4), u32_le(picture, 8).map(|height| height / 2)),
        };
        if let (Some(width), Some(height)) = size {
            kept.note_size(width, height);
        }
    }
    kept
}
