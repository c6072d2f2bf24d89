//! What becomes of the names of groups that a provider states.

use std::collections::{HashMap, HashSet};

use portico_rules::{bounds, direction, names};
use portico_storage::driver::ADMIN_GROUP;

/// The most entries of a map, and characters of a provider's name in it.
const MOST_ENTRIES: usize = 1000;
const LONGEST_NAME: usize = 1024;

/// Which groups here a provider's groups are. A provider's names are compared in any case of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRules {
    /// The name of the group here, by the provider's name in lower case.
    map: HashMap<String, String>,
    /// The names here that are in the map.
    mapped: HashSet<String>,
    /// Whether a group that is not in the map is the one here with the same name.
    matches_others: bool,
    /// Whether a group that does not exist here is made.
    pub(super) makes_groups: bool,
    /// The provider's group whose members are administrators, in lower case.
    administrators: Option<String>,
}

impl Default for GroupRules {
    /// All are matched by their names.
    fn default() -> Self {
        Self {
            map: HashMap::new(),
            mapped: HashSet::new(),
            matches_others: true,
            makes_groups: false,
            administrators: None,
        }
    }
}

/// What a provider's names mean here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meant {
    /// Names of groups here, in the order in which they were stated; a name may be there more than once.
    pub names: Vec<String>,
    pub is_administrator: bool,
}

impl GroupRules {
    /// Rules with this map, of the provider's names to names here. Without `matches_others`, a group that is not in the map
    /// is ignored; that is the default where there is a map. Returns what is wrong with them.
    pub fn new(
        map: Vec<(String, String)>,
        matches_others: Option<bool>,
        makes_groups: bool,
        administrators: Option<&str>,
    ) -> Result<Self, String> {
        if map.len() > MOST_ENTRIES {
            return Err(format!("the map has more than {MOST_ENTRIES} entries"));
        }
        let matches_others = matches_others.unwrap_or(map.is_empty());
        let mut rules = Self {
            map: HashMap::new(),
            mapped: HashSet::new(),
            matches_others,
            makes_groups,
            administrators: None,
        };
        for (theirs, ours) in map {
            let ours = ours.trim().to_owned();
            if !is_name_of_group(&ours) {
                return Err(format!(
                    "{ours:?} is not a valid name of a group: 1 to 64 characters on one line"
                ));
            }
            rules.mapped.insert(ours.clone());
            if rules.map.insert(provider_key(&theirs)?, ours).is_some() {
                return Err(format!("{theirs:?} is in the map twice"));
            }
        }
        rules.administrators = administrators.map(provider_key).transpose()?;
        if !matches_others && rules.map.is_empty() && rules.administrators.is_none() {
            return Err("all groups would be ignored".into());
        }
        Ok(rules)
    }

    /// Whether a group with this name, which is `key` here, counts. Where the settings say which of the provider's groups means
    /// administrators, another one does not mean it by having the name of the group of administrators here.
    pub(super) fn counts(&self, name: &str, key: &str) -> bool {
        key != ADMIN_GROUP || self.administrators.is_none() || self.is_mapped(name)
    }

    /// Whether a group with this name is made if it does not exist. The provider's group of administrators means only that.
    pub(super) fn makes(&self, name: &str) -> bool {
        let means_administrators = self.administrators.as_ref() == Some(&lower(name));
        self.makes_groups && (self.is_mapped(name) || !means_administrators)
    }

    /// Whether the map names this group.
    pub(super) fn is_mapped(&self, name: &str) -> bool {
        self.mapped.contains(name)
    }

    /// Whether a group that is not in the map would mean administrators by its name alone, although another one means them:
    /// also where the map leads a third one to the group of administrators here.
    fn is_other_admins(&self, name: &str) -> bool {
        self.administrators.is_some() && names::key(name.trim()) == ADMIN_GROUP
    }

