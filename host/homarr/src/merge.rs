//! Which of the records are new in Portico, and what they refer to there.
//!
//! Rules:
//! - A record whose id is in Portico stays as it is there. So a second import changes nothing.
//! - Else a record whose name is taken there is joined with that one, which stays as it is. Users are first looked
//!   for by the person at the issuer.
//! - A membership, a share and a key come along only if the import creates a record at one end of it, or joins the
//!   user: what was removed in Portico since an earlier import does not come back.

use std::collections::{BTreeMap, HashMap, HashSet};

use portico_model::Provider;
use portico_storage::{BoardItem, ProviderSubject};

use crate::dashboard::Dashboard;
use crate::report::{Kind, Report, What};

/// The records of Portico, as far as new ones may collide with them.
#[derive(Debug, Default)]
pub struct Present {
    /// Groups: id and name-key.
    pub groups: Vec<(String, String)>,
    /// Users: id, provider and name-key.
    pub users: Vec<(String, Provider, String)>,
    /// The users that these people are.
    pub subjects: BTreeMap<ProviderSubject, String>,
    /// Apps: id and name-key.
    pub apps: Vec<(String, String)>,
    /// Search engines: id, and the name-keys of name and short.
    pub search_engines: Vec<(String, String, String)>,
    /// Boards: id and name-key.
    pub boards: Vec<(String, String)>,
    /// The ids of keys and invites.
    pub secrets: HashSet<String>,
    /// The ids of disabled users, who can have no keys.
    pub disabled: HashSet<String>,
}

/// What an import writes: records that are new, and refer to records as they are in Portico afterwards.
#[derive(Debug, Default)]
pub struct Plan {
    /// The new records.
    pub new: Dashboard,
    /// Memberships: user and group.
    pub memberships: Vec<(String, String)>,
}

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    New,
    /// It is there under its id.
    Present,
    /// It is taken for this one.
    Joined(String),
}

/// What becomes of the records of a kind, by id.
type Fates = HashMap<String, Fate>;

/// Where a reference to a record leads in Portico.
fn resolve(fates: &Fates, id: &str) -> Option<String> {
    match fates.get(id)? {
        Fate::New | Fate::Present => Some(id.to_owned()),
        Fate::Joined(other) => Some(other.clone()),
    }
}

/// Plans the import. `keys` holds the name-key of every name in the dashboard.
pub fn merge(
    dashboard: Dashboard,
    present: &Present,
    keys: &HashMap<String, String>,
    report: &mut Report,
) -> Plan {
    let key = |name: &str| {
        let name = name.trim();
        keys.get(name).cloned().unwrap_or_else(|| name.to_owned())
    };
    let groups = {
        let imported = dashboard.groups.iter().map(|group| (&group.id, key(&group.name)));
        let there = present.groups.iter().map(|(id, key)| (id, key.clone()));
        fates(imported, there)
    };
    let users = {
        let imported = dashboard
            .users
            .iter()
            .map(|user| (&user.user.id, (user.user.provider, key(&user.user.name))));
        let there = present
            .users
            .iter()
            .map(|(id, provider, key)| (id, (*provider, key.clone())));
        let mut fates = fates(imported, there);
        join_by_subject(&dashboard, present, &mut fates);
        fates
    };
    let mut apps = {
        let imported = dashboard.apps.iter().map(|app| (&app.id, key(&app.name)));
        let there = present.apps.iter().map(|(id, key)| (id, key.clone()));
        fates(imported, there)
    };
    join_each_app_once(&dashboard, present, &mut apps);
    let engines = {
        let imported = dashboard
            .search_engines
            .iter()
            .map(|engine| (&engine.id, key(&engine.name)));
        let there = present
            .search_engines
            .iter()
            .map(|(id, key, _)| (id, key.clone()));
        let mut fates = fates(imported, there);
        let imported = dashboard
            .search_engines
            .iter()
            .map(|engine| (&engine.id, key(&engine.short)));
        let there = present
            .search_engines
            .iter()
            .map(|(id, _, key)| (id, key.clone()));
        for (id, fate) in self::fates(imported, there) {
            let by_name = fates.entry(id).or_insert(Fate::New);
            if *by_name == Fate::New {
                *by_name = fate;
            }
        }
        fates
    };
    let boards = {
        let imported = dashboard
            .boards
            .iter()
            .map(|(board, _)| (&board.board.id, key(&board.board.name)));
        let there = present.boards.iter().map(|(id, key)| (id, key.clone()));
        fates(imported, there)
    };
    let merge = Merge {
        groups,
        users,
        apps,
        engines,
        boards,
    };
    merge.count(&dashboard, report);
    merge.plan(dashboard, present, report)
}

