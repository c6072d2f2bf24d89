//! What happens to the records of an import: each is new, already there, or joined with one that is there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use portico_model::Provider;
use portico_storage::Share;

use crate::dashboard::{Dashboard, User};
use crate::names::{self, Keys};
use crate::present::Present;
use crate::report::Kind;

/// What happens to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is created.
    New,
    /// It is already there under its id.
    Present,
    /// It is joined with this one.
    Joined(String),
    /// It is not imported, for this reason.
    LeftOut(&'static str),
}

/// Why a new record cannot have its name: what the report says.
pub type Taken = BTreeMap<String, &'static str>;

const RENAMED: &str = "its name is here that of another record of Homarr's, which had another name once";
const MADE: &str = "the name that the import gave it is taken here";
const SHORT: &str = "its short is here that of another search engine of Homarr's, which had another one once";
const ANOTHER_PERSON: &str = "a user of this name is here, who is another person at the issuer";
const UNKNOWN_PERSON: &str = "a user of this name is here and belongs to a person at an issuer, and it is not \
                              known whether that is the same person: import again with --oidc-issuer";
const NO_OTHER_NAME: &str = "its name is here that of another user, and the user cannot have another one: at the \
                             first sign-in, the name says who the user is";

/// What happens to the records of a kind.
#[derive(Debug, Default)]
pub struct Fates {
    by_id: HashMap<String, Fate>,
    /// The new records that need another name.
    pub taken: Taken,
}

impl Fates {
    /// The fate of the record of this id.
    pub fn of(&self, id: &str) -> Option<&Fate> {
        self.by_id.get(id)
    }

    pub fn is_new(&self, id: &str) -> bool {
        self.of(id) == Some(&Fate::New)
    }

    /// Whether the record is here already, or joined with one that is.
    pub fn is_here(&self, id: &str) -> bool {
        matches!(self.of(id), Some(Fate::Present | Fate::Joined(_)))
    }

    /// Whether one of the records came with an earlier import.
    pub fn has_present(&self) -> bool {
        self.by_id.values().any(|fate| *fate == Fate::Present)
    }

    fn is_left_out(&self, id: &str) -> bool {
        matches!(self.of(id), Some(Fate::LeftOut(_)))
    }

    /// Where a reference to a record leads in Portico.
    pub fn resolve(&self, id: &str) -> Option<String> {
        match self.of(id)? {
            Fate::New | Fate::Present => Some(id.to_owned()),
            Fate::Joined(other) => Some(other.clone()),
            Fate::LeftOut(_) => None,
        }
    }

    /// Those of several records, each once.
    pub fn resolve_all(&self, ids: &[String]) -> Vec<String> {
        let mut resolved: Vec<_> = ids.iter().filter_map(|id| self.resolve(id)).collect();
        let mut seen = HashSet::new();
        resolved.retain(|id| seen.insert(id.clone()));
        resolved
    }

    /// The shares with these records, each once. Of two that become one, the one that lets them change the board stays.
    pub fn resolve_shares(&self, shares: &mut Vec<Share>) {
        let mut rights: BTreeMap<String, bool> = BTreeMap::new();
        for share in shares.drain(..) {
            if let Some(id) = self.resolve(&share.id) {
                *rights.entry(id).or_default() |= share.may_change;
            }
        }
        let resolved = rights.into_iter();
        shares.extend(resolved.map(|(id, may_change)| Share { id, may_change }));
    }

    pub fn set(&mut self, id: &str, fate: Fate) {
        if fate != Fate::New {
            self.taken.remove(id);
        }
        self.by_id.insert(id.to_owned(), fate);
    }
}

/// A record as it is looked up.
struct Imported<'a, K> {
    id: &'a str,
    key: K,
    /// Whether the name is Homarr's. A name that the import has made says nothing about the record's identity.
    is_own_name: bool,
}

/// The fates of records, where these are there already, each with its id and the key of its name.
///
/// A record that is there and also in Homarr's database came with an earlier import. Another record of Homarr's is
/// never joined with it, whatever their names are now.
fn fates<'a, K: Hash + Eq>(
    imported: Vec<Imported<'a, K>>,
    there: impl Iterator<Item = (&'a str, K)>,
) -> Fates {
    let ids: HashSet<&str> = imported.iter().map(|record| record.id).collect();
    let mut present = HashSet::new();
    let mut by_key: HashMap<K, &str> = HashMap::new();
    for (id, key) in there {
        present.insert(id);
        // Names of apps are not unique: an app that can be joined comes first.
        let named = by_key.entry(key).or_insert(id);
        if ids.contains(*named) {
            *named = id;
        }
    }
    let mut fates = Fates::default();
    for Imported { id, key, is_own_name } in imported {
        let fate = match by_key.get(&key) {
            _ if present.contains(id) => Fate::Present,
            None => Fate::New,
            Some(other) if is_own_name && !ids.contains(other) => Fate::Joined((*other).to_owned()),
            Some(_) => {
                let why = if is_own_name { RENAMED } else { MADE };
                fates.taken.insert(id.to_owned(), why);
                Fate::New
            }
        };
        fates.set(id, fate);
    }
    fates
}

/// The fates of all records that have names.
#[derive(Debug)]
pub struct All {
    pub groups: Fates,
    pub users: Fates,
    pub apps: Fates,
    pub engines: Fates,
    /// The search engines whose short name is taken.
    pub shorts: Taken,
    pub boards: Fates,
}

