//! Which URLs are looked at, what is known of them, and which are checked next. It does nothing by itself.
//!
//! Invariants:
//! - A URL is queued or checked at most once at a time, and at most once in [`PERIOD`]; sooner only if it was not allowed, and
//!   what is allowed has changed.
//! - Hosts take turns, and one host has at most [`MOST_OF_ONE`] checks, so many URLs of one host delay no other. A host is
//!   its name here: names that lead to the same address count each.
//! - What was queued, and is not looked at any more, is not checked.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use portico_model::Timestamp;
use portico_service::reachability::{Known, Refused, Status};

const SECOND: Timestamp = 1000;
/// The least time between two checks of a URL.
const PERIOD: Timestamp = 60 * SECOND;
/// The longest time between two checks of one that is down, and between two looks at an address that is not allowed.
const LONGEST_PERIOD: Timestamp = 300 * SECOND;
/// How long after a look a check may still begin.
const LOOK_LASTS: Timestamp = 90 * SECOND;
/// How long the outcome of a check says something.
const OUTCOME_LASTS: Timestamp = 900 * SECOND;
/// How long something is remembered that is not looked at.
const MEMORY_LASTS: Timestamp = 3600 * SECOND;

/// Checks at the same time.
pub(crate) const MOST_AT_ONCE: usize = 64;
/// Checks of one host at the same time.
pub(crate) const MOST_OF_ONE: usize = 4;
/// URLs that are remembered. More are unknown.
pub(crate) const MOST_URLS: usize = 20_000;
/// Bytes of their texts.
const MOST_BYTES: usize = 8 << 20;

pub(crate) struct Watch {
    urls: HashMap<Arc<str>, Watched>,
    /// Bytes in the keys of `urls`.
    bytes: usize,
    hosts: HashMap<Arc<str>, Host>,
    /// Hosts with URLs that wait and with room for a check, each once.
    ready: VecDeque<Arc<str>>,
    running: usize,
    /// When those that are not looked at were last forgotten.
    swept_at: Timestamp,
}

struct Watched {
    host: Arc<str>,
    known: Known,
    /// Checks that found it down, one after the other.
    failures: u32,
    looked_at: Timestamp,
    /// When it may be checked again.
    due_at: Timestamp,
    /// When its check began.
    begun_at: Timestamp,
    /// Whether it waits for a check or is checked.
    is_busy: bool,
}

#[derive(Default)]
struct Host {
    running: usize,
    waiting: VecDeque<Arc<str>>,
    is_ready: bool,
}

impl Watch {
    pub fn new() -> Self {
        Self {
            urls: HashMap::new(),
            bytes: 0,
            hosts: HashMap::new(),
            ready: VecDeque::new(),
            running: 0,
            swept_at: 0,
        }
    }

    /// Somebody looks at a URL: it is queued if it is due. `host` says where it is; `None`: it cannot be checked.
    pub fn look(
        &mut self,
        url: &str,
        now: Timestamp,
        host: impl FnOnce() -> Option<Arc<str>>,
    ) -> Option<Known> {
        if !self.urls.contains_key(url) && !self.add(url, now, host()?) {
            return Some(Known::NOTHING);
        }
        let (key, _) = self.urls.get_key_value(url)?;
        let key = key.clone();
        let watched = self.urls.get_mut(url)?;
        watched.looked_at = now;
        let known = watched.known_at(now);
        if !watched.is_busy && now >= watched.due_at {
            watched.is_busy = true;
            let name = watched.host.clone();
            let host = self.hosts.entry(name.clone()).or_default();
            host.waiting.push_back(key);
            host.make_ready(&name, &mut self.ready);
        }
        Some(known)
    }

    /// Whether there is room for another URL.
    fn add(&mut self, url: &str, now: Timestamp, host: Arc<str>) -> bool {
        if now >= self.swept_at.saturating_add(PERIOD) {
            self.swept_at = now;
            self.forget(now, MEMORY_LASTS);
            if self.is_full(url) {
                self.forget(now, LOOK_LASTS);
            }
        }
        if self.is_full(url) {
            return false;
        }
        self.bytes += url.len();
        let watched = Watched {
            host,
            known: Known::NOTHING,
            failures: 0,
            looked_at: now,
            due_at: now,
            begun_at: now,
            is_busy: false,
        };
        self.urls.insert(url.into(), watched);
        true
    }

