//! Profile pictures: what is kept of a picture is a picture of the same format, never longer, and reading that once more
//! changes nothing.

use portico_rules::pictures::Format;

pub fn run(bytes: &[u8]) {
    for mime in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
        let format = Format::of(mime).expect("a format");
        if !format.begins(bytes) {
            continue;
        }
        let kept = format.read(bytes).file;
        assert!(kept.len() <= bytes.len(), "{mime}: it became longer");
        assert!(format.begins(&kept), "{mime}: it is no longer a picture");
        assert_eq!(
            format.read(&kept).file,
            kept,
            "{mime}: it is not the same when it is read once more"
        );
    }
}
