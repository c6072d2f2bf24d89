//! Resolves the names of a document: which records exist, which are new, and what they refer to. It writes
//! nothing.
//!
//! A reference leads to a record that exists after the document is applied: one that the document lists or, unless it
//! is pruned, one that existed before.

use std::collections::{HashMap, HashSet};

use portico_model::{
    Id,
    PathSegment::{self, Field, Index},
    Provider, TextChange,
    error::Error,
};
use portico_rules::rule::Rule;

use portico_storage::Size;

use super::{
    super::{
        boards::bounds::{at, key},
        change::Change,
        validate::Fields,
    },
    document::{self, AppName, Board, Document, Matches, ShareWith, UserName, entries},
    new_values::{self, check_directions},
    snapshot::{Keys, Snapshot},
};
use crate::shape::quote;

/// The record that a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Referent {
    /// An existing record that the document does not list.
    Existing(Id),
    /// The entry of the document at this position.
    Listed(usize),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Plan {
    pub groups: Matches,
    pub users: Matches,
    pub apps: Matches,
    pub search_engines: Matches,
    pub boards: Matches,
    /// The groups of each user, where the document states them.
    pub memberships: Vec<Option<Vec<Referent>>>,
    pub contents: Vec<Contents>,
    /// The app of each entry of the gate.
    pub gates: Vec<Referent>,
    /// Everyone's home boards.
    pub home: Home,
    /// Those of the members of each group.
    pub homes: Vec<Home>,
    /// The board that people see first who are not signed in.
    pub start_board: ChosenBoard,
}

/// Home boards, the second on phones.
pub(super) type Home = [ChosenBoard; 2];

/// `None` if the choice stays as it is.
pub(super) type ChosenBoard = Option<Option<Referent>>;

/// The references of a board; `None` if they stay as they are.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub creator: Option<Option<Referent>>,
    pub sections: Option<Vec<Section>>,
    pub users: Option<Vec<SharedTarget>>,
    pub groups: Option<Vec<SharedTarget>>,
}

/// A user or a group with whom a board is shared, and whether they may change it.
pub(super) type SharedTarget = (Referent, bool);

#[derive(Debug)]
pub(super) struct Section {
    pub name: Option<String>,
    pub collapsed: bool,
    pub items: Vec<Item>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub content: Content,
    pub size: Option<Size>,
}

#[derive(Debug)]
pub(super) enum Content {
    App(Referent),
    Bookmarks(Vec<Referent>),
    Note(String),
    Clock(Option<String>),
}

impl Plan {
    /// Resolves every name, or fails with the path of each that cannot be resolved.
    pub fn new(document: &Document, snapshot: &Snapshot, keys: &Keys) -> Result<Self, Error> {
        let mut fields = Fields::default();
        let groups = match_names(
            &mut fields,
            "groups",
            entries(&document.groups).iter().map(|group| keys.of(&group.name)),
            snapshot
                .groups
                .iter()
                .map(|group| (keys.of(&group.name), &group.id)),
        );
        let users = match_names(
            &mut fields,
            "users",
            entries(&document.users)
                .iter()
                .map(|user| (user.provider, keys.of(&user.name))),
            snapshot
                .users
                .iter()
                .map(|user| ((user.provider, keys.of(&user.name)), &user.id)),
        );
        let search_engines = match_names(
            &mut fields,
            "searchEngines",
            entries(&document.search_engines)
                .iter()
                .map(|engine| keys.of(&engine.name)),
            snapshot
                .search_engines
                .iter()
                .map(|engine| (keys.of(&engine.name), &engine.id)),
        );
        let boards = match_names(
            &mut fields,
            "boards",
            entries(&document.boards).iter().map(|board| keys.of(&board.name)),
            snapshot
                .boards
                .iter()
                .map(|(board, _)| (keys.of(&board.board.name), &board.board.id)),
        );
        check_directions(
            &mut fields,
            document,
            snapshot,
            [&groups, &search_engines, &boards],
        );
        new_values::check_icons(&mut fields, document, snapshot, &search_engines);
        let apps = match_apps(&mut fields, document, snapshot, keys);
        check_shorts(&mut fields, document, keys);

        let references = References::new(document, snapshot, keys, [&groups, &boards], &users, &apps);
        let memberships = references.memberships(&mut fields, document);
        let contents = entries(&document.boards).iter().enumerate();
        let contents = contents
            .map(|(index, board)| {
                fields.enter("boards", index);
                references.contents(&mut fields, board)
            })
            .collect();
        let gates = references.gates(&mut fields, document);
        fields.leave();
        let home = references.home(&mut fields, document.homes());
        let homes = entries(&document.groups).iter().enumerate();
        let homes = homes
            .map(|(index, group)| {
                fields.enter("groups", index);
                references.home(&mut fields, group.homes())
            })
            .collect();
        let start_board = document.site.as_ref().and_then(|site| {
            fields.enter_record("site");
            references.board(&mut fields, "startBoard", &site.start_board)
        });
        fields.check()?;
        Ok(Self {
            home,
            homes,
            start_board,
            groups,
            users,
            apps,
            search_engines,
            boards,
            memberships,
            contents,
            gates,
        })
    }
}

