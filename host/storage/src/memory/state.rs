//! The records in memory, and their rules: names, references, cascades.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::audit::{AuditEntry, AuditRow};
use crate::boards::{Board, BoardItem};
use crate::dashboard_records::{
    ApiKey, DefaultHome, ExtrasOf, NewInvite, PasswordLink, SearchEngine, SecretHash, Session, Share, Shares,
};
use crate::driver::VIEW_ALL_BOARDS;
use crate::extras::pictures_in;
use crate::gate::AppGate;
use crate::looks::{Looks, NewPicture, PictureCount};
use crate::records::{
    ADMIN, Constraint, Error, NewUser, ProviderSubject, Result, StoredApp, UserFilter, Viewer,
};
use crate::second_factors::SecondFactor;
use portico_model::{Id, PICTURES, Provider};

/// Every record, by its id.
#[derive(Clone, Default)]
pub(super) struct State {
    pub users: BTreeMap<Id, NewUser>,
    /// The user of each subject of a provider.
    pub identities: BTreeMap<ProviderSubject, Id>,
    /// The users who are disabled.
    pub disabled: BTreeSet<Id>,
    pub groups: BTreeMap<Id, GroupRow>,
    /// By the id of the group; the empty one: everyone's.
    pub default_homes: BTreeMap<Id, DefaultHome>,
    pub keys: BTreeMap<Id, KeyRow>,
    /// How often each user's password was set; absent if never.
    pub password_versions: BTreeMap<Id, u64>,
    pub sessions: BTreeMap<Id, (Session, SecretHash)>,
    /// The hash of the pass of each session that has been at the gate, and that of the token that the session had then.
    pub gate_passes: BTreeMap<Id, (SecretHash, SecretHash)>,
    pub invites: BTreeMap<Id, (NewInvite, SecretHash)>,
    /// The link of each user who has one, its token, and the version of the password that it is to replace.
    pub password_links: BTreeMap<Id, (PasswordLink, SecretHash, u64)>,
    pub second_factors: BTreeMap<Id, SecondFactor>,
    /// The recovery codes that each user has left.
    pub recovery_codes: BTreeMap<Id, Vec<SecretHash>>,
    pub boards: BTreeMap<Id, BoardRow>,
    /// What clients store about users and boards.
    pub extras: BTreeMap<ExtrasOf, String>,
    pub search_engines: BTreeMap<Id, SearchEngineRow>,
    pub looks: Looks,
    pub pictures: BTreeMap<Id, Arc<NewPicture>>,
    pub apps: BTreeMap<Id, StoredApp>,
    /// What is kept of apps for the gate, where something is set.
    pub app_gates: BTreeMap<Id, AppGate>,
    /// In the order in which they were added.
    pub audit: Vec<Arc<AuditRow>>,
}

#[derive(Clone)]
pub(super) struct KeyRow {
    pub key: ApiKey,
    pub secret: SecretHash,
    /// The bcrypt hash, until its first use.
    pub imported: Option<String>,
}

#[derive(Clone)]
pub(super) struct GroupRow {
    pub name: String,
    pub name_key: String,
    pub permissions: BTreeSet<String>,
    pub members: BTreeSet<Id>,
}

impl GroupRow {
    /// A group without permissions or members.
    pub fn new(name: &str, name_key: &str) -> Self {
        Self {
            name: name.to_owned(),
            name_key: name_key.to_owned(),
            permissions: BTreeSet::new(),
            members: BTreeSet::new(),
        }
    }
}

#[derive(Clone)]
pub(super) struct BoardRow {
    pub board: Board,
    pub name_key: String,
    /// In the order of ids.
    pub shares: Shares,
}

impl BoardRow {
    /// Whether an app is among its items and their bookmarks.
    pub fn has(&self, app_id: &str) -> bool {
        self.board
            .items()
            .flat_map(BoardItem::app_ids)
            .any(|id| id == app_id)
    }
}

#[derive(Clone)]
pub(super) struct SearchEngineRow {
    pub engine: SearchEngine,
    pub name_key: String,
    pub short_key: String,
}

impl SearchEngineRow {
    pub fn new(engine: &SearchEngine, name_key: &str, short_key: &str) -> Self {
        Self {
            engine: engine.clone(),
            name_key: name_key.to_owned(),
            short_key: short_key.to_owned(),
        }
    }
}

impl State {
    pub fn add_audit(&mut self, entry: AuditEntry) -> Result<()> {
        let number = self.audit.last().map_or(1, |row| row.number + 1);
        self.audit.push(Arc::new(AuditRow { number, entry }));
        Ok(())
    }

    /// The permissions of a user from all groups.
    pub fn permissions(&self, user_id: &str) -> BTreeSet<&str> {
        let groups = self
            .groups
            .values()
            .filter(|group| group.members.contains(user_id));
        groups
            .flat_map(|group| &group.permissions)
            .map(String::as_str)
            .collect()
    }

