//! What is imported from Homarr, as records of Portico. They keep Homarr's ids.

use std::collections::{BTreeMap, HashMap, HashSet};

use portico_model::{App, ColorScheme, HomeBoards, Id, PICTURES, Timestamp};
use portico_storage::extras::pictures_in;
use portico_storage::{DefaultHome, Picture, ProviderSubject, SearchEngine, SecretHash, Share};
use serde_json::{Map, Value};

use crate::board::Board;
use crate::branding::Branding;
use crate::names::{MOST_OF_A_NAME, MOST_OF_A_SHORT, USERNAME, shortened};
use crate::report::{Kind, Report, What, counted};

/// The records, and the references between them.
///
/// Invariant, after [`Dashboard::drop_dangling`]: every reference leads to a record in it.
#[derive(Debug, Default)]
pub struct Dashboard {
    pub groups: Vec<Group>,
    pub users: Vec<User>,
    /// Memberships: user and group.
    pub memberships: Vec<(String, String)>,
    pub apps: Vec<App>,
    pub search_engines: Vec<SearchEngine>,
    pub boards: Vec<Board>,
    /// The home boards of those who have chosen none.
    pub default_homes: Vec<DefaultHome>,
    /// The board that people see first who are not signed in.
    pub start_board: Option<Id>,
    /// What the whole dashboard looks like.
    pub branding: Branding,
    pub keys: Vec<Key>,
    pub invites: Vec<Invite>,
    /// The pictures that icons and looks refer to, by id.
    pub pictures: BTreeMap<Id, Picture>,
    /// The records whose names are not Homarr's, because Homarr's names were missing or taken, or broke a rule.
    pub new_names: HashSet<(Kind, String)>,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub id: String,
    pub name: String,
    pub permissions: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct User {
    /// The fields that the component knows.
    pub user: portico_model::User,
    /// The colour scheme.
    pub color_scheme: ColorScheme,
    /// The bcrypt hash.
    pub password_hash: Option<String>,
    /// Who the user is at identity providers.
    pub subjects: Vec<ProviderSubject>,
    /// The preferences that Portico stores only for clients of Homarr, if they differ from the defaults.
    pub preferences: Map<String, Value>,
}

/// An API key, of whose secret only the hash is known.
#[derive(Clone, Debug)]
pub struct Key {
    pub id: String,
    pub user_id: String,
    /// Of bcrypt.
    pub hash: String,
}

/// An invite that is still valid.
#[derive(Clone, Debug)]
pub struct Invite {
    pub id: String,
    pub token: SecretHash,
    pub expires_at: Timestamp,
    pub creator_id: Option<String>,
}

impl Dashboard {
    /// Removes references to records that are not in it, and keys of users who are not in it, and notes each loss. If
    /// the app of a board's item is gone, the item is removed too.
    pub fn drop_dangling(&mut self, report: &mut Report) {
        let groups: HashMap<&str, &str> = self
            .groups
            .iter()
            .map(|group| (&group.id[..], &group.name[..]))
            .collect();
        let users: HashSet<&str> = self.users.iter().map(|user| &user.user.id[..]).collect();
        drop_memberships(&mut self.memberships, &users, &groups, report);
        let is_user = |id: &String| users.contains(&id[..]);
        let apps: HashSet<&str> = self.apps.iter().map(|app| &app.id[..]).collect();
        for board in &mut self.boards {
            let mut lost = Vec::new();
            if drop_unknown(&mut board.board.creator_id, is_user) {
                lost.push("its creator, who does not come along".to_owned());
            }
            let mut drop_shares = |with: &mut Vec<Share>, whom: &str, is_known: &dyn Fn(&String) -> bool| {
                let before = with.len();
                with.retain(|share| is_known(&share.id));
                match before - with.len() {
                    0 => {}
                    count => lost.push(format!(
                        "{} with {whom} who do not come along",
                        counted(count, "share")
                    )),
                }
            };
            drop_shares(&mut board.shares.users, "users", &is_user);
            drop_shares(&mut board.shares.groups, "groups", &|id| {
                groups.contains_key(&id[..])
            });
            let removed = board.change_apps(|mut ids| {
                ids.retain(|id| apps.contains(&id[..]));
                ids
            });
            if removed > 0 {
                lost.push(counted(removed, "place") + " of apps that do not come along");
            }
            for text in lost {
                let of = (&board.board.id[..], &board.board.name[..]);
                report.note_of(Kind::Board, of, What::Lost, text);
            }
        }
        self.keys.retain(|key| {
            let is_kept = is_user(&key.user_id);
            if !is_kept {
                report.leave_out(Kind::ApiKey, &key.id, "its user does not come along");
            }
            is_kept
        });
        for invite in &mut self.invites {
            if drop_unknown(&mut invite.creator_id, is_user) {
                let text = "its creator, who does not come along";
                report.note(Kind::Invite, &invite.id, What::Lost, text);
            }
        }
        let boards: HashSet<&str> = self.boards.iter().map(|board| &board.board.id[..]).collect();
        let engines: HashSet<&str> = self.search_engines.iter().map(|engine| &engine.id[..]).collect();
        drop_homes(&mut self.default_homes, &boards, &groups, report);
        if drop_unknown(&mut self.start_board, |id| boards.contains(&id[..])) {
            let text = "the board that people see first who are not signed in, which does not come along";
            report.note(Kind::Other, "", What::Lost, text);
        }
        for user in &mut self.users {
            let user = &mut user.user;
            for (reference, known, what) in [
                (&mut user.home_board_id, &boards, "home board"),
                (
                    &mut user.mobile_home_board_id,
                    &boards,
                    "home board on small screens",
                ),
                (&mut user.default_search_engine_id, &engines, "search engine"),
            ] {
                if drop_unknown(reference, |id| known.contains(&id[..])) {
                    let text = format!("its {what}, which does not come along");
                    report.note_of(Kind::User, (&user.id, &user.name), What::Lost, text);
                }
            }
        }
    }

