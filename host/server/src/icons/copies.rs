//! Where a source keeps the copy of its index: in a file, or in what hosts share.
//!
//! Invariants:
//! - Hosts that share a storage use one copy of each index, and one of them at a time renews it. A host uses no
//!   index that is not stored there.
//! - Everything here blocks, and runs on a source's own thread.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::Read,
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

use super::{listing::Bounded, matching::Table};

/// The largest index, in bytes.
pub(super) const MAX_BODY: u64 = 32 << 20;

/// How long a shared copy is kept that no host renews.
const LIFE: Timestamp = 60 * 24 * 60 * 60 * 1000;
/// How long a host may take to renew a copy; then another one may begin.
const LONGEST_RENEWAL: Duration = Duration::from_mins(1);
/// How often a host looks whether another one has renewed a copy.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// An index.
#[derive(Clone)]
pub(super) struct Index {
    pub table: Arc<Table>,
    pub fetched: Timestamp,
    /// Which one it is, among hosts.
    pub version: Option<Version>,
}

/// Which index is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    /// The hash of the index.
    hash: String,
    /// When it was fetched, by the clock of the store.
    pub fetched: Timestamp,
}

impl Version {
    /// What the record of [`Shared::version_key`] says.
    pub fn of(record: &Option<SharedRecord>) -> Option<Self> {
        serde_json::from_slice(&record.as_ref()?.value).ok()
    }
}

/// The copy of one source's index.
pub(super) enum Copy {
    File(FileCopy),
    Shared(Shared),
}

/// A copy in a file, of one host.
pub(super) struct FileCopy {
    pub index: String,
    pub file: PathBuf,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Content<'a, Paths> {
    index: Cow<'a, str>,
    fetched: Timestamp,
    paths: Paths,
}

impl FileCopy {
    pub fn read(&self) -> anyhow::Result<Option<Index>> {
        let file = match File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        file.take(MAX_BODY + 1).read_to_end(&mut text)?;
        ensure!(text.len() as u64 <= MAX_BODY, "it is too large");
        let copy: Content<Bounded<String>> = serde_json::from_slice(&text)?;
        ensure!(copy.index == self.index, "it is of {}", copy.index);
        let table = Table::new(copy.paths.0);
        ensure!(!table.is_empty(), "it lists no icons");
        Ok(Some(Index {
            table: Arc::new(table),
            fetched: copy.fetched,
            version: None,
        }))
    }

    pub fn write(&self, index: &Index) -> anyhow::Result<()> {
        let copy = Content {
            index: self.index.as_str().into(),
            fetched: index.fetched,
            paths: index.table.paths().collect::<Vec<_>>(),
        };
        let text = serde_json::to_vec(&copy)?;
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        // A fixed name, because a source has one writer. A file that a crash left is overwritten.
        let new = self.file.with_extension("json.new");
        fs::write(&new, text)?;
        fs::rename(&new, &self.file)?;
        Ok(())
    }
}

/// A copy that hosts share: one record says which version there is, another has it.
pub(super) struct Shared {
    pub records: Arc<dyn SharedRecords>,
    /// The runtime, on which the store works.
    pub runtime: Handle,
    pub name: String,
}

impl Shared {
    /// The record that says which version is stored.
    pub fn version_key(&self) -> RecordKey {
        RecordKey::new(RecordKind::IconVersion, self.name.as_str())
    }

    fn index_key(&self) -> RecordKey {
        RecordKey::new(RecordKind::IconIndex, self.name.as_str())
    }

    /// The stored index.
    pub fn read(&self) -> anyhow::Result<Option<Index>> {
        let keys = [self.version_key(), self.index_key()];
        let (records, _) = self.runtime.block_on(self.records.read(&keys)).map_err(failed)?;
        let Some((version, index)) = Version::of(&records[0]).zip(records[1].as_ref()) else {
            return Ok(None);
        };
        let paths: Bounded<String> = serde_json::from_slice(&index.value).context("the shared copy")?;
        Ok(Some(Index {
            table: Arc::new(Table::new(paths.0)),
            fetched: version.fetched,
            version: Some(version),
        }))
    }

    /// Fetches the index and stores it, unless another host does: then waits until that one has. Gives the
    /// index that is stored in the end.
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
                // Should it fail, the turn ends by itself.
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
        let paths = serde_json::to_string(&table.paths().collect::<Vec<_>>())?;
        ensure!(paths.len() as u64 <= MAX_BODY, "the index is too large");
        let hash: String = hash_secret(&paths)[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let keys = [self.version_key(), self.index_key()];
        let write = self.records.change(&keys, |records, now| {
            let record = |value| SharedRecord {
                value,
                rank: i64::try_from(now).unwrap_or(i64::MAX),
                ends_at: now.saturating_add(LIFE),
            };
            let version = Version { hash, fetched: now };
            // A text and a number become JSON without fail.
            records[0] = Some(record(serde_json::to_vec(&version).unwrap_or_default()));
            records[1] = Some(record(paths.into_bytes()));
        });
        self.runtime.block_on(write).map_err(failed)
    }
}

fn failed(error: portico_storage::Error) -> anyhow::Error {
    anyhow::anyhow!("the shared copy cannot be used: {error:?}")
}
