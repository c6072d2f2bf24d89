//! What Portico stores where it is the dashboard itself. The module of each record has the statements.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use portico_model::{FactorKind, HomeBoards, Provider, Timestamp};
use portico_storage::{
    ApiKey, AppBoards, AppGate, AppPlace, AuditEntry, AuditFilter, AuditPrune, AuditRow, Board, BoardSummary,
    Credential, CredentialKey, DashboardTransaction, DefaultHome, ExtrasOf, First, FirstShares, GateVisitor,
    Group, HeldInvite, Invite, Looks, Named, NamedShares, NewInvite, NewPicture, PasswordLink, Picture,
    PictureCount, ProviderSubject, Result, SearchEngine, SecondFactor, SecretHash, SeenThrough, Session,
    SessionUser, Shares, Viewer, VisibilityInForce,
};

use crate::database::Database;
use crate::transaction::SqlTransaction;

#[async_trait]
impl<D: Database> DashboardTransaction for SqlTransaction<D> {
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>> {
        self.runner.find_credential(key).await
    }

    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>> {
        self.runner.get_session_user(user_id).await
    }

    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()> {
        self.runner.insert_key(key, secret, None).await
    }

    async fn import_key(&mut self, key: &ApiKey, secret: &SecretHash, imported: &str) -> Result<()> {
        self.runner.insert_key(key, secret, Some(imported)).await
    }

    async fn adopt_key(&mut self, id: &str, imported: &str, secret: &SecretHash) -> Result<bool> {
        self.runner.adopt_key(id, imported, secret).await
    }

    async fn list_keys(&mut self, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
        self.runner.list_keys(user_id).await
    }

    async fn delete_key(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_key(id).await
    }

    async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()> {
        self.runner.touch_key(id, now).await
    }

    async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()> {
        self.runner.insert_session(session, token).await
    }

    async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>> {
        self.runner.list_sessions(user_id).await
    }

    async fn touch_session(&mut self, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
        self.runner.touch_session(id, now, expires_at).await
    }

    async fn delete_session(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_session(id).await
    }