/// Matches entries of a kind whose names are unique.
fn match_names<'a, K: Eq + std::hash::Hash + Copy>(
    fields: &mut Fields,
    list: &str,
    wanted: impl Iterator<Item = K>,
    present: impl Iterator<Item = (K, &'a Id)>,
) -> Matches {
    let present: HashMap<K, &Id> = present.collect();
    let mut seen = HashSet::new();
    let mut matches = Vec::new();
    for (index, key) in wanted.enumerate() {
        if !seen.insert(key) {
            fields.enter(list, index);
            fields.refuse("name", Rule::ListedTwice);
        }
        matches.push(present.get(&key).map(|id| (*id).clone()));
    }
    matches
}

/// Matches apps: by id if the entry has one, otherwise by name among the apps that no other entry names by id.
fn match_apps(fields: &mut Fields, document: &Document, snapshot: &Snapshot, keys: &Keys) -> Matches {
    let apps = entries(&document.apps);
    let mut listed: HashMap<&str, usize> = HashMap::new();
    let mut by_id: HashSet<&str> = HashSet::new();
    for (index, app) in apps.iter().enumerate() {
        *listed.entry(keys.of(&app.name)).or_default() += 1;
        if let Some(id) = &app.id
            && !by_id.insert(id)
        {
            fields.enter("apps", index);
            fields.refuse("id", Rule::ListedTwice);
        }
    }
    let mut present: HashMap<&str, Vec<&Id>> = HashMap::new();
    let mut ids: HashSet<&str> = HashSet::new();
    for app in &snapshot.apps {
        ids.insert(&app.id);
        if !by_id.contains(app.id.as_str()) {
            present.entry(keys.of(&app.name)).or_default().push(&app.id);
        }
    }
    let mut matched = Vec::with_capacity(apps.len());
    for (index, app) in apps.iter().enumerate() {
        matched.push(match &app.id {
            Some(id) => ids.contains(id.as_str()).then(|| id.clone()),
            None => {
                let key = keys.of(&app.name);
                let candidates = present.get(key).map_or(&[][..], Vec::as_slice);
                fields.enter("apps", index);
                if listed[key] > 1 {
                    fields.refuse("name", Rule::ListedTwiceWithoutId);
                } else if candidates.len() > 1 {
                    let count = candidates.len();
                    fields.refuse("name", Rule::FitsApps { count });
                }
                candidates.first().map(|id| (*id).clone())
            }
        });
    }
    matched
}

fn check_shorts(fields: &mut Fields, document: &Document, keys: &Keys) {
    let mut seen = HashSet::new();
    for (index, engine) in entries(&document.search_engines).iter().enumerate() {
        if !seen.insert(keys.of(&engine.short)) {
            fields.enter("searchEngines", index);
            fields.refuse("short", Rule::ListedTwice);
        }
    }
}

/// The records that references may lead to.
struct References<'a> {
    keys: &'a Keys,
    groups: HashMap<&'a str, Referent>,
    boards: HashMap<&'a str, Referent>,
    users: HashMap<&'a str, Vec<(Provider, Referent)>>,
    apps: HashMap<&'a str, Vec<Referent>>,
    apps_by_id: HashMap<&'a str, Referent>,
}