    fn is_full(&self, url: &str) -> bool {
        self.urls.len() >= MOST_URLS || self.bytes + url.len() > MOST_BYTES
    }

    /// Forgets what has not been looked at for this long.
    fn forget(&mut self, now: Timestamp, age: Timestamp) {
        let bytes = &mut self.bytes;
        self.urls.retain(|url, watched| {
            let is_kept = watched.is_busy || watched.looked_at.saturating_add(age) >= now;
            if !is_kept {
                *bytes -= url.len();
            }
            is_kept
        });
    }

    /// The next URL to check now; whoever takes it calls [`Self::end`].
    pub fn next(&mut self, now: Timestamp) -> Option<Arc<str>> {
        while self.running < MOST_AT_ONCE {
            let name = self.ready.pop_front()?;
            let host = self.hosts.get_mut(&name)?;
            host.is_ready = false;
            let url = host.waiting.pop_front();
            let watched = url.as_ref().and_then(|url| self.urls.get_mut(url));
            let is_wanted = watched.is_some_and(|watched| {
                let is_wanted = watched.looked_at.saturating_add(LOOK_LASTS) >= now;
                watched.is_busy = is_wanted;
                watched.begun_at = now;
                is_wanted
            });
            host.running += usize::from(is_wanted);
            host.make_ready(&name, &mut self.ready);
            if is_wanted {
                self.running += 1;
                return url;
            }
            self.drop_idle(&name);
        }
        None
    }

    /// A check has ended; `None`: without saying anything.
    pub fn end(&mut self, url: &str, outcome: Option<Status>, now: Timestamp) {
        let Some(watched) = self.urls.get_mut(url) else {
            return;
        };
        watched.end(outcome, now);
        self.running -= 1;
        let name = watched.host.clone();
        if let Some(host) = self.hosts.get_mut(&name) {
            host.running -= 1;
            host.make_ready(&name, &mut self.ready);
        }
        self.drop_idle(&name);
    }

    fn drop_idle(&mut self, name: &Arc<str>) {
        if self.hosts.get(name).is_some_and(Host::is_idle) {
            self.hosts.remove(name);
        }
    }

    /// What is allowed has changed: an address that was not is due at once, because nothing was sent to it.
    pub fn forget_refusals(&mut self) {
        for watched in self.urls.values_mut() {
            if watched.known.status == Status::NotAllowed(Refused::Address) {
                watched.known = Known::NOTHING;
                watched.due_at = 0;
            }
        }
    }

    /// Whether nothing is checked, and nothing waits.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.hosts.is_empty()
    }
}

impl Host {
    fn make_ready(&mut self, name: &Arc<str>, ready: &mut VecDeque<Arc<str>>) {
        if !self.is_ready && self.running < MOST_OF_ONE && !self.waiting.is_empty() {
            self.is_ready = true;
            ready.push_back(name.clone());
        }
    }

    fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }
}

impl Watched {
    fn is_current(&self, now: Timestamp) -> bool {
        let checked_at = self.known.checked_at;
        checked_at.is_some_and(|checked_at| checked_at.saturating_add(OUTCOME_LASTS) >= now)
    }

    fn known_at(&self, now: Timestamp) -> Known {
        if self.is_current(now) {
            self.known
        } else {
            Known::NOTHING
        }
    }

    fn end(&mut self, outcome: Option<Status>, now: Timestamp) {
        self.is_busy = false;
        self.due_at = self.begun_at.saturating_add(PERIOD);
        let Some(status) = outcome else {
            return;
        };
        let is_same = self.is_current(now) && are_alike(self.known.status, status);
        let since = self.known.since.filter(|_| is_same);
        self.known = Known {
            status,
            since: Some(since.unwrap_or(now)),
            checked_at: Some(now),
        };
        self.failures = match status {
            Status::Down(_) => self.failures.saturating_add(1),
            _ => 0,
        };
        let period = match status {
            Status::NotAllowed(_) => LONGEST_PERIOD,
            Status::Down(_) => (PERIOD << (self.failures - 1).min(10)).min(LONGEST_PERIOD),
            Status::Up { .. } | Status::Unknown => PERIOD,
        };
        self.due_at = self.begun_at.saturating_add(period);
    }
}

