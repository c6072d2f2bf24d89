//! Pictures of each format, with room for metadata in every place where cameras and programs write it.

use super::*;

pub const SECRET: &[u8] = b"Lviv 49.8397 24.0297";

/// EXIF of a camera: orientation 6, a place, and a directory of its own for GPS.
pub fn exif(little: bool) -> Vec<u8> {
    let short = |number: u16| {
        if little {
            number.to_le_bytes()
        } else {
            number.to_be_bytes()
        }
    };
    let long = |number: u32| {
        if little {
            number.to_le_bytes()
        } else {
            number.to_be_bytes()
        }
    };
    let mut exif = if little {
        b"II*\0".to_vec()
    } else {
        b"MM\0*".to_vec()
    };
    exif.extend(long(8));
    exif.extend(short(3));
    for (tag, kind, count, value) in [
        (0x010e, 2, SECRET.len() as u32, long(50)),
        (
            ORIENTATION_TAG,
            3,
            1,
            [short(6), [0, 0]].concat().try_into().unwrap(),
        ),
        (0x8825, 4, 1, long(50)),
    ] {
        exif.extend(short(tag));
        exif.extend(short(kind));
        exif.extend(long(count));
        exif.extend(value);
    }
    exif.extend(long(0));
    exif.extend(SECRET);
    exif
}

pub const ORIENTATION_TAG: u16 = 0x0112;

/// EXIF with the orientation 6 and nothing else.
pub const ALONE: &[u8] = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";

pub fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16 + 2).to_be_bytes();
    [&[0xff, marker][..], &length, content].concat()
}

/// A JPEG of 4 by 2 with two scans; `extra` comes after JFIF's segment, between the scans and after the end.
pub fn jpeg(extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let jfif = segment(0xe0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0");
    let icc = segment(0xe2, b"ICC_PROFILE\0\x01\x01profile");
    let adobe = segment(0xee, b"Adobe\0d\0\0\0\0\x01");
    let tables = segment(0xdb, &[1; 65]);
    let frame = segment(0xc2, &[8, 0, 2, 0, 4, 1, 1, 0x11, 0]);
    let scan = [
        segment(0xda, &[1, 1, 0, 0, 63, 0]),
        b"\x12\xff\0\xff\xd0\x34\xff\0".to_vec(),
    ]
    .concat();
    let extra = extra.concat();
    let parts = [
        &b"\xff\xd8"[..],
        &jfif,
        &extra,
        &icc,
        &adobe,
        &tables,
        &frame,
        &scan,
        &extra,
        &scan,
        b"\xff\xff\xd9",
        after,
    ];
    parts.concat()
}

pub fn with_exif(exif: &[u8]) -> Vec<u8> {
    segment(0xe1, &[b"Exif\0\0", exif].concat())
}

pub fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [kind, content].concat();
    let length = (content.len() as u32).to_be_bytes();
    // The checksum is right only where it matters: the chunk of an orientation.
    let checksum: [u8; 4] = if content == ALONE {
        [0xd6, 0x67, 0x4b, 0x69]
    } else {
        [9; 4]
    };
    [&length[..], &named, &checksum].concat()
}

pub fn png(extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let head = chunk(b"IHDR", b"\0\0\0\x04\0\0\0\x02\x08\x06\0\0\0");
    let colours = [
        chunk(b"iCCP", b"profile"),
        chunk(b"pHYs", &[0; 9]),
        chunk(b"tRNS", &[0]),
    ]
    .concat();
    let (pixels, end) = (chunk(b"IDAT", b"pixels"), chunk(b"IEND", b""));
    let extra = extra.concat();
    [
        png::SIGNATURE,
        &head,
        &colours,
        &extra,
        &pixels,
        &pixels,
        &extra,
        &end,
        after,
    ]
    .concat()
}

pub fn blocks(content: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::new();
    for block in content.chunks(255) {
        blocks.push(block.len() as u8);
        blocks.extend(block);
    }
    blocks.push(0);
    blocks
}

pub fn gif(extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let looping = [b"!\xff\x0bNETSCAPE2.0".to_vec(), blocks(b"\x01\0\0")].concat();
    let timing = [b"!\xf9".to_vec(), blocks(&[4, 10, 0, 0])].concat();
    let frame = [
        b",\0\0\0\0\x04\0\x02\0\x80\0\0\0\xff\xff\xff\x02".to_vec(),
        blocks(&[b','; 300]),
    ]
    .concat();
    let extra = extra.concat();
    let parts = [
        &b"GIF89a\x04\0\x02\0\x80\0\0\0\0\0\xff\xff\xff"[..],
        &looping,
        &extra,
        &timing,
        &frame,
        &extra,
        &timing,
        &frame,
        b";",
        after,
    ];
    parts.concat()
}

