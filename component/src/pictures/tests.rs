//! Pictures of each format, with metadata in every place where cameras and programs write it, and the same with random
//! damage.

use super::*;

const SECRET: &[u8] = b"Lviv 49.8397 24.0297";

/// EXIF of a camera: orientation 6, a place, and a directory of its own for GPS.
fn exif(little: bool) -> Vec<u8> {
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

const ORIENTATION_TAG: u16 = 0x0112;

/// EXIF with the orientation 6 and nothing else.
const ALONE: &[u8] = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";

fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16 + 2).to_be_bytes();
    [&[0xff, marker][..], &length, content].concat()
}

/// A JPEG of 4 by 2 with two scans; `extra` comes after JFIF's segment, between the scans and after the end.
fn jpeg(extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
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

fn with_exif(exif: &[u8]) -> Vec<u8> {
    segment(0xe1, &[b"Exif\0\0", exif].concat())
}

fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
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

fn png(extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
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

fn blocks(content: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::new();
    for block in content.chunks(255) {
        blocks.push(block.len() as u8);
        blocks.extend(block);
    }
    blocks.push(0);
    blocks
}

fn gif(extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
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

fn riff_chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    [kind, &length[..], content, &[0][..content.len() & 1]].concat()
}

/// A WebP of 4 by 2 with these flags.
fn webp(flags: u8, extra: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let head = riff_chunk(b"VP8X", &[flags, 0, 0, 0, 3, 0, 0, 1, 0, 0]);
    let colours = riff_chunk(b"ICCP", b"odd");
    let pixels = riff_chunk(b"VP8 ", b"\x10\0\0\x9d\x01\x2a\x04\0\x02\0...");
    let chunks = [head, colours, pixels, extra.concat()].concat();
    let size = (chunks.len() as u32 + 4).to_le_bytes();
    [&b"RIFF"[..], &size, b"WEBP", &chunks, after].concat()
}

fn kept(format: Format, file: &[u8]) -> Vec<u8> {
    assert!(format.begins(file));
    format.read(file).file
}

#[track_caller]
fn assert_clean(format: Format, file: &[u8], expected: &[u8]) {
    let kept = kept(format, file);
    assert!(kept == expected, "{:02x?}\n{:02x?}", kept, expected);
}

#[test]
fn a_picture_without_metadata_comes_back_byte_for_byte() {
    let orientation = |exif: &[u8]| [with_exif(exif)];
    for (format, file) in [
        (Format::Jpeg, jpeg(&[], b"")),
        (Format::Png, png(&[], b"")),
        (Format::Gif, gif(&[], b"")),
        (Format::Webp, webp(0x20, &[], b"")),
        // With an orientation alone, in either order of bytes, and without its last field.
        (Format::Webp, webp(0x28, &[riff_chunk(b"EXIF", ALONE)], b"")),
        (
            Format::Webp,
            webp(0x28, &[riff_chunk(b"EXIF", &ALONE[..22])], b""),
        ),
    ] {
        assert_clean(format, &file, &file);
    }
    let intel = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    for exif in [ALONE, &ALONE[..22], intel] {
        let file = jpeg(&orientation(exif), b"");
        // The second of them, between the scans, goes.
        let once = file.len() - with_exif(exif).len();
        let kept = kept(Format::Jpeg, &file);
        assert_eq!(kept.len(), once);
        assert_clean(Format::Jpeg, &kept, &kept);
    }
}

#[test]
fn of_a_jpeg_only_the_orientation_is_kept() {
    let xmp = segment(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0", SECRET].concat());
    let photoshop = segment(0xed, &[b"Photoshop 3.0\0", SECRET].concat());
    let comment = segment(0xfe, SECRET);
    let several_pictures = segment(0xe2, &[b"MPF\0", SECRET].concat());
    let thumbnail = segment(0xe0, &[b"JFXX\0\x10", SECRET].concat());
    let other = segment(0xef, SECRET);
    let without = [xmp, photoshop, comment, several_pictures, thumbnail, other];
    assert_clean(Format::Jpeg, &jpeg(&without, SECRET), &jpeg(&[], b""));
    // The orientation stands where the first EXIF did.
    let first = with_exif(ALONE);
    let after_jfif = 2 + 18;
    let mut expected = jpeg(&[], b"");
    expected.splice(after_jfif..after_jfif, first);
    for little in [false, true] {
        let with = [vec![with_exif(&exif(little))], without.to_vec()].concat();
        assert_clean(Format::Jpeg, &jpeg(&with, SECRET), &expected);
    }
}

#[test]
fn what_follows_a_removed_segment_up_to_the_next_marker_may_be_its_end() {
    let damaged = [segment(0xfe, SECRET), SECRET.to_vec()].concat();
    assert_clean(Format::Jpeg, &jpeg(&[damaged], b""), &jpeg(&[], b""));
    // A file of nothing else is no picture, and stays.
    let file = [b"\xff\xd8".to_vec(), segment(0xe1, SECRET)].concat();
    assert_clean(Format::Jpeg, &file, &file);
}

#[test]
fn a_thumbnail_in_jfif_is_removed() {
    let plain = segment(0xe0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0");
    let with = segment(0xe0, b"JFIF\0\x01\x02\0\0\x01\0\x01\x01\x01rgb");
    let file = |jfif: &[u8]| [b"\xff\xd8", jfif, b"\xff\xd9"].concat();
    assert_clean(Format::Jpeg, &file(&with), &file(&plain));
}

#[test]
fn of_a_png_only_the_orientation_is_kept() {
    let chunks = [b"tEXt", b"zTXt", b"iTXt", b"tIME", b"caBX", b"prVW"].map(|kind| chunk(kind, SECRET));
    assert_clean(Format::Png, &png(&chunks, SECRET), &png(&[], b""));
    let before_pixels = png::SIGNATURE.len() + 25 + (12 + 7) + (12 + 9) + (12 + 1);
    let mut expected = png(&[], b"");
    expected.splice(before_pixels..before_pixels, chunk(b"eXIf", ALONE));
    for little in [false, true] {
        let with = [vec![chunk(b"eXIf", &exif(little))], chunks.to_vec()].concat();
        assert_clean(Format::Png, &png(&with, SECRET), &expected);
    }
    assert_clean(Format::Png, &expected, &expected);
}

#[test]
fn of_a_gif_comments_and_data_of_applications_are_removed() {
    let comment = [b"!\xfe".to_vec(), blocks(&SECRET.repeat(40))].concat();
    let xmp = [b"!\xff\x0bXMP DataXMP".to_vec(), blocks(&SECRET.repeat(40))].concat();
    let unknown = [b"!\x42".to_vec(), blocks(SECRET)].concat();
    assert_clean(
        Format::Gif,
        &gif(&[comment, xmp, unknown], SECRET),
        &gif(&[], b""),
    );
    let other_loops = [b"!\xff\x0bANIMEXTS1.0".to_vec(), blocks(b"\x01\0\0")].concat();
    let file = gif(&[other_loops], b"");
    assert_clean(Format::Gif, &file, &file);
}

#[test]
fn of_a_webp_only_the_orientation_is_kept_and_the_flags_say_so() {
    let xmp = riff_chunk(b"XMP ", SECRET);
    let unknown = riff_chunk(b"META", SECRET);
    let without = [xmp.clone(), unknown];
    assert_clean(Format::Webp, &webp(0x24, &without, SECRET), &webp(0x20, &[], b""));
    let nothing = riff_chunk(b"EXIF", SECRET);
    assert_clean(
        Format::Webp,
        &webp(0x2c, &[nothing, xmp.clone()], b""),
        &webp(0x20, &[], b""),
    );
    let expected = webp(0x28, &[riff_chunk(b"EXIF", ALONE)], b"");
    for little in [false, true] {
        for prefix in [&b""[..], b"Exif\0\0"] {
            let exif = riff_chunk(b"EXIF", &[prefix, &exif(little)].concat());
            let file = webp(0x2c, &[exif.clone(), exif, xmp.clone()], SECRET);
            assert_clean(Format::Webp, &file, &expected);
        }
    }
}

#[test]
fn an_orientation_that_is_none_goes_with_the_rest() {
    let with = |orientation: u8| {
        let mut exif = exif(false);
        exif[31] = orientation;
        kept(Format::Jpeg, &jpeg(&[with_exif(&exif)], b""))
    };
    let plain = jpeg(&[], b"");
    for none in [0, 9, 255] {
        assert!(with(none) == plain);
    }
    for some in 1..=8 {
        assert_eq!(with(some).len(), plain.len() + with_exif(ALONE).len());
    }
    for broken in [
        &b""[..],
        b"MM",
        b"MM\0*",
        b"MM\0*\0\0\0\x08\xff\xff",
        b"MM\0*\xff\xff\xff\xff",
        SECRET,
    ] {
        assert_clean(Format::Jpeg, &jpeg(&[with_exif(broken)], b""), &plain);
    }
}

#[test]
fn a_size_is_read_in_every_format_and_an_unreadable_one_is_no_matter() {
    let sized = |format: Format, file: &[u8]| format.read(file).too_large;
    let jpeg_of = |width: [u8; 2]| {
        let frame = segment(0xc0, &[8, 0, 1, width[0], width[1], 1, 1, 0x11, 0]);
        [b"\xff\xd8".to_vec(), frame].concat()
    };
    assert_eq!(sized(Format::Jpeg, &jpeg_of([0x20, 0])), None);
    assert_eq!(sized(Format::Jpeg, &jpeg_of([0x20, 1])), Some((8193, 1)));
    assert_eq!(
        sized(Format::Jpeg, b"\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff"),
        None
    );

    let head = |width: u32| {
        [
            png::SIGNATURE,
            &chunk(b"IHDR", &[width.to_be_bytes(), [0, 0, 0, 1]].concat()),
        ]
        .concat()
    };
    assert_eq!(sized(Format::Png, &head(8192)), None);
    assert_eq!(sized(Format::Png, &head(u32::MAX)), Some((u32::MAX, 1)));
    assert_eq!(sized(Format::Png, &head(u32::MAX)[..17]), None);

    let mut frame_is_larger = gif(&[], b"");
    frame_is_larger.truncate(19);
    frame_is_larger.extend(b",\0\0\0\0\xff\xff\xff\xff\0");
    assert_eq!(sized(Format::Gif, &frame_is_larger), Some((65535, 65535)));
    assert_eq!(sized(Format::Gif, b"GIF89a\xff\xff\xff"), None);

    let riff = |chunk: Vec<u8>| [&b"RIFF\xff\0\0\0WEBP"[..], &chunk].concat();
    for (chunk, size) in [
        (
            riff_chunk(b"VP8X", &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0, 0, 0]),
            (1 << 24, 1),
        ),
        (riff_chunk(b"VP8X", &[0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0]), (1, 8193)),
        (
            riff_chunk(b"VP8 ", b"\0\0\0\x9d\x01\x2a\xff\xff\x01\0"),
            (16383, 1),
        ),
        (riff_chunk(b"VP8L", b"\x2f\xff\xff\xff\xff"), (16384, 16384)),
        (
            riff_chunk(b"ANMF", &[0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0]),
            (8193, 1),
        ),
    ] {
        assert_eq!(sized(Format::Webp, &riff(chunk)), Some(size));
    }
    for chunk in [
        riff_chunk(b"VP8X", &[0, 0, 0, 0, 0xff, 0x1f, 0, 0, 0, 0]),
        riff_chunk(b"VP8 ", b"\0\0\0\0\0\0\xff\xff\xff\xff"),
        riff_chunk(b"VP8L", b"\x2f"),
    ] {
        assert_eq!(sized(Format::Webp, &riff(chunk)), None);
    }
}

/// Numbers that look random and are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }
}

/// The file with a few bytes changed, removed, repeated or cut off.
fn damaged(numbers: &mut Numbers, file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(file.len());
        match numbers.below(6) {
            0 => file.truncate(at),
            1 => {
                let end = (at + numbers.below(40)).min(file.len());
                file.drain(at..end);
            }
            2 => {
                let end = (at + numbers.below(40)).min(file.len());
                let part = file[at..end].to_vec();
                file.splice(at..at, part);
            }
            kind if at < file.len() => {
                file[at] = if kind == 3 { 0xff } else { numbers.below(256) as u8 };
            }
            _ => {}
        }
    }
    file
}

#[test]
fn a_damaged_picture_is_read_to_its_end_once_and_never_grows() {
    let everything = [
        with_exif(&exif(true)),
        with_exif(&exif(false)),
        segment(0xfe, SECRET),
    ];
    let chunks = [chunk(b"eXIf", &exif(true)), chunk(b"tEXt", SECRET)];
    let comment = [[b"!\xfe".to_vec(), blocks(SECRET)].concat()];
    let parts = [riff_chunk(b"EXIF", &exif(false)), riff_chunk(b"XMP ", SECRET)];
    let pictures = [
        (Format::Jpeg, jpeg(&everything, SECRET)),
        (Format::Png, png(&chunks, SECRET)),
        (Format::Gif, gif(&comment, SECRET)),
        (Format::Webp, webp(0x2c, &parts, SECRET)),
    ];
    let mut numbers = Numbers(0x5eed);
    for round in 0..20_000 {
        let (format, whole) = &pictures[round % pictures.len()];
        let file = damaged(&mut numbers, whole);
        if !format.begins(&file) {
            continue;
        }
        let once = format.read(&file).file;
        assert!(once.len() <= file.len(), "round {round}");
        assert!(format.begins(&once), "round {round}");
        let twice = format.read(&once).file;
        assert!(twice.len() <= once.len(), "round {round}");
    }
}

#[test]
fn parts_that_promise_more_than_there_is_end_with_the_file() {
    for file in [
        b"\xff\xd8\xff\xe1\xff\xff".to_vec(),
        [png::SIGNATURE, b"\xff\xff\xff\xfftEXt"].concat(),
        b"GIF89a\0\0\0\0\xff\0\0".to_vec(),
        b"GIF89a\0\0\0\0\0\0\0!\xfe\xff".to_vec(),
        b"RIFF\xff\xff\xff\xffWEBPEXIF\xff\xff\xff\xff".to_vec(),
    ] {
        for format in [Format::Jpeg, Format::Png, Format::Gif, Format::Webp] {
            if format.begins(&file) {
                assert!(format.read(&file).file.len() <= file.len());
            }
        }
    }
}

#[test]
fn the_worst_pictures_of_the_greatest_length_are_read_in_one_pass() {
    let longest = bounds::IMAGE.end() / 4 * 3;
    let fill = |head: &[u8], unit: &[u8]| {
        let mut file = head.to_vec();
        while file.len() + unit.len() <= longest {
            file.extend(unit);
        }
        file
    };
    for (format, file) in [
        (Format::Jpeg, fill(b"\xff\xd8\xff", b"\xff")),
        (Format::Jpeg, fill(b"\xff\xd8", b"\xff\xe1\0\x02")),
        (Format::Png, fill(png::SIGNATURE, &chunk(b"eXIf", b""))),
        (Format::Gif, fill(b"GIF89a\0\0\0\0\0\0\0", b"!\xfe\0")),
        (
            Format::Webp,
            fill(b"RIFF\xff\xff\xff\x7fWEBP", &riff_chunk(b"EXIF", b"")),
        ),
    ] {
        assert!(kept(format, &file).len() <= file.len());
    }
}
