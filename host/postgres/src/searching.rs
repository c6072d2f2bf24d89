//! How a transaction that reads finds names in memory, and when it leaves that to a statement.
//!
//! Reading a million names takes a second or two. So that it delays no other call, they are read in pieces, each in
//! a transaction of its own, and by one caller at a time; callers that wait for that hold no connection, and those
//! that have an index do not wait.

use std::sync::Arc;

use super::names::{Names, Outcome};
use super::ranges::Table;
use super::transaction::{PostgresTransaction, Resources};
use portico_storage::names::{MAX_PLACES, Pass, Place, Search};
use portico_storage::{Access, Result, Slice};

/// How many ranges a search reads by itself. Each takes some milliseconds.
const FEW: usize = 8;

/// What is looked for.
pub(super) struct Wanted {
    pub table: Table,
    pub search: Search,
    /// Whether a statement would be quick if few names are found.
    pub is_indexed: bool,
}

impl PostgresTransaction {
    /// Where the records of a slice are; none if a statement is to find them.
    pub(super) async fn places(&mut self, wanted: Wanted, slice: Slice) -> Result<Option<Vec<Place>>> {
        let Some(limit) = slice.limit.filter(|limit| *limit <= MAX_PLACES) else {
            return Ok(None);
        };
        let pass = Pass::page(wanted.search, slice.offset, limit);
        let found = self.find(wanted.table, pass, wanted.is_indexed).await?;
        Ok(found.map(Pass::places))
    }

    /// How many records are found; none if a statement is to count them.
    pub(super) async fn counted(&mut self, wanted: Wanted) -> Result<Option<u32>> {
        let pass = Pass::count(wanted.search);
        let found = self.find(wanted.table, pass, wanted.is_indexed).await?;
        Ok(found.map(|pass| pass.counted()))
    }

    async fn find(&mut self, table: Table, pass: Pass, is_indexed: bool) -> Result<Option<Pass>> {
        let Some(names) = self.names(table) else {
            return Ok(None);
        };
        let may_wait = !self.is_begun() && !is_indexed;
        let most = if may_wait || is_indexed { FEW } else { usize::MAX };
        match self.find_in(&names, pass.clone(), most).await? {
            Outcome::Found(pass) => return Ok(Some(*pass)),
            Outcome::NoRoom => return Ok(None),
            Outcome::Unread if may_wait => {}
            Outcome::Unread => {
                if names.filling.try_lock().is_ok() {
                    let resources = self.resources().clone();
                    // A search that fails says why; this one is only in vain.
                    tokio::spawn(async move { drop(fill(&names, &resources).await) });
                }
                return Ok(None);
            }
        }
        self.begin_anew();
        fill(&names, self.resources()).await?;
        match self.find_in(&names, pass, usize::MAX).await? {
            Outcome::Found(pass) => Ok(Some(*pass)),
            Outcome::Unread | Outcome::NoRoom => Ok(None),
        }
    }

    async fn find_in(&mut self, names: &Arc<Names>, pass: Pass, most: usize) -> Result<Outcome> {
        let known = self.directory.take();
        let known = known.filter(|(table, _)| *table == names.table);
        let db = self.read().await?;
        let found = async {
            let directory = match known {
                Some((_, directory)) => directory,
                None => names.directory(db).await?,
            };
            let outcome = names.find(db, &directory, pass, most).await?;
            Ok((directory, outcome))
        };
        let found = found.await;
        let (directory, outcome) = self.ended(found).await?;
        self.directory = Some((names.table, directory));
        Ok(outcome)
    }
}

/// Reads the names that are not held, in pieces.
async fn fill(names: &Arc<Names>, resources: &Resources) -> Result<()> {
    let _turn = names.filling.lock().await;
    let mut next = Some(0);
    while let Some(from) = next {
        let mut reader = PostgresTransaction::reading(Access::Read, resources.clone());
        let db = reader.read().await?;
        let filled = async {
            let directory = names.directory(db).await?;
            names.fill(db, &directory, from, FEW).await
        };
        let filled = filled.await;
        next = reader.ended(filled).await?;
    }
    Ok(())
}
