//! One transaction: which connection it has, and what runs on it.

use std::borrow::Borrow;
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Connection;

use super::batch::BlindWrite;
use super::pool::Pool;
use super::readers::Reader;
use super::writer::{WritePermit, Writer};
use super::{apps, audit, boards, credentials, groups, invites, search_engines, users};
use portico_model::{App, Provider, Timestamp, User, UserSummary};
use portico_storage::driver::{Setter, Trail, failed_before, only_reads};
use portico_storage::{
    Account, AccountKey, ApiKey, AppFilter, AuditEntry, AuditFilter, AuditPrune, AuditRow, Board,
    BoardSummary, CallContext, Credential, CredentialKey, DashboardTransaction, Error, Group, Ids, Invite,
    NewInvite, NewUser, Result, SearchEngine, SecretHash, Session, SessionUser, Shares, StoredApp,
    Transaction, UserChange, UserFilter,
};

/// Records that a transaction may write without taking the turn for it. Whoever carries out more
/// holds up others for so long that it may as well wait for its turn.
const MOST_BLIND: usize = 4;

/// Records that are read or written on the thread that asks. More take longer than to wake another.
const FEW: usize = 16;

pub(super) struct SqliteTransaction {
    pub(super) place: Place,
    /// For statements that may take long.
    pub(super) pool: Arc<Pool>,
    setter: Setter,
    ids: Ids,
    trail: Trail,
    /// The first apps of what was counted last.
    counted: Option<apps::FirstHits>,
    /// Whether it has written, and could no longer be begun anew.
    pub(super) has_written: bool,
    pub(super) failed: bool,
}

pub(super) enum Place {
    Reader(Reader),
    /// It has not had to see anything yet: this is what it has to write.
    Blind {
        writer: Arc<Writer>,
        writes: Vec<BlindWrite>,
        /// How many it writes.
        records: usize,
    },
    Writer(WritePermit),
    /// With a statement on another thread.
    Away,
}

impl Place {
    /// None where there is none, or none any more.
    pub(super) fn connection(&self) -> Option<&Connection> {
        match self {
            Self::Reader(reader) => reader.connection(),
            Self::Writer(turn) => turn.connection(),
            Self::Blind { .. } | Self::Away => None,
        }
    }
}

impl SqliteTransaction {
    /// One that only reads.
    pub fn reading(reader: Reader, pool: Arc<Pool>, ids: Ids) -> Self {
        Self {
            place: Place::Reader(reader),
            pool,
            setter: Setter::default(),
            ids,
            trail: Trail::default(),
            counted: None,
            has_written: false,
            failed: false,
        }
    }

    /// One that has the turn to write.
    pub fn writing(turn: WritePermit, context: &CallContext, pool: Arc<Pool>, ids: Ids) -> Self {
        Self::in_place(Place::Writer(turn), context, pool, ids)
    }

    /// One that takes the turn to write when it has to see what is there.
    pub fn blind(writer: Arc<Writer>, context: &CallContext, pool: Arc<Pool>, ids: Ids) -> Self {
        let place = Place::Blind {
            writer,
            writes: Vec::new(),
            records: 0,
        };
        Self::in_place(place, context, pool, ids)
    }

    fn in_place(place: Place, context: &CallContext, pool: Arc<Pool>, ids: Ids) -> Self {
        Self {
            place,
            pool,
            setter: Setter::of(context),
            ids,
            trail: Trail::of(context),
            counted: None,
            has_written: false,
            failed: false,
        }
    }

    async fn read<T>(&mut self, read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send) -> Result<T> {
        self.take_turn().await?;
        let connection = match &mut self.place {
            Place::Reader(reader) => reader.read(),
            place => place.connection(),
        };
        let result = read(connection.ok_or_else(failed_before)?);
        result.map_err(|error| self.fail(&error))
    }

    async fn write<T>(&mut self, write: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send) -> Result<T> {
        // A statement that failed may have undone the whole batch: the next would stand alone.
        if self.failed {
            return Err(failed_before());
        }
        self.take_turn().await?;
        let Place::Writer(turn) = &self.place else {
            return Err(only_reads());
        };
        self.has_written = true;
        let result = write(turn.connection().ok_or_else(failed_before)?);
        result.map_err(|error| self.fail(&error))
    }

    /// The same, of what creates this record where it says so.
    async fn create(
        &mut self,
        id: &str,
        write: impl FnOnce(&Connection) -> rusqlite::Result<bool> + Send,
    ) -> Result<bool> {
        let created = self.write(write).await?;
        if created {
            self.trail.created(id);
        }
        Ok(created)
    }