/// Whether both mean the same to people: it was fast and is slow, or it fails otherwise, is no change.
fn are_alike(one: Status, other: Status) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

#[cfg(test)]
mod tests {
    use portico_service::reachability::Down;

    use super::*;

    const UP: Status = Status::Up { milliseconds: 7 };
    const DOWN: Status = Status::Down(Down::Time);

    fn look(watch: &mut Watch, url: &str, now: Timestamp) -> Known {
        let host = url.split('/').nth(2).unwrap();
        watch.look(url, now, || Some(host.into())).unwrap()
    }

    /// Checks everything that is due, and returns how many that were.
    fn check(watch: &mut Watch, outcome: Status, now: Timestamp) -> usize {
        let mut count = 0;
        while let Some(url) = watch.next(now) {
            watch.end(&url, Some(outcome), now);
            count += 1;
        }
        count
    }

    #[test]
    fn a_url_is_checked_once_a_minute_however_many_look() {
        let mut watch = Watch::new();
        for _ in 0..1000 {
            look(&mut watch, "http://a/", 0);
        }
        assert_eq!(check(&mut watch, UP, 100), 1);
        for now in [200, PERIOD, PERIOD + 99] {
            look(&mut watch, "http://a/", now);
            assert_eq!(check(&mut watch, UP, now), 0, "{now}");
        }
        let known = look(&mut watch, "http://a/", PERIOD + 100);
        assert_eq!(known.status, UP);
        assert_eq!(check(&mut watch, UP, PERIOD + 100), 1);
    }

    #[test]
    fn nothing_is_checked_while_nobody_looks() {
        let mut watch = Watch::new();
        look(&mut watch, "http://a/", 0);
        assert_eq!(check(&mut watch, UP, 0), 1);
        assert_eq!(check(&mut watch, UP, 10 * PERIOD), 0);
        // Queued, and then looked at no more.
        look(&mut watch, "http://a/", 20 * PERIOD);
        assert_eq!(check(&mut watch, UP, 20 * PERIOD + LOOK_LASTS + 1), 0);
        assert!(watch.is_idle());
        look(&mut watch, "http://a/", 30 * PERIOD);
        assert_eq!(check(&mut watch, UP, 30 * PERIOD), 1, "it can be queued again");
    }

    #[test]
    fn what_is_down_is_checked_less_and_less_often() {
        let mut watch = Watch::new();
        let mut now = 0;
        for minutes in [1, 2, 4, 5, 5] {
            look(&mut watch, "http://a/", now);
            assert_eq!(check(&mut watch, DOWN, now), 1);
            let due = now + minutes * PERIOD;
            look(&mut watch, "http://a/", due - 1);
            assert_eq!(check(&mut watch, DOWN, due - 1), 0, "{minutes}");
            now = due;
        }
        look(&mut watch, "http://a/", now);
        check(&mut watch, UP, now);
        look(&mut watch, "http://a/", now + PERIOD);
        assert_eq!(check(&mut watch, UP, now + PERIOD), 1);
    }

    #[test]
    fn it_is_down_since_the_first_check_that_failed() {
        let mut watch = Watch::new();
        let mut known = |status, now| {
            look(&mut watch, "http://a/", now);
            assert_eq!(check(&mut watch, status, now), 1);
            look(&mut watch, "http://a/", now)
        };
        assert_eq!(known(UP, 0).since, Some(0));
        assert_eq!(known(Status::Up { milliseconds: 900 }, PERIOD).since, Some(0));
        assert_eq!(known(DOWN, 2 * PERIOD).since, Some(2 * PERIOD));
        let other = Status::Down(Down::Server);
        assert_eq!(known(other, 3 * PERIOD).since, Some(2 * PERIOD));
        let last = known(UP, 6 * PERIOD);
        assert_eq!(
            (last.since, last.checked_at),
            (Some(6 * PERIOD), Some(6 * PERIOD))
        );
        // For long nobody looked, so nobody knows.
        let later = 6 * PERIOD + OUTCOME_LASTS + 1;
        assert_eq!(known(UP, later).since, Some(later));
    }

