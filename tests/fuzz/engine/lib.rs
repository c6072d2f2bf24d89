//! Nothing: the build of `libfuzzer-sys` leaves `libfuzzer.a`, which `tests/fuzz/rustc.sh` links.
