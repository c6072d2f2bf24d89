//! What Portico keeps where it is the dashboard itself: for each function, its statements and the lock that
//! they need.

use async_trait::async_trait;

use super::transaction::{BlindWrite, PostgresTransaction};
use super::{audit, boards, credentials, extras, groups, invites, search_engines, users};
use portico_model::{Provider, Timestamp};
use portico_storage::{
    ApiKey, AuditEntry, AuditFilter, AuditPrune, AuditRow, Board, BoardSummary, Credential, CredentialKey,
    DashboardTransaction, ExtrasOf, Group, Invite, NamedShares, NewInvite, Result, SearchEngine, SecretHash,
    Session, SessionUser, Shares,
};

#[async_trait]
impl DashboardTransaction for PostgresTransaction {
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>> {
        let found = credentials::find(self.read_credential().await?, key).await;
        self.ended(found).await
    }

    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>> {
        let found = credentials::session_user(self.read().await?, user_id).await;
        self.ended(found).await
    }

    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()> {
        let inserted = credentials::insert_key(self.write_beside().await?, key, secret, None).await;
        self.created(&key.id, inserted.map(|()| true)).await.map(drop)
    }

    async fn import_key(&mut self, key: &ApiKey, secret: &SecretHash, imported: &str) -> Result<()> {
        let db = self.write_beside().await?;
        let inserted = credentials::insert_key(db, key, secret, Some(imported)).await;
        self.created(&key.id, inserted.map(|()| true)).await.map(drop)
    }

    async fn adopt_key(&mut self, id: &str, imported: &str, secret: &SecretHash) -> Result<bool> {
        let adopted = credentials::adopt_key(self.write_beside().await?, id, imported, secret).await;
        self.ended(adopted).await
    }

    async fn list_keys(&mut self, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
        let found = credentials::list_keys(self.read_once().await?, user_id).await;
        self.ended(found).await
    }

    async fn delete_key(&mut self, id: &str) -> Result<bool> {
        let deleted = credentials::delete_key(self.write_beside().await?, id).await;
        self.ended(deleted).await
    }

    async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()> {
        let touched = credentials::touch_key(self.write_beside().await?, id, now).await;
        self.ended(touched).await
    }

    async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()> {
        let inserted = credentials::insert_session(self.write_beside().await?, session, token).await;
        self.ended(inserted).await
    }

    async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>> {
        let found = credentials::list_sessions(self.read_once().await?, user_id).await;
        self.ended(found).await
    }

    async fn touch_session(&mut self, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
        let touched = credentials::touch_session(self.write_beside().await?, id, now, expires_at).await;
        self.ended(touched).await
    }

    async fn delete_session(&mut self, id: &str) -> Result<bool> {
        let deleted = credentials::delete_session(self.write_beside().await?, id).await;
        self.ended(deleted).await
    }

