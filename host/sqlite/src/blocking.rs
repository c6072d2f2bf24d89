//! Statements that may take long. They run on a thread of the pool, and stop early if the call ends.
//!
//! If a call ends while such a statement runs, its transaction loses its connection: it has failed, and its changes are
//! rolled back.

use rusqlite::Connection;

use super::statements::Failure;
use super::transaction::{SqliteTransaction, State};
use portico_storage::Result;
use portico_storage::driver::{failed_before, only_reads};

impl SqliteTransaction {
    /// Runs a statement that reads and may take long.
    pub(super) async fn scan<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&Connection) -> std::result::Result<T, Failure> + Send + 'static,
    ) -> Result<T> {
        self.acquire_permit().await?;
        let (resources, limits) = (&self.resources, &self.resources.limits);
        let (pool, longest) = match &mut self.state {
            State::Reading(reader) => {
                reader.begin_scan().await?;
                (&resources.scanning, limits.read)
            }
            _ => (&resources.writing, limits.write),
        };
        let pool = pool.clone();
        let state = self.lend();
        let ran = pool.run(move |token| {
            let connection = state.connection();
            // Interrupting a read undoes no write, so this is allowed in a write transaction too.
            let result = connection.map(|connection| token.run(longest, || read(connection)));
            (state, result)
        });
        let (state, result) = ran.await?;
        self.state = state;
        let result = result.ok_or_else(failed_before)?;
        result.map_err(|failure| self.fail(failure))
    }

    /// Runs a statement that writes many records.
    ///
    /// A statement whose time no input bounds (a deletion that cascades to what refers to the record, a prune)
    /// `leaves_batch`: it can be interrupted only if no other transaction shares its commit, so the first write of a
    /// transaction commits the others first.
    pub(super) async fn write_on_pool<T: Send + 'static>(
        &mut self,
        leaves_batch: bool,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.acquire_permit().await?;
        let leaves_batch = leaves_batch && !self.has_written;
        let mut permit = match self.lend() {
            State::Writing(permit) => permit,
            state => {
                self.state = state;
                return Err(only_reads());
            }
        };
        self.has_written = true;
        let (pool, longest) = (self.resources.writing.clone(), self.resources.limits.write);
        let ran = pool.run(move |token| {
            if leaves_batch && let Err(error) = permit.stand_alone() {
                return (permit, Err(error));
            }
            let is_alone = permit.is_alone();
            let Some(connection) = permit.connection() else {
                return (permit, Err(failed_before()));
            };
            let result = if is_alone {
                token.run(longest, || write(connection))
            } else {
                write(connection)
            };
            (permit, Ok(result))
        });
        let (permit, result) = ran.await?;
        self.state = State::Writing(permit);
        result?.map_err(|error| self.fail(error.into()))
    }
}
