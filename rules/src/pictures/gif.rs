//! GIF (89a): frames and extensions, whose data lie in blocks of at most 255 bytes.

use super::{Kept, part, u16_le};

/// Signature, size, flags, background, aspect.
const HEAD: usize = 13;
const FRAME_HEAD: usize = 10;

pub fn read(file: &[u8]) -> Kept {
    let colours = file.get(10).map_or(0, |flags| colour_bytes(*flags));
    let mut at = (HEAD + colours).min(file.len());
    let mut kept = Kept::begin(file, at);
    note_size(&mut kept, file, 6);
    while let Some(introducer) = file.get(at) {
        match introducer {
            b',' => {
                note_size(&mut kept, file, at + 5);
                let colours = file.get(at + 9).map_or(0, |flags| colour_bytes(*flags));
                // After the colours one byte says how the pixels are coded.
                let frame = part(file, at, end_of_blocks(file, at + FRAME_HEAD + colours + 1) - at);
                kept.push(frame);
                at += frame.len();
            }
            b'!' => {
                let extension = part(file, at, end_of_blocks(file, at + 2) - at);
                if is_shown(extension) {
                    kept.push(extension);
                }
                at += extension.len();
            }
            b';' => {
                kept.push(b";");
                return kept;
            }
            // Some programs write one end too many.
            0 => {
                kept.push(&[0]);
                at += 1;
            }
            _ => break,
        }
    }
    kept.push(&file[at..]);
    kept
}

fn note_size(kept: &mut Kept, file: &[u8], at: usize) {
    if let (Some(width), Some(height)) = (u16_le(file, at), u16_le(file, at + 2)) {
        kept.note_size(width.into(), height.into());
    }
}

/// The length of the colours that follow these flags.
fn colour_bytes(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 6 << (flags & 7) }
}

/// Where the blocks end that begin here.
fn end_of_blocks(file: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match file.get(at) {
            None => return file.len(),
            Some(0) => return at + 1,
            Some(length) => at += 1 + usize::from(*length),
        }
    }
}

/// Whether an extension has to do with how frames are shown: their timing, text that is a frame, and how often an
/// animation runs.
fn is_shown(extension: &[u8]) -> bool {
    match extension.get(1) {
        Some(0x01 | 0xf9) => true,
        Some(0xff) => extension
            .get(3..14)
            .is_some_and(|name| name == b"NETSCAPE2.0" || name == b"ANIMEXTS1.0"),
        _ => false,
    }
}