    #[test]
    fn an_old_outcome_says_nothing() {
        let mut watch = Watch::new();
        look(&mut watch, "http://a/", 0);
        check(&mut watch, UP, 0);
        assert_eq!(look(&mut watch, "http://a/", OUTCOME_LASTS).status, UP);
        assert_eq!(look(&mut watch, "http://a/", OUTCOME_LASTS + 1), Known::NOTHING);
    }

    #[test]
    fn a_check_that_says_nothing_changes_nothing() {
        let mut watch = Watch::new();
        look(&mut watch, "http://a/", 0);
        check(&mut watch, UP, 0);
        let before = look(&mut watch, "http://a/", PERIOD);
        let url = watch.next(PERIOD).unwrap();
        watch.end(&url, None, PERIOD + 5000);
        assert_eq!(look(&mut watch, "http://a/", 2 * PERIOD - 1), before);
        assert_eq!(watch.next(2 * PERIOD - 1), None);
    }

    #[test]
    fn hosts_take_turns_and_each_has_few_checks_at_once() {
        let mut watch = Watch::new();
        for number in 0..1000 {
            look(&mut watch, &format!("http://a/{number}"), 0);
        }
        look(&mut watch, "http://b/", 0);
        let first: Vec<_> = std::iter::from_fn(|| watch.next(0)).collect();
        assert_eq!(first.len(), MOST_OF_ONE + 1, "{first:?}");
        assert!(
            first.iter().position(|url| &**url == "http://b/").unwrap() <= 1,
            "{first:?}"
        );
        watch.end(&first[0], Some(UP), 0);
        assert!(watch.next(0).is_some_and(|url| url.starts_with("http://a/")));
        assert_eq!(watch.next(0), None);
    }

    #[test]
    fn checks_at_once_are_bounded() {
        let mut watch = Watch::new();
        for number in 0..10_000 {
            look(&mut watch, &format!("http://{number}/"), 0);
        }
        let mut running: Vec<_> = std::iter::from_fn(|| watch.next(0)).collect();
        assert_eq!(running.len(), MOST_AT_ONCE);
        let mut count = 0;
        while let Some(url) = running.pop() {
            watch.end(&url, Some(DOWN), 5 * SECOND);
            running.extend(watch.next(5 * SECOND));
            count += 1;
        }
        assert_eq!(count, 10_000);
        assert!(watch.is_idle());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut watch = Watch::new();
        let long = "x".repeat(8000);
        for number in 0..3 * MOST_URLS {
            let known = look(&mut watch, &format!("http://a{number}/"), number as Timestamp);
            assert_eq!(known, Known::NOTHING);
            look(
                &mut watch,
                &format!("http://b/{number}{long}"),
                number as Timestamp,
            );
        }
        assert!(watch.urls.len() <= MOST_URLS && watch.bytes <= MOST_BYTES);
        while watch.next(LOOK_LASTS * 2).is_some() {}
        // When the others are not looked at any more, there is room again.
        let later = MEMORY_LASTS;
        look(&mut watch, "http://new/", later);
        assert_eq!(check(&mut watch, UP, later), 1);
        assert_eq!(look(&mut watch, "http://new/", later).status, UP);
        let counted: usize = watch.urls.keys().map(|url| url.len()).sum();
        assert_eq!(watch.bytes, counted);
    }

    #[test]
    fn an_address_that_is_not_allowed_is_looked_up_again_after_a_while() {
        let mut watch = Watch::new();
        look(&mut watch, "http://a/", 0);
        let refused = Status::NotAllowed(Refused::Address);
        check(&mut watch, refused, 0);
        assert_eq!(look(&mut watch, "http://a/", LONGEST_PERIOD - 1).status, refused);
        assert_eq!(check(&mut watch, refused, LONGEST_PERIOD - 1), 0);
        look(&mut watch, "http://a/", LONGEST_PERIOD);
        assert_eq!(check(&mut watch, UP, LONGEST_PERIOD), 1);
    }
}
