//! The connection of a transaction, and what is under way on it.
//!
//! Invariants:
//! - A statement's future may be dropped at any time. The statement is then cancelled, and the connection is closed
//!   once it has ended: the server says nothing of when it cancels, and a late signal would end the next statement.
//! - A connection goes back into the pool only if no transaction is open on it, or a ROLLBACK was sent.
//! - A COMMIT is never cancelled, and keeps the places of its connection until the server has done with it.
//! - A statement that is sent after `BEGIN` without waiting runs inside the transaction or fails.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::SimpleQueryMessage;

use super::connection::Connection;
use super::health::is_of_no_use;
use super::locks::BEGIN_READING;
use super::pool::{For, Pooled};
use super::query::{Failure, Result};

/// How long a statement may take to end that was cancelled.
const CLEANING: Duration = Duration::from_secs(5);
/// After this time without an answer to a COMMIT, the server is asked whether it is still at it.
const COMMITTING: Duration = Duration::from_secs(20);

/// A connection, taken from the pool for one transaction.
pub(super) struct Session {
    /// None only while it is dropped.
    connection: Option<Pooled>,
    /// Whether a transaction was begun.
    is_open: bool,
    work: Work,
    is_of_no_use: bool,
}

/// What may be under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Nothing,
    Statement,
    Commit,
}

impl Session {
    pub fn new(connection: Pooled) -> Self {
        Self {
            connection: Some(connection),
            is_open: false,
            work: Work::Nothing,
            is_of_no_use: false,
        }
    }

    /// Whether a transaction was begun.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Begins a transaction with these statements, without waiting for the answer.
    pub fn begin(&mut self, statements: impl Into<String>) {
        self.is_open = true;
        self.send(statements);
    }

    /// Begins a transaction that only reads, in the same way.
    pub fn begin_reading(&mut self) {
        self.begin(BEGIN_READING);
        if let Some(connection) = &self.connection {
            connection.set_reading(true);
        }
    }

    /// Sends statements before the next one, without waiting for the answer.
    pub fn send(&mut self, statements: impl Into<String>) {
        self.work = Work::Statement;
        if let Some(connection) = &self.connection {
            connection.send_before(statements);
        }
    }

    /// The connection, for a statement. It counts as under way until [`Session::ended`].
    pub fn connection(&mut self) -> Result<&Connection> {
        self.work = Work::Statement;
        self.connection.as_deref().ok_or_else(gone)
    }

    /// The connection, for a COMMIT.
    pub fn committing(&mut self) -> Result<&Connection> {
        self.work = Work::Commit;
        self.connection.as_deref().ok_or_else(gone)
    }

    /// Notes how a statement ended. If what was sent before it failed, that is the reason.
    pub async fn ended<T>(&mut self, mut result: Result<T>) -> Result<T> {
        let before = match &self.connection {
            Some(connection) => connection.take_answers().await,
            None => Vec::new(),
        };
        for answer in before {
            if let Err(error) = answer
                && !matches!(&result, Err(Failure::Postgres(first)) if !is_consequence(first))
            {
                result = Err(error.into());
            }
        }
        if let Err(Failure::Postgres(error)) = &result {
            self.is_of_no_use |= is_of_no_use(error);
        }
        // The rest of an answer that is too large is still under way.
        if !matches!(result, Err(Failure::TooLarge)) {
            self.work = Work::Nothing;
        }
        result
    }

    /// The connection is lost, or will be in a moment.
    pub fn lost(&mut self) {
        self.is_of_no_use = true;
    }

    /// The transaction has ended.
    pub fn closed(&mut self) {
        self.is_open = false;
    }
}

/// Whether a statement failed only because one before it did.
fn is_consequence(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
}

fn gone() -> Failure {
    Failure::Storage(portico_storage::driver::failed_before())
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        if self.is_of_no_use {
            return connection.discard();
        }
        connection.set_reading(false);
        connection.give_up_answers();
        match self.work {
            Work::Nothing => {
                if self.is_open {
                    // What the next caller sends is answered after it.
                    drop(connection.send("ROLLBACK"));
                }
            }
            work => match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(clean(connection, work))),
                Err(_) => connection.discard(),
            },
        }
    }
}

/// Waits until what is under way has ended. Until then the connection keeps its places.
async fn clean(connection: Pooled, work: Work) {
    match work {
        Work::Commit if has_committed(&connection).await => {}
        Work::Commit | Work::Nothing => connection.discard(),
        Work::Statement => {
            let ended = async {
                let cancelled = connection.client().cancel_token();
                let tls = connection.pool().target.tls.clone();
                cancelled.cancel_query(tls).await?;
                // Without a transaction it does nothing.
                connection.answer(connection.send("ROLLBACK")).await
            };
            let _ = timeout(CLEANING, ended).await;
            connection.discard();
        }
    }
}

/// Waits for the answer to a COMMIT, however long the server takes: where one waits for a standby that is away, its process
/// would stay, and other connections in its place would bring more and more of them. Whether the process is still at it is
/// asked on another connection, because an answer may be lost on the way. Fails if the connection is of no further use.
async fn has_committed(connection: &Pooled) -> bool {
    // Without a transaction it does nothing, and is answered after the COMMIT.
    let mut answer = connection.send("ROLLBACK");
    loop {
        if let Ok(answered) = timeout(COMMITTING, &mut answer).await {
            return answered.is_ok();
        }
        if !is_committing(connection).await {
            return false;
        }
    }
}

/// Whether the process of this connection is at work on a COMMIT, as far as the server says.
async fn is_committing(connection: &Pooled) -> bool {
    let Some(process) = connection.process() else {
        return false;
    };
    let Ok(other) = connection.pool().take(For::Reading).await else {
        return false;
    };
    let sql = format!(
        "SELECT FROM pg_stat_activity WHERE pid = {process} AND state = 'active' AND query = 'COMMIT'"
    );
    let found = other.answer(other.client().simple_query(&sql)).await;
    found.is_ok_and(|found| {
        found
            .iter()
            .any(|message| matches!(message, SimpleQueryMessage::Row(_)))
    })
}
