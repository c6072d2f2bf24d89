//! What is kept of pictures.

mod damaged;
mod samples;

use super::*;
use samples::*;

fn kept(format: Format, file: &[u8]) -> Vec<u8> {
    assert!(format.begins(file));
    format.read(file).file
}

#[track_caller]
fn assert_clean(format: Format, file: &[u8], expected: &[u8]) {
    let kept = kept(format, file);
    assert!(kept == expected, "{kept:02x?}\n{expected:02x?}");
}

#[test]
fn a_format_is_recognised_by_how_a_file_begins() {
    for (file, expected) in [
        (png(&[], b""), Format::Png),
        (jpeg(&[], b""), Format::Jpeg),
        (gif(&[], b""), Format::Gif),
        (webp(0, &[], b""), Format::Webp),
        (avif(64, 64), Format::Avif),
        (ico(&bitmap(16, 16)), Format::Ico),
    ] {
        assert_eq!(Format::recognise(&file), Some(expected));
        assert_eq!(Format::recognise(&file[1..]), None, "{expected:?}");
        assert_eq!(expected.read(&file).too_large, None, "{expected:?}");
    }
    for other in [
        &b""[..],
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"\0\0\x01\0\0\0\0\0",
        b"\0\0\0\x1cftypmp42",
        b"%PDF-1.7",
    ] {
        assert_eq!(Format::recognise(other), None);
    }
}

#[test]
fn avif_and_ico_that_no_browser_can_draw_are_too_large() {
    for (file, size) in [
        (avif(8193, 1), (8193, 1)),
        (avif(8000, 8000), (8000, 8000)),
        (ico(&bitmap(100_000, 1)), (100_000, 1)),
        (ico(&png_head(9000, 9000)), (9000, 9000)),
    ] {
        let format = Format::recognise(&file).unwrap();
        assert_eq!(format.read(&file).too_large, Some(size), "{format:?}");
    }
    // An entry that leads out of the file says nothing.
    let mut lost = ico(&bitmap(16, 16));
    lost[18..22].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Format::Ico.read(&lost).too_large, None);
}

#[test]
fn the_items_of_an_avif_that_are_metadata_become_zeros_where_they_stand() {
    for wide in [false, true] {
        let zeros = avif_with(&[0; SECRET.len()], wide);
        assert_clean(Format::Avif, &avif_with(SECRET, wide), &zeros);
        assert_clean(Format::Avif, &zeros, &zeros);
    }
    let plain = avif(64, 64);
    assert_clean(Format::Avif, &plain, &plain);
}

#[test]
fn an_avif_whose_metadata_is_said_to_be_its_boxes_stays_what_it_is() {
    let file = avif_with(SECRET, false);
    let at = |name: &[u8]| file.windows(name.len()).position(|found| found == name).unwrap() as u32;
    let pixels = at(b"pixels");
    // Where the first part of the XMP is.
    let place = at(&(pixels + 6).to_be_bytes()) as usize;
    for kind in [b"meta", b"iinf", b"iloc", b"mdat"] {
        let mut crafted = file.clone();
        crafted[place..place + 4].copy_from_slice(&at(kind).to_be_bytes());
        let once = kept(Format::Avif, &crafted);
        assert_eq!(
            at(kind),
            once.windows(4).position(|found| found == kind).unwrap() as u32
        );
        assert_clean(Format::Avif, &once, &once);
    }
}

#[test]
fn the_pngs_of_an_ico_are_without_metadata_and_bitmaps_stay() {
    let chunks = [chunk(b"eXIf", &exif(true)), chunk(b"tEXt", SECRET)];
    let clean = ico(&kept(Format::Png, &png(&chunks, SECRET)));
    let file = ico(&png(&chunks, SECRET));
    assert_clean(Format::Ico, &file, &clean);
    assert_clean(Format::Ico, &[file, SECRET.to_vec()].concat(), &clean);
    assert_clean(Format::Ico, &clean, &clean);
    let bitmap = ico(&bitmap(16, 16));
    assert_clean(Format::Ico, &bitmap, &bitmap);
    // Two entries that lead to the same bytes would grow.
    let mut twice = b"\0\0\x01\0\x02\0".to_vec();
    for _ in 0..2 {
        twice.extend(b"\x10\x10\0\0\x01\0\x20\0\x28\0\0\0\x26\0\0\0");
    }
    twice.extend(&bitmap[22..]);
    assert_clean(Format::Ico, &twice, &twice);
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
    // A file of nothing else is not a picture, and stays.
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