/// What becomes of records with these ids and keys, where these are there already.
fn fates<'a, K: std::hash::Hash + Eq>(
    imported: impl Iterator<Item = (&'a String, K)> + Clone,
    there: impl Iterator<Item = (&'a String, K)>,
) -> Fates {
    let ids: HashSet<&String> = imported.clone().map(|(id, _)| id).collect();
    let mut present = HashSet::new();
    // Not those that are imported themselves: they came with an earlier import.
    let mut by_key: HashMap<K, &String> = HashMap::new();
    for (id, key) in there {
        present.insert(id);
        if !ids.contains(id) {
            by_key.entry(key).or_insert(id);
        }
    }
    imported
        .map(|(id, key)| {
            let fate = match by_key.get(&key) {
                _ if present.contains(id) => Fate::Present,
                Some(other) => Fate::Joined((*other).clone()),
                None => Fate::New,
            };
            (id.clone(), fate)
        })
        .collect()
}

/// A new user whose person at the issuer is a user of Portico is that user.
fn join_by_subject(dashboard: &Dashboard, present: &Present, fates: &mut Fates) {
    for user in &dashboard.users {
        let known = user
            .subjects
            .iter()
            .find_map(|subject| present.subjects.get(subject));
        if let (Some(known), Some(fate)) = (known, fates.get_mut(&user.user.id))
            && *fate != Fate::Present
        {
            *fate = Fate::Joined(known.clone());
        }
    }
}

/// Names of apps are not unique: an app of Portico is taken for one of Homarr's only.
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
        let Some(fate) = fates.get_mut(&app.id) else {
            continue;
        };
        if let Fate::Joined(other) = fate {
            let is_only_one = key_of.get(&*other).and_then(|key| same.get(key)) == Some(&1);
            if !is_only_one || !joined.insert(other.clone()) {
                *fate = Fate::New;
            }
        }
    }
}

struct Merge {
    groups: Fates,
    users: Fates,
    apps: Fates,
    engines: Fates,
    boards: Fates,
}

impl Merge {
    /// Counts, and notes what collided.
    fn count(&self, dashboard: &Dashboard, report: &mut Report) {
        let groups = dashboard.groups.iter().map(|group| (&group.id, &group.name));
        let text = "a group of this name is here: it keeps its permissions, and new users join it";
        count(report, Kind::Group, &self.groups, groups, text);
        let users = dashboard
            .users
            .iter()
            .map(|user| (&user.user.id, &user.user.name));
        let text = "a user of this name, or for the same person, is here: it keeps its password, email and \
                    preferences, and gets what belongs to Homarr's user: memberships in new groups, boards, API keys";
        count(report, Kind::User, &self.users, users, text);
        let apps = dashboard.apps.iter().map(|app| (&app.id, &app.name));
        let text = "an app of this name is here: it stays as it is, and stands on Homarr's boards";
        count(report, Kind::App, &self.apps, apps, text);
        let engines = dashboard
            .search_engines
            .iter()
            .map(|engine| (&engine.id, &engine.name));
        let text = "a search engine of this name or short is here: it stays as it is";
        count(report, Kind::SearchEngine, &self.engines, engines, text);
        let boards = dashboard
            .boards
            .iter()
            .map(|(board, _)| (&board.board.id, &board.board.name));
        let text =
            "a board of this name is here: it stays as it is, and Homarr's items on it do not come along";
        count(report, Kind::Board, &self.boards, boards, text);
    }