    async fn delete_other_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64> {
        self.runner.delete_other_sessions(user_id, kept).await
    }

    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()> {
        self.runner.delete_expired_sessions(now).await
    }

    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        self.runner.insert_invite(invite, token).await
    }

    async fn find_invite(&mut self, id: &str, token: &SecretHash) -> Result<Option<HeldInvite>> {
        self.runner.find_invite(id, token).await
    }

    async fn take_held_invite(&mut self, id: &str, token: &SecretHash, now: Timestamp) -> Result<bool> {
        self.runner.take_held_invite(id, token, now).await
    }

    async fn list_invites(&mut self) -> Result<Vec<Invite>> {
        self.runner.list_invites().await
    }

    async fn delete_invite(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_invite(id).await
    }

    async fn put_password_link(&mut self, link: &PasswordLink, token: &SecretHash) -> Result<()> {
        self.runner.put_password_link(link, token).await
    }

    async fn find_password_link(&mut self, token: &SecretHash, now: Timestamp) -> Result<Option<String>> {
        self.runner.find_password_link(token, now).await
    }

    async fn delete_password_link(&mut self, user_id: &str) -> Result<bool> {
        self.runner.delete_password_link(user_id).await
    }

    async fn insert_second_factor(&mut self, factor: &SecondFactor) -> Result<bool> {
        self.runner.insert_second_factor(factor).await
    }

    async fn list_second_factors(&mut self, user_id: &str) -> Result<Vec<SecondFactor>> {
        self.runner.list_second_factors(user_id).await
    }

    async fn find_passkey(&mut self, handle: &str) -> Result<Option<SecondFactor>> {
        self.runner.find_passkey(handle).await
    }

    async fn advance_second_factor(&mut self, id: &str, counter: u64, now: Timestamp) -> Result<bool> {
        self.runner.advance_second_factor(id, counter, now).await
    }

    async fn update_second_factor(
        &mut self,
        id: &str,
        data: &str,
        counter: u64,
        now: Timestamp,
    ) -> Result<bool> {
        self.runner.update_second_factor(id, data, counter, now).await
    }

    async fn rename_second_factor(&mut self, user_id: &str, id: &str, name: &str) -> Result<bool> {
        self.runner.rename_second_factor(user_id, id, name).await
    }

    async fn delete_second_factor(&mut self, user_id: &str, id: &str) -> Result<bool> {
        self.runner.delete_second_factor(user_id, id).await
    }

    async fn list_second_factor_owners(&mut self) -> Result<Vec<(String, FactorKind)>> {
        self.runner.list_second_factor_owners().await
    }

    async fn set_recovery_codes(&mut self, user_id: &str, codes: &[SecretHash]) -> Result<()> {
        self.runner.set_recovery_codes(user_id, codes).await
    }

    async fn take_recovery_code(&mut self, user_id: &str, code: &SecretHash) -> Result<bool> {
        self.runner.take_recovery_code(user_id, code).await
    }

    async fn count_recovery_codes(&mut self, user_id: &str) -> Result<u64> {
        self.runner.count_recovery_codes(user_id).await
    }

    async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.runner.insert_group(id, name, name_key).await
    }

    async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.runner.update_group(id, name, name_key).await
    }

    async fn list_groups(&mut self) -> Result<Vec<Group>> {
        self.runner.list_groups().await
    }

    async fn find_group(&mut self, name_key: &str) -> Result<Option<String>> {
        self.runner.find_group(name_key).await
    }

    async fn list_group_keys(&mut self) -> Result<Vec<(String, String)>> {
        self.runner.list_group_keys().await
    }

    async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>> {
        self.runner.list_memberships(user_id).await
    }

    async fn list_groups_with(&mut self, permissions: &[String], most: u32) -> Result<First<Named>> {
        self.runner.list_groups_with(permissions, most).await
    }

    async fn list_default_homes(&mut self) -> Result<Vec<DefaultHome>> {
        self.runner.list_default_homes().await
    }

    async fn list_default_homes_of(&mut self, user_id: Option<&str>) -> Result<Vec<HomeBoards>> {
        self.runner.list_default_homes_of(user_id).await
    }

    async fn set_default_home(&mut self, home: &DefaultHome) -> Result<bool> {
        self.runner.set_default_home(home).await
    }

    async fn delete_group(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_group(id).await
    }

    async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool> {
        self.runner.set_group_permissions(id, permissions).await
    }

    async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.runner.remove_from_group(user_id, group_id).await
    }

    async fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        self.runner.insert_board(board, name_key).await
    }

    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        self.runner.update_board(board, name_key).await
    }

    async fn can_change_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        self.runner.can_change_board(user_id, board_id).await
    }

    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>> {
        self.runner.list_boards().await
    }

    async fn list_visible_boards(&mut self, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
        self.runner.list_visible_boards(user_id).await
    }

    async fn list_viewed(&mut self, user_id: Option<&str>, board_ids: &[String]) -> Result<BTreeSet<String>> {
        self.runner.list_viewed(user_id, board_ids).await
    }

    async fn list_changeable_boards(&mut self, user_id: &str) -> Result<Vec<BoardSummary>> {
        self.runner.list_changeable_boards(user_id).await
    }

    async fn list_boards_with(&mut self, app_id: &str, most: u32) -> Result<AppBoards> {
        self.runner.list_boards_with(app_id, most).await
    }

    async fn list_first_shares(
        &mut self,
        board_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, FirstShares>> {
        self.runner.list_first_shares(board_ids, most).await
    }

    async fn list_seen_through(
        &mut self,
        user_id: &str,
        app_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, First<SeenThrough>>> {
        self.runner.list_seen_through(user_id, app_ids, most).await
    }

    async fn get_board(&mut self, id: &str) -> Result<Option<Board>> {
        self.runner.get_board(id).await
    }

    async fn find_board(&mut self, slug: &str) -> Result<Option<String>> {
        self.runner.find_board(slug).await
    }

    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>> {
        self.runner.get_shares(board_id).await
    }

    async fn get_named_shares(&mut self, board_id: &str) -> Result<Option<NamedShares>> {
        self.runner.get_named_shares(board_id).await
    }

    async fn share_board(&mut self, id: &str, shares: &Shares) -> Result<bool> {
        self.runner.share_board(id, shares).await
    }

    async fn delete_board(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_board(id).await
    }

    async fn sees_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<bool> {
        self.runner.sees_apps(ids, viewer).await
    }

    async fn find_seen_app(&mut self, ids: &[String], viewer: &Viewer) -> Result<Option<String>> {
        self.runner.find_seen_app(ids, viewer).await
    }

    async fn find_open_app(&mut self, ids: &[String]) -> Result<Option<String>> {
        self.runner.find_open_app(ids).await
    }

    async fn list_app_places(&mut self) -> Result<Vec<AppPlace>> {
        self.runner.list_app_places().await
    }

    async fn list_app_gates(&mut self) -> Result<Vec<AppGate>> {
        self.runner.list_app_gates().await
    }

    async fn get_app_gate(&mut self, app_id: &str) -> Result<Option<AppGate>> {
        self.runner.get_app_gate(app_id).await
    }

    async fn set_app_gate(&mut self, gate: &AppGate) -> Result<bool> {
        self.runner.set_app_gate(gate).await
    }

    async fn put_gate_pass(
        &mut self,
        session_id: &str,
        token: &SecretHash,
        pass: &SecretHash,
    ) -> Result<bool> {
        self.runner.put_gate_pass(session_id, token, pass).await
    }

    async fn find_gate_visitor(&mut self, pass: &SecretHash) -> Result<Option<GateVisitor>> {
        self.runner.find_gate_visitor(pass).await
    }

    async fn get_subject(&mut self, user_id: &str, provider: Provider) -> Result<Option<String>> {
        self.runner.get_subject(user_id, provider).await
    }

    async fn list_subjects(&mut self, provider: Provider) -> Result<Vec<(Named, String)>> {
        self.runner.list_subjects(provider).await
    }

    async fn replace_subject(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<bool> {
        self.runner.replace_subject(user_id, subject).await
    }

    async fn get_extras(&mut self, of: &ExtrasOf) -> Result<Option<String>> {
        self.runner.get_extras(of).await
    }

    async fn set_extras(&mut self, of: &ExtrasOf, extras: Option<&str>) -> Result<bool> {
        self.runner.set_extras(of, extras).await
    }

    async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.runner
            .insert_search_engine(engine, name_key, short_key)
            .await
    }

    async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.runner
            .update_search_engine(engine, name_key, short_key)
            .await
    }

    async fn get_search_engine(&mut self, id: &str) -> Result<Option<SearchEngine>> {
        self.runner.get_search_engine(id).await
    }

    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>> {
        self.runner.list_search_engines().await
    }

    async fn delete_search_engine(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_search_engine(id).await
    }

    async fn get_visibility_in_force(&mut self) -> Result<VisibilityInForce> {
        self.runner.get_visibility_in_force().await
    }

    async fn get_looks(&mut self) -> Result<Looks> {
        self.runner.get_looks().await
    }

    async fn set_looks(&mut self, looks: &Looks) -> Result<()> {
        self.runner.set_looks(looks).await
    }

    async fn put_picture(&mut self, picture: &NewPicture) -> Result<bool> {
        self.runner.put_picture(picture).await
    }

    async fn get_picture(&mut self, id: &str) -> Result<Option<Picture>> {
        self.runner.get_picture(id).await
    }

    async fn get_picture_size(&mut self, id: &str) -> Result<Option<u64>> {
        self.runner.get_picture_size(id).await
    }

    async fn count_pictures(&mut self) -> Result<PictureCount> {
        self.runner.count_pictures().await
    }

    async fn count_unused_pictures(&mut self, uploader_id: &str) -> Result<PictureCount> {
        self.runner.count_unused_pictures(uploader_id).await
    }

    async fn remove_unused_pictures(&mut self, before: Timestamp) -> Result<u64> {
        self.runner.remove_unused_pictures(before).await
    }

    async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()> {
        self.runner.insert_audit(entry).await
    }

    async fn list_audit(&mut self, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>> {
        self.runner.list_audit(filter, offset, limit).await
    }

    async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64> {
        self.runner.count_audit(filter).await
    }

    async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64> {
        self.runner.prune_audit(which, most).await
    }
}
