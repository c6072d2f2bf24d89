//! Names that no other record of a kind has.
//!
//! Names are compared by their keys, which the component computes for whole lists of names. A key is computed character
//! by character: the key of `name-2` is the key of `name` followed by `-2`.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The most numbers that are tried.
const MOST_TRIED: usize = 100_000;

/// The most characters of the names of groups, apps, search engines and boards.
pub const MOST_OF_A_NAME: usize = 64;
/// The fewest and the most characters of a username.
pub const USERNAME: (usize, usize) = (3, 255);
/// The most characters of a search engine's short name.
pub const MOST_OF_A_SHORT: usize = 8;

/// The keys of names, by trimmed name.
pub type Keys = HashMap<String, String>;

/// How a name is compared.
pub fn key(keys: &Keys, name: &str) -> String {
    let name = name.trim();
    keys.get(name).cloned().unwrap_or_else(|| name.to_owned())
}

/// How many characters are left for a number, if a name may have this many.
fn reserve(most: usize) -> usize {
    if most <= MOST_OF_A_SHORT { 3 } else { 8 }
}

/// The beginning of a name, short enough to append a number.
pub fn shortened(name: &str, most: usize) -> &str {
    let name = name.trim();
    match name.char_indices().nth(most - reserve(most)) {
        Some((end, _)) => name[..end].trim_end(),
        None => name,
    }
}

/// The keys of the names of one kind that are in use, each in a scope such as a provider.
pub struct Used<S> {
    keys: HashSet<(S, String)>,
    /// The next number to try behind a name, by its key: all smaller ones are in use. Without this, each of many records
    /// with one name would try the numbers of all before it.
    next: HashMap<(S, String), usize>,
}

impl<S: Hash + Eq + Copy> Used<S> {
    pub fn new(keys: HashSet<(S, String)>) -> Self {
        let next = HashMap::new();
        Self { keys, next }
    }

    /// Takes a key. Returns whether it was free.
    pub fn take(&mut self, scope: S, key: String) -> bool {
        self.keys.insert((scope, key))
    }

    /// Takes a name followed by a number, whose key is free. `None` if there is no such name.
    pub fn numbered(&mut self, scope: S, name: &str, most: usize, keys: &Keys) -> Option<String> {
        let base = shortened(name, most);
        let key = key(keys, base);
        let next = self.next.entry((scope, key.clone())).or_insert(2);
        let end = MOST_TRIED.min(10_usize.pow(reserve(most) as u32 - 1));
        while *next < end {
            let number = *next;
            *next += 1;
            if self.keys.insert((scope, format!("{key}-{number}"))) {
                return Some(format!("{base}-{number}"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_bound_with_a_number_behind_it() {
        let keys = Keys::new();
        let mut used = Used::new([((), "a-2".to_owned())].into());
        assert_eq!(used.numbered((), "a", 64, &keys).as_deref(), Some("a-3"));
        let long = "ä".repeat(64);
        let shortened = format!("{}-2", "ä".repeat(56));
        assert_eq!(used.numbered((), &long, 64, &keys), Some(shortened));
        assert_eq!(
            used.numbered((), "12345678", 8, &keys).as_deref(),
            Some("12345-2")
        );
    }

    #[test]
    fn numbers_end_where_the_bound_leaves_no_room() {
        let keys = Keys::new();
        let mut used = Used::new(HashSet::new());
        let mut numbered = || used.numbered((), "a", 8, &keys);
        let names: Vec<_> = std::iter::from_fn(&mut numbered).collect();
        assert_eq!((names.len(), &names[97][..]), (98, "a-99"));
        assert_eq!(numbered(), None);
    }

    #[test]
    fn many_records_with_one_name_do_not_try_the_same_numbers_again() {
        let keys = Keys::new();
        let mut used = Used::new(HashSet::new());
        for number in 2..50_000 {
            let name = used.numbered((), "  a \t", 64, &keys);
            assert_eq!(name, Some(format!("a-{number}")));
        }
        // The next one begins where the last one ended.
        assert_eq!(used.next[&((), "a".into())], 50_000);
    }
}
