//! The copy of a source's index, in the records that hosts share.
//!
//! Invariants:
//! - Hosts that share a storage use one copy of each index, and only one of them at a time renews it. A host uses only
//!   indexes that are stored there.
//! - A host whose records are in its memory also has the copy in a file, which outlives a restart.
//! - Everything here blocks, and runs on a source's own thread.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{ErrorKind, Read},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context, ensure};
use portico_model::Timestamp;
use portico_storage::{RecordKey, RecordKind, SharedRecord, SharedRecords, Turn, hash_secret};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tracing::warn;

use super::{listing::Bounded, matching::Table};

/// The largest index, in bytes.
pub(super) const MAX_BODY: u64 = 32 << 20;

/// How long a copy stays that no host renews.
const LIFE: Timestamp = 60 * 24 * 60 * 60 * 1000;
/// How long a host may take to renew a copy; then another one may begin.
const LONGEST_RENEWAL: Duration = Duration::from_mins(1);
/// The interval at which a host checks whether another one has renewed a copy.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Clone)]
pub(super) struct Index {
    pub table: Arc<Table>,
    pub version: Version,
}

/// Which index is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    hash: String,
    /// When it was fetched, by the clock of the store.
    pub fetched: Timestamp,
}

impl Version {
    /// The content of the record of [`Copy::version_key`].
    pub fn of(record: &Option<SharedRecord>) -> Option<Self> {
        serde_json::from_slice(&record.as_ref()?.value).ok()
    }
}

/// The copy of one source's index: one record says which version is stored, another has the index.
pub(super) struct Copy {
    pub records: Arc<dyn SharedRecords>,
    /// The runtime, on which the store works.
    pub runtime: Handle,
    pub name: String,
    pub file: Option<CopyFile>,
}

impl Copy {
    /// The record that says which version is stored.
    pub fn version_key(&self) -> RecordKey {
        RecordKey::new(RecordKind::IconVersion, self.name.as_str())
    }

    fn keys(&self) -> [RecordKey; 2] {
        let index = RecordKey::new(RecordKind::IconIndex, self.name.as_str());
        [self.version_key(), index]
    }

    pub fn read(&self) -> anyhow::Result<Option<Index>> {
        let read = self.runtime.block_on(self.records.read(&self.keys()));
        let (records, _) = read.map_err(failed)?;
        if let Some((version, index)) = Version::of(&records[0]).zip(records[1].as_ref()) {
            let paths: Bounded<String> = serde_json::from_slice(&index.value).context("the copy")?;
            let table = Arc::new(Table::new(paths.0));
            return Ok(Some(Index { table, version }));
        }
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let read = file.read().unwrap_or_else(|error| {
            warn!(file = %file.path.display(), "ignored a copy of an icon source: {error:#}");
            None
        });
        let Some((table, fetched)) = read else {
            return Ok(None);
        };
        let version = self.store(&table, Some(fetched))?;
        let table = Arc::new(table);
        Ok(Some(Index { table, version }))
    }

    /// Fetches the index and stores it. If another host is doing so, waits for it instead. Returns the index that is
    /// stored in the end.
    pub fn renew(
        &self,
        old: Option<&Version>,
        fetch: impl FnOnce() -> anyhow::Result<Table>,
    ) -> anyhow::Result<Option<Index>> {
        let work = format!("icons {}", self.name);
        let looks = LONGEST_RENEWAL.as_millis() / LOOK_INTERVAL.as_millis();
        for _ in 0..looks {
            let turn = Turn::take(&self.records, &work, LONGEST_RENEWAL);
            let turn = self.runtime.block_on(turn).map_err(failed)?;
            let is_renewed = self.stored_version()?.as_ref() != old;
            if let Some(turn) = turn {
                let stored = if is_renewed {
                    Ok(())
                } else {
                    fetch().and_then(|table| self.write(&table))
                };
                // If this fails, the turn expires.
                let _ = self.runtime.block_on(turn.end());
                stored?;
                return self.read();
            }
            if is_renewed {
                return self.read();
            }
            thread::sleep(LOOK_INTERVAL);
        }
        Ok(None)
    }

    fn stored_version(&self) -> anyhow::Result<Option<Version>> {
        let key = [self.version_key()];
        let (records, _) = self.runtime.block_on(self.records.read(&key)).map_err(failed)?;
        Ok(Version::of(&records[0]))
    }

    fn write(&self, table: &Table) -> anyhow::Result<()> {
        let version = self.store(table, None)?;
        if let Some(file) = &self.file
            && let Err(error) = file.write(table, version.fetched)
        {
            warn!(file = %file.path.display(), "could not keep an icon source: {error:#}");
        }
        Ok(())
    }

    /// Stores an index that was fetched at this time, or now.
    fn store(&self, table: &Table, fetched: Option<Timestamp>) -> anyhow::Result<Version> {
        let paths = serde_json::to_string(&table.paths().collect::<Vec<_>>())?;
        ensure!(paths.len() as u64 <= MAX_BODY, "the index is too large");
        let hash: String = hash_secret(&paths)[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let keys = self.keys();
        let store = self.records.change(&keys, |records, now| {
            let record = |value| SharedRecord {
                value,
                rank: i64::try_from(now).unwrap_or(i64::MAX),
                ends_at: now.saturating_add(LIFE),
            };
            let fetched = fetched.unwrap_or(now);
            let version = Version { hash, fetched };
            // A text and a number always become JSON.
            records[0] = Some(record(serde_json::to_vec(&version).unwrap_or_default()));
            records[1] = Some(record(paths.into_bytes()));
            version
        });
        self.runtime.block_on(store).map_err(failed)
    }
}

fn failed(error: portico_storage::Error) -> anyhow::Error {
    anyhow::anyhow!("the copy cannot be used: {error:?}")
}

/// The file with the copy, of one host.
pub(super) struct CopyFile {
    /// The URL of the index.
    pub index: String,
    pub path: PathBuf,
}

/// What is in the file.
#[derive(Serialize, Deserialize)]
struct Content<'a, Paths> {
    index: Cow<'a, str>,
    fetched: Timestamp,
    paths: Paths,
}

impl CopyFile {
    /// The index, and when it was fetched.
    fn read(&self) -> anyhow::Result<Option<(Table, Timestamp)>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        file.take(MAX_BODY + 1).read_to_end(&mut text)?;
        ensure!(text.len() as u64 <= MAX_BODY, "it is too large");
        let copy: Content<Bounded<String>> = serde_json::from_slice(&text)?;
        ensure!(copy.index == self.index, "it is of {}", copy.index);
        let table = Table::new(copy.paths.0);
        ensure!(!table.is_empty(), "it lists no icons");
        Ok(Some((table, copy.fetched)))
    }

    fn write(&self, table: &Table, fetched: Timestamp) -> anyhow::Result<()> {
        let copy = Content {
            index: self.index.as_str().into(),
            fetched,
            paths: table.paths().collect::<Vec<_>>(),
        };
        let text = serde_json::to_vec(&copy)?;
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        // A fixed name, because a source has one writer. A file that a crash left is overwritten.
        let new = self.path.with_extension("json.new");
        fs::write(&new, text)?;
        fs::rename(&new, &self.path)?;
        Ok(())
    }
}