    /// The same, of what writes so many new records and needs to see nothing.
    async fn write_blind<R>(
        &mut self,
        count: usize,
        new: &R,
        write: fn(&Connection, &R) -> rusqlite::Result<()>,
    ) -> Result<()>
    where
        R: ToOwned<Owned: Send + Sync + 'static> + Sync + ?Sized + 'static,
    {
        match &mut self.place {
            Place::Blind { writes, records, .. } if !self.failed && *records + count <= MOST_BLIND => {
                let new = new.to_owned();
                writes.push(Box::new(move |db| write(db, new.borrow())));
                *records += count;
                Ok(())
            }
            _ => self.write(|db| write(db, new)).await,
        }
    }

    /// Waits for the turn to write, if this has to and has not had it yet.
    pub(super) async fn take_turn(&mut self) -> Result<()> {
        let Place::Blind { writer, writes, .. } = &self.place else {
            return Ok(());
        };
        if self.failed {
            return Err(failed_before());
        }
        let begun = writer.begin().await;
        let turn = begun.inspect_err(|_| self.failed = true)?;
        let connection = turn.connection().ok_or_else(failed_before)?;
        let written = writes.iter().try_for_each(|write| write(connection));
        self.has_written = !writes.is_empty();
        self.place = Place::Writer(turn);
        written.map_err(|error| self.fail(&error))
    }

    pub(super) fn fail(&mut self, error: &rusqlite::Error) -> Error {
        self.failed = true;
        match &mut self.place {
            Place::Reader(reader) => reader.fail(error),
            Place::Blind { writer, .. } => writer.health().translate(error),
            Place::Writer(turn) => turn.health().translate(error),
            Place::Away => failed_before(),
        }
    }
}

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn commit(mut self: Box<Self>) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        if let Some(entry) = self.trail.row() {
            self.insert_audit(&entry).await?;
        }
        let Self {
            place, trail, setter, ..
        } = *self;
        match place {
            Place::Reader(_) => return Ok(()),
            Place::Blind { records: 0, .. } => {}
            Place::Blind { writer, writes, .. } => writer.write(writes).await?,
            Place::Writer(turn) => turn.commit().await?,
            Place::Away => return Err(failed_before()),
        }
        trail.committed();
        setter.committed();
        Ok(())
    }

    fn waits_for_turn(&self) -> bool {
        matches!(self.place, Place::Blind { .. })
    }

    async fn has_users(&mut self) -> Result<bool> {
        self.read(users::has_any).await
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        self.read(|db| users::get(db, id)).await
    }

    async fn list_users(&mut self, filter: &UserFilter) -> Result<Vec<UserSummary>> {
        let filter = filter.clone();
        self.scan(move |db| users::list(db, &filter)).await
    }

    async fn find_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        self.read(|db| users::find_account(db, key)).await
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        self.create(&user.user.id, |db| users::insert(db, user).map(|()| true))
            .await?;
        Ok(())
    }

    async fn insert_identity(&mut self, user_id: &str, provider: Provider, subject: &str) -> Result<()> {
        self.write(|db| users::insert_identity(db, user_id, provider, subject))
            .await
    }

    async fn update_user(&mut self, id: &str, change: &UserChange) -> Result<bool> {
        let changed = self.write(|db| users::update(db, id, change)).await?;
        if changed {
            self.trail.changed(id);
        }
        Ok(changed)
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let setter = self.setter.clone();
        let renewal = setter.renewal(id);
        let (replaced, renewed) = self
            .write(|db| {
                if !users::set_password_if(db, id, old, new)? {
                    return Ok((false, false));
                }
                credentials::delete_other_sessions(db, id, setter.session_id.as_deref())?;
                if !setter.is(id) {
                    credentials::delete_keys(db, id)?;
                }
                let renewed = match renewal {
                    Some((session_id, token)) => credentials::renew_session(db, session_id, id, &token)?,
                    None => false,
                };
                Ok((true, renewed))
            })
            .await?;
        if renewed {
            self.setter.renewed();
        }
        Ok(replaced)
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        self.write(|db| users::rehash_password_if(db, id, old, new)).await
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_blocking(move |db| users::delete(db, &id)).await
    }

    async fn another_admin_exists(&mut self, except: &str) -> Result<bool> {
        let except = except.to_owned();
        self.scan(move |db| groups::another_admin_exists(db, &except))
            .await
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        let new_group_id = self.ids.next();
        self.write(|db| groups::grant_admin(db, id, &new_group_id)).await
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.write(|db| groups::add_member(db, group_id, user_id)).await
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.read(|db| invites::is_good(db, id, token, now)).await
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.write(|db| Ok(invites::is_good(db, id, token, now)? && invites::delete(db, id)?))
            .await
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        let (user_id, board_id) = (user_id.to_owned(), board_id.to_owned());
        self.scan(move |db| boards::can_view(db, &user_id, &board_id))
            .await
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.read(|db| search_engines::exists(db, id)).await
    }

    async fn get_app(&mut self, id: &str) -> Result<Option<App>> {
        self.read(|db| apps::get(db, id)).await
    }

    async fn get_apps(&mut self, ids: &[String]) -> Result<Vec<App>> {
        if ids.len() <= FEW {
            return self.read(|db| apps::get_many(db, ids)).await;
        }
        let ids = ids.to_owned();
        self.scan(move |db| apps::get_many(db, &ids)).await
    }

    async fn list_apps(&mut self, filter: &AppFilter) -> Result<Vec<App>> {
        let (filter, counted) = (filter.clone(), self.counted.take());
        self.scan(move |db| {
            let remembered = counted.and_then(|hits| hits.list(db, &filter));
            remembered.unwrap_or_else(|| apps::list(db, &filter))
        })
        .await
    }

    async fn count_apps(&mut self, name_contains: &str) -> Result<u32> {
        let name_contains = name_contains.to_owned();
        let (count, first_hits) = self
            .scan(move |db| apps::count_and_remember(db, &name_contains))
            .await?;
        // What is written in between would make them wrong.
        self.counted = first_hits.filter(|_| matches!(self.place, Place::Reader(_)));
        Ok(count)
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        let insert =
            |db: &Connection, new: &[StoredApp]| new.iter().try_for_each(|app| apps::insert(db, app));
        if apps.len() <= FEW {
            self.write_blind(apps.len(), apps, insert).await?;
        } else {
            let apps = apps.to_owned();
            self.write_blocking(move |db| insert(db, &apps)).await?;
        }
        apps.iter().for_each(|app| self.trail.created(&app.app.id));
        Ok(())
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.write(|db| apps::update(db, app)).await
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_blocking(move |db| apps::delete(db, &id)).await
    }
}