    /// The groups that an invite gives: none if who made it may not give them now.
    pub fn groups_given_by(&self, invite: &NewInvite) -> Vec<Id> {
        let may_give = invite.creator_id.as_deref().is_none_or(|creator| {
            !self.disabled.contains(creator) && self.permissions(creator).contains(ADMIN)
        });
        let group_ids = may_give.then(|| invite.group_ids.clone());
        group_ids.unwrap_or_default()
    }

    /// Whether a user may view a board; `by_shares`: whatever their permissions are.
    pub fn can_view_board(&self, user_id: &str, by_shares: bool, board_id: &str) -> bool {
        let Some(row) = self.boards.get(board_id) else {
            return false;
        };
        let by_permission = || {
            let permissions = self.permissions(user_id);
            permissions.iter().any(|held| VIEW_ALL_BOARDS.contains(held))
        };
        row.board.board.is_public
            || row.board.board.creator_id.as_deref() == Some(user_id)
            || self.is_shared_with(row, user_id, |_| true)
            || !by_shares && by_permission()
    }

    pub fn can_change_board(&self, user_id: &str, board_id: &str) -> bool {
        self.boards.get(board_id).is_some_and(|row| {
            row.board.board.creator_id.as_deref() == Some(user_id)
                || self.is_shared_with(row, user_id, |share| share.may_change)
        })
    }

    /// Whether one of these shares of a board is with a user, or with a group of theirs.
    fn is_shared_with(&self, row: &BoardRow, user_id: &str, is_meant: impl Fn(&Share) -> bool) -> bool {
        let is_member = |group: &str| {
            let group = self.groups.get(group);
            group.is_some_and(|group| group.members.contains(user_id))
        };
        let Shares { users, groups } = &row.shares;
        users.iter().any(|share| is_meant(share) && share.id == user_id)
            || groups.iter().any(|share| is_meant(share) && is_member(&share.id))
    }

    /// Whether an app is on a board that this viewer may view.
    pub fn sees(&self, viewer: &Viewer, by_shares: bool, app_id: &str) -> bool {
        let mut boards = self.boards.values().filter(|row| row.has(app_id));
        match viewer {
            Viewer::Everything => true,
            Viewer::Anonymous => boards.any(|row| row.board.board.is_public),
            Viewer::User(id) => boards.any(|row| self.can_view_board(id, by_shares, &row.board.board.id)),
        }
    }

    /// How often this user's password was set.
    pub fn password_version(&self, user_id: &str) -> u64 {
        self.password_versions.get(user_id).copied().unwrap_or_default()
    }

    /// The users that a filter matches.
    pub fn matching_users(&self, filter: &UserFilter) -> impl Iterator<Item = &NewUser> {
        let contains = filter.name_contains.as_deref().unwrap_or_default();
        self.users.values().filter(move |row| {
            let user = &row.user;
            filter.provider.is_none_or(|provider| user.provider == provider)
                && row.name_key.contains(contains)
                && (filter.email.is_none() || user.email == filter.email)
                && filter
                    .disabled
                    .is_none_or(|disabled| self.disabled.contains(&user.id) == disabled)
        })
    }

    /// Fails if another user of this provider has this name.
    pub fn check_user_name(&self, id: &str, provider: Provider, name_key: &str) -> Result<()> {
        let mut users = self.users.values();
        let taken =
            users.any(|row| row.user.id != id && row.user.provider == provider && row.name_key == name_key);
        if taken {
            Err(Error::Constraint(Constraint::UserName))
        } else {
            Ok(())
        }
    }

