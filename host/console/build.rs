//! Compresses the assets, and names each by its content, because browsers cache them for a year.

use std::{env, fmt::Write as _, fs, io::Write as _, path::Path};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

const ASSETS: [(&str, &str); 10] = [
    ("board.js", "text/javascript; charset=utf-8"),
    ("console.css", "text/css; charset=utf-8"),
    ("console.js", "text/javascript; charset=utf-8"),
    ("glyphs.svg", "image/svg+xml"),
    ("htmx.min.js", "text/javascript; charset=utf-8"),
    ("icons.js", "text/javascript; charset=utf-8"),
    ("passkeys.js", "text/javascript; charset=utf-8"),
    ("icon.svg", "image/svg+xml"),
    ("icon-192.png", "image/png"),
    ("icon-512.png", "image/png"),
];

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let mut table = String::from("pub(crate) static ASSETS: &[Asset] = &[\n");
    for (name, content_type) in ASSETS {
        let file = Path::new("assets").join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        let content = fs::read(&file).expect("the asset is in the repository");
        let hash: String = Sha256::digest(&content)[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&content).expect("written to memory");
        let compressed = encoder.finish().expect("written to memory");
        let compressed_file = Path::new(&out).join(format!("{name}.gz"));
        fs::write(&compressed_file, compressed).expect("cargo's folder");
        let (stem, extension) = name.split_once('.').expect("an asset has an extension");
        writeln!(
            table,
            "    Asset {{ name: {name:?}, path: \"/console/{stem}.{hash}.{extension}\", content_type: \
             {content_type:?}, etag: \"\\\"{hash}\\\"\", compressed: include_bytes!({compressed_file:?}) }},"
        )
        .expect("written to memory");
    }
    table.push_str("];\n");
    fs::write(Path::new(&out).join("assets.rs"), table).expect("cargo's folder");
}