#[async_trait]
impl DashboardTransaction for SqliteTransaction {
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>> {
        self.read(|db| credentials::find(db, key)).await
    }

    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>> {
        self.read(|db| credentials::session_user(db, user_id)).await
    }

    async fn password_version(&mut self, user_id: &str) -> Result<Option<u32>> {
        self.read(|db| users::password_version(db, user_id)).await
    }

    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()> {
        self.create(&key.id, |db| {
            credentials::insert_key(db, key, secret).map(|()| true)
        })
        .await?;
        Ok(())
    }

    async fn list_keys(&mut self) -> Result<Vec<ApiKey>> {
        self.scan(credentials::list_keys).await
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

    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()> {
        self.write_blocking(move |db| credentials::delete_expired_sessions(db, now))
            .await
    }

    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        self.create(&invite.id, |db| invites::insert(db, invite, token).map(|()| true))
            .await?;
        Ok(())
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
        self.write_blocking(move |db| groups::delete(db, &id)).await
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
        self.create(&board.board.id, |db| boards::insert(db, board, name_key))
            .await
    }

    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        self.write(|db| boards::update(db, board, name_key)).await
    }

    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>> {
        self.scan(boards::list).await
    }

    async fn get_board(&mut self, id: &str) -> Result<Option<Board>> {
        let id = id.to_owned();
        self.scan(move |db| boards::get(db, &id)).await
    }

    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>> {
        let board_id = board_id.to_owned();
        self.scan(move |db| boards::shares(db, &board_id)).await
    }

    async fn share_board(&mut self, id: &str, users: &[String], groups: &[String]) -> Result<bool> {
        self.write(|db| boards::share(db, id, users, groups)).await
    }

    async fn delete_board(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_blocking(move |db| boards::delete(db, &id)).await
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

    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>> {
        self.scan(search_engines::list).await
    }

    async fn delete_search_engine(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_blocking(move |db| search_engines::delete(db, &id))
            .await
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
        self.write_blocking(move |db| audit::prune(db, which, most)).await
    }
}
