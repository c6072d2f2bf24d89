//! AVIF: boxes of ISO 14496-12, as HEIF (ISO 23008-12) uses them. The size of each image in it is read, and what its items say
//! about where, when and by whom it was made is overwritten with zeros where it stands: so nothing else moves, and the places
//! that the boxes name stay right. Which way is up is not among it, because AVIF has a property for that.
//!
//! A box that cannot be read ends the search, and metadata that is not the content of a box besides `ftyp` and `meta` stays: what
//! is read to find it is never overwritten, so that reading the picture once more finds the same. The metadata of a sequence of
//! images (`moov`) stays.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Kept, u16_be, u32_be};

/// The kind of the box with an image's size: width and height come after its kind and its version.
const SIZE: &[u8; 4] = b"ispe";

/// The kinds of items that hold metadata: Exif, XMP, and links.
const METADATA: [&[u8; 4]; 3] = [b"Exif", b"mime", b"uri "];

/// The most parts that are overwritten. Pictures have two.
const MOST_PARTS: usize = 32;

pub fn begins(file: &[u8]) -> bool {
    file.get(4..8) == Some(b"ftyp") && matches!(file.get(8..12), Some(b"avif" | b"avis"))
}

/// The boxes of sizes lie in boxes of many kinds, so they are found by their name. That the name also occurs in pixels is too
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
    let parts = boxes(file, 0..file.len()).filter(|(kind, _)| matches!(*kind, b"uuid" | b"free" | b"skip"));
    let parts = parts.map(|(_, content)| content).take(MOST_PARTS);
    for part in parts.chain(metadata(file).unwrap_or_default()) {
        kept.file[part].fill(0);
    }
    kept
}

/// Where the metadata is of the items of a picture.
fn metadata(file: &[u8]) -> Option<Vec<Range<usize>>> {
    let meta = find(file, 0..file.len(), b"meta")?;
    let inside = meta.start.checked_add(4)?..meta.end;
    let items = items(file, find(file, inside.clone(), b"iinf")?)?;
    let data = find(file, inside.clone(), b"idat");
    let mut places = places(file, find(file, inside, b"iloc")?, data.as_ref(), &items)?;
    let may_be_overwritten = |place: &Range<usize>| {
        let contains = |content: &Range<usize>| content.start <= place.start && place.end <= content.end;
        data.as_ref().is_some_and(contains)
            || boxes(file, 0..file.len())
                .any(|(kind, content)| !matches!(kind, b"ftyp" | b"meta") && contains(&content))
    };
    places.retain(may_be_overwritten);
    Some(places)
}

/// The boxes in a range: their kinds, and where their contents are.
fn boxes(file: &[u8], range: Range<usize>) -> impl Iterator<Item = (&[u8; 4], Range<usize>)> {
    let mut at = range.start;
    core::iter::from_fn(move || {
        let kind: &[u8; 4] = file.get(at.checked_add(4)?..range.end)?.first_chunk()?;
        let (head, length) = match u32_be(file, at)? {
            0 => (8, range.end - at),
            1 => (16, usize::try_from(u64_be(file, at + 8)?).ok()?),
            length => (8, length as usize),
        };
        let end = at
            .checked_add(length)
            .filter(|end| length >= head && *end <= range.end)?;
        let content = at + head..end;
        at = end;
        Some((kind, content))
    })
}

fn find(file: &[u8], range: Range<usize>, wanted: &[u8; 4]) -> Option<Range<usize>> {
    boxes(file, range)
        .find(|(kind, _)| *kind == wanted)
        .map(|(_, content)| content)
}

/// The ids of the items that hold metadata.
fn items(file: &[u8], table: Range<usize>) -> Option<Vec<u32>> {
    let head = if file.get(table.start) == Some(&0) { 6 } else { 8 };
    let entries = boxes(file, table.start.checked_add(head)?..table.end);
    let found = entries
        .filter(|(kind, _)| *kind == b"infe")
        .filter_map(|(_, entry)| {
            let (id, kind) = match file.get(entry.start)? {
                2 => (u16_be(file, entry.start + 4)?.into(), entry.start + 8),
                3 => (u32_be(file, entry.start + 4)?, entry.start + 10),
                _ => return None,
            };
            let kind: &[u8; 4] = file.get(kind..entry.end)?.first_chunk()?;
            METADATA.contains(&kind).then_some(id)
        });
    Some(found.take(MOST_PARTS).collect())
}

/// Where these items are in the file. `data` is the content of the box in which some are.
fn places(
    file: &[u8],
    table: Range<usize>,
    data: Option<&Range<usize>>,
    items: &[u32],
) -> Option<Vec<Range<usize>>> {
    let mut reader = Reader {
        file: file.get(..table.end)?,
        at: table.start,
    };
    let version = reader.number(1)?;
    reader.number(3)?;
    let (sizes, more) = (reader.number(1)?, reader.number(1)?);
    let (offset, length, base) = (sizes >> 4, sizes & 15, more >> 4);
    let index = if version == 0 { 0 } else { more & 15 };
    // Otherwise a table of few bytes would have parts without end.
    if version > 2 || length == 0 {
        return None;
    }
    let width = if version == 2 { 4 } else { 2 };
    let mut found = Vec::new();
    for _ in 0..reader.number(width)? {
        let id = reader.number(width)?;
        let method = if version == 0 { 0 } else { reader.number(2)? & 15 };
        let other_file = reader.number(2)?;
        let base = reader.number(base)?;
        let is_wanted = items.iter().any(|item| u64::from(*item) == id) && other_file == 0;
        for _ in 0..reader.number(2)? {
            reader.number(index)?;
            let (offset, length) = (reader.number(offset)?, reader.number(length)?);
            let within = match (method, data) {
                (0, _) => 0..file.len(),
                (1, Some(data)) => data.clone(),
                _ => continue,
            };
            let begin = usize::try_from(base.checked_add(offset)?)
                .ok()?
                .checked_add(within.start)?;
            let end = begin.checked_add(usize::try_from(length).ok()?)?;
            if is_wanted && end <= within.end && found.len() < MOST_PARTS {
                found.push(begin..end);
            }
        }
    }
    Some(found)
}

/// Reads numbers one after the other.
struct Reader<'a> {
    file: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// A number of this many bytes; none: 0.
    fn number(&mut self, bytes: u64) -> Option<u64> {
        let end = self.at.checked_add(usize::try_from(bytes).ok()?)?;
        let read = self.file.get(self.at..end).filter(|_| bytes <= 8)?;
        self.at = end;
        Some(read.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

fn u64_be(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_be_bytes(*bytes))
}
