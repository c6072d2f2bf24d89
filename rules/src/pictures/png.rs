//! PNG (W3C, third edition): chunks with a length, a kind and a checksum.

use super::exif::orientation_alone;
use super::{Kept, part, u32_be};

pub const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Length and kind of a chunk.
const HEAD: usize = 8;
const CHECKSUM: usize = 4;

/// The chunks that are kept though a decoder could do without them: colours, transparency, and the frames of an
/// animation.
const KEPT: [&[u8; 4]; 20] = [
    b"acTL", b"bKGD", b"cHRM", b"cICP", b"cLLI", b"cLLi", b"fcTL", b"fdAT", b"gAMA", b"hIST", b"iCCP",
    b"iDOT", b"mDCV", b"mDCv", b"oFFs", b"pHYs", b"sBIT", b"sPLT", b"sRGB", b"tRNS",
];

pub fn read(file: &[u8]) -> Kept {
    let mut kept = Kept::begin(file, SIGNATURE.len());
    let mut at = SIGNATURE.len();
    let mut has_exif = false;
    while let (Some(length), Some(kind)) = (u32_be(file, at), kind_at(file, at + 4)) {
        let length = length as usize;
        let chunk = part(file, at, length.saturating_add(HEAD + CHECKSUM));
        let content = part(chunk, HEAD, length);
        at += chunk.len();
        match kind {
            b"IEND" => {
                kept.push(chunk);
                return kept;
            }
            b"eXIf" if !has_exif => {
                has_exif = true;
                match orientation_alone(content) {
                    Some(alone) if alone == content => kept.push(chunk),
                    Some(alone) if HEAD + alone.len() + CHECKSUM <= chunk.len() => {
                        push_chunk(&mut kept, kind, &alone);
                    }
                    // None, or the file ends within it.
                    _ => {}
                }
            }
            // The other chunks of which the kind begins with a small letter are ancillary.
            _ if kind[0].is_ascii_lowercase() && !KEPT.contains(&kind) => {}
            _ => {
                if kind == b"IHDR"
                    && let (Some(width), Some(height)) = (u32_be(content, 0), u32_be(content, 4))
                {
                    kept.note_size(width, height);
                }
                kept.push(chunk);
            }
        }
    }
    kept.push(&file[at..]);
    kept
}

/// The kind of a chunk: four letters.
fn kind_at(file: &[u8], at: usize) -> Option<&[u8; 4]> {
    let kind = file.get(at..)?.first_chunk()?;
    kind.iter().all(u8::is_ascii_alphabetic).then_some(kind)
}

fn push_chunk(kept: &mut Kept, kind: &[u8; 4], content: &[u8]) {
    kept.push(&(content.len() as u32).to_be_bytes());
    let begin = kept.file.len();
    kept.push(kind);
    kept.push(content);
    let checksum = crc32(&kept.file[begin..]);
    kept.push(&checksum.to_be_bytes());
}

/// Bit by bit, which is fast enough for the few bytes of an orientation.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
