//! Parses an index: a GitHub tree, or a jsDelivr flat listing.

use std::fmt;

use anyhow::{Context, bail};
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};

/// The most entries of an index; no known collection has as many.
pub(super) const MAX_ENTRIES: usize = 200_000;

#[derive(Deserialize)]
struct Listing {
    tree: Option<Bounded<TreeEntry>>,
    files: Option<Bounded<FileEntry>>,
}

#[derive(Deserialize)]
struct TreeEntry {
    path: String,
}

#[derive(Deserialize)]
struct FileEntry {
    name: String,
}

/// All paths that an index lists, icons or not.
pub(super) fn paths(body: &[u8]) -> anyhow::Result<Vec<String>> {
    let listing: Listing = serde_json::from_slice(body).context("the index is not what it should be")?;
    match (listing.tree, listing.files) {
        (Some(tree), _) => Ok(tree.0.into_iter().map(|entry| entry.path).collect()),
        (None, Some(files)) => Ok(files.0.into_iter().map(|entry| entry.name).collect()),
        (None, None) => bail!("the index is neither a GitHub tree nor a jsDelivr flat listing"),
    }
}

/// A list that is refused while it is read if it gets too long.
pub(super) struct Bounded<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(Vec<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Bounded<T>;

            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                write!(out, "a list of at most {MAX_ENTRIES} entries")
            }

            fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self::Value, A::Error> {
                while let Some(entry) = list.next_element()? {
                    if self.0.len() == MAX_ENTRIES {
                        return Err(A::Error::custom(format!(
                            "it lists more than {MAX_ENTRIES} entries"
                        )));
                    }
                    self.0.push(entry);
                }
                Ok(Bounded(self.0))
            }
        }

        deserializer.deserialize_seq(Entries(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_index_are_read() {
        let tree = br#"{"sha":"1","tree":[{"path":"svg","type":"tree"},{"path":"svg/a.svg","size":3}],"truncated":false}"#;
        assert_eq!(paths(tree).unwrap(), ["svg", "svg/a.svg"]);
        let files = br#"{"type":"gh","files":[{"name":"/svg/a.svg","hash":"x","size":3}],"links":{}}"#;
        assert_eq!(paths(files).unwrap(), ["/svg/a.svg"]);
    }

    #[test]
    fn anything_but_an_index_is_an_error() {
        for body in [
            "",
            "<html>",
            "[]",
            "{}",
            r#"{"tree":{}}"#,
            r#"{"tree":[{"name":"a.svg"}]}"#,
            r#"{"files":[7]}"#,
        ] {
            assert!(paths(body.as_bytes()).is_err(), "{body}");
        }
        assert!(
            format!("{:#}", paths(b"{\"message\":\"moved\"}").unwrap_err()).contains("neither a GitHub tree")
        );
    }

    #[test]
    fn an_index_with_too_many_entries_is_an_error() {
        let list = |count: usize| format!(r#"{{"tree":[{}]}}"#, vec![r#"{"path":"a.svg"}"#; count].join(","));
        assert_eq!(paths(list(MAX_ENTRIES).as_bytes()).unwrap().len(), MAX_ENTRIES);
        let problem = format!("{:#}", paths(list(MAX_ENTRIES + 1).as_bytes()).unwrap_err());
        assert!(problem.contains("more than 200000 entries"), "{problem}");
    }
}
