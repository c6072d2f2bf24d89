//! WebP (RFC 9649): chunks in a RIFF container.

use super::exif::orientation_alone;
use super::{Kept, part, u16_le, u32_le};

/// `RIFF`, the size of what follows, `WEBP`.
const HEAD: usize = 12;
/// Kind and size of a chunk.
const CHUNK_HEAD: usize = 8;
/// The flags in `VP8X` that say what there is.
const HAS_EXIF: u8 = 0x08;
const HAS_XMP: u8 = 0x04;
const EXIF: &[u8] = b"Exif\0\0";

pub fn read(file: &[u8]) -> Kept {
    let size = u32_le(file, 4).unwrap_or(0);
    let end = (size as usize).saturating_add(8).min(file.len());
    if end <= HEAD {
        return Kept::begin(file, file.len());
    }
    let mut kept = Kept::begin(file, HEAD);
    let mut at = HEAD;
    let mut flags_at = None;
    let mut gone = 0;
    let mut has_exif = false;
    while let (Some(kind), Some(length)) = (file[at..end].first_chunk::<4>(), u32_le(&file[..end], at + 4)) {
        let length = length as usize;
        let padded = length.saturating_add(length & 1);
        let chunk = part(&file[..end], at, padded.saturating_add(CHUNK_HEAD));
        let content = part(chunk, CHUNK_HEAD, length);
        at += chunk.len();
        match kind {
            b"EXIF" => {
                let exif = content.strip_prefix(EXIF).unwrap_or(content);
                match orientation_alone(exif).filter(|_| !has_exif) {
                    Some(alone) if alone == content => kept.push(chunk),
                    Some(alone) => {
                        kept.push(kind);
                        kept.push(&(alone.len() as u32).to_le_bytes());
                        kept.push(&alone);
                        kept.push(&[0][..alone.len() & 1]);
                    }
                    None => {
                        gone |= HAS_EXIF;
                        continue;
                    }
                }
                has_exif = true;
            }
            b"VP8X" => {
                flags_at = flags_at.or(content.first().map(|_| kept.file.len() + CHUNK_HEAD));
                if let (Some(width), Some(height)) = (u32_le(content, 3), u32_le(content, 6)) {
                    // Both have 24 bits; the byte before each does not belong to it.
                    kept.note_size((width >> 8) + 1, (height >> 8) + 1);
                }
                kept.push(chunk);
            }
            b"VP8 " | b"VP8L" => {
                note_size(&mut kept, kind, content);
                kept.push(chunk);
            }
            b"ANMF" => {
                if let (Some(width), Some(height)) = (u32_le(content, 5), u32_le(content, 8)) {
                    kept.note_size((width >> 8) + 1, (height >> 8) + 1);
                }
                kept.push(chunk);
            }
            b"ALPH" | b"ANIM" | b"ICCP" => kept.push(chunk),
            b"XMP " => gone |= HAS_XMP,
            _ => {}
        }
    }
    kept.push(&file[at..end]);
    if has_exif {
        gone &= !HAS_EXIF;
    }
    if let Some(flags) = flags_at.and_then(|at| kept.file.get_mut(at)) {
        *flags &= !gone;
    }
    let removed = (end - kept.file.len()) as u32;
    kept.file[4..8].copy_from_slice(&(size - removed).to_le_bytes());
    kept
}

/// Notes the size that the coded picture states.
fn note_size(kept: &mut Kept, kind: &[u8; 4], content: &[u8]) {
    if kind == b"VP8L" {
        if let (Some(0x2f), Some(bits)) = (content.first(), u32_le(content, 1)) {
            kept.note_size((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
        }
    } else if content.get(3..6) == Some(b"\x9d\x01\x2a")
        && let (Some(width), Some(height)) = (u16_le(content, 6), u16_le(content, 8))
    {
        kept.note_size((width & 0x3fff).into(), (height & 0x3fff).into());
    }
}
