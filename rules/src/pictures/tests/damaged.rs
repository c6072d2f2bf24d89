//! Pictures with random damage, and the worst that can be sent.

use super::samples::*;
use super::*;

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
        (Format::Avif, avif_with(SECRET, false)),
        (Format::Avif, avif_with(SECRET, true)),
        (Format::Ico, ico(&png(&chunks, SECRET))),
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
fn a_png_that_ends_within_its_exif_does_not_become_longer() {
    let long = [ALONE, b"\0\0"].concat();
    let whole = png(&[chunk(b"eXIf", &long)], b"");
    let begin = whole.windows(4).position(|kind| kind == b"eXIf").unwrap();
    for end in begin..whole.len() {
        let once = kept(Format::Png, &whole[..end]);
        assert!(once.len() <= end, "at {end}");
        assert!(kept(Format::Png, &once) == once, "at {end}");
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
fn the_worst_pictures_of_the_greatest_length_are_read_and_do_not_grow() {
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
        // A table of places without end, boxes without content, and entries that lead to the same bytes.
        (
            Format::Avif,
            fill(
                &endless(&avif_with(SECRET, false)),
                b"\0\x02\0\0\0\0\0\0\0\0\xff\xff",
            ),
        ),
        (Format::Avif, fill(&avif(1, 1), b"\0\0\0\x08free")),
        (
            Format::Ico,
            fill(b"\0\0\x01\0\xff\0", b"\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0"),
        ),
    ] {
        assert!(kept(format, &file).len() <= file.len());
    }
}

/// The same up to its places, which go on to the end of what is added.
fn endless(avif: &[u8]) -> Vec<u8> {
    let at = avif.windows(4).position(|kind| kind == b"iloc").unwrap();
    let meta = avif.windows(4).position(|kind| kind == b"meta").unwrap();
    let mut file = avif[..at + 12].to_vec();
    // Both boxes last to the end of the file, and parts have no bytes.
    file[meta - 4..meta].fill(0);
    file[at - 4..at].fill(0);
    file[at + 8..].copy_from_slice(b"\0\0\xff\xff");
    file
}
