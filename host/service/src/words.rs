//! The doc comments of the contract (`wit/`), read when the host is built.

/// The doc comments by the names of what they describe, sorted (see `build/words.rs`).
static WORDS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/words.rs"));

/// The contract's description of a procedure (`user.getById`) or of a record (`User`).
pub fn about(name: &str) -> Option<&'static str> {
    let index = WORDS.binary_search_by(|(key, _)| (*key).cmp(name)).ok()?;
    Some(WORDS[index].1)
}

/// The contract's description of a field of a record, or of a parameter of a procedure.
pub fn about_field(scope: &str, field: &str) -> Option<&'static str> {
    about(&format!("{scope}/{field}"))
}

/// The first sentence, without the full stop.
pub fn summary(about: &str) -> &str {
    let first = about.split_once(". ").map_or(about, |(first, _)| first);
    first.trim_end_matches('.')
}
