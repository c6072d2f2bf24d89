//! One transaction: what it holds, and when it sends what.
//!
//! Nothing is sent before the first statement. Then BEGIN, the lock and the statement are sent together, and the
//! responses take one round trip. What was deferred is sent with the COMMIT, or before another statement.

use std::sync::Arc;

use futures_util::future::join_all;

use super::connection::Connection;
use super::locks::{BEGIN_READING, WriteLock};
use super::pool::{For, Pool};
use super::query::{self, Deferred};
use super::session::Session;
use portico_sql::{AUDIT, Database, Insert, Lock, Row, Sql, Value};
use portico_storage::driver::failed_before;
use portico_storage::{Access, Result};

pub(super) struct PostgresTransaction {
    resources: Resources,
    access: Access,
    /// Whether it defers insertions to the COMMIT: the component's transactions do. In others, the caller wants to know
    /// immediately what is refused.
    defers: bool,
    deferred: Vec<Deferred>,
    session: Option<Session>,
    /// How it holds the lock; `None` if it has sent nothing yet, or only reads.
    lock: Option<Lock>,
}

/// What all transactions of a storage share.
#[derive(Clone)]
pub(super) struct Resources {
    pub pool: Arc<Pool>,
    pub lock: WriteLock,
}

impl PostgresTransaction {
    pub fn new(access: Access, defers: bool, resources: Resources) -> Self {
        Self {
            resources,
            access,
            defers,
            deferred: Vec::new(),
            session: None,
            lock: None,
        }
    }

    fn is_writing(&self) -> bool {
        self.access == Access::Write
    }

    /// The connection for a statement, in a transaction that holds at least this lock if it writes. A look-up is one
    /// statement, and needs no transaction.
    async fn connection(&mut self, lock: Lock) -> Result<&Connection> {
        let (held, write_lock, access) = (self.lock, self.resources.lock, self.access);
        let session = self.session().await?;
        match access {
            Access::Lookup => {}
            Access::Read if session.is_open() => {}
            Access::Read => session.begin(BEGIN_READING),
            Access::Write if !session.is_open() => session.begin(write_lock.begin(lock)),
            Access::Write if held.is_some_and(|held| held < lock) => session.send(write_lock.raise()),
            Access::Write => {}
        }
        if access == Access::Write {
            self.lock = held.max(Some(lock));
        }
        if !self.deferred.is_empty() {
            // Boxed to keep the common future small.
            Box::pin(self.insert_what_was_deferred()).await?;
        }
        Ok(self.session.as_mut().ok_or_else(failed_before)?.connection())
    }

    async fn insert_what_was_deferred(&mut self) -> Result<()> {
        for deferred in std::mem::take(&mut self.deferred) {
            let session = self.session.as_mut().ok_or_else(failed_before)?;
            let inserted = deferred.run(session.connection()).await;
            self.end_statement(inserted).await?;
        }
        Ok(())
    }

    /// The connection's session, taken from the pool when it is first needed.
    async fn session(&mut self) -> Result<&mut Session> {
        if self.session.is_none() {
            let purpose = match self.access {
                Access::Write => For::Writing,
                Access::Lookup | Access::Read => For::Reading,
            };
            self.session = Some(Session::take(&self.resources.pool, purpose).await?);
        }
        self.session.as_mut().ok_or_else(failed_before)
    }

    /// Notes how a statement ended.
    async fn end_statement<T: Send>(&mut self, result: query::Result<T>) -> Result<T> {
        let session = self.session.as_mut().ok_or_else(failed_before)?;
        let result = session.finish(result).await;
        result.map_err(|failure| self.resources.pool.health.translate(failure))
    }
}

impl Database for PostgresTransaction {
    async fn fold<A: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        into: A,
        add: impl FnMut(&mut A, &dyn Row) -> Result<()> + Send + 'static,
    ) -> Result<A> {
        let writes = self.is_writing();
        let db = self.connection(sql.lock).await?;
        let folded = query::fold(db, sql, writes, &values, into, add).await;
        self.end_statement(folded).await
    }

    async fn execute(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        let db = self.connection(sql.lock).await?;
        let changed = query::execute(db, sql, &values).await;
        self.end_statement(changed).await
    }

    async fn insert(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        let insertion = Deferred::new(into, rows);
        let inserted = insertion.run(self.connection(into.lock).await?).await;
        self.end_statement(inserted).await
    }

    async fn insert_deferred(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        // The row of the audit log always waits for the COMMIT, because no caller uses its result.
        let waits = self.defers && self.lock.is_none() || std::ptr::eq(into, &AUDIT);
        if !waits {
            return self.insert(into, rows).await;
        }
        self.deferred.push(Deferred::new(into, rows));
        Ok(())
    }

    fn blocks_writers(&self) -> bool {
        self.lock.is_some()
    }

    /// Sends what remains together with the COMMIT, in one round trip.
    async fn commit(mut self) -> Result<()> {
        if !self.is_writing() || (self.deferred.is_empty() && self.session.is_none()) {
            return Ok(());
        }
        let deferred = std::mem::take(&mut self.deferred);
        let (lock, is_begun) = (self.resources.lock, self.lock.is_some());
        let prepared = query::prepare_all(self.session().await?.connection(), &deferred).await;
        self.end_statement(prepared).await?;
        let mut session = self.session.take().ok_or_else(failed_before)?;
        if !is_begun {
            session.begin(lock.begin(Lock::Alongside));
        }
        let db = session.connection_to_commit();
        let inserted = async {
            let inserted = join_all(deferred.iter().map(|deferred| deferred.run(&db))).await;
            inserted.into_iter().collect()
        };
        session.commit(inserted).await
    }
}