pub fn riff_chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    [kind, &length[..], content, &[0][..content.len() & 1]].concat()
}

/// A WebP of 4 by 2 with these flags.
pub fn webp(flags: u8, extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let head = riff_chunk(b"VP8X", &[flags, 0, 0, 0, 3, 0, 0, 1, 0, 0]);
    let colours = riff_chunk(b"ICCP", b"odd");
    let pixels = riff_chunk(b"VP8 ", b"\x10\0\0\x9d\x01\x2a\x04\0\x02\0...");
    let chunks = [head, colours, pixels, extra.concat()].concat();
    let size = (chunks.len() as u32 + 4).to_le_bytes();
    [&b"RIFF"[..], &size, b"WEBP", &chunks, after].concat()
}

/// The boxes of an AVIF that say what it is and how large.
pub fn avif(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf\0\0\0\x14ispe\0\0\0\0".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file
}

fn avif_box(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32 + 8).to_be_bytes();
    [&length[..], kind, content].concat()
}

/// An AVIF whose items are pixels, and this as Exif and XMP: the Exif in a box of its own, the XMP in two parts of the file. With
/// numbers of 4 bytes, or of 8.
pub fn avif_with(metadata: &[u8], wide: bool) -> Vec<u8> {
    let number = |value: usize| -> Vec<u8> {
        match wide {
            false => (value as u32).to_be_bytes().to_vec(),
            true => (value as u64).to_be_bytes().to_vec(),
        }
    };
    let short = |value: u16| value.to_be_bytes().to_vec();
    let start = avif(64, 64);
    let item =
        |id: u8, kind: &[u8]| avif_box(b"infe", &[&b"\x02\0\0\0\0"[..], &[id], b"\0\0", kind].concat());
    let xmp = item(3, b"mime\0application/rdf+xml\0");
    let items = [
        &b"\0\0\0\0\0\x03"[..],
        &item(1, b"av01\0"),
        &item(2, b"Exif\0"),
        &xmp,
    ]
    .concat();
    let half = metadata.len() / 2;
    let meta = |begin: usize| {
        let place = |id: u16, method: u16, parts: &[(usize, usize)]| {
            let parts = parts
                .iter()
                .flat_map(|(at, length)| [number(*at), number(*length)]);
            let head = [short(id), short(method), short(0), number(0)].concat();
            [
                head,
                short((parts.clone().count() / 2) as u16),
                parts.flatten().collect(),
            ]
            .concat()
        };
        let sizes = if wide { b"\x88\x80" } else { b"\x44\x40" };
        let places = [
            &b"\x01\0\0\0"[..],
            sizes,
            b"\0\x03",
            &place(1, 0, &[(begin, 6)]),
            &place(2, 1, &[(2, metadata.len())]),
            &place(
                3,
                0,
                &[(begin + 6, half), (begin + 6 + half, metadata.len() - half)],
            ),
        ]
        .concat();
        let data = avif_box(b"idat", &[b"..", metadata, b".."].concat());
        let inside = [avif_box(b"iinf", &items), avif_box(b"iloc", &places), data].concat();
        avif_box(b"meta", &[&b"\0\0\0\0"[..], &inside].concat())
    };
    let begin = start.len() + meta(0).len() + 8;
    let pixels = avif_box(b"mdat", &[b"pixels", metadata, b"end"].concat());
    let rest = [avif_box(b"uuid", metadata), avif_box(b"free", metadata)].concat();
    [start, meta(begin), pixels, rest].concat()
}

/// An ICO with one picture.
pub fn ico(picture: &[u8]) -> Vec<u8> {
    let mut file = b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0".to_vec();
    file.extend((picture.len() as u32).to_le_bytes());
    file.extend(22_u32.to_le_bytes());
    file.extend(picture);
    file
}

/// The head of a bitmap in an ICO.
pub fn bitmap(width: u32, height: u32) -> Vec<u8> {
    let mut head = 40_u32.to_le_bytes().to_vec();
    head.extend(width.to_le_bytes());
    head.extend((height * 2).to_le_bytes());
    head.resize(40, 0);
    head
}

/// The begin of a PNG of this size.
pub fn png_head(width: u32, height: u32) -> Vec<u8> {
    let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head
}