    /// The pictures that its records refer to.
    pub fn used_pictures(&self) -> impl Iterator<Item = &Picture> {
        let icons = self.apps.iter().map(|app| &app.icon_url[..]);
        let icons = icons.chain(self.search_engines.iter().map(|engine| &engine.icon_url[..]));
        let icons = icons.filter_map(|url| url.strip_prefix(PICTURES));
        let icons = icons.chain(self.branding.logo.as_deref());
        let mut used: HashSet<String> = icons.map(str::to_owned).collect();
        for board in &self.boards {
            let looks = board.looks.values();
            let items = board.items.iter().map(|item| &item.kept);
            for kept in looks.chain(items) {
                used.extend(pictures_in(&kept.to_string()).into_iter().map(str::to_owned));
            }
        }
        let all = self.pictures.iter();
        all.filter(move |(id, _)| used.contains(&id[..]))
            .map(|(_, picture)| picture)
    }

    /// Every name whose key is needed to compare it, and the beginnings of names that are too long to get a number.
    pub fn names(&self) -> Vec<String> {
        let plain = self.groups.iter().map(|group| &group.name);
        let plain = plain.chain(self.boards.iter().map(|board| &board.board.name));
        let plain = plain.chain(self.search_engines.iter().map(|engine| &engine.name));
        let plain = plain.map(|name| (name, MOST_OF_A_NAME));
        let users = self.users.iter().map(|user| (&user.user.name, USERNAME.1));
        let shorts = self.search_engines.iter();
        let shorts = shorts.map(|engine| (&engine.short, MOST_OF_A_SHORT));
        let numbered = plain.chain(users).chain(shorts);
        let mut all: Vec<String> = self.apps.iter().map(|app| app.name.clone()).collect();
        for (name, most) in numbered {
            all.push(name.clone());
            let beginning = shortened(name, most);
            if beginning != name.trim() {
                all.push(beginning.to_owned());
            }
        }
        all
    }
}

/// Removes memberships of users or in groups that are not there. `groups` has their names by their ids.
fn drop_memberships(
    memberships: &mut Vec<(String, String)>,
    users: &HashSet<&str>,
    groups: &HashMap<&str, &str>,
    report: &mut Report,
) {
    let mut lost: BTreeMap<String, usize> = BTreeMap::new();
    memberships.retain(|(user, group)| {
        let is_kept = users.contains(&user[..]) && groups.contains_key(&group[..]);
        if !is_kept {
            *lost.entry(group.clone()).or_default() += 1;
        }
        is_kept
    });
    for (group, count) in lost {
        let (name, why) = match groups.get(&group[..]) {
            Some(name) => (*name, "of users who do not come along"),
            None => (&group[..], "in this group, which does not come along"),
        };
        let text = format!("{} {why}", counted(count, "membership"));
        report.note_of(Kind::Group, (&group, name), What::Lost, text);
    }
}

/// Removes home boards that are not there, and those of groups that are not there.
fn drop_homes(
    homes: &mut Vec<DefaultHome>,
    boards: &HashSet<&str>,
    groups: &HashMap<&str, &str>,
    report: &mut Report,
) {
    homes.retain_mut(|home| {
        let name = match &home.group_id {
            None => "",
            Some(id) => match groups.get(&id[..]) {
                Some(name) => *name,
                // The group itself is noted.
                None => return false,
            },
        };
        let of = (home.group_id.as_deref().unwrap_or_default(), name);
        let kind = home.group_id.as_ref().map_or(Kind::Other, |_| Kind::Group);
        let HomeBoards {
            home_board_id,
            mobile_home_board_id,
        } = &mut home.boards;
        for (board, what) in [
            (home_board_id, "home board"),
            (mobile_home_board_id, "home board on small screens"),
        ] {
            if drop_unknown(board, |id| boards.contains(&id[..])) {
                let whose = if kind == Kind::Group { "its" } else { "everyone's" };
                let text = format!("{whose} {what}, which does not come along");
                report.note_of(kind, of, What::Lost, text);
            }
        }
        home.boards != HomeBoards::default()
    });
}

/// Removes a reference to an unknown record. Returns whether it was one.
fn drop_unknown(reference: &mut Option<String>, is_known: impl Fn(&String) -> bool) -> bool {
    reference.take_if(|id| !is_known(id)).is_some()
}
