//! Looks up names, on threads that nothing else waits for: a system's resolver may block for a minute.
//!
//! Invariants:
//! - There is one look-up at a time for a name, so a name that stalls holds one thread.
//! - A check that got no thread says so. It does not take the name for unknown.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, watch},
    time::timeout,
};

/// Threads that look up names.
pub(crate) const MOST_LOOKUPS: usize = 32;
/// Addresses of a name that are tried.
const MOST_ADDRESSES: usize = 4;

/// Knows the addresses of names.
pub trait Names: Send + Sync + 'static {
    /// The addresses of a name. Blocks.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the system.
pub struct SystemNames;

impl Names for SystemNames {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = (name, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Why there are no addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotResolved {
    Unknown,
    /// The look-up takes too long.
    Stalled,
    /// All threads are taken by other look-ups.
    Busy,
}

#[derive(Clone)]
enum Progress {
    Waiting,
    Running,
    Done(Result<Arc<[IpAddr]>, NotResolved>),
}

type Running = Arc<Mutex<HashMap<Arc<str>, watch::Receiver<Progress>>>>;

pub(crate) struct Resolver {
    names: Arc<dyn Names>,
    threads: Arc<Semaphore>,
    running: Running,
}

impl Resolver {
    pub fn new(names: Arc<dyn Names>) -> Self {
        Self {
            names,
            threads: Arc::new(Semaphore::new(MOST_LOOKUPS)),
            running: Running::default(),
        }
    }

    /// The first addresses of a name, within this time.
    pub async fn resolve(&self, name: &Arc<str>, limit: Duration) -> Result<Arc<[IpAddr]>, NotResolved> {
        let mut progress = self.begin(name);
        let is_done = |progress: &Progress| matches!(progress, Progress::Done(_));
        let has_failed = matches!(timeout(limit, progress.wait_for(is_done)).await, Ok(Err(_)));
        if has_failed {
            // The thread has ended without an outcome.
            return Err(NotResolved::Unknown);
        }
        let progress = progress.borrow().clone();
        match progress {
            Progress::Waiting => Err(NotResolved::Busy),
            Progress::Running => Err(NotResolved::Stalled),
            Progress::Done(outcome) => outcome,
        }
    }

    /// The look-up of this name that runs, or a new one.
    fn begin(&self, name: &Arc<str>) -> watch::Receiver<Progress> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = running.get(name) {
            return progress.clone();
        }
        let (report, progress) = watch::channel(Progress::Waiting);
        running.insert(name.clone(), progress.clone());
        let (names, threads) = (self.names.clone(), self.threads.clone());
        let entry = Entry {
            name: name.clone(),
            running: self.running.clone(),
        };
        tokio::spawn(async move {
            let entry = entry;
            let Ok(permit) = threads.acquire_owned().await else {
                return;
            };
            let _ = report.send(Progress::Running);
            let looked_up = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                let found = names.resolve(&entry.name);
                // A later check looks it up again.
                drop(entry);
                let outcome = match found {
                    Ok(addresses) if !addresses.is_empty() => {
                        Ok(addresses.into_iter().take(MOST_ADDRESSES).collect())
                    }
                    _ => Err(NotResolved::Unknown),
                };
                let _ = report.send(Progress::Done(outcome));
            });
            let _ = looked_up.await;
        });
        progress
    }
}

/// A look-up that runs. It is forgotten when it ends, however it does.
struct Entry {
    name: Arc<str>,
    running: Running,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.name);
    }
}
