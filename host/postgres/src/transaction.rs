//! One transaction: what it holds, and how a statement runs in it.
//!
//! A statement runs between one of the functions that give its connection (`read…`, `write…`) and `ended`.
//! Nothing is sent before the first of them: then BEGIN, the lock and the statement go out together, and
//! the answers take one round trip.

use std::sync::Arc;

use futures_util::future::join_all;

use super::connection::Connection;
use super::locks::{BEGIN_READING, Lock, WriteLock};
use super::pool::{For, Pool};
use super::query;
use super::session::Session;
use super::{apps, audit};
use portico_storage::driver::{PasswordSetter, Trail, View, failed_before, only_reads};
use portico_storage::{Access, AuditEntry, CallContext, Ids, Result, StoredApp, Viewer};

pub(super) struct PostgresTransaction {
    resources: Resources,
    access: Access,
    /// Whether it keeps new apps for the COMMIT: the component's transactions do.
    defers: bool,
    /// What it writes and depends on nothing: it is sent with the COMMIT, or before another statement.
    blind: Vec<BlindWrite>,
    session: Option<Session>,
    /// How it holds the lock; none if it has sent nothing yet, or only reads.
    lock: Option<Lock>,
    pub(super) setter: PasswordSetter,
    pub(super) trail: Trail,
    failed: bool,
}

/// What all transactions of a storage share.
#[derive(Clone)]
pub(super) struct Resources {
    pub pool: Arc<Pool>,
    pub lock: WriteLock,
    /// Whether there is an index of trigrams.
    pub has_trigrams: bool,
    pub ids: Ids,
    /// Whether callers see only the apps on boards that they may view.
    pub views_differ: bool,
}

/// A write that depends on nothing that is stored and answers nothing.
pub(super) enum BlindWrite {
    Apps(Vec<StoredApp>),
    Audit(Box<AuditEntry>),
}

impl BlindWrite {
    async fn run(&self, db: &Connection) -> query::Result<()> {
        match self {
            Self::Apps(apps) => apps::insert(db, apps).await,
            Self::Audit(entry) => audit::insert(db, entry).await,
        }
    }

    /// Prepares its statement, so that it can be sent without a wait. What is refused after this is refused
    /// by the database: the COMMIT behind it then undoes all of the transaction.
    async fn prepare(&self, db: &Connection) -> query::Result<()> {
        let sql = match self {
            Self::Apps(apps) => {
                apps::check(apps)?;
                apps::INSERT
            }
            Self::Audit(_) => audit::INSERT,
        };
        db.prepared(sql).await?;
        Ok(())
    }
}

impl PostgresTransaction {
    pub fn new(access: Access, defers: bool, context: &CallContext, resources: Resources) -> Self {
        let (setter, trail) = match access {
            Access::Write => (PasswordSetter::of(context), Trail::of(context)),
            Access::Lookup | Access::Read => Default::default(),
        };
        Self {
            setter,
            trail,
            defers,
            ..Self::reading(access, resources)
        }
    }

    /// One that only reads.
    pub fn reading(access: Access, resources: Resources) -> Self {
        Self {
            resources,
            access,
            defers: false,
            blind: Vec::new(),
            session: None,
            lock: None,
            setter: PasswordSetter::default(),
            trail: Trail::default(),
            failed: false,
        }
    }

    /// The view that a statement takes; none if it shows all apps.
    pub(super) fn view(&self, viewer: &Viewer) -> Option<View> {
        self.resources.views_differ.then(|| View::of(viewer))?
    }

    pub(super) fn has_trigrams(&self) -> bool {
        self.resources.has_trigrams
    }

    pub(super) fn next_id(&self) -> String {
        self.resources.ids.next()
    }

    /// Whether new apps are kept for the COMMIT: nothing was sent yet that depends on the order.
    pub(super) fn defers(&self) -> bool {
        self.defers && self.lock.is_none()
    }

    /// Whether it writes and has sent nothing yet.
    pub(super) fn is_unsent(&self) -> bool {
        self.access == Access::Write && self.lock.is_none()
    }

    /// For statements that read one state, on which a rule may rest.
    pub(super) async fn read(&mut self) -> Result<&Connection> {
        self.locked(Lock::Alone).await
    }

    /// For a statement that locks the row that it reads if it is told to: it is in a write transaction.
    pub(super) async fn read_row(&mut self) -> Result<(&Connection, bool)> {
        if self.access == Access::Write {
            return Ok((self.locked(Lock::Beside).await?, true));
        }
        Ok((self.read_once().await?, false))
    }

    /// For one statement that reads. A look-up needs no transaction.
    pub(super) async fn read_once(&mut self) -> Result<&Connection> {
        if self.access == Access::Lookup {
            return self.read_credential().await;
        }
        self.read().await
    }

    /// For the statement that finds the caller: with every request, and mostly the only one of its
    /// transaction. Of a read transaction whose first statement it is, the state begins after it.
    pub(super) async fn read_credential(&mut self) -> Result<&Connection> {
        if self.access == Access::Write {
            return self.read().await;
        }
        let session = self.session().await?;
        Ok(session.connection())
    }

