//! A component file that changes while the host serves: `portico serve --watch`, and SIGHUP.
//!
//! Invariants:
//! - A file is loaded only after it has stayed unchanged for a while, so never half-written.
//! - If the new file cannot be served, the old component stays and the log says why.

use std::{fs, future::pending, io, os::unix::fs::MetadataExt, path::Path, time::Duration};

use portico_sandbox::inspect::sha256;
use portico_service::hot_swap::HotSwap;
use tokio::{
    signal::unix::Signal,
    time::{MissedTickBehavior, interval, sleep},
};
use tracing::{info, warn};

use super::component::{self, ComponentFile};

/// The interval at which a watched file is checked. It is loaded once two checks find the same.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long the file must stay unchanged after a SIGHUP before it is loaded.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// How many times the host waits for that before it gives up.
const SETTLE_ATTEMPTS: usize = 50;

/// The metadata of a file: some of it changes with every write.
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

/// Loads the file at every SIGHUP and, if `watch` is set, when it changes. Without a file, the built-in component is
/// served, and SIGHUP only causes a line in the log.
pub async fn keep_current(file: Option<ComponentFile>, watch: bool, mut hangup: Signal, hot_swap: HotSwap) {
    let mut reloader = file.map(|file| Reloader { file, hot_swap });
    let mut looks = interval(POLL_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut seen, mut tried) = (None, None);
    loop {
        let is_signal = tokio::select! {
            Some(()) = hangup.recv() => true,
            _ = looks.tick(), if watch => false,
            else => pending().await,
        };
        let Some(reloader) = &mut reloader else {
            info!(
                "nothing to load again: the component is the one inside portico (there is --component FILE)"
            );
            continue;
        };
        if is_signal {
            reloader.load_when_settled().await;
            continue;
        }
        // A missing file may be about to be replaced.
        let now = Stamp::of(&reloader.file.path).ok();
        if now.is_some() && now == seen && now != tried {
            tried = now;
            reloader.load(false).await;
        }
        seen = now;
    }
}

struct Reloader {
    file: ComponentFile,
    hot_swap: HotSwap,
}

impl Reloader {
    async fn load_when_settled(&mut self) {
        for _ in 0..SETTLE_ATTEMPTS {
            let before = Stamp::of(&self.file.path).ok();
            sleep(SETTLE_TIME).await;
            if before == Stamp::of(&self.file.path).ok() {
                return self.load(true).await;
            }
        }
        let served = short(&self.file.served);
        warn!(
            served,
            "{} keeps changing; it was not loaded",
            self.file.path.display()
        );
    }

    /// Loads the file if it contains another component. With `is_signal`, also logs it if it does not.
    async fn load(&mut self, is_signal: bool) {
        let (path, served) = (self.file.path.display(), short(&self.file.served));
        let bytes = match component::read(&self.file.path) {
            Ok(bytes) => bytes,
            Err(error) => return warn!(served, "the component stays: cannot read {path}: {error}"),
        };
        let hash = sha256(&bytes);
        if hash == self.file.served {
            if is_signal {
                info!(served, "the component stays: {path} holds the same");
            }
            return;
        }
        let new = short(&hash);
        match self.hot_swap.exchange(bytes).await {
            Ok(()) => {
                let service = self.hot_swap.service();
                let component = service.sandbox.version();
                info!(
                    old = served,
                    new,
                    version = component.contract,
                    sha256 = component.sha256,
                    "the component of {path} was exchanged"
                );
                self.file.served = hash;
            }
            Err(error) => warn!(
                served,
                refused = new,
                "the component stays: cannot run {path}: {error:#}"
            ),
        }
    }
}

/// The beginning of a hash, for the log.
fn short(hash: &str) -> &str {
    &hash[..12]
}
