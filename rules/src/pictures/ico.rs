//! ICO: a directory of pictures, each a bitmap or a PNG. A bitmap has no metadata.

use alloc::vec::Vec;

use super::{Kept, png, u16_le, u32_be, u32_le};

/// Reserved, kind, count.
const HEAD: usize = 6;
const ENTRY: usize = 16;

pub fn begins(file: &[u8]) -> bool {
    let count = count(file);
    file.starts_with(b"\0\0\x01\0") && (1..=255).contains(&count) && file.len() > HEAD + ENTRY * count
}

pub fn read(file: &[u8]) -> Kept {
    let clean = without_metadata(file).unwrap_or_else(|| file.to_vec());
    let mut kept = Kept::begin(&clean, clean.len());
    for entry in (0..count(file)).map(|index| HEAD + ENTRY * index) {
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

/// The same pictures, one after the other, without what PNGs say besides; `None` if one leads out of the file, or if together
/// they are longer than it, because they overlap.
fn without_metadata(file: &[u8]) -> Option<Vec<u8>> {
    let entries = || file.get(HEAD..)?.get(..ENTRY * count(file));
    let mut pictures = Vec::new();
    let mut all = 0_usize;
    for entry in entries()?.chunks_exact(ENTRY) {
        let (length, at) = (u32_le(entry, 8)? as usize, u32_le(entry, 12)? as usize);
        let picture = file.get(at..)?.get(..length)?;
        all += length;
        if all > file.len() {
            return None;
        }
        pictures.push(picture);
    }
    let mut clean = file.get(..HEAD)?.to_vec();
    let mut contents = Vec::with_capacity(all);
    for (entry, picture) in entries()?.chunks_exact(ENTRY).zip(&pictures) {
        let at = HEAD + ENTRY * pictures.len() + contents.len();
        match picture.starts_with(png::SIGNATURE) {
            true => contents.extend(png::read(picture).file),
            false => contents.extend_from_slice(picture),
        }
        let length = HEAD + ENTRY * pictures.len() + contents.len() - at;
        clean.extend_from_slice(&entry[..8]);
        clean.extend_from_slice(&(length as u32).to_le_bytes());
        clean.extend_from_slice(&(at as u32).to_le_bytes());
    }
    clean.extend(contents);
    (clean.len() <= file.len()).then_some(clean)
}

fn count(file: &[u8]) -> usize {
    u16_le(file, 4).map_or(0, usize::from)
}