    /// Fails if a record that is referred to does not exist.
    pub fn check_reference<'a, R>(
        records: &BTreeMap<Id, R>,
        ids: impl IntoIterator<Item = &'a Id>,
    ) -> Result<()> {
        if ids.into_iter().all(|id| records.contains_key(id)) {
            Ok(())
        } else {
            Err(Error::Constraint(Constraint::Reference))
        }
    }

    /// Fails if there is no such user, or if they are disabled.
    pub fn check_enabled(&self, user_id: &Id) -> Result<()> {
        if self.disabled.contains(user_id) {
            return Err(Error::Constraint(Constraint::Reference));
        }
        Self::check_reference(&self.users, [user_id])
    }

    pub fn remove_user(&mut self, id: &str) -> bool {
        self.identities.retain(|_, user_id| user_id != id);
        self.keys.retain(|_, row| row.key.user_id != id);
        self.sessions.retain(|_, (session, _)| session.user_id != id);
        self.invites
            .retain(|_, (invite, _)| invite.creator_id.as_deref() != Some(id));
        self.password_links
            .retain(|user_id, (link, ..)| user_id != id && link.creator_id.as_deref() != Some(id));
        self.second_factors.retain(|_, factor| factor.user_id != id);
        self.recovery_codes.remove(id);
        for group in self.groups.values_mut() {
            group.members.remove(id);
        }
        for row in self.boards.values_mut() {
            row.shares.users.retain(|share| share.id != id);
            clear(&mut row.board.board.creator_id, id);
        }
        for picture in self.pictures.values_mut() {
            if picture.uploader_id.as_deref() == Some(id) {
                Arc::make_mut(picture).uploader_id = None;
            }
        }
        self.password_versions.remove(id);
        self.disabled.remove(id);
        self.extras.remove(&ExtrasOf::User(id.to_owned()));
        self.users.remove(id).is_some()
    }

    pub fn remove_group(&mut self, id: &str) -> bool {
        for row in self.boards.values_mut() {
            row.shares.groups.retain(|share| share.id != id);
        }
        for (invite, _) in self.invites.values_mut() {
            invite.group_ids.retain(|group_id| group_id != id);
        }
        self.default_homes.remove(id);
        self.groups.remove(id).is_some()
    }

    pub fn remove_board(&mut self, id: &str) -> bool {
        for NewUser { user, .. } in self.users.values_mut() {
            clear(&mut user.home_board_id, id);
            clear(&mut user.mobile_home_board_id, id);
        }
        for DefaultHome { boards, .. } in self.default_homes.values_mut() {
            clear(&mut boards.home_board_id, id);
            clear(&mut boards.mobile_home_board_id, id);
        }
        clear(&mut self.looks.start_board, id);
        self.extras.remove(&ExtrasOf::Board(id.to_owned()));
        self.boards.remove(id).is_some()
    }

    pub fn remove_search_engine(&mut self, id: &str) -> bool {
        for NewUser { user, .. } in self.users.values_mut() {
            clear(&mut user.default_search_engine_id, id);
        }
        self.search_engines.remove(id).is_some()
    }

    /// The pictures that nothing uses.
    pub fn unused_pictures(&self) -> impl Iterator<Item = &NewPicture> {
        let apps = self.apps.values().map(|row| &row.app.icon_url);
        let engines = self.search_engines.values().map(|row| &row.engine.icon_url);
        let icons = apps.chain(engines).filter_map(|icon| icon.strip_prefix(PICTURES));
        let looks = [&self.looks.logo, &self.looks.wallpaper];
        let extras = self.extras.iter();
        let extras = extras.filter(|(of, _)| matches!(of, ExtrasOf::Board(_)));
        let of_boards = extras.flat_map(|(_, text)| pictures_in(text));
        let used: BTreeSet<&str> = icons
            .chain(looks.into_iter().flatten().map(String::as_str))
            .chain(of_boards)
            .collect();
        let unused = self.pictures.values().filter(move |one| !used.contains(&*one.id));
        unused.map(|picture| &**picture)
    }

    pub fn remove_app(&mut self, id: &str) -> bool {
        for row in self.boards.values_mut() {
            for section in &mut row.board.sections {
                section.items.retain_mut(|placed| match &mut placed.item {
                    BoardItem::App { app_id } => app_id != id,
                    BoardItem::Bookmarks { app_ids } => {
                        app_ids.retain(|app_id| app_id != id);
                        true
                    }
                    BoardItem::Note { .. } | BoardItem::Clock { .. } => true,
                });
            }
        }
        self.app_gates.remove(id);
        self.apps.remove(id).is_some()
    }
}

/// Adds a record with a new id.
pub(super) fn insert<R>(records: &mut BTreeMap<Id, R>, id: &str, record: R) -> Result<()> {
    if records.contains_key(id) {
        return Err(Error::Constraint(Constraint::Id));
    }
    records.insert(id.to_owned(), record);
    Ok(())
}

/// Clears a reference to a record that is removed.
fn clear(reference: &mut Option<Id>, id: &str) {
    if reference.as_deref() == Some(id) {
        *reference = None;
    }
}

/// Counts pictures.
pub(super) fn count<'a>(pictures: impl IntoIterator<Item = &'a NewPicture>) -> PictureCount {
    let mut count = PictureCount::default();
    for picture in pictures {
        count.pictures += 1;
        count.bytes += picture.picture.bytes.len() as u64;
    }
    count
}

/// Inserts a key. An imported one also has a bcrypt hash.
pub(super) fn insert_key(
    state: &mut State,
    key: &ApiKey,
    secret: &SecretHash,
    imported: Option<&str>,
) -> Result<()> {
    check_secret(state.keys.values().map(|row| &row.secret), secret)?;
    state.check_enabled(&key.user_id)?;
    let row = KeyRow {
        key: key.clone(),
        secret: *secret,
        imported: imported.map(str::to_owned),
    };
    insert(&mut state.keys, &key.id, row)
}

/// Fails if another record has this secret. Secrets are random, so two equal ones are a bug.
pub(super) fn check_secret<'a>(
    mut kept: impl Iterator<Item = &'a SecretHash>,
    secret: &SecretHash,
) -> Result<()> {
    if kept.any(|kept| kept == secret) {
        return Err(Error::Unavailable(
            "a new record has the secret of another".into(),
        ));
    }
    Ok(())
}
