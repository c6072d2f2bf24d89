//! Compresses the viewer of the OpenAPI document, which is a fourteenth of the binary otherwise.

use std::{env, fs, path::Path};

use miniz_oxide::deflate::compress_to_vec;

const FILES: [&str; 2] = ["swagger-ui-bundle.js", "swagger-ui.css"];

fn main() {
    let from = Path::new("assets/swagger-ui");
    let to = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // The best level takes seconds.
    let level = if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        10
    } else {
        1
    };
    for name in FILES {
        let file = from.join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        let content = fs::read(&file).expect("the file is in the repository");
        fs::write(Path::new(&to).join(name), compress_to_vec(&content, level)).expect("cargo's folder");
    }
}
