//! What Portico asks of storage where it is the dashboard itself.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use crate::audit::{AuditEntry, AuditFilter, AuditPrune, AuditRow};
use crate::boards::{Board, BoardSummary};
use crate::context::CallContext;
use crate::dashboard_records::{
    ApiKey, Credential, CredentialKey, DefaultHome, ExtrasOf, Group, HeldInvite, Invite, Named, NamedShares,
    NewInvite, PasswordLink, SearchEngine, SecretHash, Session, SessionUser, Shares,
};
use crate::gate::{AppGate, AppPlace, GateVisitor};
use crate::looks::{Looks, NewPicture, Picture, PictureCount, VisibilityInForce};
use crate::records::{Access, ProviderSubject, Result, Viewer};
use crate::second_factors::SecondFactor;
use crate::seen::{AppBoards, First, FirstShares, SeenThrough};
use crate::storage::{Storage, Transaction};
use portico_model::{FactorKind, HomeBoards, Provider, Timestamp};

/// Opens transactions on everything that Portico keeps.
#[async_trait]
pub trait DashboardStorage: Storage {
    /// Begins a transaction. It may wait until other write transactions have ended.
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>>;

    /// Fails if changes cannot be stored at this moment, as far as is known without making one.
    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// One transaction on everything that Portico keeps.
///
/// Where `insert_…` and `update_…` return a bool, it is false if another record has the name, and for `update_…` also
/// if there is no such record. A reference to a missing record is `Error::Constraint(Constraint::Reference)`.
#[async_trait]
pub trait DashboardTransaction: Transaction {
    /// Finds a key or a session, with its user's permissions. Every request calls this, so it should be one statement.
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>>;
    /// The user of a session, with their permissions.
    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>>;

    /// Stores a new key. `reference`: its user does not exist, or is disabled.
    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()>;
    /// Stores a key of which only the bcrypt hash is known, until its first use. `secret` is a hash to which no secret
    /// is known. `reference`: its user does not exist, or is disabled.
    async fn import_key(&mut self, key: &ApiKey, secret: &SecretHash, imported: &str) -> Result<()>;
    /// Replaces the hash of an imported key; false if the key no longer has this bcrypt hash.
    async fn adopt_key(&mut self, id: &str, imported: &str, secret: &SecretHash) -> Result<bool>;
    /// The keys of this user, or all, by id.
    async fn list_keys(&mut self, user_id: Option<&str>) -> Result<Vec<ApiKey>>;
    /// Removes a key; false if there is no such key.
    async fn delete_key(&mut self, id: &str) -> Result<bool>;
    /// Stores when a key was last used.
    async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()>;

