//! Pictures: what is kept of one is a picture of the same format, never longer, and reading that once more changes nothing.

use portico_rules::pictures::Format;

pub fn run(bytes: &[u8]) {
    let Some(format) = Format::recognise(bytes) else {
        return;
    };
    let kept = format.read(bytes).file;
    let mime = format.mime();
    assert!(kept.len() <= bytes.len(), "{mime}: it became longer");
    assert_eq!(Format::recognise(&kept), Some(format), "it was {mime} before");
    assert_eq!(
        format.read(&kept).file,
        kept,
        "{mime}: it is not the same when it is read once more"
    );
}