    async fn delete_other_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64> {
        let deleted = credentials::delete_other_sessions(self.write().await?, user_id, kept).await;
        let deleted = self.ended(deleted).await?;
        self.trail.changed(user_id);
        Ok(deleted)
    }

    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()> {
        let deleted = credentials::delete_expired_sessions(self.write_beside().await?, now).await;
        self.ended(deleted).await
    }

    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        let inserted = invites::insert(self.write().await?, invite, token).await;
        self.created(&invite.id, inserted.map(|()| true)).await.map(drop)
    }

    async fn list_invites(&mut self) -> Result<Vec<Invite>> {
        let found = invites::list(self.read_once().await?).await;
        self.ended(found).await
    }

    async fn delete_invite(&mut self, id: &str) -> Result<bool> {
        let deleted = invites::delete(self.write_beside().await?, id).await;
        self.ended(deleted).await
    }

    async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        let inserted = groups::insert(self.write().await?, id, name, name_key).await;
        self.created(id, inserted).await
    }

    async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        let updated = groups::update(self.write().await?, id, name, name_key).await;
        self.ended(updated).await
    }

    async fn list_groups(&mut self) -> Result<Vec<Group>> {
        let found = groups::list(self.read().await?).await;
        self.ended(found).await
    }

    async fn find_group(&mut self, name_key: &str) -> Result<Option<String>> {
        let found = groups::find(self.read_once().await?, name_key).await;
        self.ended(found).await
    }

    async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>> {
        let found = groups::of_user(self.read_once().await?, user_id).await;
        self.ended(found).await
    }

    async fn delete_group(&mut self, id: &str) -> Result<bool> {
        let deleted = groups::delete(self.write().await?, id).await;
        self.ended(deleted).await
    }

    async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool> {
        let set = groups::set_permissions(self.write().await?, id, permissions).await;
        self.ended(set).await
    }

    async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        let removed = groups::remove_member(self.write().await?, group_id, user_id).await;
        self.ended(removed).await
    }

    async fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        let inserted = boards::insert(self.write().await?, board, name_key).await;
        self.created(&board.board.id, inserted).await
    }

    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        let updated = boards::update(self.write().await?, board, name_key).await;
        self.ended(updated).await
    }

    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>> {
        let found = boards::list(self.read_once().await?).await;
        self.ended(found).await
    }

    async fn list_visible_boards(&mut self, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
        let found = boards::list_visible(self.read_once().await?, user_id).await;
        self.ended(found).await
    }

    async fn get_board(&mut self, id: &str) -> Result<Option<Board>> {
        let found = boards::get(self.read().await?, id).await;
        self.ended(found).await
    }

    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>> {
        let found = boards::shares(self.read().await?, board_id).await;
        self.ended(found).await
    }

    async fn get_named_shares(&mut self, board_id: &str) -> Result<Option<NamedShares>> {
        let found = boards::named_shares(self.read().await?, board_id).await;
        self.ended(found).await
    }

    async fn share_board(&mut self, id: &str, users: &[String], groups: &[String]) -> Result<bool> {
        let shared = boards::share(self.write().await?, id, users, groups).await;
        self.ended(shared).await
    }

    async fn delete_board(&mut self, id: &str) -> Result<bool> {
        let deleted = boards::delete(self.write().await?, id).await;
        self.ended(deleted).await
    }

    async fn get_subject(&mut self, user_id: &str, provider: Provider) -> Result<Option<String>> {
        let found = users::get_subject(self.read_once().await?, user_id, provider).await;
        self.ended(found).await
    }

    async fn get_extras(&mut self, of: &ExtrasOf) -> Result<Option<String>> {
        let found = extras::get(self.read_once().await?, of).await;
        self.ended(found).await
    }

    async fn set_extras(&mut self, of: &ExtrasOf, text: Option<&str>) -> Result<bool> {
        let set = extras::set(self.write().await?, of, text).await;
        self.ended(set).await
    }

    async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        let inserted = search_engines::insert(self.write().await?, engine, name_key, short_key).await;
        self.created(&engine.id, inserted).await
    }

    async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        let updated = search_engines::update(self.write().await?, engine, name_key, short_key).await;
        self.ended(updated).await
    }

    async fn get_search_engine(&mut self, id: &str) -> Result<Option<SearchEngine>> {
        let found = search_engines::get(self.read_once().await?, id).await;
        self.ended(found).await
    }

    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>> {
        let found = search_engines::list(self.read_once().await?).await;
        self.ended(found).await
    }

    async fn delete_search_engine(&mut self, id: &str) -> Result<bool> {
        let deleted = search_engines::delete(self.write().await?, id).await;
        self.ended(deleted).await
    }

    async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()> {
        self.write_blind(BlindWrite::Audit(Box::new(entry.clone())))
    }

    async fn list_audit(&mut self, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>> {
        let found = audit::list(self.read_once().await?, filter, offset, limit).await;
        self.ended(found).await
    }

    async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64> {
        let count = audit::count(self.read_once().await?, filter).await;
        self.ended(count).await
    }

    async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64> {
        let pruned = audit::prune(self.write().await?, which, most).await;
        self.ended(pruned).await
    }
}
