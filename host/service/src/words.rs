//! The words of the contract: the doc comments in `wit/`, read while the host is built.

/// By what they are about (`build/words.rs` says how), in order.
static WORDS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/words.rs"));

/// What the contract says of a procedure (`user.getById`) or of a record (`User`).
pub fn about(name: &str) -> Option<&'static str> {
    let index = WORDS.binary_search_by(|(key, _)| (*key).cmp(name)).ok()?;
    Some(WORDS[index].1)
}

/// What the contract says of a field of a record, or of a parameter of a procedure.
pub fn about_field(scope: &str, field: &str) -> Option<&'static str> {
    about(&format!("{scope}/{field}"))
}

/// The first sentence, without its stop.
pub fn summary(about: &str) -> &str {
    let first = about.split_once(". ").map_or(about, |(first, _)| first);
    first.trim_end_matches('.')
}
