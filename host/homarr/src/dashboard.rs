//! What comes along from Homarr, as records of Portico. They keep Homarr's ids.

use std::collections::HashSet;

use portico_model::{App, ColorScheme, Timestamp};
use portico_storage::{Board, BoardItem, ProviderSubject, SearchEngine, SecretHash, Shares};

use crate::report::{Kind, Report};

/// The records, and the references between them.
///
/// Invariant, after [`Dashboard::drop_dangling`]: every reference leads to a record in it.
#[derive(Debug, Default)]
pub struct Dashboard {
    /// Groups.
    pub groups: Vec<Group>,
    /// Users.
    pub users: Vec<User>,
    /// Apps.
    pub apps: Vec<App>,
    /// Search engines.
    pub search_engines: Vec<SearchEngine>,
    /// Boards with their items, and whom they are shared with.
    pub boards: Vec<(Board, Shares)>,
    /// API keys.
    pub keys: Vec<Key>,
    /// Invites.
    pub invites: Vec<Invite>,
}

/// A group.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Group {
    pub id: String,
    pub name: String,
    pub permissions: Vec<String>,
}

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    /// The fields that the component knows.
    pub user: portico_model::User,
    /// The colour scheme.
    pub color_scheme: ColorScheme,
    /// The hash of bcrypt.
    pub password_hash: Option<String>,
    /// Who the user is at identity providers.
    pub subjects: Vec<ProviderSubject>,
    /// The ids of the groups that the user is in.
    pub groups: Vec<String>,
}

/// An API key, whose secret is known by its hash only.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Key {
    pub id: String,
    pub user_id: String,
    /// Of bcrypt.
    pub hash: String,
}

/// An invite that is still good.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Invite {
    pub id: String,
    pub token: SecretHash,
    pub expires_at: Timestamp,
    pub creator_id: Option<String>,
}

impl Dashboard {
    /// Removes references to records that are not in it, and keys of users who are not in it. An item of a board
    /// whose app is gone goes with it.
    pub fn drop_dangling(&mut self, report: &mut Report) {
        let groups: HashSet<String> = self.groups.iter().map(|group| group.id.clone()).collect();
        let users: HashSet<String> = self.users.iter().map(|user| user.user.id.clone()).collect();
        let apps: HashSet<String> = self.apps.iter().map(|app| app.id.clone()).collect();
        let engines: HashSet<String> = self
            .search_engines
            .iter()
            .map(|engine| engine.id.clone())
            .collect();
        let boards: HashSet<String> = self
            .boards
            .iter()
            .map(|(board, _)| board.board.id.clone())
            .collect();
        for user in &mut self.users {
            user.groups.retain(|group| groups.contains(group));
            keep_known(&mut user.user.home_board_id, &boards);
            keep_known(&mut user.user.mobile_home_board_id, &boards);
            keep_known(&mut user.user.default_search_engine_id, &engines);
        }
        for (board, shares) in &mut self.boards {
            keep_known(&mut board.board.creator_id, &users);
            shares.users.retain(|user| users.contains(user));
            shares.groups.retain(|group| groups.contains(group));
            board.items.retain_mut(|item| match item {
                BoardItem::App { app_id } => apps.contains(app_id),
                BoardItem::Bookmarks { app_ids } => {
                    app_ids.retain(|app| apps.contains(app));
                    true
                }
            });
        }
        self.keys.retain(|key| {
            let is_kept = users.contains(&key.user_id);
            if !is_kept {
                report.leave_out(Kind::ApiKey, &key.id, "its user does not come along");
            }
            is_kept
        });
        for invite in &mut self.invites {
            keep_known(&mut invite.creator_id, &users);
        }
    }

    /// Every name whose key is needed to compare it.
    pub fn names(&self) -> Vec<String> {
        let groups = self.groups.iter().map(|group| &group.name);
        let users = self.users.iter().map(|user| &user.user.name);
        let apps = self.apps.iter().map(|app| &app.name);
        let engines = self.search_engines.iter();
        let engines = engines.flat_map(|engine| [&engine.name, &engine.short]);
        let boards = self.boards.iter().map(|(board, _)| &board.board.name);
        let all = groups.chain(users).chain(apps).chain(engines).chain(boards);
        all.cloned().collect()
    }
}

fn keep_known(reference: &mut Option<String>, known: &HashSet<String>) {
    if reference.as_ref().is_some_and(|id| !known.contains(id)) {
        *reference = None;
    }
}