    fn plan(&self, dashboard: Dashboard, present: &Present, report: &mut Report) -> Plan {
        let is_new = |fates: &Fates, id: &String| fates.get(id) == Some(&Fate::New);
        let resolve_all = |fates: &Fates, ids: Vec<String>| -> Vec<String> {
            let mut resolved: Vec<_> = ids.iter().filter_map(|id| resolve(fates, id)).collect();
            let mut seen = HashSet::new();
            resolved.retain(|id| seen.insert(id.clone()));
            resolved
        };
        let mut plan = Plan::default();
        for user in &dashboard.users {
            let user_is_new = is_new(&self.users, &user.user.id);
            for group in &user.groups {
                let ends = resolve(&self.users, &user.user.id).zip(resolve(&self.groups, group));
                if user_is_new || is_new(&self.groups, group) {
                    plan.memberships.extend(ends);
                }
            }
        }
        plan.memberships.sort_unstable();
        plan.memberships.dedup();
        let Dashboard {
            groups,
            users,
            apps,
            search_engines,
            boards,
            keys,
            invites,
        } = dashboard;
        let groups = groups.into_iter().filter(|group| is_new(&self.groups, &group.id));
        plan.new.groups = groups.collect();
        let users = users
            .into_iter()
            .filter(|user| is_new(&self.users, &user.user.id));
        let users = users.map(|mut user| {
            for board in [&mut user.user.home_board_id, &mut user.user.mobile_home_board_id] {
                *board = board.as_ref().and_then(|id| resolve(&self.boards, id));
            }
            let engine = &mut user.user.default_search_engine_id;
            *engine = engine.as_ref().and_then(|id| resolve(&self.engines, id));
            user
        });
        plan.new.users = users.collect();
        plan.new.apps = apps
            .into_iter()
            .filter(|app| is_new(&self.apps, &app.id))
            .collect();
        let engines = search_engines.into_iter();
        plan.new.search_engines = engines
            .filter(|engine| is_new(&self.engines, &engine.id))
            .collect();
        for (mut board, mut shares) in boards {
            if !is_new(&self.boards, &board.board.id) {
                continue;
            }
            let creator = board.board.creator_id.take();
            board.board.creator_id = creator.and_then(|id| resolve(&self.users, &id));
            for item in &mut board.items {
                match item {
                    BoardItem::App { app_id } => {
                        if let Some(id) = resolve(&self.apps, app_id) {
                            *app_id = id;
                        }
                    }
                    BoardItem::Bookmarks { app_ids } => {
                        *app_ids = resolve_all(&self.apps, std::mem::take(app_ids));
                    }
                }
            }
            shares.users = resolve_all(&self.users, shares.users);
            shares.groups = resolve_all(&self.groups, shares.groups);
            plan.new.boards.push((board, shares));
        }
        for mut key in keys {
            if self.takes_secret(present, report, Kind::ApiKey, &key.id, Some(&key.user_id)) {
                key.user_id = resolve(&self.users, &key.user_id).unwrap_or_default();
                plan.new.keys.push(key);
            }
        }
        for mut invite in invites {
            if self.takes_secret(
                present,
                report,
                Kind::Invite,
                &invite.id,
                invite.creator_id.as_ref(),
            ) {
                invite.creator_id = invite.creator_id.and_then(|id| resolve(&self.users, &id));
                plan.new.invites.push(invite);
            }
        }
        plan
    }

    /// Whether something of this dashboard was imported before.
    fn is_repeated(&self) -> bool {
        [&self.users, &self.groups, &self.apps, &self.engines, &self.boards]
            .iter()
            .any(|fates| fates.values().any(|fate| *fate == Fate::Present))
    }

    /// Whether a key or an invite of this user is new.
    fn takes_secret(
        &self,
        present: &Present,
        report: &mut Report,
        kind: Kind,
        id: &str,
        user: Option<&String>,
    ) -> bool {
        if present.secrets.contains(id) {
            report.count(kind).present += 1;
            return false;
        }
        let fate = user.and_then(|user| self.users.get(user));
        if fate == Some(&Fate::Present) {
            let why = "its user came along with an earlier import: it was deleted or used up since";
            report.leave_out(kind, id, why);
            return false;
        }
        // Of a user who was there before any import, an earlier import leaves no trace but other records.
        if fate != Some(&Fate::New) && self.is_repeated() {
            let why = "records of this dashboard came along with an earlier import: it may have been deleted or used up since";
            report.leave_out(kind, id, why);
            return false;
        }
        if let Some(Fate::Joined(user)) = fate
            && kind == Kind::ApiKey
            && present.disabled.contains(user)
        {
            report.leave_out(kind, id, "its user is disabled");
            return false;
        }
        report.count(kind).created += 1;
        true
    }
}

fn count<'a>(
    report: &mut Report,
    kind: Kind,
    fates: &Fates,
    records: impl Iterator<Item = (&'a String, &'a String)>,
    collided: &str,
) {
    for (id, name) in records {
        match fates.get(id) {
            Some(Fate::New) | None => report.count(kind).created += 1,
            Some(Fate::Present) => report.count(kind).present += 1,
            Some(Fate::Joined(_)) => {
                report.count(kind).joined += 1;
                report.note(kind, name, What::Collided, collided);
            }
        }
    }
}
