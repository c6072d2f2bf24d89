//! How a transaction that reads finds names in memory, and when it leaves that to a statement.
//!
//! Reading a million names takes a second or two. So that it delays no other call, they are read in pieces, each in
//! a transaction of its own, and by one caller at a time; callers that wait for that hold no connection, and those
//! that have an index do not wait, unless it turns out that the index does not help them to count.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::names::{Names, Outcome};
use super::ranges::Table;
use super::search::Search as Statement;
use super::transaction::{PostgresTransaction, Resources};
use super::{apps, users};
use portico_storage::names::{MAX_PLACES, Pass, Place, Search};
use portico_storage::{Access, Result, Slice, UserFilter};

/// How many ranges a search reads by itself. Each takes some milliseconds.
const FEW: usize = 8;

/// How long a statement counts by an index while names are read into memory. One that takes longer has hundreds of
/// thousands of hits, or is one of many: then waiting for the names spares the server that work.
const BRIEF: Duration = Duration::from_millis(250);

/// What is looked for.
pub(super) struct Wanted {
    pub table: Table,
    pub search: Search,
    /// Whether a statement would be quick if few names are found.
    pub is_indexed: bool,
}

/// What a statement would count.
pub(super) enum Counting<'a> {
    Apps(&'a Statement),
    Users(&'a UserFilter, &'a Statement),
}

impl PostgresTransaction {
    /// Where the records of a slice are; none if a statement is to find them.
    pub(super) async fn places(&mut self, wanted: Wanted, slice: Slice) -> Result<Option<Vec<Place>>> {
        let Some(limit) = slice.limit.filter(|limit| *limit <= MAX_PLACES) else {
            return Ok(None);
        };
        let pass = Pass::page(wanted.search, slice.offset, limit);
        Ok(match self.find(wanted.table, pass, wanted.is_indexed).await? {
            Outcome::Found(pass) => Some(pass.places()),
            Outcome::Unread | Outcome::NoRoom => None,
        })
    }

    /// How many records are found: in the names in memory if they are `wanted`, or else by a statement.
    pub(super) async fn count(&mut self, counting: &Counting<'_>, wanted: Option<Wanted>) -> Result<u32> {
        if let Some(wanted) = wanted
            && let Some(count) = self.count_names(counting, wanted).await?
        {
            return Ok(count);
        }
        self.count_by_statement(counting).await
    }

    /// The same; none if a statement is to count them.
    async fn count_names(&mut self, counting: &Counting<'_>, wanted: Wanted) -> Result<Option<u32>> {
        let (table, pass) = (wanted.table, Pass::count(wanted.search));
        let may_wait = !self.is_begun();
        match self.find(table, pass.clone(), wanted.is_indexed).await? {
            Outcome::Found(pass) => return Ok(Some(pass.counted())),
            Outcome::Unread if may_wait => {}
            Outcome::Unread | Outcome::NoRoom => return Ok(None),
        }
        if let Ok(count) = timeout(BRIEF, self.count_by_statement(counting)).await {
            return count.map(Some);
        }
        let found = self.find_when_read(table, pass).await?;
        Ok(found.map(|pass| pass.counted()))
    }

    async fn count_by_statement(&mut self, counting: &Counting<'_>) -> Result<u32> {
        let db = self.read_once().await?;
        let count = match counting {
            Counting::Apps(search) => apps::count(db, search).await,
            Counting::Users(filter, search) => users::count(db, filter, search).await,
        };
        self.ended(count).await
    }

    /// Waits for the names if it may, and there is no index. Otherwise they are [`Outcome::Unread`] while they are
    /// being read.
    async fn find(&mut self, table: Table, pass: Pass, is_indexed: bool) -> Result<Outcome> {
        let Some(names) = self.names(table) else {
            return Ok(Outcome::NoRoom);
        };
        let may_wait = !self.is_begun() && !is_indexed;
        let most = if may_wait || is_indexed { FEW } else { usize::MAX };
        let outcome = self.find_in(&names, pass.clone(), most).await?;
        if !matches!(outcome, Outcome::Unread) {
            return Ok(outcome);
        }
        if may_wait {
            let found = self.find_when_read(table, pass).await?;
            return Ok(found.map_or(Outcome::NoRoom, Outcome::Found));
        }
        if names.filling.try_lock().is_ok() {
            let resources = self.resources().clone();
            // A search that fails says why; this one is only in vain.
            tokio::spawn(async move { drop(fill(&names, &resources).await) });
        }
        Ok(outcome)
    }

    /// Finds names after all of them are read into memory, in a later state; none if there is no room for them.
    async fn find_when_read(&mut self, table: Table, pass: Pass) -> Result<Option<Box<Pass>>> {
        let Some(names) = self.names(table) else {
            return Ok(None);
        };
        self.begin_anew();
        fill(&names, self.resources()).await?;
        Ok(match self.find_in(&names, pass, usize::MAX).await? {
            Outcome::Found(pass) => Some(pass),
            Outcome::Unread | Outcome::NoRoom => None,
        })
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

/// Reads the names of all tables, one after the other.
pub(super) async fn load(resources: Resources) {
    for names in [&resources.app_names, &resources.user_names] {
        // A search says why names cannot be read.
        drop(fill(names, &resources).await);
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
