//! Names that no other record of a kind has.
//!
//! Names are compared by their keys, which the component computes for whole lists of names. A key is computed character
//! by character: the key of `name-2` is the key of `name` followed by `-2`.

use std::collections::HashMap;

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

/// A name followed by a number, whose key is free. `take` returns whether a key is free, and takes it. `None` if there
/// is no such name.
pub fn numbered(
    name: &str,
    most: usize,
    keys: &Keys,
    mut take: impl FnMut(String) -> bool,
) -> Option<String> {
    let base = shortened(name, most);
    let key = key(keys, base);
    let numbers = (2..MOST_TRIED).take_while(|number| number.to_string().len() < reserve(most));
    let mut free = numbers.filter(|number| take(format!("{key}-{number}")));
    free.next().map(|number| format!("{base}-{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_bound_with_a_number_behind_it() {
        let keys = Keys::new();
        let mut taken = vec!["a-2".to_owned()];
        let mut free = |name: &str, most| {
            numbered(name, most, &keys, |key| {
                let is_free = !taken.contains(&key);
                taken.push(key);
                is_free
            })
        };
        assert_eq!(free("a", 64).as_deref(), Some("a-3"));
        let long = "ä".repeat(64);
        assert_eq!(free(&long, 64), Some(format!("{}-2", "ä".repeat(56))));
        assert_eq!(free("12345678", 8).as_deref(), Some("12345-2"));
        assert_eq!(numbered("a", 8, &keys, |_| false), None);
    }
}
