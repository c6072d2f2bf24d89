//! Statements of a transaction that may take long. They run on a thread of the pool, and end early if the
//! call does.
//!
//! If a call ends while such a statement runs, its transaction stays without a connection: it has failed,
//! and what it did is rolled back.

use std::mem::replace;

use rusqlite::Connection;

use super::pool::Rank;
use super::transaction::{SqliteTransaction, State};
use portico_storage::driver::{failed_before, only_reads};
use portico_storage::{Result, SharedSnapshot};

impl SqliteTransaction {
    /// Runs statements that read and may take long.
    pub(super) async fn scan<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.acquire_permit().await?;
        let (rank, snapshot) = match &mut self.state {
            State::Reading(reader) => {
                let ready = reader.begin_scan().await;
                ready.inspect_err(|_| self.failed = true)?;
                (Rank::Reads, reader.take_snapshot())
            }
            _ => (Rank::HoldsPermit, SharedSnapshot::default()),
        };
        let (state, failed) = self.lend();
        let pool = self.pool.clone();
        let ran = pool.run(rank, move |watch| {
            let connection = state.connection();
            // Interrupting a read undoes no write, so this is allowed in a write transaction, too.
            let result = connection.map(|connection| watch.over(|| read(connection)));
            (state, result)
        });
        let (mut state, result) = ran.await?;
        if let State::Reading(reader) = &mut state {
            reader.restore_snapshot(snapshot);
        }
        self.return_lent(state, failed);
        let result = result.ok_or_else(failed_before)?;
        result.map_err(|error| self.fail(&error))
    }

    /// Runs a statement that writes and may take long. It can be interrupted only if no other transaction
    /// shares its commit, so the first write of a transaction commits those first.
    pub(super) async fn write_blocking<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        if self.failed {
            return Err(failed_before());
        }
        self.acquire_permit().await?;
        let has_written = replace(&mut self.has_written, true);
        let (state, failed) = self.lend();
        let State::Writing(mut permit) = state else {
            self.return_lent(state, failed);
            return Err(only_reads());
        };
        let pool = self.pool.clone();
        let ran = pool.run(Rank::HoldsPermit, move |watch| {
            if !has_written && let Err(error) = permit.stand_alone() {
                return (permit, Err(error));
            }
            let is_alone = permit.is_alone();
            let Some(connection) = permit.connection() else {
                return (permit, Err(failed_before()));
            };
            let result = if is_alone {
                watch.over(|| write(connection))
            } else {
                write(connection)
            };
            (permit, Ok(result))
        });
        let (permit, result) = ran.await?;
        self.return_lent(State::Writing(permit), failed || result.is_err());
        result?.map_err(|error| self.fail(&error))
    }
}
