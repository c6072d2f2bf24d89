//! One source of icons: its index in memory, on disk and on the network.
//!
//! Invariant: all blocking work of a source runs on one thread of its own. Lookups only read the state, and
//! may wait for it to change.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context, ensure};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use portico_model::{Timestamp, time::Clock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tracing::warn;

use super::{
    listing::{self, Bounded},
    matching::Table,
    network,
    settings::IconSource,
};

/// How old an index may get before it is fetched again.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// How long to wait after a failure before the next attempt.
const RETRY_AFTER: Duration = Duration::from_mins(10);
/// The largest index, in bytes.
const MAX_BODY: u64 = 32 << 20;

/// Characters that must be escaped in a path segment (URL standard), and `%`.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

pub(super) struct Source {
    settings: IconSource,
    cache_file: PathBuf,
    clock: Arc<dyn Clock>,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    /// Whether the copy on disk has been read, or found missing.
    disk_read: bool,
    /// Whether the thread is running.
    working: bool,
    /// Whether a lookup has waited for that thread until its deadline. Later lookups do not wait again.
    slow: bool,
    index: Option<Index>,
    /// When the thread last ended, whether or not it fetched an index.
    tried: Option<Timestamp>,
}

#[derive(Clone)]
struct Index {
    table: Arc<Table>,
    fetched: Timestamp,
}

/// The file on disk.
#[derive(Serialize, Deserialize)]
struct CacheFile<'a, Paths> {
    index: Cow<'a, str>,
    fetched: Timestamp,
    paths: Paths,
}

impl Source {
    pub(super) fn new(settings: IconSource, cache_dir: &Path, clock: Arc<dyn Clock>) -> Self {
        let digest = Sha256::digest(format!("{} {}", settings.index, settings.base));
        let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            settings,
            cache_file: cache_dir.join(format!("{name}.json")),
            clock,
            state: watch::Sender::default(),
        }
    }

    /// The URL of an icon of this source.
    pub(super) fn url(&self, path: &str) -> String {
        let base = self.settings.base.trim_end_matches('/');
        format!("{base}/{}", utf8_percent_encode(path, ESCAPED))
    }

    /// The icons. Waits until they are loaded, loading has failed, or the deadline has passed; in the last
    /// two cases there are none.
    pub(super) async fn table(&self, deadline: Instant) -> Option<Arc<Table>> {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| state.index.is_some() || !state.working || state.slow);
        match timeout_at(deadline, settled).await {
            Ok(state) => state.ok()?.index.as_ref().map(|index| Arc::clone(&index.table)),
            Err(_) => {
                self.state.send_modify(|state| state.slow = state.working);
                None
            }
        }
    }

    /// Starts to update the index, unless it is fresh, an update is running, or one failed a short while ago.
    pub(super) fn start_if_due(self: &Arc<Self>) {
        let now = self.clock.now();
        let start = self.state.send_if_modified(|state| {
            let start = !state.working && (!state.disk_read || state.must_fetch(now));
            state.working |= start;
            state.slow &= !start;
            start
        });
        if !start {
            return;
        }
        let source = Arc::clone(self);
        // A thread of its own, because the runtime would wait for its blocking threads when the host stops.
        let thread = thread::Builder::new().name("icons".to_owned());
        let spawned = thread.spawn(move || {
            let _working = Working(&source);
            source.work(now);
        });
        if let Err(error) = spawned {
            drop(Working(self));
            warn!(index = %self.settings.index, "no thread to fetch icons: {error}");
        }
    }

    fn work(&self, now: Timestamp) {
        if !self.state.borrow().disk_read {
            let index = self.read_copy().unwrap_or_else(|error| {
                warn!(file = %self.cache_file.display(), "ignored a copy of an icon source: {error:#}");
                None
            });
            self.state.send_modify(|state| {
                state.disk_read = true;
                state.index = index;
            });
        }
        if !self.state.borrow().must_fetch(now) {
            return;
        }
        match self.fetch() {
            Ok(table) => {
                let index = Index {
                    table: Arc::new(table),
                    fetched: self.clock.now(),
                };
                if let Err(error) = self.write_copy(&index) {
                    warn!(file = %self.cache_file.display(), "could not keep an icon source: {error:#}");
                }
                self.state.send_modify(|state| state.index = Some(index));
            }
            Err(error) => warn!(index = %self.settings.index, "an icon source failed: {error:#}"),
        }
    }

    fn fetch(&self) -> anyhow::Result<Table> {
        let mut response = network::get(&self.settings.index)?;
        let body = response.body_mut().with_config().limit(MAX_BODY).read_to_vec()?;
        let table = Table::new(listing::paths(&body)?);
        ensure!(!table.is_empty(), "the index lists no icons");
        Ok(table)
    }

    fn read_copy(&self) -> anyhow::Result<Option<Index>> {
        let file = match File::open(&self.cache_file) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        file.take(MAX_BODY + 1).read_to_end(&mut text)?;
        ensure!(text.len() as u64 <= MAX_BODY, "it is too large");
        let copy: CacheFile<Bounded<String>> = serde_json::from_slice(&text)?;
        ensure!(copy.index == self.settings.index, "it is of {}", copy.index);
        let table = Table::new(copy.paths.0);
        ensure!(!table.is_empty(), "it lists no icons");
        Ok(Some(Index {
            table: Arc::new(table),
            fetched: copy.fetched,
        }))
    }

    fn write_copy(&self, index: &Index) -> anyhow::Result<()> {
        let copy = CacheFile {
            index: self.settings.index.as_str().into(),
            fetched: index.fetched,
            paths: index.table.paths().collect::<Vec<_>>(),
        };
        let text = serde_json::to_vec(&copy)?;
        if let Some(folder) = self.cache_file.parent() {
            fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        // A fixed name, because a source has one writer. A file that a crash left is overwritten.
        let new = self.cache_file.with_extension("json.new");
        fs::write(&new, text)?;
        fs::rename(&new, &self.cache_file)?;
        Ok(())
    }
}

impl State {
    fn must_fetch(&self, now: Timestamp) -> bool {
        let fresh = self
            .index
            .as_ref()
            .is_some_and(|index| within(MAX_AGE, index.fetched, now));
        let tried = self.tried.is_some_and(|tried| within(RETRY_AFTER, tried, now));
        !fresh && !tried
    }
}

/// Whether `then` is less than this long ago. A time in the future does not count: after the clock was set
/// back, it could stay in the future for years.
fn within(duration: Duration, then: Timestamp, now: Timestamp) -> bool {
    now.checked_sub(then)
        .is_some_and(|age| u128::from(age) < duration.as_millis())
}

/// Marks the work as ended when dropped, so a panic counts as a failure like any other.
struct Working<'a>(&'a Source);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let now = self.0.clock.now();
        self.0.state.send_modify(|state| {
            state.working = false;
            state.disk_read = true;
            state.tried = Some(now);
        });
    }
}
