//! How much of the fetches each host gets, and which hosts are silent: one that does not answer must not keep the icons
//! of others waiting.

use std::{collections::HashMap, sync::Arc, time::Duration};

use portico_model::Timestamp;
use tokio::sync::Semaphore;
use url::Url;

use crate::error::IconError;

/// Concurrent fetches from one host.
pub(crate) const MOST_OF_ONE: usize = 2;
/// Fetches from one host that wait or run.
pub(crate) const MOST_WAITING_FOR_ONE: usize = 128;
/// How long nothing is fetched from a host after a fetch that took too long.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
/// Each pause is twice as long as the one before it, up to this one.
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);
/// Hosts that are remembered while nothing is fetched from them.
const MOST_REMEMBERED: usize = 10_000;

#[derive(Default)]
pub(crate) struct Hosts(HashMap<String, Host>);

struct Host {
    slots: Arc<Semaphore>,
    /// Fetches that wait or run.
    fetches: usize,
    /// Fetches that took too long, one after the other.
    timeouts: u32,
    /// When the pause after the last of them ends.
    until: Timestamp,
}

/// How a fetch ended, for its host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The host answered, or refused to.
    Answered,
    TimedOut,
    /// The host was not asked.
    NotBegun,
}

impl Hosts {
    /// A fetch is to begin: it waits for a slot of its host. Refused while the host is silent, or if too many wait for
    /// it.
    pub fn begin(&mut self, url: &Url, now: Timestamp) -> Result<Arc<Semaphore>, IconError> {
        let host = self.0.entry(name(url)).or_insert_with(|| Host {
            slots: Arc::new(Semaphore::new(MOST_OF_ONE)),
            fetches: 0,
            timeouts: 0,
            until: 0,
        });
        if now < host.until {
            return Err(IconError::Silent);
        }
        if host.fetches >= MOST_WAITING_FOR_ONE {
            return Err(IconError::Busy);
        }
        host.fetches += 1;
        Ok(host.slots.clone())
    }

    /// Whether a fetch that got its slot may still begin.
    pub fn is_silent(&self, url: &Url, now: Timestamp) -> bool {
        self.0.get(&name(url)).is_some_and(|host| now < host.until)
    }

    /// A fetch has ended that had begun.
    pub fn end(&mut self, url: &Url, ended: Ended, now: Timestamp) {
        let name = name(url);
        let Some(host) = self.0.get_mut(&name) else {
            return;
        };
        host.fetches = host.fetches.saturating_sub(1);
        match ended {
            Ended::Answered => host.timeouts = 0,
            // Those that began with it end with it.
            Ended::TimedOut if now < host.until => {}
            Ended::TimedOut => {
                let pause = FIRST_PAUSE
                    .saturating_mul(1 << host.timeouts.min(10))
                    .min(LONGEST_PAUSE);
                host.until = now.saturating_add(pause.as_millis() as Timestamp);
                host.timeouts += 1;
            }
            Ended::NotBegun => {}
        }
        if host.fetches == 0 && host.timeouts == 0 {
            self.0.remove(&name);
        } else if self.0.len() > MOST_REMEMBERED {
            self.0.retain(|_, host| host.fetches > 0 || now < host.until);
        }
    }
}

/// The name or address of the host: what fails, fails at all of its ports.
fn name(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        Url::parse(&format!("http://{host}/x.png")).unwrap()
    }

    /// Fetches, and returns until when the host is left alone.
    fn fetch(hosts: &mut Hosts, ended: Ended, now: Timestamp) -> Option<Timestamp> {
        let url = url("nas.lan");
        hosts.begin(&url, now).unwrap();
        hosts.end(&url, ended, now);
        hosts.0.get("nas.lan").map(|host| host.until)
    }

    #[test]
    fn a_host_that_stays_silent_is_asked_less_and_less_often() {
        let mut hosts = Hosts::default();
        let mut now = 0;
        for pause in [10, 20, 40, 80, 160, 300, 300] {
            let until = fetch(&mut hosts, Ended::TimedOut, now).unwrap();
            assert_eq!(until, now + pause * 1000);
            assert!(hosts.is_silent(&url("nas.lan"), until - 1));
            assert_eq!(
                hosts.begin(&url("nas.lan:8080"), until - 1).err(),
                Some(IconError::Silent)
            );
            assert!(hosts.begin(&url("other.lan"), now).is_ok());
            now = until;
        }
        assert_eq!(fetch(&mut hosts, Ended::Answered, now), None, "it is forgotten");
    }

    #[test]
    fn two_fetches_that_end_at_the_same_time_count_once() {
        let mut hosts = Hosts::default();
        let url = url("nas.lan");
        hosts.begin(&url, 0).unwrap();
        hosts.begin(&url, 0).unwrap();
        hosts.end(&url, Ended::TimedOut, 20_000);
        hosts.end(&url, Ended::TimedOut, 20_001);
        assert_eq!(hosts.0["nas.lan"].until, 30_000);
        assert_eq!(hosts.0["nas.lan"].fetches, 0);
    }

    #[test]
    fn only_so_many_wait_for_one_host() {
        let mut hosts = Hosts::default();
        for _ in 0..MOST_WAITING_FOR_ONE {
            hosts.begin(&url("nas.lan"), 0).unwrap();
        }
        assert_eq!(hosts.begin(&url("nas.lan"), 0).err(), Some(IconError::Busy));
        assert!(hosts.begin(&url("other.lan"), 0).is_ok());
    }

    #[test]
    fn hosts_that_are_remembered_are_bounded() {
        let mut hosts = Hosts::default();
        for number in 0..3 * MOST_REMEMBERED {
            let (url, now) = (url(&format!("{number}.lan")), number as Timestamp * 1000);
            hosts.begin(&url, now).unwrap();
            hosts.end(&url, Ended::TimedOut, now);
            assert!(hosts.0.len() <= MOST_REMEMBERED + 1);
        }
    }
}