    /// For statements that write, while no other transaction does.
    pub(super) async fn write(&mut self) -> Result<&Connection> {
        self.check_write()?;
        self.locked(Lock::Alone).await
    }

    /// For statements that write beside others: see `locks.rs`.
    pub(super) async fn write_beside(&mut self) -> Result<&Connection> {
        self.check_write()?;
        self.locked(Lock::Beside).await
    }

    /// Keeps a write for the COMMIT, or for the next statement.
    pub(super) fn write_blind(&mut self, write: BlindWrite) -> Result<()> {
        self.check_write()?;
        self.blind.push(write);
        Ok(())
    }

    /// Notes how the statements ended.
    pub(super) async fn ended<T: Send>(&mut self, result: query::Result<T>) -> Result<T> {
        let result = match &mut self.session {
            Some(session) => session.ended(result).await,
            None => result,
        };
        result.map_err(|failure| {
            self.failed = true;
            self.resources.pool.health.translate(failure)
        })
    }

    /// The same, of statements that change this user; they answer whether there is one.
    pub(super) async fn changed(&mut self, user_id: &str, result: query::Result<bool>) -> Result<bool> {
        let changed = self.ended(result).await?;
        if changed {
            self.trail.changed(user_id);
        }
        Ok(changed)
    }

    /// The same, of statements that create this record, or answer false.
    pub(super) async fn created(&mut self, id: &str, result: query::Result<bool>) -> Result<bool> {
        let created = self.ended(result).await?;
        if created {
            self.trail.created(id);
        }
        Ok(created)
    }

    /// Writes what is left and the row of the audit log, and commits.
    pub(super) async fn finish(mut self) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        if self.access != Access::Write {
            return Ok(());
        }
        if let Some(entry) = self.trail.row() {
            self.blind.push(BlindWrite::Audit(Box::new(entry)));
        }
        if !self.blind.is_empty() || self.session.is_some() {
            self.commit().await?;
        }
        self.trail.committed();
        self.setter.committed();
        Ok(())
    }

    /// Sends what is left with the COMMIT, in one round trip.
    async fn commit(&mut self) -> Result<()> {
        let blind = std::mem::take(&mut self.blind);
        let lock = self.resources.lock;
        let is_begun = self.lock.is_some();
        let prepared = prepare_all(self.session().await?.connection(), &blind).await;
        self.ended(prepared).await?;
        let mut session = self.session.take().ok_or_else(failed_before)?;
        if !is_begun {
            session.begin(lock.begin(Lock::Beside));
        }
        let db = session.connection_to_commit();
        let writes = async {
            let written = join_all(blind.iter().map(|write| write.run(&db))).await;
            written.into_iter().collect()
        };
        session.commit(writes).await
    }

    fn check_write(&self) -> Result<()> {
        if self.access != Access::Write {
            return Err(only_reads());
        }
        if self.failed { Err(failed_before()) } else { Ok(()) }
    }

    /// The connection, in a transaction that holds at least this lock if it writes.
    async fn locked(&mut self, lock: Lock) -> Result<&Connection> {
        let is_writing = self.access == Access::Write;
        let (held, write_lock) = (self.lock, self.resources.lock);
        let session = self.session().await?;
        if !session.is_open() {
            match is_writing {
                true => session.begin(write_lock.begin(lock)),
                false => session.begin(BEGIN_READING),
            }
        } else if is_writing && held.is_some_and(|held| held < lock) {
            session.send(write_lock.raise());
        }
        if is_writing {
            self.lock = held.max(Some(lock));
        }
        if !self.blind.is_empty() {
            // Boxed to keep the common future small.
            Box::pin(self.write_collected()).await?;
        }
        let session = self.session.as_mut().ok_or_else(failed_before)?;
        Ok(session.connection())
    }

    /// Runs what was kept for the COMMIT.
    async fn write_collected(&mut self) -> Result<()> {
        for write in std::mem::take(&mut self.blind) {
            let session = self.session.as_mut().ok_or_else(failed_before)?;
            let written = write.run(session.connection()).await;
            self.ended(written).await?;
        }
        Ok(())
    }

    /// The connection's session, taken from the pool when it is first needed.
    async fn session(&mut self) -> Result<&mut Session> {
        if self.failed {
            return Err(failed_before());
        }
        if self.session.is_none() {
            let purpose = match self.access {
                Access::Write => For::Writing,
                _ => For::Reading,
            };
            let taken = self.resources.pool.take(purpose).await;
            self.session = Some(taken.inspect_err(|_| self.failed = true)?);
        }
        self.session.as_mut().ok_or_else(failed_before)
    }
}

async fn prepare_all(db: &Connection, writes: &[BlindWrite]) -> query::Result<()> {
    for write in writes {
        write.prepare(db).await?;
    }
    Ok(())
}
