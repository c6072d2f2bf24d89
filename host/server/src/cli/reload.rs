//! A component file that changes while the host serves: `portico serve --watch`, and SIGHUP.
//!
//! Invariants:
//! - A file is read when nobody has written to it for a while, so that none is taken half-written.
//! - What cannot be served changes nothing: the old component goes on, and the log says why.

use std::{
    fs,
    future::pending,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use portico_sandbox::inspect::sha256;
use portico_service::hot_swap::HotSwap;
use tokio::{
    signal::unix::Signal,
    time::{MissedTickBehavior, interval, sleep},
};
use tracing::{info, warn};

use super::host;

/// How often a watched file is looked at, and for how long it must stay as it is to be read.
const LOOK: Duration = Duration::from_secs(1);
/// For how long a file must stay as it is to be read where somebody says that it changed.
const STILL: Duration = Duration::from_millis(500);
/// How long that may take.
const LOOKS: usize = 50;

/// The component file that a host serves.
pub struct ComponentFile {
    path: PathBuf,
    /// The SHA-256 of what is served.
    served: String,
}

/// What changes with every change of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Loads the file when it changes, if it is watched, and at every signal. None: the component
/// inside the binary is served.
pub async fn keep_current(mut file: Option<ComponentFile>, watch: bool, mut hangup: Signal, live: HotSwap) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut seen, mut tried) = (None, None);
    loop {
        let told = tokio::select! {
            Some(()) = hangup.recv() => true,
            _ = looks.tick(), if watch => false,
            else => pending().await,
        };
        let Some(file) = &mut file else {
            info!(
                "nothing to load again: the component is the one inside portico (there is --component FILE)"
            );
            continue;
        };
        if told {
            file.load_when_still(&live).await;
            continue;
        }
        // A file that is not there may be about to be replaced.
        let now = Stamp::of(&file.path).ok();
        if now.is_some() && now == seen && now != tried {
            tried = now;
            file.load(&live, false).await;
        }
        seen = now;
    }
}

impl ComponentFile {
    /// The file, as it was when the host read these bytes of it.
    pub fn new(path: PathBuf, bytes: &[u8]) -> Self {
        let served = sha256(bytes);
        Self { path, served }
    }

    async fn load_when_still(&mut self, live: &HotSwap) {
        for _ in 0..LOOKS {
            let before = Stamp::of(&self.path).ok();
            sleep(STILL).await;
            if before == Stamp::of(&self.path).ok() {
                return self.load(live, true).await;
            }
        }
        let served = short(&self.served);
        warn!(
            served,
            "{} keeps changing; it was not loaded",
            self.path.display()
        );
    }

    async fn load(&mut self, live: &HotSwap, told: bool) {
        let (path, served) = (self.path.display(), short(&self.served));
        let bytes = match host::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) => return warn!(served, "the component stays: cannot read {path}: {error}"),
        };
        let hash = sha256(&bytes);
        if hash == self.served {
            if told {
                info!(served, "the component stays: {path} holds the same");
            }
            return;
        }
        let new = short(&hash);
        match live.exchange(bytes).await {
            Ok(()) => {
                info!(old = served, new, "the component of {path} was exchanged");
                self.served = hash;
            }
            Err(error) => warn!(
                served,
                refused = new,
                "the component stays: cannot run {path}: {error:#}"
            ),
        }
    }
}

/// Enough of a hash to know it by.
fn short(hash: &str) -> &str {
    &hash[..12]
}
