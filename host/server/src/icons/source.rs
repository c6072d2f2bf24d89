//! One source of icons: its index in memory, the copy that hosts share (`copies.rs`) and the network.
//!
//! Invariants:
//! - All blocking work of a source runs on one thread of its own. Lookups only read the state, and may wait for
//!   it to change.
//! - A lookup uses the version that was stored when the lookup began; after its deadline, the version that is loaded.

use std::{sync::Arc, thread, time::Duration};

use anyhow::ensure;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use portico_model::Timestamp;
use portico_storage::{RecordKey, SharedRecord};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tracing::warn;

use super::{
    copies::{Copy, Index, MAX_BODY, Version},
    listing,
    matching::Table,
    settings::IconSource,
};

/// How old an index may get before it is fetched again.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// How long to wait after a failure before the next attempt.
const RETRY_AFTER: Duration = Duration::from_mins(10);

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
    copy: Copy,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    /// Whether the thread is running.
    working: bool,
    /// Whether a lookup has waited for that thread until its deadline. Later lookups do not wait again.
    slow: bool,
    index: Option<Index>,
    /// The stored version, as far as a lookup has seen.
    stored: Option<Version>,
    /// When the thread last ended, whether or not it fetched an index.
    tried: Option<Timestamp>,
}

impl Source {
    pub(super) fn new(settings: IconSource, copy: Copy) -> Self {
        Self {
            settings,
            copy,
            state: watch::Sender::default(),
        }
    }

    /// The record that says which version is stored.
    pub(super) fn version_key(&self) -> RecordKey {
        self.copy.version_key()
    }

    /// The URL of an icon of this source.
    pub(super) fn url(&self, path: &str) -> String {
        let base = self.settings.base.trim_end_matches('/');
        format!("{base}/{}", utf8_percent_encode(path, ESCAPED))
    }

    /// The path of an icon of this source, by its URL.
    pub(super) fn path_of(&self, url: &str) -> Option<String> {
        let base = self.settings.base.trim_end_matches('/');
        let path = url.strip_prefix(base)?.strip_prefix('/')?;
        let path = percent_decode_str(path).decode_utf8().ok()?;
        Some(path.into_owned())
    }

    /// The icons that are loaded.
    pub(super) fn loaded(&self) -> Option<Arc<Table>> {
        let state = self.state.borrow();
        state.index.as_ref().map(|index| Arc::clone(&index.table))
    }

    /// The icons. Waits until they are loaded, loading has failed, or the deadline has passed; in the last
    /// two cases these are the ones that were loaded before, if there are any.
    pub(super) async fn table(&self, deadline: Instant) -> Option<Arc<Table>> {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| state.is_loaded() || !state.working || state.slow);
        let is_late = timeout_at(deadline, settled).await.is_err();
        if is_late {
            self.state.send_modify(|state| state.slow = state.working);
        }
        self.loaded()
    }

    /// Starts to update the index if another version is stored, as this record says. Fetches it if it is old,
    /// unless that failed a short while ago. The time is the store's.
    pub(super) fn start_if_due(self: &Arc<Self>, record: &Option<SharedRecord>, now: Timestamp) {
        let stored = Version::of(record);
        let start = self.state.send_if_modified(|state| {
            state.stored = stored;
            let is_due = (state.stored.is_some() && !state.is_loaded()) || state.must_fetch(now);
            let start = !state.working && is_due;
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
            let _working = Working(&source, now);
            if let Err(error) = source.work(now) {
                warn!(index = %source.settings.index, "an icon source failed: {error:#}");
            }
        });
        if let Err(error) = spawned {
            drop(Working(self, now));
            warn!(index = %self.settings.index, "no thread to fetch icons: {error}");
        }
    }

    fn work(&self, now: Timestamp) -> anyhow::Result<()> {
        if !self.state.borrow().is_loaded()
            && let Some(index) = self.copy.read()?
        {
            self.take(index);
        }
        if !self.state.borrow().must_fetch(now) {
            return Ok(());
        }
        let old = self.state.borrow().stored.clone();
        if let Some(index) = self.copy.renew(old.as_ref(), || self.fetch())? {
            self.take(index);
        }
        Ok(())
    }

    /// Uses the index that is stored.
    fn take(&self, index: Index) {
        self.state.send_modify(|state| {
            state.stored = Some(index.version.clone());
            state.index = Some(index);
        });
    }

    fn fetch(&self) -> anyhow::Result<Table> {
        let body = portico_icons::fetch_index(&self.settings.index, MAX_BODY as usize)?;
        let table = Table::new(listing::paths(&body)?);
        ensure!(!table.is_empty(), "the index lists no icons");
        Ok(table)
    }
}

impl State {
    /// Whether the index that lookups are to use is loaded.
    fn is_loaded(&self) -> bool {
        let Some(index) = &self.index else {
            return false;
        };
        self.stored.is_none() || self.stored.as_ref() == Some(&index.version)
    }

    fn must_fetch(&self, now: Timestamp) -> bool {
        let fresh = self
            .index
            .as_ref()
            .is_some_and(|index| within(MAX_AGE, index.version.fetched, now));
        let tried = self.tried.is_some_and(|tried| within(RETRY_AFTER, tried, now));
        !fresh && !tried
    }
}

/// Whether `then` is less than this long ago. A time in the future does not count, because after the clock was set back
/// it could stay in the future for years.
fn within(duration: Duration, then: Timestamp, now: Timestamp) -> bool {
    now.checked_sub(then)
        .is_some_and(|age| u128::from(age) < duration.as_millis())
}

/// Marks the work that began then as ended when dropped, so a panic counts as a failure like any other.
struct Working<'a>(&'a Source, Timestamp);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let Self(source, began) = self;
        source.state.send_modify(|state| {
            state.working = false;
            state.tried = Some(*began);
        });
    }
}
