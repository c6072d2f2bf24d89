//! Finds out which records are new in Portico, and what they refer to there.
//!
//! Rules:
//! - If a record's id is in Portico, the record there stays as it is. So a second import changes nothing.
//! - Otherwise, if its name is taken in Portico, it is joined with the record that has the name, which stays as it is.
//!   Users are first looked up by the person at the issuer, and never joined with a user who is or may be another
//!   person there.
//! - If the record with the name came with an earlier import under another id, the two are different, and the new one
//!   gets another name. So does a record whose name the import itself has made.
//! - A membership, a share and a key come along only if the import creates a record at one end of it, or joins the
//!   user: what was removed in Portico since an earlier import does not come back.

use std::collections::{HashMap, HashSet};

use portico_model::{HomeBoards, Id, Provider};
use portico_storage::DefaultHome;

use crate::branding::Branding;
use crate::dashboard::{Dashboard, Group};
use crate::fates::{All, Fate, Fates, Taken};
use crate::names::{self, Keys, MOST_OF_A_NAME, MOST_OF_A_SHORT, USERNAME, Used};
use crate::present::Present;
use crate::report::{Kind, Report, What, shown};

/// What an import writes: records that are new, and refer to records as they are in Portico afterwards.
#[derive(Debug, Default)]
pub struct Plan {
    /// The new records.
    pub new: Dashboard,
    /// Memberships: user and group.
    pub memberships: Vec<(String, String)>,
}

/// Plans the import. `keys` has the keys of [`Dashboard::names`]. Afterwards some records have new names.
pub fn merge(mut dashboard: Dashboard, present: &Present, keys: &Keys, report: &mut Report) -> Plan {
    let mut merge = Merge(All::of(&dashboard, present, keys));
    report.take_back(&merge.not_created(&dashboard));
    merge.rename(&mut dashboard, present, Renaming { keys, report });
    merge.count(&dashboard, report);
    merge.0.remove_left_out(&mut dashboard);
    dashboard.drop_dangling(report);
    report.take_back(&merge.not_created(&dashboard));
    merge.plan(dashboard, present, report)
}

struct Merge(All);

