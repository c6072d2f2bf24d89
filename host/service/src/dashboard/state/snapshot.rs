//! The dashboard's records of the kinds that a document has, with their ids and names.

use std::collections::{BTreeSet, HashMap};

use portico_model::{App, HomeBoards, Id, Provider, Timestamp, error::Error};
use portico_storage::{
    self as storage, Access, AppFilter, AppGate, Board, DashboardTransaction, DefaultHome, Group, ListedUser,
    Looks, SearchEngine, Shares, Slice, UserFilter,
    driver::{LARGEST_ANSWER, TextSize},
};

use crate::procedures::call::Call;

/// All records, by name.
pub(super) struct Snapshot {
    pub groups: Vec<Group>,
    pub users: Vec<User>,
    pub apps: Vec<App>,
    /// What is set of apps for the gate.
    pub gates: Vec<AppGate>,
    pub search_engines: Vec<SearchEngine>,
    pub boards: Vec<(Board, Shares)>,
    pub looks: Looks,
    /// The home boards of those who have chosen none.
    pub homes: Vec<DefaultHome>,
}

/// A user, with the fields that a document may have.
#[derive(PartialEq)]
pub(super) struct User {
    pub id: Id,
    pub name: String,
    pub provider: Provider,
    pub email: Option<String>,
    pub email_verified: Option<Timestamp>,
    pub image: Option<String>,
    pub disabled: bool,
    /// Whether they have a second factor, which no document changes.
    pub has_second_factor: bool,
    /// In the order of the groups.
    pub groups: Vec<Id>,
}

/// How many records of a kind are read with one statement.
#[derive(Clone, Copy)]
pub(super) struct AtOnce(u32);

impl AtOnce {
    const MANY: Self = Self(10_000);
    /// This many fit into one answer of storage, because each has less than 400,000 bytes of text.
    const FEW: Self = Self((LARGEST_ANSWER / 400_000) as u32);
}

/// Reads all records of a kind, in slices.
macro_rules! read_all {
    ($at_once:ident, $slice:ident => $read:expr) => {{
        let mut all = Vec::new();
        loop {
            let $slice = Slice {
                offset: all.len() as u32,
                limit: Some($at_once.0),
            };
            let some = $read.await?;
            let is_last = some.len() < $at_once.0 as usize;
            all.extend(some);
            if is_last {
                return Ok(all);
            }
        }
    }};
}

async fn read_users(
    transaction: &mut dyn DashboardTransaction,
    at_once: AtOnce,
) -> storage::Result<Vec<ListedUser>> {
    let everyone = UserFilter::default();
    read_all!(at_once, slice => transaction.list_users(&everyone, slice, true))
}

async fn read_apps(transaction: &mut dyn DashboardTransaction, at_once: AtOnce) -> storage::Result<Vec<App>> {
    read_all!(at_once, slice => transaction.list_apps(&AppFilter::EVERYTHING, slice))
}

impl Snapshot {
    /// Reads all records, in a transaction that ends immediately afterwards: a long read prevents the database from
    /// emptying its log.
    pub async fn read(call: &Call) -> Result<Self, Error> {
        let mut transaction = call.begin(Access::Read).await?;
        let many = Self::read_within(&mut *transaction, AtOnce::MANY).await;
        if !matches!(many, Err(storage::Error::TooLarge)) {
            return Ok(many?);
        }
        // A transaction with an answer that was too large has failed.
        drop(transaction);
        let mut transaction = call.begin(Access::Read).await?;
        Ok(Self::read_within(&mut *transaction, AtOnce::FEW).await?)
    }

    /// How many records to read with one statement in a transaction that must not fail, if these were the records a
    /// moment ago.
    pub fn at_once(&self) -> AtOnce {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let users = self.users.iter();
        let users = users.map(|user| user.name.len() + length(&user.email) + length(&user.image));
        let apps = self.apps.iter().map(TextSize::text_size);
        // Room for ids, and for what a document adds.
        match users.chain(apps).sum::<usize>() < LARGEST_ANSWER / 2 {
            true => AtOnce::MANY,
            false => AtOnce::FEW,
        }
    }

    /// Reads all records in this transaction.
    pub async fn read_within(
        transaction: &mut dyn DashboardTransaction,
        at_once: AtOnce,
    ) -> storage::Result<Self> {
        let groups = transaction.list_groups().await?;
        let mut memberships: HashMap<&str, Vec<Id>> = HashMap::new();
        for group in &groups {
            for member in &group.members {
                memberships.entry(&member.id).or_default().push(group.id.clone());
            }
        }
        let owners = transaction.list_second_factor_owners().await?;
        let owners: BTreeSet<Id> = owners.into_iter().map(|(user_id, _)| user_id).collect();
        let users = read_users(transaction, at_once)
            .await?
            .into_iter()
            .map(|user| User {
                groups: memberships.remove(user.id.as_str()).unwrap_or_default(),
                has_second_factor: owners.contains(&user.id),
                id: user.id,
                name: user.name,
                provider: user.provider,
                email: user.email,
                email_verified: user.email_verified,
                image: user.image,
                disabled: user.disabled,
            });
        let users = users.collect();
        let apps = read_apps(transaction, at_once).await?;
        let gates = transaction.list_app_gates().await?;
        let search_engines = transaction.list_search_engines().await?;
        let mut boards = Vec::new();
        for board in transaction.list_boards().await? {
            let whole = transaction.get_board(&board.id).await?;
            let shares = transaction.get_shares(&board.id).await?;
            boards.extend(whole.zip(shares));
        }
        let looks = transaction.get_looks().await?;
        let homes = transaction.list_default_homes().await?;
        Ok(Self {
            groups,
            users,
            apps,
            gates,
            search_engines,
            boards,
            looks,
            homes,
        })
    }

