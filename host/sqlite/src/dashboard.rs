//! What Portico keeps where it is the dashboard itself: for each function, its statements and where they
//! run.

use async_trait::async_trait;
use rusqlite::Connection;

use super::transaction::SqliteTransaction;
use super::{audit, boards, credentials, extras, groups, invites, search_engines, users};
use portico_model::{Provider, Timestamp};
use portico_storage::{
    ApiKey, AuditEntry, AuditFilter, AuditPrune, AuditRow, Board, BoardSummary, Credential, CredentialKey,
    DashboardTransaction, ExtrasOf, Group, Invite, NamedShares, NewInvite, Result, SearchEngine, SecretHash,
    Session, SessionUser, Shares,
};

#[async_trait]
impl DashboardTransaction for SqliteTransaction {
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>> {
        self.read(|db| credentials::find(db, key)).await
    }

    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>> {
        self.read(|db| credentials::session_user(db, user_id)).await
    }

    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()> {
        self.insert(&key.id, |db| credentials::insert_key(db, key, secret, None))
            .await
    }

    async fn import_key(&mut self, key: &ApiKey, secret: &SecretHash, imported: &str) -> Result<()> {
        self.insert(&key.id, |db| {
            credentials::insert_key(db, key, secret, Some(imported))
        })
        .await
    }

    async fn adopt_key(&mut self, id: &str, imported: &str, secret: &SecretHash) -> Result<bool> {
        self.write(|db| credentials::adopt_key(db, id, imported, secret))
            .await
    }

    async fn list_keys(&mut self, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
        let user_id = user_id.map(str::to_owned);
        self.scan(move |db| credentials::list_keys(db, user_id.as_deref()))
            .await
    }

    async fn delete_key(&mut self, id: &str) -> Result<bool> {
        self.write(|db| credentials::delete_key(db, id)).await
    }

    async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()> {
        self.write(|db| credentials::touch_key(db, id, now)).await
    }

    async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()> {
        self.write(|db| credentials::insert_session(db, session, token))
            .await
    }

    async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>> {
        let user_id = user_id.to_owned();
        self.scan(move |db| credentials::list_sessions(db, &user_id))
            .await
    }

    async fn touch_session(&mut self, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
        self.write(|db| credentials::touch_session(db, id, now, expires_at))
            .await
    }

    async fn delete_session(&mut self, id: &str) -> Result<bool> {
        self.write(|db| credentials::delete_session(db, id)).await
    }

    async fn delete_other_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64> {
        let (owner, kept) = (user_id.to_owned(), kept.map(str::to_owned));
        let delete = move |db: &Connection| credentials::delete_other_sessions(db, &owner, kept.as_deref());
        let deleted = self.write_alone(delete).await?;
        self.trail.changed(user_id);
        Ok(deleted)
    }

    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()> {
        self.write_alone(move |db| credentials::delete_expired_sessions(db, now))
            .await
    }

    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        self.insert(&invite.id, |db| invites::insert(db, invite, token))
            .await
    }

    async fn list_invites(&mut self) -> Result<Vec<Invite>> {
        self.scan(invites::list).await
    }

    async fn delete_invite(&mut self, id: &str) -> Result<bool> {
        self.write(|db| invites::delete(db, id)).await
    }

    async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.create(id, |db| groups::insert(db, id, name, name_key)).await
    }

    async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.write(|db| groups::update(db, id, name, name_key)).await
    }

    async fn list_groups(&mut self) -> Result<Vec<Group>> {
        self.scan(groups::list).await
    }

    async fn find_group(&mut self, name_key: &str) -> Result<Option<String>> {
        self.read(|db| groups::find(db, name_key)).await
    }

    async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>> {
        let user_id = user_id.to_owned();
        self.scan(move |db| groups::of_user(db, &user_id)).await
    }

    async fn delete_group(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_alone(move |db| groups::delete(db, &id)).await
    }

    async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool> {
        self.write(|db| groups::set_permissions(db, id, permissions))
            .await
    }

    async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.write(|db| groups::remove_member(db, group_id, user_id))
            .await
    }

    async fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        let (new, name_key) = (board.clone(), name_key.to_owned());
        let insert = move |db: &Connection| boards::insert(db, &new, &name_key);
        let created = self.write_sized(boards::records(board), insert).await?;
        if created {
            self.trail.created(&board.board.id);
        }
        Ok(created)
    }

    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        let (new, name_key) = (board.clone(), name_key.to_owned());
        let update = move |db: &Connection| boards::update(db, &new, &name_key);
        self.write_sized(boards::records(board), update).await
    }

    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>> {
        self.scan(boards::list).await
    }

    async fn list_visible_boards(&mut self, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
        let user_id = user_id.map(str::to_owned);
        self.scan(move |db| boards::list_visible(db, user_id.as_deref()))
            .await
    }

    async fn get_board(&mut self, id: &str) -> Result<Option<Board>> {
        let id = id.to_owned();
        self.scan(move |db| boards::get(db, &id)).await
    }

    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>> {
        let board_id = board_id.to_owned();
        self.scan(move |db| boards::shares(db, &board_id)).await
    }

    async fn get_named_shares(&mut self, board_id: &str) -> Result<Option<NamedShares>> {
        let board_id = board_id.to_owned();
        self.scan(move |db| boards::named_shares(db, &board_id)).await
    }

    async fn share_board(&mut self, id: &str, users: &[String], groups: &[String]) -> Result<bool> {
        let records = users.len() + groups.len();
        let (id, users, groups) = (id.to_owned(), users.to_owned(), groups.to_owned());
        self.write_sized(records, move |db| boards::share(db, &id, &users, &groups))
            .await
    }

    async fn delete_board(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_alone(move |db| boards::delete(db, &id)).await
    }

    async fn get_subject(&mut self, user_id: &str, provider: Provider) -> Result<Option<String>> {
        self.read(|db| users::get_subject(db, user_id, provider)).await
    }

    async fn get_extras(&mut self, of: &ExtrasOf) -> Result<Option<String>> {
        let of = of.clone();
        self.scan(move |db| extras::get(db, &of)).await
    }

    async fn set_extras(&mut self, of: &ExtrasOf, text: Option<&str>) -> Result<bool> {
        let (of, text) = (of.clone(), text.map(ToOwned::to_owned));
        self.write_alone(move |db| extras::set(db, &of, text.as_deref()))
            .await
    }

    async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.create(&engine.id, |db| {
            search_engines::insert(db, engine, name_key, short_key)
        })
        .await
    }

    async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.write(|db| search_engines::update(db, engine, name_key, short_key))
            .await
    }

    async fn get_search_engine(&mut self, id: &str) -> Result<Option<SearchEngine>> {
        self.read(|db| search_engines::get(db, id)).await
    }

    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>> {
        self.scan(search_engines::list).await
    }

    async fn delete_search_engine(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_alone(move |db| search_engines::delete(db, &id)).await
    }

    async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()> {
        self.write_blind(1, entry, audit::insert).await
    }

    async fn list_audit(&mut self, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>> {
        let filter = filter.clone();
        self.scan(move |db| audit::list(db, &filter, offset, limit)).await
    }

    async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64> {
        let filter = filter.clone();
        self.scan(move |db| audit::count(db, &filter)).await
    }

    async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64> {
        self.write_sized(most as usize, move |db| audit::prune(db, which, most))
            .await
    }
}