impl<'a> References<'a> {
    fn new(
        document: &'a Document,
        snapshot: &'a Snapshot,
        keys: &'a Keys,
        [groups, boards]: [&Matches; 2],
        users: &Matches,
        apps: &'a Matches,
    ) -> Self {
        let mut references = Self {
            keys,
            groups: HashMap::new(),
            boards: HashMap::new(),
            users: HashMap::new(),
            apps: HashMap::new(),
            apps_by_id: HashMap::new(),
        };
        let stays = |is_listed: bool| !(document.prune && is_listed);
        if stays(document.groups.is_some()) {
            let listed = ids(groups);
            for group in snapshot
                .groups
                .iter()
                .filter(|group| !listed.contains(&group.id[..]))
            {
                references
                    .groups
                    .insert(keys.of(&group.name), Referent::Existing(group.id.clone()));
            }
        }
        for (index, group) in entries(&document.groups).iter().enumerate() {
            references
                .groups
                .insert(keys.of(&group.name), Referent::Listed(index));
        }
        if stays(document.boards.is_some()) {
            let listed = ids(boards);
            let all = snapshot.boards.iter().map(|(board, _)| &board.board);
            for board in all.filter(|board| !listed.contains(&board.id[..])) {
                let target = Referent::Existing(board.id.clone());
                references.boards.insert(keys.of(&board.name), target);
            }
        }
        for (index, board) in entries(&document.boards).iter().enumerate() {
            references
                .boards
                .insert(keys.of(&board.name), Referent::Listed(index));
        }
        if stays(document.users.is_some()) {
            let listed = ids(users);
            for user in snapshot
                .users
                .iter()
                .filter(|user| !listed.contains(&user.id[..]))
            {
                let target = Referent::Existing(user.id.clone());
                let of_name = references.users.entry(keys.of(&user.name)).or_default();
                of_name.push((user.provider, target));
            }
        }
        for (index, user) in entries(&document.users).iter().enumerate() {
            let of_name = references.users.entry(keys.of(&user.name)).or_default();
            of_name.push((user.provider, Referent::Listed(index)));
        }
        if stays(document.apps.is_some()) {
            let listed = ids(apps);
            for app in snapshot.apps.iter().filter(|app| !listed.contains(&app.id[..])) {
                let target = Referent::Existing(app.id.clone());
                references.apps_by_id.insert(&app.id, target.clone());
                references
                    .apps
                    .entry(keys.of(&app.name))
                    .or_default()
                    .push(target);
            }
        }
        for (index, app) in entries(&document.apps).iter().enumerate() {
            let target = Referent::Listed(index);
            if let Some(id) = app.id.as_ref().or(apps[index].as_ref()) {
                references.apps_by_id.insert(id, target.clone());
            }
            references
                .apps
                .entry(keys.of(&app.name))
                .or_default()
                .push(target);
        }
        references
    }

    fn memberships(&self, fields: &mut Fields, document: &Document) -> Vec<Option<Vec<Referent>>> {
        let users = entries(&document.users).iter().enumerate();
        let memberships = users.map(|(index, user)| {
            fields.enter("users", index);
            let groups = user.groups.as_ref()?;
            Some(all(fields, &[Field("groups".into())], groups, |name| {
                self.group(name)
            }))
        });
        memberships.collect()
    }

    /// The apps of the gate; an app is listed once.
    fn gates(&self, fields: &mut Fields, document: &Document) -> Vec<Referent> {
        let mut gates = Vec::new();
        let mut seen = HashSet::new();
        for (index, gate) in entries(&document.gate).iter().enumerate() {
            fields.enter("gate", index);
            let place = [Field("app".into())];
            if let Some(app) = one(fields, &place, self.app(&gate.app)) {
                if !seen.insert(app.clone()) {
                    fields.refuse_at(place, Rule::ListedTwice);
                }
                gates.push(app);
            }
        }
        gates
    }

