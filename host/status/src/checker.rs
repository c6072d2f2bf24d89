//! The checker: looks, and the checks that they start.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use portico_model::time::{Clock, MonotonicClock};
use portico_service::reachability::{Known, Reachability, Status};
use tokio::runtime::{Builder, Handle, Runtime};
use tracing::error;

use crate::{
    allow::AllowList,
    metrics,
    probe::Probe,
    resolve::{MOST_LOOKUPS, Names, Resolver, SystemNames},
    target::Target,
    tls,
    watch::Watch,
};

/// How apps are checked.
pub struct CheckerSettings {
    /// The hosts of private networks that may be checked; `None`: those that administrators have stored.
    pub allow: Option<AllowList>,
    /// How long the look-up of a name may take, and how long everything after it.
    pub time_limit: Duration,
    /// Whether people who are not signed in are told, too.
    pub is_for_everyone: bool,
    /// Where those who are asked can read about it.
    pub about: String,
    /// Tells the time. It must not go back.
    pub clock: Arc<dyn Clock>,
    /// Knows the addresses of names.
    pub names: Arc<dyn Names>,
}

impl Default for CheckerSettings {
    fn default() -> Self {
        Self {
            allow: None,
            time_limit: Duration::from_secs(5),
            is_for_everyone: false,
            about: "docs/console.md".into(),
            clock: Arc::new(MonotonicClock::default()),
            names: Arc::new(SystemNames),
        }
    }
}

/// Checks URLs while people look at them.
pub struct Checker {
    shared: Arc<Shared>,
    is_for_everyone: bool,
    /// Whether the operator has said what may be checked.
    is_fixed: bool,
    /// Begun by the first look; `None` if it cannot be.
    runtime: OnceLock<Option<Runtime>>,
}

struct Shared {
    watch: Mutex<Watch>,
    allowed: Mutex<Allowed>,
    probe: Probe,
    user_agent: String,
    clock: Arc<dyn Clock>,
    /// Notified when a check has ended.
    #[cfg(test)]
    ended: std::sync::Condvar,
}

/// What may be checked in private networks.
#[derive(Default)]
struct Allowed {
    /// As it is stored.
    entries: Vec<String>,
    list: Arc<AllowList>,
}

impl Checker {
    /// A checker that has not looked at anything. Fails if TLS cannot be set up.
    pub fn new(settings: CheckerSettings) -> Result<Self, rustls::Error> {
        let version = env!("CARGO_PKG_VERSION");
        let is_fixed = settings.allow.is_some();
        let allowed = Allowed {
            entries: Vec::new(),
            list: Arc::new(settings.allow.unwrap_or_default()),
        };
        let shared = Shared {
            watch: Mutex::new(Watch::new()),
            allowed: Mutex::new(allowed),
            probe: Probe {
                resolver: Resolver::new(settings.names),
                tls: tls::connector()?,
                limit: settings.time_limit,
            },
            user_agent: format!(
                "portico/{version} (checks whether apps can be reached; {})",
                settings.about
            ),
            clock: settings.clock,
            #[cfg(test)]
            ended: std::sync::Condvar::new(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            is_for_everyone: settings.is_for_everyone,
            is_fixed,
            runtime: OnceLock::new(),
        })
    }

    /// Where checks run.
    fn handle(&self) -> Option<&Handle> {
        let runtime = self.runtime.get_or_init(|| {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .max_blocking_threads(MOST_LOOKUPS)
                .thread_name("portico-status")
                .enable_all()
                .build();
            runtime
                .inspect_err(|error| error!(%error, "apps are not checked: no thread could be started"))
                .ok()
        });
        runtime.as_ref().map(Runtime::handle)
    }

    #[cfg(test)]
    fn wait_until_idle(&self) {
        let watch = self.shared.lock();
        let idle = self.shared.ended.wait_while(watch, |watch| !watch.is_idle());
        drop(idle.unwrap());
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        // Look-ups that stall are not waited for.
        if let Some(Some(runtime)) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Reachability for Checker {
    fn is_for_everyone(&self) -> bool {
        self.is_for_everyone
    }

    fn fixed_hosts(&self) -> Option<Vec<String>> {
        self.is_fixed.then(|| self.shared.allowed().entries())
    }

    fn look(&self, ping_urls: &[&str], stored_hosts: &[String]) -> Vec<Known> {
        if !self.is_fixed {
            self.shared.allow(stored_hosts);
        }
        let Some(handle) = self.handle() else {
            return vec![Known::NOTHING; ping_urls.len()];
        };
        let shared = &self.shared;
        let now = shared.clock.now();
        let known = ping_urls.iter().map(|url| {
            let mut refused = None;
            let host = || match Target::of(url, "") {
                Ok(target) => Some(target.name()),
                Err(error) => {
                    refused = Some(error);
                    None
                }
            };
            // Locked for each URL, because the checks that end meanwhile need it, too.
            let known = shared.lock().look(url, now, host);
            let status = refused.map_or(Status::Unknown, Status::NotAllowed);
            known.unwrap_or(Known {
                status,
                ..Known::NOTHING
            })
        });
        let known = known.collect();
        shared.start_checks(handle);
        known
    }
}

impl Shared {
    /// What may be checked now.
    fn allowed(&self) -> Arc<AllowList> {
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        allowed.list.clone()
    }

    /// From now on, what is stored may be checked. What was not allowed before is looked at again.
    fn allow(&self, entries: &[String]) {
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if allowed.entries != entries {
            *allowed = Allowed {
                entries: entries.to_vec(),
                list: Arc::new(AllowList::stored(entries)),
            };
            self.lock().forget_refusals();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the checks for which there is room.
    fn start_checks(self: &Arc<Self>, handle: &Handle) {
        loop {
            let next = self.lock().next(self.clock.now());
            let Some(url) = next else {
                return;
            };
            let check = Check {
                shared: self.clone(),
                url,
                outcome: None,
                handle: handle.clone(),
            };
            handle.spawn(check.run());
        }
    }
}

/// A check that runs. However it ends, its place becomes free.
struct Check {
    shared: Arc<Shared>,
    url: Arc<str>,
    outcome: Option<Status>,
    handle: Handle,
}

impl Check {
    async fn run(mut self) {
        let allowed = self.shared.allowed();
        self.outcome = match Target::of(&self.url, &self.shared.user_agent) {
            Ok(target) => self.shared.probe.check(&target, &allowed).await,
            Err(refused) => Some(Status::NotAllowed(refused)),
        };
        // By a list that was replaced meanwhile, nothing is said to be forbidden.
        if matches!(self.outcome, Some(Status::NotAllowed(_)))
            && !Arc::ptr_eq(&allowed, &self.shared.allowed())
        {
            self.outcome = None;
        }
        metrics::count(self.outcome);
        let (shared, handle) = (self.shared.clone(), self.handle.clone());
        drop(self);
        shared.start_checks(&handle);
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        let now = self.shared.clock.now();
        self.shared.lock().end(&self.url, self.outcome, now);
        #[cfg(test)]
        self.shared.ended.notify_all();
    }
}

#[cfg(test)]
pub(crate) mod tests;