    /// Stores a new session.
    async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()>;
    /// A user's sessions by id, including those that have expired.
    async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>>;
    /// Stores when a session was last used, and when it now expires.
    async fn touch_session(&mut self, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()>;
    /// Removes a session; false if there is no such session.
    async fn delete_session(&mut self, id: &str) -> Result<bool>;
    /// Removes the sessions of a user except this one, and returns how many it removed. For the audit log, it changes
    /// the user.
    async fn delete_other_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64>;
    /// Removes sessions that have expired, at most [`MOST_EXPIRED`](crate::driver::MOST_EXPIRED) of them: each sign-in
    /// does so, and must not take longer because hosts were off for a while.
    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()>;

    /// Stores a new invite. `reference`: one of its groups, or the creator, does not exist.
    ///
    /// The user whom a transaction inserts after it has taken the invite joins those of its groups that are still there, if
    /// who made it is an enabled administrator then, or the operator.
    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()>;
    /// The invite with this id and this token, whether it has expired or not.
    async fn find_invite(&mut self, id: &str, token: &SecretHash) -> Result<Option<HeldInvite>>;
    /// As `take_invite`, by the hash of the token: removes the invite if it is there, has this token, and expires later than
    /// `now`.
    async fn take_held_invite(&mut self, id: &str, token: &SecretHash, now: Timestamp) -> Result<bool>;
    /// All invites by expiration date, then id.
    async fn list_invites(&mut self) -> Result<Vec<Invite>>;
    /// Removes an invite; false if there is no such invite.
    async fn delete_invite(&mut self, id: &str) -> Result<bool>;

    /// Stores a link with which a user sets a new password, in place of the user's earlier one. `reference`: the user or
    /// the creator does not exist, or the user is disabled.
    async fn put_password_link(&mut self, link: &PasswordLink, token: &SecretHash) -> Result<()>;
    /// The id of the user whose link has this token; `None` if there is no such link, if it has expired, if the user has
    /// set a password or was disabled since, or if the user who made it is not an enabled administrator now.
    async fn find_password_link(&mut self, token: &SecretHash, now: Timestamp) -> Result<Option<String>>;
    /// Removes a user's link; false if there is none.
    async fn delete_password_link(&mut self, user_id: &str) -> Result<bool>;

    /// Stores a new second factor. False if another has its handle, or if it is of codes and its user has one of codes.
    /// `reference`: its user does not exist, or is disabled.
    async fn insert_second_factor(&mut self, factor: &SecondFactor) -> Result<bool>;
    /// A user's second factors by id.
    async fn list_second_factors(&mut self, user_id: &str) -> Result<Vec<SecondFactor>>;
    /// The passkey with this handle.
    async fn find_passkey(&mut self, handle: &str) -> Result<Option<SecondFactor>>;
    /// Notes that a second factor was used now, and its counter. False if there is no such factor, or if its counter is not
    /// lower: of several calls with the same counter, one returns true.
    async fn advance_second_factor(&mut self, id: &str, counter: u64, now: Timestamp) -> Result<bool>;
    /// Notes that a second factor was used now, with what it is checked with from now on; false if there is no such factor.
    async fn update_second_factor(
        &mut self,
        id: &str,
        data: &str,
        counter: u64,
        now: Timestamp,
    ) -> Result<bool>;
    /// Renames a second factor of this user; false if they have no such factor. For the audit log, it changes the user.
    async fn rename_second_factor(&mut self, user_id: &str, id: &str, name: &str) -> Result<bool>;
    /// Removes a second factor; false if there is no such factor. For the audit log, it changes the user.
    async fn delete_second_factor(&mut self, user_id: &str, id: &str) -> Result<bool>;
    /// The id of each user with a second factor, with each kind that they have, by id and then by the kind's name.
    async fn list_second_factor_owners(&mut self) -> Result<Vec<(String, FactorKind)>>;
    /// Replaces a user's recovery codes. `reference`: there is no such user.
    async fn set_recovery_codes(&mut self, user_id: &str, codes: &[SecretHash]) -> Result<()>;
    /// Removes a recovery code; false if the user has no such code. Of several calls with the same code, one returns true.
    async fn take_recovery_code(&mut self, user_id: &str, code: &SecretHash) -> Result<bool>;
    /// How many recovery codes a user has left.
    async fn count_recovery_codes(&mut self, user_id: &str) -> Result<u64>;

    /// Creates a group without permissions or members.
    async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool>;
    /// Renames a group.
    async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool>;
    /// All groups by name; permissions in order, members by name.
    async fn list_groups(&mut self) -> Result<Vec<Group>>;
    /// The id of the group with this name-key.
    async fn find_group(&mut self, name_key: &str) -> Result<Option<String>>;
    /// The id and the name-key of every group, by id.
    async fn list_group_keys(&mut self) -> Result<Vec<(String, String)>>;
    /// The ids of the groups that a user is in, in order.
    async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>>;
    /// The groups that have at least one of these permissions: the first by name, and how many.
    async fn list_groups_with(&mut self, permissions: &[String], most: u32) -> Result<First<Named>>;
    /// The home boards of those who have chosen none: first everyone's, then those of groups, by their ids.
    async fn list_default_homes(&mut self) -> Result<Vec<DefaultHome>>;
    /// Those that apply to a user, or to someone who is not signed in: of their groups, by the groups' names, at most
    /// [`MOST_DEFAULT_HOMES`](crate::driver::MOST_DEFAULT_HOMES); then everyone's.
    async fn list_default_homes_of(&mut self, user_id: Option<&str>) -> Result<Vec<HomeBoards>>;
    /// Sets the home boards of a group's members who have chosen none, or of everyone; false if there is no such group.
    /// `reference`: there is no such board.
    async fn set_default_home(&mut self, home: &DefaultHome) -> Result<bool>;
    /// Removes a group; false if there is no such group.
    async fn delete_group(&mut self, id: &str) -> Result<bool>;
    /// Replaces a group's permissions; false if there is no such group.
    async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool>;
    /// Ends a membership; false if there is no such membership.
    async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool>;

    /// Creates a board with what is on it; false also if another has its slug.
    async fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool>;
    /// Replaces a board with what is on it; false also if another has its slug. Its shares stay.
    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool>;
    /// Whether this user has made the board, or a share lets them change it.
    async fn can_change_board(&mut self, user_id: &str, board_id: &str) -> Result<bool>;
    /// All boards by name, without what is on them.
    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>>;
    /// The boards that this user may view, by name, without what is on them; for `None`, those that everyone may view.
    async fn list_visible_boards(&mut self, user_id: Option<&str>) -> Result<Vec<BoardSummary>>;
    /// Those of these boards that this user may view, or everyone if there is no user.
    async fn list_viewed(&mut self, user_id: Option<&str>, board_ids: &[String]) -> Result<BTreeSet<String>>;
    /// The boards that this user has made, or that a share lets them change, by name, without what is on them.
    async fn list_changeable_boards(&mut self, user_id: &str) -> Result<Vec<BoardSummary>>;
    /// The boards on which this app is, as an item or in bookmarks: the first by name, and how many.
    async fn list_boards_with(&mut self, app_id: &str, most: u32) -> Result<AppBoards>;
    /// With whom these boards are shared: of each the first users and groups by name, and how many, by the id of the
    /// board. Boards that are not shared are left out.
    async fn list_first_shares(
        &mut self,
        board_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, FirstShares>>;
    /// Through which boards this user sees these apps: of each the first boards by name, and how many, by the id of the app.
    /// Apps that are not on a board that the user may view are left out.
    async fn list_seen_through(
        &mut self,
        user_id: &str,
        app_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, First<SeenThrough>>>;
    /// A board with what is on it.
    async fn get_board(&mut self, id: &str) -> Result<Option<Board>>;
    /// The id of the board with this slug.
    async fn find_board(&mut self, slug: &str) -> Result<Option<String>>;
    /// Whom a board is shared with.
    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>>;
    /// The same with names.
    async fn get_named_shares(&mut self, board_id: &str) -> Result<Option<NamedShares>>;
    /// Replaces whom a board is shared with; false if there is no such board. Of two shares with the same user or group,
    /// the first counts.
    async fn share_board(&mut self, id: &str, shares: &Shares) -> Result<bool>;
    /// Removes a board; false if there is no such board.
    async fn delete_board(&mut self, id: &str) -> Result<bool>;

    /// Whether these apps exist, each id once, and this viewer sees all of them.
    async fn sees_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<bool>;

    /// The first of these apps, by id, that this viewer sees.
    async fn find_seen_app(&mut self, ids: &[String], viewer: &Viewer) -> Result<Option<String>>;
    /// The first of these apps, by id, that is open and on a public board.
    async fn find_open_app(&mut self, ids: &[String]) -> Result<Option<String>>;
    /// Where all apps are that have a link or further addresses, by id.
    async fn list_app_places(&mut self) -> Result<Vec<AppPlace>>;
    /// What is kept of apps for the gate, where something is set, by id.
    async fn list_app_gates(&mut self) -> Result<Vec<AppGate>>;
    /// What is kept of an app for the gate; `None` if there is no such app.
    async fn get_app_gate(&mut self, app_id: &str) -> Result<Option<AppGate>>;
    /// Replaces what is kept of an app for the gate; false if there is no such app.
    async fn set_app_gate(&mut self, gate: &AppGate) -> Result<bool>;
    /// Stores the hash of the pass with which the user of a session comes to the gate, in place of an earlier one. It is
    /// good as long as the session has the token with this hash. False if there is no such session.
    async fn put_gate_pass(
        &mut self,
        session_id: &str,
        token: &SecretHash,
        pass: &SecretHash,
    ) -> Result<bool>;
    /// The user with this pass, whether their session has expired or not. Every request of every app calls this, so it
    /// should be one statement.
    async fn find_gate_visitor(&mut self, pass: &SecretHash) -> Result<Option<GateVisitor>>;

    /// The subject of a user at this identity provider; `None` if no person there is linked to the user.
    async fn get_subject(&mut self, user_id: &str, provider: Provider) -> Result<Option<String>>;

    /// The users who are linked to a person at this identity provider, by id, each with the person's subject.
    async fn list_subjects(&mut self, provider: Provider) -> Result<Vec<(Named, String)>>;
    /// Links a user to another person at the provider, instead of the present one; false if the user is not linked to a
    /// person there. `identity`: another user is linked to that person.
    async fn replace_subject(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<bool>;

    /// What clients store about a user or a board; `None` if they store nothing, or if there is no such record.
    async fn get_extras(&mut self, of: &ExtrasOf) -> Result<Option<String>>;
    /// Replaces what clients store about a user or a board, or removes it; false if there is no such record.
    async fn set_extras(&mut self, of: &ExtrasOf, extras: Option<&str>) -> Result<bool>;

    /// Creates a search engine; false also if another has its short.
    async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool>;
    /// Replaces a search engine; false also if another has its short.
    async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool>;
    /// A search engine.
    async fn get_search_engine(&mut self, id: &str) -> Result<Option<SearchEngine>>;
    /// All search engines by name.
    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>>;
    /// Removes a search engine; false if there is no such engine.
    async fn delete_search_engine(&mut self, id: &str) -> Result<bool>;

    /// Who sees which app, as far as this transaction knows.
    async fn get_visibility_in_force(&mut self) -> Result<VisibilityInForce>;
    /// What the dashboard looks like.
    async fn get_looks(&mut self) -> Result<Looks>;
    /// Replaces what the dashboard looks like. `reference`: there is no such picture or board.
    async fn set_looks(&mut self, looks: &Looks) -> Result<()>;

    /// Stores a picture. False if it is there already: then it counts as uploaded at this moment.
    async fn put_picture(&mut self, picture: &NewPicture) -> Result<bool>;
    /// A picture.
    async fn get_picture(&mut self, id: &str) -> Result<Option<Picture>>;
    /// How many bytes a picture has; `None` if there is no such picture.
    async fn get_picture_size(&mut self, id: &str) -> Result<Option<u64>>;
    /// All pictures.
    async fn count_pictures(&mut self) -> Result<PictureCount>;
    /// The pictures that this user has uploaded and that nothing uses: not the looks, the icon of an app or a search
    /// engine, or the extras of a board ([`pictures_in`](crate::extras::pictures_in)).
    async fn count_unused_pictures(&mut self, uploader_id: &str) -> Result<PictureCount>;
    /// Removes the pictures that nothing uses and that were uploaded before this moment. Returns how many it removed.
    async fn remove_unused_pictures(&mut self, before: Timestamp) -> Result<u64>;

    /// Adds a row to the audit log. (The row of a successful call is written by its transaction.)
    async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()>;
    /// The matching rows, newest first (by time, then by number): at most `limit`, after `offset` others.
    async fn list_audit(&mut self, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>>;
    /// How many rows match.
    async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64>;
    /// Removes the oldest of these rows, at most `most`, and returns how many it removed.
    async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64>;
}
