//! The connection of a transaction, and what is in progress on it.
//!
//! Invariants:
//! - A statement's future may be dropped at any time. The statement is then cancelled, and the connection is closed
//!   once it has ended: the server does not say when it cancels, and a late signal would stop the next statement.
//! - A connection goes back into the pool only if no transaction is open on it, or a ROLLBACK was sent.
//! - A COMMIT is never cancelled, and keeps the places of its connection until the server has finished it.
//! - A statement that is sent after `BEGIN` without waiting runs inside the transaction or fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::SimpleQueryMessage;

use super::connection::Connection;
use super::health::{is_lost, is_of_no_use};
use super::metrics;
use super::pool::{For, Places, Pool};
use super::query::{Failure, Result};

/// How long a cancelled statement may take to end.
const CLEANING: Duration = Duration::from_secs(5);

/// A connection, taken from the pool for one transaction.
pub(super) struct Session {
    pool: Arc<Pool>,
    connection: Arc<Connection>,
    places: Places,
    /// Whether a transaction was begun.
    is_open: bool,
    work: InProgress,
    is_of_no_use: bool,
}

/// What may be in progress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InProgress {
    Nothing,
    Statement,
    Commit,
}

impl Session {
    /// Takes a connection from the pool ([`Pool::take`]).
    pub async fn take(pool: &Arc<Pool>, purpose: For) -> portico_storage::Result<Self> {
        let (connection, places) = pool.take(purpose).await?;
        Ok(Self {
            pool: pool.clone(),
            connection,
            places,
            is_open: false,
            work: InProgress::Nothing,
            is_of_no_use: false,
        })
    }

    /// Whether a transaction was begun.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Begins a transaction with these statements, without waiting for the response.
    pub fn begin(&mut self, statements: impl Into<String>) {
        self.is_open = true;
        self.send(statements);
    }

    /// Sends statements before the next one, without waiting for the response.
    pub fn send(&mut self, statements: impl Into<String>) {
        self.work = InProgress::Statement;
        self.connection.send_before(statements);
    }

    /// The connection, for a statement, which counts as in progress until [`Session::ended`].
    pub fn connection(&mut self) -> &Connection {
        self.work = InProgress::Statement;
        &self.connection
    }

    /// The connection, for statements that are sent with the COMMIT.
    pub fn connection_to_commit(&self) -> Arc<Connection> {
        self.connection.clone()
    }

    /// Sends what these writes send when they are first polled, and the COMMIT, and waits for all responses: one round
    /// trip if the writes are prepared.
    pub async fn commit(
        mut self,
        writes: impl Future<Output = Result<()>> + Send,
    ) -> portico_storage::Result<()> {
        self.work = InProgress::Commit;
        let connection = self.connection.clone();
        // Polled in this order, and so sent in it.
        let started = Instant::now();
        let (written, committed) = join(writes, connection.commit()).await;
        let Some(committed) = committed else {
            metrics::FAILED_COMMITS.increment();
            return Err(self.pool.health.unknown(connection.no_answer()));
        };
        // PostgreSQL reports success for the COMMIT of a failed transaction.
        let ended = self.finish(written.and(committed.map_err(Failure::from))).await;
        match &ended {
            Ok(_) => metrics::COMMITS.observe(started.elapsed()),
            Err(_) => metrics::FAILED_COMMITS.increment(),
        }
        ended.map_err(|failure| match failure {
            // The COMMIT was sent, and may have been carried out although a response was lost.
            Failure::Postgres(error) if is_lost(&error) => self.pool.health.unknown(&error),
            failure => self.pool.health.translate(failure),
        })?;
        self.is_open = false;
        Ok(())
    }

    /// Notes how a statement ended. If what was sent before it failed, that is the reason.
    pub async fn finish<T>(&mut self, mut result: Result<T>) -> Result<T> {
        for answer in self.connection.take_answers().await {
            if let Err(error) = answer
                && !matches!(&result, Err(Failure::Postgres(first)) if !is_consequence(first))
            {
                result = Err(error.into());
            }
        }
        if let Err(Failure::Postgres(error)) = &result {
            self.is_of_no_use |= is_of_no_use(error);
        }
        // The rest of a result that is too large is still to come.
        if !matches!(result, Err(Failure::Unread(_))) {
            self.work = InProgress::Nothing;
        }
        result
    }

    /// A statement has ended the transaction.
    pub fn closed(&mut self) {
        self.is_open = false;
    }
}

/// Whether a statement failed only because an earlier one did.
fn is_consequence(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_of_no_use {
            return;
        }
        let (places, pool, connection) = (
            std::mem::take(&mut self.places),
            self.pool.clone(),
            self.connection.clone(),
        );
        connection.give_up_answers();
        let work = self.work;
        if work != InProgress::Nothing {
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move {
                    end(work, &pool, connection).await;
                    drop(places);
                });
            }
            return;
        }
        if self.is_open {
            // The response to what the next caller sends comes after it.
            drop(connection.send("ROLLBACK"));
        }
        pool.put_back(connection);
    }
}

/// Waits until what is in progress has ended. A connection on which a statement was cancelled is closed.
async fn end(work: InProgress, pool: &Arc<Pool>, connection: Arc<Connection>) {
    if work == InProgress::Commit {
        if has_committed(pool, &connection).await {
            pool.put_back(connection);
        }
        return;
    }
    let ended = async {
        let cancelled = connection.client().cancel_token();
        cancelled.cancel_query(pool.target.tls.clone()).await?;
        // Without a transaction it does nothing.
        connection.wait_for(connection.send("ROLLBACK")).await
    };
    let _ = timeout(CLEANING, ended).await;
}

/// Waits for the response to a COMMIT, however long the server takes. If a COMMIT waits for a standby that is away, its
/// process at the server would stay, and new connections in its place would add more and more such processes. Asks on
/// another connection whether the process still works on it, because the response may have been lost. Fails if the
/// connection is no longer usable.
async fn has_committed(pool: &Arc<Pool>, connection: &Connection) -> bool {
    // Without a transaction it does nothing, and its response comes after that of the COMMIT.
    let mut answer = connection.send("ROLLBACK");
    // A response that takes half as long as one may has probably been lost.
    let usual = pool.target.limits.answer / 2;
    loop {
        if let Ok(answered) = timeout(usual, &mut answer).await {
            return answered.is_ok();
        }
        if !is_committing(pool, connection).await {
            return false;
        }
    }
}

/// Whether the process of this connection works on a COMMIT, as far as the server says.
async fn is_committing(pool: &Arc<Pool>, connection: &Connection) -> bool {
    let Some(process) = connection.process() else {
        return false;
    };
    let Ok(mut other) = Session::take(pool, For::Reading).await else {
        return false;
    };
    let sql = format!(
        "SELECT FROM pg_stat_activity WHERE pid = {process} AND state = 'active' AND query = 'COMMIT'"
    );
    let db = other.connection();
    let found = db
        .wait_for(db.client().simple_query(&sql))
        .await
        .map_err(Failure::from);
    let is_row = |message: &SimpleQueryMessage| matches!(message, SimpleQueryMessage::Row(_));
    other
        .finish(found)
        .await
        .is_ok_and(|found| found.iter().any(is_row))
}