impl All {
    pub fn of(dashboard: &Dashboard, present: &Present, keys: &Keys) -> Self {
        let imported = |kind, id, name: &str| Imported {
            id,
            key: names::key(keys, name),
            is_own_name: !dashboard.new_names.contains(&(kind, String::from(id))),
        };
        let groups = dashboard.groups.iter();
        let groups = groups.map(|group| imported(Kind::Group, &group.id, &group.name));
        let boards = dashboard.boards.iter().map(|board| &board.board);
        let boards = boards.map(|board| imported(Kind::Board, &board.id, &board.name));
        let apps = dashboard.apps.iter();
        let apps = apps.map(|app| imported(Kind::App, &app.id, &app.name));
        let mut apps = fates(apps.collect(), there(&present.apps));
        join_each_app_once(dashboard, present, &mut apps);
        let (engines, shorts) = engines(dashboard, present, keys);
        Self {
            groups: fates(groups.collect(), there(&present.groups)),
            users: users(dashboard, present, keys),
            apps,
            engines,
            shorts,
            boards: fates(boards.collect(), there(&present.boards)),
        }
    }
}

impl All {
    /// Removes the records that are left out.
    pub fn remove_left_out(&self, dashboard: &mut Dashboard) {
        let is_kept = |fates: &Fates, id: &str| !fates.is_left_out(id);
        dashboard.groups.retain(|group| is_kept(&self.groups, &group.id));
        dashboard.users.retain(|user| is_kept(&self.users, &user.user.id));
        let engines = &mut dashboard.search_engines;
        engines.retain(|engine| is_kept(&self.engines, &engine.id));
        dashboard
            .boards
            .retain(|board| is_kept(&self.boards, &board.board.id));
    }
}

fn there(records: &[(String, String)]) -> impl Iterator<Item = (&str, String)> {
    records.iter().map(|(id, key)| (&id[..], key.clone()))
}

/// Search engines are found by their names, and then by their short names.
fn engines(dashboard: &Dashboard, present: &Present, keys: &Keys) -> (Fates, Taken) {
    let engines = &dashboard.search_engines;
    let names = engines.iter().map(|engine| Imported {
        id: &engine.id,
        key: names::key(keys, &engine.name),
        is_own_name: !dashboard
            .new_names
            .contains(&(Kind::SearchEngine, engine.id.clone())),
    });
    let shorts = engines.iter().map(|engine| Imported {
        id: &engine.id,
        key: names::key(keys, &engine.short),
        is_own_name: true,
    });
    let here = &present.search_engines;
    let mut by_name = fates(
        names.collect(),
        here.iter().map(|(id, key, _)| (&id[..], key.clone())),
    );
    let mut by_short = fates(
        shorts.collect(),
        here.iter().map(|(id, _, key)| (&id[..], key.clone())),
    );
    for engine in engines.iter().map(|engine| &engine.id) {
        match by_short.of(engine) {
            Some(Fate::Joined(other)) if by_name.is_new(engine) => {
                let other = other.clone();
                by_name.set(engine, Fate::Joined(other));
            }
            _ => {}
        }
        if !by_name.is_new(engine) {
            by_short.taken.remove(engine);
        }
    }
    let shorts = by_short.taken.into_keys().map(|id| (id, SHORT));
    (by_name, shorts.collect())
}

/// Users are found by who they are at the issuer, and then by their names.
fn users(dashboard: &Dashboard, present: &Present, keys: &Keys) -> Fates {
    let imported = dashboard.users.iter().map(|user| Imported {
        id: &user.user.id,
        key: (user.user.provider, names::key(keys, &user.user.name)),
        is_own_name: !dashboard.new_names.contains(&(Kind::User, user.user.id.clone())),
    });
    let there = present.users.iter();
    let there = there.map(|(id, provider, key)| (&id[..], (*provider, key.clone())));
    let mut fates = fates(imported.collect(), there);
    for user in &dashboard.users {
        let id = &user.user.id;
        let known = user
            .subjects
            .iter()
            .find_map(|subject| present.subjects.get(subject));
        let fate = match (fates.of(id), known) {
            (None | Some(Fate::Present), _) => continue,
            (_, Some(known)) => Fate::Joined(known.clone()),
            (Some(Fate::Joined(other)), _) if present.linked.contains(other) => {
                if is_known_by_name(user) {
                    Fate::LeftOut(UNKNOWN_PERSON)
                } else {
                    fates.taken.insert(id.clone(), ANOTHER_PERSON);
                    Fate::New
                }
            }
            (Some(Fate::New), _) if fates.taken.contains_key(id) && is_known_by_name(user) => {
                Fate::LeftOut(NO_OTHER_NAME)
            }
            _ => continue,
        };
        fates.set(id, fate);
    }
    fates
}

/// Whether only the name says who the user is at the identity provider.
fn is_known_by_name(user: &User) -> bool {
    user.user.provider != Provider::Credentials && user.subjects.is_empty()
}

/// Names of apps are not unique, so an app of Portico is joined with only one of Homarr's.
fn join_each_app_once(dashboard: &Dashboard, present: &Present, fates: &mut Fates) {
    let ids: HashSet<&String> = dashboard.apps.iter().map(|app| &app.id).collect();
    let key_of: HashMap<&String, &String> = present.apps.iter().map(|(id, key)| (id, key)).collect();
    let mut same: HashMap<&String, u32> = HashMap::new();
    for (id, key) in &present.apps {
        if !ids.contains(id) {
            *same.entry(key).or_default() += 1;
        }
    }
    let mut joined = HashSet::new();
    for app in &dashboard.apps {
        if let Some(Fate::Joined(other)) = fates.of(&app.id) {
            let is_only_one = key_of.get(other).and_then(|key| same.get(key)) == Some(&1);
            if !is_only_one || !joined.insert(other.clone()) {
                fates.set(&app.id, Fate::New);
            }
        }
    }
    fates.taken.clear();
}
