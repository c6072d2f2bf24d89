//! Pictures by the URL of their icon: from the folder, or fetched.
//!
//! Invariants:
//! - There is one fetch at a time for a URL, and at most [`MOST_AT_ONCE`] in total; at most [`MOST_WAITING`] wait or
//!   run. Each host gets a few of them, and none for a while after it did not answer (`hosts.rs`).
//! - A fetch continues after its callers have given up, so that the next caller finds the picture.
//! - A failure is remembered for [`FAILURE_LASTS`]. No more than [`MOST_FAILURES`] are remembered.
//! - A picture that cannot be stored is served all the same.
//! - All blocking work on the network runs on threads of its own: the runtime would wait for its blocking threads when
//!   the host stops.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use portico_model::{
    Timestamp,
    time::{Clock, MonotonicClock},
};
use tokio::{
    sync::{Semaphore, oneshot, watch},
    task::spawn_blocking,
};
use tracing::{info, warn};
use url::Url;

use crate::{
    allow::AllowList,
    error::IconError,
    fetch::{Fetch, Network},
    folder::{Bounds, Folder, Name},
    hosts::{Ended, Hosts},
    metrics,
    picture::Picture,
    place::{self, PictureSource},
};

/// Concurrent fetches.
const MOST_AT_ONCE: usize = 16;
/// Fetches that wait or run.
const MOST_WAITING: usize = 1024;
/// Files that are read at the same time; each takes up to a mebibyte.
const MOST_READS: usize = 32;
/// How long a failure is remembered.
pub(crate) const FAILURE_LASTS: Duration = Duration::from_secs(5 * 60);
const MOST_FAILURES: usize = 10_000;

/// Who chose the URL of a picture.
#[derive(Clone, Copy)]
enum ChosenBy {
    /// Someone who may change a record, such as an app.
    User,
    /// A provider of sign-in.
    Provider,
}

type Outcome = Result<Picture, IconError>;
/// The outcome of a fetch, once it is there.
type Fetching = watch::Receiver<Option<Outcome>>;

/// How much is stored, and from where pictures may be fetched.
pub struct IconFileSettings {
    /// The hosts that may have private addresses.
    pub allow: AllowList,
    /// The most bytes of pictures that are stored.
    pub most_bytes: u64,
    /// The most pictures that are stored.
    pub most_files: u64,
    /// The clock for forgetting failures.
    pub clock: Arc<dyn Clock>,
}

impl Default for IconFileSettings {
    fn default() -> Self {
        Self {
            allow: AllowList::default(),
            most_bytes: 256 << 20,
            most_files: 20_000,
            clock: Arc::new(MonotonicClock::default()),
        }
    }
}

/// The pictures of icons.
pub struct IconFiles {
    folder: Folder,
    network: Box<dyn Fetch>,
    /// For pictures that a provider named.
    named: Box<dyn Fetch>,
    clock: Arc<dyn Clock>,
    slots: Semaphore,
    reads: Semaphore,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    fetching: HashMap<Name, Fetching>,
    /// With the time until which they are remembered.
    failed: HashMap<Name, (IconError, Timestamp)>,
    hosts: Hosts,
}

impl IconFiles {
    /// Pictures in this folder, which need not exist. Several processes may use it at the same time.
    pub fn open(folder: PathBuf, settings: IconFileSettings) -> Arc<Self> {
        let network = Network::new(settings.allow.clone());
        Self::with(folder, settings, network, Network::for_named())
    }

    pub(crate) fn with(
        folder: PathBuf,
        settings: IconFileSettings,
        network: impl Fetch,
        named: impl Fetch,
    ) -> Arc<Self> {
        let bounds = Bounds {
            bytes: settings.most_bytes,
            files: settings.most_files,
        };
        Arc::new(Self {
            folder: Folder::new(folder, bounds),
            network: Box::new(network),
            named: Box::new(named),
            clock: settings.clock,
            slots: Semaphore::new(MOST_AT_ONCE),
            reads: Semaphore::new(MOST_READS),
            known: Mutex::default(),
        })
    }

    /// The clock by which failures are forgotten.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Whether the picture at this URL is in the folder.
    pub async fn is_kept(self: &Arc<Self>, icon_url: &str) -> bool {
        let Ok(PictureSource::Web(url)) = PictureSource::of(icon_url) else {
            return false;
        };
        let (files, name) = (self.clone(), Name::of(&url));
        spawn_blocking(move || files.folder.has(&name))
            .await
            .unwrap_or(false)
    }

    /// The picture at the URL of an icon: a URL with `http:` or `https:`, or a `data:` URL.
    pub async fn get(self: &Arc<Self>, icon_url: &str) -> Result<Picture, IconError> {
        let url = match PictureSource::of(icon_url)? {
            PictureSource::Data(rest) => {
                return metrics::count(place::data(&rest).and_then(Picture::of), "data");
            }
            PictureSource::Web(url) => url,
        };
        self.get_at(url, ChosenBy::User).await
    }

    /// The picture at a URL that a provider named: from a public address, and by `https:`.
    pub async fn get_named(self: &Arc<Self>, url: &str) -> Result<Picture, IconError> {
        match PictureSource::of(url)? {
            PictureSource::Web(url) => self.get_at(url, ChosenBy::Provider).await,
            PictureSource::Data(_) => Err(IconError::new("a provider names pictures by https: alone")),
        }
    }