impl Merge {
    /// The records that are here already, or joined with one that is.
    fn not_created<'a>(&self, dashboard: &'a Dashboard) -> HashSet<(Kind, &'a str)> {
        let all = &self.0;
        let groups = dashboard.groups.iter();
        let groups = groups.map(|group| (Kind::Group, &all.groups, &group.id));
        let users = dashboard.users.iter();
        let users = users.map(|user| (Kind::User, &all.users, &user.user.id));
        let apps = dashboard.apps.iter();
        let apps = apps.map(|app| (Kind::App, &all.apps, &app.id));
        let engines = dashboard.search_engines.iter();
        let engines = engines.map(|engine| (Kind::SearchEngine, &all.engines, &engine.id));
        let boards = dashboard.boards.iter();
        let boards = boards.map(|board| (Kind::Board, &all.boards, &board.board.id));
        let records = groups.chain(users).chain(apps).chain(engines).chain(boards);
        let records = records.filter(|(_, fates, id)| fates.is_here(id));
        records.map(|(kind, _, id)| (kind, &id[..])).collect()
    }

    /// Gives new records other names if theirs are taken.
    fn rename(&mut self, dashboard: &mut Dashboard, present: &Present, mut renaming: Renaming<'_>) {
        let all = &mut self.0;
        let groups = dashboard.groups.iter_mut();
        let groups = groups.map(|group| Named::new(&group.id, None, &mut group.name));
        let here = present.groups.iter().map(|(_, key)| (None, key.clone()));
        renaming.rename(Kind::Group, &mut all.groups, groups.collect(), here.collect());
        let users = dashboard.users.iter_mut().map(|user| &mut user.user);
        let users = users.map(|user| Named::new(&user.id, Some(user.provider), &mut user.name));
        let here = present.users.iter();
        let here = here.map(|(_, provider, key)| (Some(*provider), key.clone()));
        renaming.rename(Kind::User, &mut all.users, users.collect(), here.collect());
        let boards = dashboard.boards.iter_mut().map(|board| &mut board.board);
        let boards = boards.map(|board| Named::new(&board.id, None, &mut board.name));
        let here = present.boards.iter().map(|(_, key)| (None, key.clone()));
        renaming.rename(Kind::Board, &mut all.boards, boards.collect(), here.collect());
        let engines = dashboard.search_engines.iter_mut();
        let engines = engines.map(|engine| Named::new(&engine.id, None, &mut engine.name));
        let here = present.search_engines.iter();
        let here = here.map(|(_, key, _)| (None, key.clone()));
        renaming.rename(
            Kind::SearchEngine,
            &mut all.engines,
            engines.collect(),
            here.collect(),
        );
        let shorts = dashboard.search_engines.iter_mut();
        let shorts = shorts.map(|engine| Named {
            most: MOST_OF_A_SHORT,
            ..Named::new(&engine.id, None, &mut engine.short)
        });
        let here = present.search_engines.iter();
        let here = here.map(|(_, _, key)| (None, key.clone()));
        all.engines.taken = std::mem::take(&mut all.shorts);
        renaming.rename(
            Kind::SearchEngine,
            &mut all.engines,
            shorts.collect(),
            here.collect(),
        );
    }

    /// Counts the records, and notes what collided.
    fn count(&self, dashboard: &Dashboard, report: &mut Report) {
        let all = &self.0;
        let groups = dashboard.groups.iter().map(|group| (&group.id, &group.name));
        let text = "a group of this name is here: it keeps its permissions, and new users join it";
        count(report, Kind::Group, &all.groups, groups, text);
        let users = dashboard
            .users
            .iter()
            .map(|user| (&user.user.id, &user.user.name));
        let text = "a user of this name, or for the same person, is here: it keeps its password, email and \
                    preferences, and gets what belongs to Homarr's user: memberships in new groups, boards, API keys";
        count(report, Kind::User, &all.users, users, text);
        let apps = dashboard.apps.iter().map(|app| (&app.id, &app.name));
        let text = "an app of this name is here: it stays as it is, and stands on Homarr's boards";
        count(report, Kind::App, &all.apps, apps, text);
        let engines = dashboard
            .search_engines
            .iter()
            .map(|engine| (&engine.id, &engine.name));
        let text = "a search engine of this name or short is here: it stays as it is";
        count(report, Kind::SearchEngine, &all.engines, engines, text);
        let boards = dashboard
            .boards
            .iter()
            .map(|board| (&board.board.id, &board.board.name));
        let text =
            "a board of this name is here: it stays as it is, and Homarr's items on it do not come along";
        count(report, Kind::Board, &all.boards, boards, text);
    }

    fn plan(&self, dashboard: Dashboard, present: &Present, report: &mut Report) -> Plan {
        let all = &self.0;
        let mut plan = Plan::default();
        for (user, group) in &dashboard.memberships {
            if all.users.is_new(user) || all.groups.is_new(group) {
                let ends = all.users.resolve(user).zip(all.groups.resolve(group));
                plan.memberships.extend(ends);
            }
        }
        plan.memberships.sort_unstable();
        plan.memberships.dedup();
        let new = &mut plan.new;
        *new = dashboard;
        let (keys, invites) = (std::mem::take(&mut new.keys), std::mem::take(&mut new.invites));
        new.memberships.clear();
        self.keep_homes(&mut new.default_homes, &new.groups, present, report);
        self.keep_start_board(&mut new.start_board, present, report);
        self.keep_branding(&mut new.branding, present, report);
        let has_home = new
            .default_homes
            .iter()
            .any(|home| home.boards != HomeBoards::default());
        let has_looks = new.start_board.is_some() || new.branding != Branding::default();
        report.sets_whole = has_home || has_looks;
        new.groups.retain(|group| all.groups.is_new(&group.id));
        new.apps.retain(|app| all.apps.is_new(&app.id));
        let engines = &mut new.search_engines;
        engines.retain(|engine| all.engines.is_new(&engine.id));
        let resolve = |fates: &Fates, reference: &mut Option<String>| {
            *reference = reference.take().and_then(|id| fates.resolve(&id));
        };
        new.users.retain(|user| all.users.is_new(&user.user.id));
        for user in new.users.iter_mut().map(|user| &mut user.user) {
            resolve(&all.boards, &mut user.home_board_id);
            resolve(&all.boards, &mut user.mobile_home_board_id);
            resolve(&all.engines, &mut user.default_search_engine_id);
        }
        new.boards.retain(|board| all.boards.is_new(&board.board.id));
        for board in &mut new.boards {
            resolve(&all.users, &mut board.board.creator_id);
            board.change_apps(|ids| all.apps.resolve_all(&ids));
            all.users.resolve_shares(&mut board.shares.users);
            all.groups.resolve_shares(&mut board.shares.groups);
        }
        for mut key in keys {
            if self.takes_secret(present, report, Kind::ApiKey, &key.id, Some(&key.user_id)) {
                key.user_id = all.users.resolve(&key.user_id).unwrap_or_default();
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
                resolve(&all.users, &mut invite.creator_id);
                plan.new.invites.push(invite);
            }
        }
        plan
    }

    /// Keeps the home boards of new groups, and everyone's unless some are chosen here, or were removed here since an
    /// earlier import.
    fn keep_homes(
        &self,
        homes: &mut Vec<DefaultHome>,
        groups: &[Group],
        present: &Present,
        report: &mut Report,
    ) {
        let all = &self.0;
        let names: HashMap<&str, &str> = groups
            .iter()
            .map(|group| (&group.id[..], &group.name[..]))
            .collect();
        homes.retain_mut(|home| {
            let boards = &mut home.boards;
            for board in [&mut boards.home_board_id, &mut boards.mobile_home_board_id] {
                *board = board.take().and_then(|id| all.boards.resolve(&id));
            }
            let Some(id) = &home.group_id else {
                let is_first = !self.is_repeated();
                if is_first && present.has_default_home {
                    let text = "everyone's home board: one is chosen here, which stays";
                    report.note(Kind::Other, "", What::Collided, text);
                }
                return is_first && !present.has_default_home;
            };
            if let Some(Fate::Joined(_)) = all.groups.of(id) {
                let name = names.get(&id[..]).copied().unwrap_or_default();
                let text =
                    "its home board does not come along, because the group that is here stays as it is";
                report.note(Kind::Group, name, What::Collided, text);
            }
            all.groups.is_new(id)
        });
    }

    /// Keeps the board for people who are not signed in, unless one is chosen here, or may have been removed here since
    /// an earlier import. If it is joined with a board here, that one has to be public, too.
    fn keep_start_board(&self, board: &mut Option<Id>, present: &Present, report: &mut Report) {
        let is_first = !self.is_repeated();
        if is_first && present.has_start_board && board.is_some() {
            let text =
                "the board that people see first who are not signed in: one is chosen here, which stays";
            report.note(Kind::Other, "", What::Collided, text);
        }
        let new = board.take().filter(|_| is_first && !present.has_start_board);
        *board = new.and_then(|id| self.0.boards.resolve(&id));
        if board.take_if(|id| present.private_boards.contains(id)).is_some() {
            let text = "the board that people see first who are not signed in: the board of its name here is not public";
            report.note(Kind::Other, "", What::Lost, text);
        }
    }

    /// Keeps the branding, unless looks are chosen here, or may have been removed here since an earlier import.
    fn keep_branding(&self, branding: &mut Branding, present: &Present, report: &mut Report) {
        let is_first = !self.is_repeated();
        if is_first && !present.has_looks {
            return;
        }
        if is_first && *branding != Branding::default() {
            let text = "the branding: looks are chosen here, which stay";
            report.note(Kind::Other, "", What::Collided, text);
        }
        *branding = Branding::default();
    }

    /// Whether something of this dashboard was imported before.
    fn is_repeated(&self) -> bool {
        let all = &self.0;
        [&all.users, &all.groups, &all.apps, &all.engines, &all.boards]
            .iter()
            .any(|fates| fates.has_present())
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
        let fate = user.and_then(|user| self.0.users.of(user));
        if fate == Some(&Fate::Present) {
            let why = "its user came along with an earlier import: it was deleted or used up since";
            report.leave_out(kind, id, why);
            return false;
        }
        // For a user who was there before any import, an earlier import leaves no trace except other records.
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

/// A record whose name may change.
struct Named<'a> {
    id: &'a str,
    provider: Option<Provider>,
    name: &'a mut String,
    /// The most characters of the name.
    most: usize,
}

