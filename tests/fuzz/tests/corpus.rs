//! The committed inputs, among them those that a fuzzer once failed with.

use std::{fs, path::Path};

use portico_fuzz::TARGETS;

#[test]
fn every_input_of_the_corpus_leaves_every_promise_kept() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut bytes = 0;
    for (name, run) in TARGETS {
        let files = fs::read_dir(corpus.join(name)).expect("a folder for each target");
        let inputs: Vec<_> = files
            .map(|file| fs::read(file.expect("a file").path()).expect("its bytes"))
            .collect();
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for input in inputs {
            bytes += input.len();
            run(&input);
        }
        run(&[]);
    }
    assert!(bytes <= 100_000, "the corpus has {bytes} bytes");
}
