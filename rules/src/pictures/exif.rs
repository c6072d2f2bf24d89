//! The orientation in EXIF: without it, pictures of most cameras would lie on their side.

use alloc::vec::Vec;

use super::{u16_be, u16_le, u32_be, u32_le};

const ORIENTATION: u16 = 0x0112;
/// The type of an entry that holds one number of 16 bits.
const SHORT: u16 = 3;
const ENTRY_BYTES: usize = 12;
/// The length of EXIF with the orientation alone.
const ALONE_BYTES: usize = 26;

/// EXIF with the orientation of this one and nothing else; `None` if it has no orientation. EXIF that is so already stays
/// as it is.
pub fn orientation_alone(exif: &[u8]) -> Option<Vec<u8>> {
    type Read<T> = fn(&[u8], usize) -> Option<T>;
    let (short, long): (Read<u16>, Read<u32>) = match exif.get(..4)? {
        b"MM\0*" => (u16_be, u32_be),
        b"II*\0" => (u16_le, u32_le),
        _ => return None,
    };
    let first = usize::try_from(long(exif, 4)?).ok()?;
    let directory = exif.get(first..).filter(|_| first >= 8)?;
    let count = usize::from(short(directory, 0)?);
    let entries = directory.get(2..2 + count * ENTRY_BYTES)?;
    let mut found = entries.chunks_exact(ENTRY_BYTES).filter_map(|entry| {
        let is_one_short = short(entry, 2)? == SHORT && long(entry, 4)? == 1;
        (short(entry, 0)? == ORIENTATION && is_one_short).then_some(short(entry, 8)?)
    });
    let orientation @ 1..=8 = found.next()? else {
        return None;
    };
    if count == 1 && exif.len() <= ALONE_BYTES {
        return Some(exif.to_vec());
    }
    let mut alone = Vec::with_capacity(ALONE_BYTES);
    alone.extend_from_slice(b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01");
    alone.extend_from_slice(&orientation.to_be_bytes());
    // The rest of the entry's value, and that there is no further directory.
    alone.extend_from_slice(&[0; 6]);
    Some(alone)
}