impl<'a> Named<'a> {
    fn new(id: &'a str, provider: Option<Provider>, name: &'a mut String) -> Self {
        let most = if provider.is_some() {
            USERNAME.1
        } else {
            MOST_OF_A_NAME
        };
        Self {
            id,
            provider,
            name,
            most,
        }
    }
}

struct Renaming<'a> {
    keys: &'a Keys,
    report: &'a mut Report,
}

impl Renaming<'_> {
    /// Gives the new records of a kind other names if theirs are taken. `here` are the keys of the names in Portico.
    fn rename(
        &mut self,
        kind: Kind,
        fates: &mut Fates,
        records: Vec<Named<'_>>,
        here: HashSet<(Option<Provider>, String)>,
    ) {
        let taken: Taken = std::mem::take(&mut fates.taken);
        let mut used = Used::new(here);
        for record in &records {
            if fates.is_new(record.id) && !taken.contains_key(record.id) {
                used.take(record.provider, names::key(self.keys, record.name));
            }
        }
        for record in records {
            let Some(why) = taken.get(record.id) else {
                continue;
            };
            let new = used.numbered(record.provider, record.name, record.most, self.keys);
            let Some(new) = new else {
                fates.set(record.id, Fate::LeftOut(why));
                continue;
            };
            let text = format!("{why}: it is {:?} now", shown(&new));
            self.report.note(kind, record.name, What::Collided, text);
            *record.name = new;
        }
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
        match fates.of(id) {
            Some(Fate::New) | None => report.count(kind).created += 1,
            Some(Fate::Present) => report.count(kind).present += 1,
            Some(Fate::Joined(_)) => {
                report.count(kind).joined += 1;
                report.note(kind, name, What::Collided, collided);
            }
            Some(Fate::LeftOut(why)) => report.leave_out(kind, name, *why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branding_comes_along_also_where_no_record_is_new() {
        let named = || Dashboard {
            branding: Branding {
                name: Some("Casa".into()),
                ..Branding::default()
            },
            ..Dashboard::default()
        };
        let merged = |present: &Present| {
            let mut report = Report::default();
            let plan = merge(named(), present, &Keys::new(), &mut report);
            (plan.new.branding.name.is_some(), report.changes_anything())
        };
        assert_eq!(merged(&Present::default()), (true, true));
        let looks = Present {
            has_looks: true,
            ..Present::default()
        };
        assert_eq!(merged(&looks), (false, false));
    }
    #[test]
    fn the_board_for_people_who_are_not_signed_in_comes_along_unless_one_is_chosen_here() {
        let merged = |has_start_board: bool, boards: Vec<(String, String)>, private_boards: &[&str]| {
            let board = crate::Board {
                board: portico_storage::BoardSummary {
                    id: "hall".into(),
                    name: "Hall".into(),
                    slug: None,
                    is_public: true,
                    creator_id: None,
                },
                items: Vec::new(),
                parts: Vec::new(),
                shares: portico_storage::Shares::default(),
                layouts: Vec::new(),
                sections: Vec::new(),
                looks: serde_json::Map::new(),
            };
            let dashboard = Dashboard {
                boards: vec![board],
                start_board: Some("hall".into()),
                ..Dashboard::default()
            };
            let present = Present {
                has_start_board,
                boards,
                private_boards: private_boards.iter().map(|&id| id.to_owned()).collect(),
                ..Present::default()
            };
            let mut report = Report::default();
            let plan = merge(dashboard, &present, &Keys::new(), &mut report);
            let notes = report.notes.iter().filter(|note| note.kind == Kind::Other);
            let notes: Vec<_> = notes.map(|note| note.what).collect();
            (plan.new.start_board, notes)
        };
        let here = |id: &str| vec![(id.to_owned(), "Hall".to_owned())];
        assert_eq!(merged(false, vec![], &[]), (Some("hall".into()), vec![]));
        let joined = merged(false, here("own"), &["other"]);
        assert_eq!(joined, (Some("own".into()), vec![]));
        let joined_with_private = merged(false, here("own"), &["own"]);
        assert_eq!(joined_with_private, (None, vec![What::Lost]));
        assert_eq!(merged(true, vec![], &[]), (None, vec![What::Collided]));
        // It may have been removed since an earlier import.
        assert_eq!(merged(false, here("hall"), &[]), (None, vec![]));
    }
}
