//! How names are searched.
//!
//! A text of at least three characters is looked up in an index of trigrams, where there is one: as a pattern of LIKE
//! in which nothing is a wildcard. Every other statement reads the names.

use tokio_postgres::types::Type;

use super::matching::Matching;
use super::values::is_storable;

/// Which names are looked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Search {
    Everything,
    /// No name contains what cannot be stored.
    Nothing,
    /// Those that contain this text.
    Contains(String),
    /// Those that this pattern of LIKE matches, for which there is an index.
    Like(String),
}

impl Search {
    /// For the names that contain a text.
    pub fn new(contains: &str, has_trigrams: bool) -> Self {
        if contains.is_empty() {
            return Self::Everything;
        }
        if !is_storable(contains) {
            return Self::Nothing;
        }
        if !has_trigrams || contains.chars().nth(2).is_none() {
            return Self::Contains(contains.to_owned());
        }
        let mut pattern = String::from("%");
        for character in contains.chars() {
            if matches!(character, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern.push('%');
        Self::Like(pattern)
    }

    /// Requires that a name has what is looked for.
    pub fn require(&self, matching: &mut Matching) {
        match self {
            Self::Everything => {}
            Self::Nothing => matching.require("FALSE"),
            Self::Contains(text) => {
                let text = matching.parameter(text.clone(), Type::TEXT);
                matching.require(format!("strpos(name_key, {text}) > 0"));
            }
            Self::Like(pattern) => matching.compare("name_key LIKE", pattern.clone(), Type::TEXT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_three_characters_is_a_pattern_without_wildcards() {
        assert_eq!(Search::new("", true), Search::Everything);
        assert_eq!(Search::new("é%", true), Search::Contains("é%".into()));
        assert_eq!(
            Search::new("100%_\\", true),
            Search::Like("%100\\%\\_\\\\%".into())
        );
        assert_eq!(Search::new("100%_\\", false), Search::Contains("100%_\\".into()));
    }
}