    async fn get_at(self: &Arc<Self>, url: Url, by: ChosenBy) -> Outcome {
        let name = match by {
            ChosenBy::User => Name::of(&url),
            ChosenBy::Provider => Name::of_named(&url),
        };
        if let Some(picture) = self.find_stored(&name).await {
            return metrics::count(Ok(picture), "kept");
        }
        metrics::count(self.fetched(name, url, by).await, "fetched")
    }

    /// The picture at this URL, once it is fetched.
    async fn fetched(self: &Arc<Self>, name: Name, url: Url, by: ChosenBy) -> Outcome {
        let mut fetching = self.fetching(name, url, by)?;
        // This fails if the fetch ended without an outcome.
        let outcome = fetching.wait_for(Option::is_some).await;
        let outcome = outcome.ok().and_then(|outcome| outcome.clone());
        outcome.unwrap_or(Err(IconError::Busy))
    }

    /// The picture in the folder.
    async fn find_stored(self: &Arc<Self>, name: &Name) -> Option<Picture> {
        let _permit = self.reads.acquire().await.ok()?;
        let (files, name) = (self.clone(), name.clone());
        spawn_blocking(move || files.read(&name)).await.ok()?
    }

    /// Reads a file. A file that cannot be read, or is damaged, counts as missing: the picture is fetched again.
    fn read(&self, name: &Name) -> Option<Picture> {
        match self.folder.read(name) {
            Ok(content) => Picture::of(content?).ok(),
            Err(error) => {
                warn!("the file of an icon cannot be read: {error}");
                None
            }
        }
    }

    /// The fetch of this URL: the one that runs, or a new one.
    fn fetching(self: &Arc<Self>, name: Name, url: Url, by: ChosenBy) -> Result<Fetching, IconError> {
        let now = self.clock.now();
        let mut known = self.known();
        if let Some(fetching) = known.fetching.get(&name) {
            return Ok(fetching.clone());
        }
        if let Some((error, until)) = known.failed.get(&name)
            && now < *until
        {
            return Err(error.clone());
        }
        if known.fetching.len() >= MOST_WAITING {
            return Err(IconError::Busy);
        }
        let slots = known.hosts.begin(&url, now)?;
        known.failed.remove(&name);
        let (sender, receiver) = watch::channel(None);
        known.fetching.insert(name.clone(), receiver.clone());
        drop(known);
        let files = self.clone();
        tokio::spawn(async move {
            // The semaphores are never closed.
            let of_host = slots.acquire().await;
            let fetched = files.clone().fetch(&name, &url, by).await;
            drop(of_host);
            files.end(&name, &url, &fetched);
            sender.send_replace(Some(fetched));
        });
        Ok(receiver)
    }

    /// Fetches a picture whose host has a slot for it.
    async fn fetch(self: Arc<Self>, name: &Name, url: &Url, by: ChosenBy) -> Outcome {
        if self.known().hosts.is_silent(url, self.clock.now()) {
            return Err(IconError::Silent);
        }
        let _permit = self.slots.acquire().await;
        let (sender, receiver) = oneshot::channel();
        let (files, name, url) = (self.clone(), name.clone(), url.clone());
        let spawned = thread::Builder::new().name("icon".to_owned()).spawn(move || {
            // This fails if the host stops.
            let _ = sender.send(files.fetch_and_keep(&name, &url, by));
        });
        match spawned {
            Ok(_) => receiver.await.unwrap_or(Err(IconError::Busy)),
            Err(error) => {
                warn!("no thread to fetch an icon: {error}");
                Err(IconError::Busy)
            }
        }
    }

    fn fetch_and_keep(&self, name: &Name, url: &Url, by: ChosenBy) -> Outcome {
        // It may have been fetched since the caller looked, perhaps by another process.
        if let Some(picture) = self.read(name) {
            return Ok(picture);
        }
        let network = match by {
            ChosenBy::User => &self.network,
            ChosenBy::Provider => &self.named,
        };
        let fetched = network.fetch(url).and_then(Picture::of);
        match &fetched {
            Ok(picture) => {
                if let Err(error) = self.folder.write(name, picture.bytes()) {
                    warn!("an icon cannot be kept: {error}");
                }
            }
            // The query may contain a secret.
            Err(error) => info!(
                "no icon from {}{}: {error}",
                url.origin().ascii_serialization(),
                url.path()
            ),
        }
        fetched
    }

    fn end(&self, name: &Name, url: &Url, outcome: &Outcome) {
        let now = self.clock.now();
        let mut known = self.known();
        known.fetching.remove(name);
        let ended = match outcome {
            Ok(_) | Err(IconError::NoPicture(_) | IconError::NotAllowed(_)) => Ended::Answered,
            Err(IconError::TimedOut(_)) => Ended::TimedOut,
            Err(IconError::Silent | IconError::Busy) => Ended::NotBegun,
        };
        known.hosts.end(url, ended, now);
        let error = match outcome {
            Err(IconError::Silent | IconError::Busy) | Ok(_) => return,
            Err(error) => error,
        };
        if known.failed.len() >= MOST_FAILURES {
            known.failed.retain(|_, (_, until)| now < *until);
        }
        if known.failed.len() >= MOST_FAILURES {
            known.failed.clear();
        }
        let until = now.saturating_add(FAILURE_LASTS.as_millis() as Timestamp);
        known.failed.insert(name.clone(), (error.clone(), until));
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