    pub(super) fn apply(&self, stated: Vec<String>) -> Meant {
        let mut meant = Meant::default();
        for name in stated {
            let key = lower(&name);
            meant.is_administrator |= self.administrators.as_ref() == Some(&key);
            match self.map.get(&key) {
                Some(ours) => meant.names.push(ours.clone()),
                None if self.matches_others && !self.is_other_admins(&name) => meant.names.push(name),
                None => {}
            }
        }
        meant
    }
}

fn provider_key(name: &str) -> Result<String, String> {
    let key = lower(name);
    match key.chars().count() {
        1..=LONGEST_NAME => Ok(key),
        _ => Err(format!(
            "the provider's name of a group must have 1 to {LONGEST_NAME} characters"
        )),
    }
}

fn lower(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether a new group may have this name.
pub(super) fn is_name_of_group(name: &str) -> bool {
    bounds::LABEL.contains(&name.chars().count())
        && name.trim() == name
        && !name.contains(char::is_control)
        && direction::problem(name).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(theirs, ours): &(&str, &str)| ((*theirs).to_owned(), (*ours).to_owned());
        entries.iter().map(own).collect()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_map_goes_before_the_name_and_others_are_ignored_or_matched() {
        let entries = map(&[
            ("/Family", "Family"),
            ("cn=a,dc=b", "Family"),
            ("Boss", " Staff "),
        ]);
        let stated = ["/family", "CN=A,dc=b", " BOSS ", "others", ""];
        let ignoring = GroupRules::new(entries.clone(), None, false, None).unwrap();
        assert_eq!(
            ignoring.apply(names(&stated)).names,
            ["Family", "Family", "Staff"]
        );
        let matching = GroupRules::new(entries, Some(true), false, None).unwrap();
        let meant = matching.apply(names(&stated)).names;
        assert_eq!(meant, ["Family", "Family", "Staff", "others", ""]);
        assert_eq!(GroupRules::default().apply(names(&stated)).names, stated);
    }

    #[test]
    fn the_group_of_administrators_is_only_that_one() {
        let rules = GroupRules::new(vec![], Some(false), false, Some("Portico Admins")).unwrap();
        let is_administrator = |stated| rules.apply(names(stated)).is_administrator;
        assert!(is_administrator(&["a", "portico admins"]));
        for stated in [&["admins"][..], &[], &["portico  admins"], &["portico admins2"]] {
            assert!(!is_administrator(stated), "{stated:?}");
        }
        assert!(
            !GroupRules::default()
                .apply(names(&["admins", ""]))
                .is_administrator
        );
    }

    #[test]
    fn with_a_group_of_administrators_no_other_one_means_it_by_its_name() {
        let rules = |entries: &[(&str, &str)], administrators: Option<&str>| {
            GroupRules::new(map(entries), Some(true), true, administrators).unwrap()
        };
        let named = rules(&[], Some("Bosses"));
        assert!(!named.counts("Admins", "admins") && named.counts("family", "family"));
        assert!(!named.makes("BOSSES") && named.makes("family"));
        let mapped = rules(&[("boss", "admins"), ("family", "bosses")], Some("Bosses"));
        assert!(mapped.counts("admins", "admins") && mapped.makes("bosses"));
        assert_eq!(mapped.apply(names(&["Admins", "boss"])).names, ["admins"]);
        assert!(rules(&[], None).counts("Admins", "admins"));
    }

    #[test]
    fn wrong_rules_are_refused() {
        let many: Vec<_> = (0..1001).map(|number| (number.to_string(), "a".into())).collect();
        let long = "x".repeat(65);
        for entries in [
            many,
            map(&[("a", "")]),
            map(&[("", "a")]),
            map(&[("a", &long)]),
            map(&[("a", "b\nc")]),
            map(&[("a", "b\u{202e}c")]),
            map(&[("a", "b"), (" A ", "c")]),
        ] {
            assert!(GroupRules::new(entries, None, false, None).is_err());
        }
        assert!(GroupRules::new(vec![], Some(false), true, None).is_err());
        assert!(GroupRules::new(vec![], None, false, Some(" ")).is_err());
    }
}