    fn home(&self, fields: &mut Fields, homes: [(&'static str, &TextChange); 2]) -> Home {
        homes.map(|(field, change)| self.board(fields, field, change))
    }

    fn board(&self, fields: &mut Fields, field: &str, change: &TextChange) -> ChosenBoard {
        match change {
            TextChange::Keep => None,
            TextChange::Clear => Some(None),
            TextChange::Set(name) => {
                let target = self.boards.get(self.keys.of(name)).cloned();
                let found = target.ok_or_else(|| Rule::NamesNoBoard { name: quote(name) });
                Some(one(fields, &[Field(field.into())], found))
            }
        }
    }

    fn contents(&self, fields: &mut Fields, board: &Board) -> Contents {
        let creator = match &board.creator {
            Change::Keep => None,
            Change::Clear => Some(None),
            Change::Set(name) => {
                let (name, provider) = match name {
                    UserName::Name(name) => (name, None),
                    UserName::Of { name, provider } => (name, Some(*provider)),
                };
                let found = self.user(name, provider);
                Some(one(fields, &[Field("creator".into())], found))
            }
        };
        let plain = board.items.as_ref().map(|items| {
            vec![Section {
                name: None,
                collapsed: false,
                items: self.items(fields, &key(&[], "items"), items),
            }]
        });
        let sections = board.sections.as_ref().map(|sections| {
            let sections = sections.iter().enumerate().map(|(number, section)| {
                let place = key(&at(&key(&[], "sections"), number), "items");
                Section {
                    name: section.name.clone(),
                    collapsed: section.collapsed,
                    items: self.items(fields, &place, &section.items),
                }
            });
            sections.collect()
        });
        let (users, groups) = match &board.shared_with {
            Change::Keep => (None, None),
            Change::Clear => (Some(Vec::new()), Some(Vec::new())),
            Change::Set(shared) => {
                let place = |field: &str| [Field("sharedWith".into()), Field(field.into())];
                let user = |with: &ShareWith| {
                    let found = self.user(with.name(), with.provider())?;
                    Ok((found, with.may_change()))
                };
                let group = |with: &ShareWith| Ok((self.group(with.name())?, with.may_change()));
                let users = shared.users.as_ref();
                let users = users.map(|users| all(fields, &place("users"), users, user));
                let groups = shared.groups.as_ref();
                let groups = groups.map(|groups| all(fields, &place("groups"), groups, group));
                (users, groups)
            }
        };
        Contents {
            creator,
            sections: sections.or(plain),
            users,
            groups,
        }
    }

    /// The items of a list at this place.
    fn items(&self, fields: &mut Fields, place: &[PathSegment], items: &[document::Item]) -> Vec<Item> {
        let mut planned = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let place = at(place, index);
            let content = match item {
                document::Item { app: Some(name), .. } => {
                    one(fields, &key(&place, "app"), self.app(name)).map(Content::App)
                }
                document::Item { note: Some(text), .. } => Some(Content::Note(text.clone())),
                document::Item {
                    clock: Some(clock), ..
                } => Some(Content::Clock(clock.time_zone.clone())),
                document::Item { bookmarks, .. } => {
                    let names = entries(bookmarks);
                    let apps = all(fields, &key(&place, "bookmarks"), names, |name| self.app(name));
                    Some(Content::Bookmarks(apps))
                }
            };
            let size = item.size;
            planned.extend(content.map(|content| Item { content, size }));
        }
        planned
    }

    fn group(&self, name: &str) -> Result<Referent, Rule> {
        let target = self.groups.get(self.keys.of(name)).cloned();
        target.ok_or_else(|| Rule::NamesNoGroup { name: quote(name) })
    }

    fn user(&self, name: &str, provider: Option<Provider>) -> Result<Referent, Rule> {
        let of_name = self.users.get(self.keys.of(name)).map_or(&[][..], Vec::as_slice);
        let mut fitting = of_name
            .iter()
            .filter(|(of, _)| provider.is_none_or(|provider| provider == *of));
        match (fitting.next(), fitting.count()) {
            (None, _) => Err(Rule::NamesNoUser { name: quote(name) }),
            (Some((_, target)), 0) => Ok(target.clone()),
            (Some(_), more) => Err(Rule::NamesUsers {
                count: more + 1,
                name: quote(name),
            }),
        }
    }

    fn app(&self, name: &AppName) -> Result<Referent, Rule> {
        match name {
            AppName::Id { id } => {
                let target = self.apps_by_id.get(id.as_str()).cloned();
                target.ok_or_else(|| Rule::NamesNoAppId { id: quote(id) })
            }
            AppName::Name(name) => match self.apps.get(self.keys.of(name)).map(Vec::as_slice) {
                None | Some([]) => Err(Rule::NamesNoApp { name: quote(name) }),
                Some([target]) => Ok(target.clone()),
                Some(several) => Err(Rule::NamesApps {
                    count: several.len(),
                    name: quote(name),
                }),
            },
        }
    }
}

fn ids(matches: &Matches) -> HashSet<&str> {
    matches.iter().flatten().map(String::as_str).collect()
}

fn one<T>(fields: &mut Fields, place: &[PathSegment], found: Result<T, Rule>) -> Option<T> {
    match found {
        Ok(target) => Some(target),
        Err(rule) => {
            fields.refuse_at(place.iter().cloned(), rule);
            None
        }
    }
}

fn all<N, T>(
    fields: &mut Fields,
    place: &[PathSegment],
    names: &[N],
    find: impl Fn(&N) -> Result<T, Rule>,
) -> Vec<T> {
    let mut found = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let place: Vec<_> = place.iter().cloned().chain([Index(index as u32)]).collect();
        found.extend(one(fields, &place, find(name)));
    }
    found
}