    /// The name of the board that people see first who are not signed in.
    pub fn start_board(&self) -> Option<&str> {
        let id = self.looks.start_board.as_ref()?;
        let mut boards = self.boards.iter().map(|(board, _)| &board.board);
        boards.find(|board| board.id == *id).map(|board| &*board.name)
    }

    /// Every name in it, because their keys are needed to compare them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let users = self.users.iter().map(|user| &user.name);
        let apps = self.apps.iter().map(|app| &app.name);
        let engines = self.search_engines.iter();
        let engines = engines.flat_map(|engine| [&engine.name, &engine.short]);
        let boards = self.boards.iter().map(|(board, _)| &board.board.name);
        let groups = self.groups.iter().map(|group| &group.name);
        users
            .chain(apps)
            .chain(engines)
            .chain(boards)
            .chain(groups)
            .map(String::as_str)
    }
}

/// The name-keys of names, by the component's rule.
#[derive(Default)]
pub(super) struct Keys(HashMap<String, String>);

impl Keys {
    /// The names without a key, each once.
    pub fn unknown<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut unknown = BTreeSet::new();
        for name in names.map(str::trim) {
            if !self.0.contains_key(name) {
                unknown.insert(name);
            }
        }
        unknown.into_iter().map(ToOwned::to_owned).collect()
    }

    pub fn learn(&mut self, names: Vec<String>, keys: Vec<String>) {
        self.0.extend(names.into_iter().zip(keys));
    }

    /// The key of a name, trimmed. The keys of all names are learned before they are compared; a name without a key
    /// equals only itself.
    pub fn of<'a>(&'a self, name: &'a str) -> &'a str {
        let name = name.trim();
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// The names of a snapshot's records, found by id.
pub(super) struct Names<'a> {
    /// The position in the order of names, and the name.
    groups: HashMap<&'a str, (usize, &'a str)>,
    boards: HashMap<&'a str, &'a str>,
    /// The home boards of the members of groups, and of everyone.
    homes: HashMap<Option<&'a str>, &'a HomeBoards>,
    users: HashMap<&'a str, NamedRecord<'a, User>>,
    apps: HashMap<&'a str, NamedRecord<'a, App>>,
}

struct NamedRecord<'a, T> {
    /// In the order of names.
    position: usize,
    record: &'a T,
    /// Whether no other record has the name.
    is_unique: bool,
}

impl<'a> Names<'a> {
    pub fn new(snapshot: &'a Snapshot, keys: &'a Keys) -> Self {
        let groups = snapshot.groups.iter().enumerate();
        let boards = snapshot.boards.iter().map(|(board, _)| &board.board);
        let homes = snapshot.homes.iter();
        Self {
            boards: boards.map(|board| (&board.id[..], &board.name[..])).collect(),
            homes: homes
                .map(|home| (home.group_id.as_deref(), &home.boards))
                .collect(),
            groups: groups
                .map(|(position, group)| (&group.id[..], (position, &group.name[..])))
                .collect(),
            users: by_id(&snapshot.users, keys, |user| (&user.id, &user.name)),
            apps: by_id(&snapshot.apps, keys, |app| (&app.id, &app.name)),
        }
    }

    /// A group's position in the order of names, and its name.
    pub fn group(&self, id: &str) -> Option<(usize, &'a str)> {
        self.groups.get(id).copied()
    }

    /// The names of the home boards of a group's members who have chosen none, or of everyone; the second on phones.
    pub fn home(&self, group_id: Option<&str>) -> [Option<&'a str>; 2] {
        let Some(home) = self.homes.get(&group_id) else {
            return [None; 2];
        };
        [&home.home_board_id, &home.mobile_home_board_id].map(|id| self.boards.get(id.as_deref()?).copied())
    }

    /// A user, and whether no other user has the name.
    pub fn user(&self, id: &str) -> Option<(&'a User, bool)> {
        self.users.get(id).map(|user| (user.record, user.is_unique))
    }

    /// A user's position in the order of names.
    pub fn position_of_user(&self, id: &str) -> Option<usize> {
        self.users.get(id).map(|user| user.position)
    }

    /// An app, and whether no other app has the name.
    pub fn app(&self, id: &str) -> Option<(&'a App, bool)> {
        self.apps.get(id).map(|app| (app.record, app.is_unique))
    }
}

fn by_id<'a, T>(
    records: &'a [T],
    keys: &'a Keys,
    id_and_name: impl Fn(&'a T) -> (&'a String, &'a String),
) -> HashMap<&'a str, NamedRecord<'a, T>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for record in records {
        *counts.entry(keys.of(id_and_name(record).1)).or_default() += 1;
    }
    let named = records.iter().enumerate().map(|(position, record)| {
        let (id, name) = id_and_name(record);
        let record = NamedRecord {
            position,
            record,
            is_unique: counts[keys.of(name)] == 1,
        };
        (id.as_str(), record)
    });
    named.collect()
}
