//! The limits of the throttle, over days and under attack, with a clock that the tests set.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use portico_model::error::{Code, Error};
use portico_model::time::Clock;
use portico_model::{Provider, Timestamp};
use portico_storage::{MemoryRecords, RecordKey, SharedRecord};

use super::counts::{self, Counts};
use super::{Attempt, LoginAttempt, Outcome, Source, Subject, Throttle, ThrottledAccount};

const SECOND: Timestamp = 1000;
const HOUR: Timestamp = 3600 * SECOND;
const DAY: Timestamp = 24 * HOUR;

fn account(name: &str) -> ThrottledAccount {
    ThrottledAccount::new(Provider::Credentials, name)
}

fn source(address: &str) -> Source {
    address.parse::<IpAddr>().unwrap().into()
}

fn numbered(number: u32) -> Source {
    IpAddr::from(Ipv4Addr::from(0x0a00_0000 + number)).into()
}

fn of(account: Option<ThrottledAccount>, source: Option<Source>) -> Subject {
    Subject { account, source }
}

/// Counts whose clock each test sets.
#[derive(Clone, Default)]
struct TestCounts(BTreeMap<RecordKey, SharedRecord>);

impl TestCounts {
    fn begin(&mut self, subject: Subject, now: Timestamp) -> Result<Attempt, Timestamp> {
        self.step(subject, now, |keys, records| {
            counts::begin(subject, keys, records, now)
        })
    }

    fn end(&mut self, attempt: Attempt, outcome: Outcome, now: Timestamp) {
        self.step(attempt.subject, now, |keys, records| {
            counts::end(attempt, outcome, keys, records, now);
        });
    }

    fn step<T>(
        &mut self,
        subject: Subject,
        now: Timestamp,
        change: impl FnOnce(&[RecordKey], &mut [Option<SharedRecord>]) -> T,
    ) -> T {
        let keys = counts::keys(subject);
        let find = |key| self.0.get(key).filter(|record| now < record.ends_at).cloned();
        let mut records: Vec<_> = keys.iter().map(find).collect();
        let answer = change(&keys, &mut records);
        for (key, record) in keys.into_iter().zip(records) {
            match record {
                Some(record) => self.0.insert(key, record),
                None => self.0.remove(&key),
            };
        }
        answer
    }
}

/// Makes an attempt that ends immediately.
fn attempt(
    counts: &mut TestCounts,
    name: &str,
    source: Source,
    outcome: Outcome,
    now: Timestamp,
) -> Result<(), Timestamp> {
    let begun = counts.begin(of(Some(account(name)), Some(source)), now)?;
    counts.end(begun, outcome, now);
    Ok(())
}

fn fail(counts: &mut TestCounts, name: &str, source: Source, now: Timestamp) -> Result<(), Timestamp> {
    attempt(counts, name, source, Outcome::Failed, now)
}

fn succeed(counts: &mut TestCounts, name: &str, source: Source, now: Timestamp) -> Result<(), Timestamp> {
    attempt(counts, name, source, Outcome::Succeeded, now)
}

/// Random numbers from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn of(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }
}

#[test]
fn a_network_of_ipv6_is_one_source_and_an_address_of_ipv4_another() {
    assert_eq!(source("2001:db8:1:2::1"), source("2001:db8:1:2:ffff::9"));
    assert_ne!(source("2001:db8:1:2::1"), source("2001:db8:1:3::1"));
    assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
    assert_eq!(source("::ffff:192.0.2.1"), source("192.0.2.1"));
}

#[test]
fn a_name_at_another_provider_is_another_account() {
    let ldap = ThrottledAccount::new(Provider::Ldap, "ann");
    assert_ne!(ldap, account("ann"));
    assert_ne!(ldap, account("Ldap ann"));
    assert_ne!(ldap, ThrottledAccount::new(Provider::Oidc, "ann"));
}

#[test]
fn the_more_failures_the_longer_the_wait_and_after_a_hundred_it_is_a_day() {
    let mut counts = TestCounts::default();
    let mut now = 5;
    for failures in 1..=100 {
        // From everywhere, because this is about the account.
        assert_eq!(
            fail(&mut counts, "ann", numbered(failures), now),
            Ok(()),
            "{failures}"
        );
        let wait = match failures {
            1..=3 => SECOND,
            4..=9 => 3 * SECOND,
            10..=25 => 5 * SECOND,
            26..=99 => 10 * SECOND,
            _ => DAY,
        };
        let refused = fail(&mut counts, "ann", numbered(999), now + wait - 1);
        assert_eq!(refused, Err(1), "after {failures} failures");
        now += wait;
    }
    assert_eq!(fail(&mut counts, "ann", numbered(999), now), Ok(()));
    assert_eq!(
        fail(&mut counts, "ann", numbered(999), now),
        Err(SECOND),
        "from the beginning"
    );
    assert_eq!(
        fail(&mut counts, "bob", numbered(999), now),
        Ok(()),
        "another account"
    );
}

#[test]
fn an_address_has_ten_attempts_and_then_one_in_five_seconds() {
    let mut counts = TestCounts::default();
    let here = source("2001:db8::1");
    for number in 0..10 {
        assert_eq!(fail(&mut counts, &format!("name {number}"), here, 7), Ok(()));
    }
    assert_eq!(
        fail(&mut counts, "another", source("2001:db8::2"), 7),
        Err(5 * SECOND)
    );
    assert_eq!(fail(&mut counts, "another", source("2001:db9::2"), 7), Ok(()));
    assert_eq!(fail(&mut counts, "one more", here, 7 + 5 * SECOND), Ok(()));
    assert_eq!(
        fail(&mut counts, "one too many", here, 7 + 5 * SECOND),
        Err(5 * SECOND)
    );
    for number in 0..10 {
        assert_eq!(fail(&mut counts, &format!("later {number}"), here, HOUR), Ok(()));
    }
}

#[test]
fn an_attempt_counts_from_its_beginning() {
    let mut counts = TestCounts::default();
    let (ann, here) = (Some(account("ann")), Some(numbered(1)));
    let begun = counts.begin(of(ann, here), 1).unwrap();
    assert_eq!(
        counts.begin(of(ann, Some(numbered(2))), 1).unwrap_err(),
        SECOND,
        "one at a time"
    );
    counts.end(begun, Outcome::Void, 2);
    let registers: Vec<_> = (0..256).map(|_| counts.begin(of(None, here), 3)).collect();
    assert_eq!(registers.iter().filter(|begun| begun.is_ok()).count(), 10);
    for begun in registers.into_iter().flatten() {
        counts.end(begun, Outcome::Void, 4);
    }
    assert_eq!(
        fail(&mut counts, "ann", numbered(1), 5),
        Ok(()),
        "attempts without a check cost nothing"
    );
}

#[tokio::test]
async fn a_dropped_attempt_has_failed() {
    let ([throttle, _], ..) = hosts();
    let here = Some([192, 0, 2, 1].into());
    for _ in 0..10 {
        drop(throttle.begin(None, here).await.expect("an attempt"));
    }
    let refused = throttle.begin(None, here).await.err().expect("no more attempts");
    assert_eq!(
        (refused.code, refused.retry_after),
        (Code::TooManyRequests, Some(5))
    );
    for _ in 0..100 {
        assert!(Throttle::off().begin(Some(account("ann")), here).await.is_ok());
    }
}

#[test]
fn right_passwords_are_not_limited() {
    let mut counts = TestCounts::default();
    for number in 0..1000 {
        assert_eq!(succeed(&mut counts, "ann", numbered(1), 1), Ok(()));
        assert_eq!(succeed(&mut counts, &format!("{number}"), numbered(2), 1), Ok(()));
    }
    // From the known address eight clients may sign in at the same time.
    let begin = |counts: &mut TestCounts| counts.begin(of(Some(account("ann")), Some(numbered(1))), 2);
    let begun: Vec<_> = (0..9).map(|_| begin(&mut counts)).collect();
    assert_eq!(begun.iter().filter(|begun| begun.is_ok()).count(), 8);
}

#[test]
fn strangers_do_not_lock_the_owner_out() {
    let mut counts = TestCounts::default();
    let home = numbered(0);
    succeed(&mut counts, "ann", home, 1).unwrap();
    let mut tries = 0;
    for now in (10 * SECOND..30 * DAY).step_by(10 * SECOND as usize) {
        let second = now / SECOND;
        // One attacker has every address; another shares the owner's address and tries other names.
        let stranger = numbered(1 + (second % 5000) as u32);
        tries += u32::from(fail(&mut counts, "ann", stranger, now).is_ok());
        let _ = fail(&mut counts, "bob", home, now);
        if second.is_multiple_of(3600) {
            let late = fail(&mut counts, "ann", home, now);
            assert_eq!(late, Ok(()), "a mistake at home at {second}");
            assert_eq!(
                succeed(&mut counts, "ann", home, now + SECOND),
                Ok(()),
                "at {second}"
            );
        }
    }
    assert!(
        (2000..=3000).contains(&tries),
        "{tries} tries of strangers in 30 days"
    );
    // A day after the attack ends, any address may sign in.
    let calm = 30 * DAY + DAY;
    assert_eq!(succeed(&mut counts, "ann", numbered(77), calm), Ok(()));
}

#[test]
fn an_address_is_known_for_thirty_days_and_its_own_failures_count() {
    let mut counts = TestCounts::default();
    let home = numbered(0);
    succeed(&mut counts, "ann", home, 1).unwrap();
    let mut now = SECOND;
    let mut tries = 0;
    while now < DAY {
        tries += u32::from(fail(&mut counts, "ann", home, now).is_ok());
        now += SECOND;
    }
    assert_eq!(
        tries, 100,
        "a thief at the owner's address has no more attempts than anyone"
    );
    assert_eq!(
        fail(&mut counts, "ann", home, 2 * DAY),
        Ok(()),
        "and it opens again"
    );
    // Strangers have locked the account; the owner's address stays open until it is forgotten.
    for (at, known) in [(29 * DAY, true), (31 * DAY, false)] {
        let mut counts = counts.clone();
        let mut now = at - HOUR;
        for number in 0..100 {
            assert_eq!(fail(&mut counts, "ann", numbered(1 + number), now), Ok(()));
            now += 10 * SECOND;
        }
        assert_eq!(succeed(&mut counts, "ann", home, at).is_ok(), known, "at {at}");
    }
}

#[test]
fn no_more_than_a_hundred_attempts_fail_even_in_parallel() {
    let mut counts = TestCounts::default();
    let home = numbered(0);
    succeed(&mut counts, "ann", home, 1).unwrap();
    let mut now = SECOND;
    for failures in 1..=97 {
        assert_eq!(fail(&mut counts, "ann", home, now), Ok(()), "{failures}");
        now += 10 * SECOND;
    }
    let begin = |counts: &mut TestCounts| counts.begin(of(Some(account("ann")), Some(home)), now);
    let begun: Vec<_> = (0..8).filter_map(|_| begin(&mut counts).ok()).collect();
    assert_eq!(begun.len(), 3);
    for attempt in begun {
        counts.end(attempt, Outcome::Failed, now);
    }
    assert_eq!(begin(&mut counts).unwrap_err(), DAY);
}

#[test]
fn the_limits_hold_and_every_wait_ends_under_random_attempts() {
    for seed in 1..=8 {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut counts = TestCounts::default();
        let mut now = chance.below(DAY);
        let mut by_account: BTreeMap<u64, Vec<Timestamp>> = BTreeMap::new();
        let mut by_source: BTreeMap<u64, Vec<Timestamp>> = BTreeMap::new();
        let mut running = Vec::new();
        for step in 0..20_000 {
            now += match chance.below(100) {
                0 => chance.of(HOUR..DAY),
                1..10 => chance.of(SECOND..60 * SECOND),
                10..60 => chance.below(3 * SECOND),
                _ => 0,
            };
            let (name, place) = (chance.below(3), chance.below(40));
            let account = account(&format!("name {name}"));
            match counts.begin(of(Some(account), Some(numbered(place as u32))), now) {
                Ok(begun) => running.push((begun, name, place)),
                Err(wait) => {
                    assert!((1..=DAY).contains(&wait), "seed {seed}, step {step}: {wait}");
                    // Without other attempts, that wait is enough.
                    let mut later = counts.clone();
                    for (begun, ..) in &running {
                        later.end(*begun, Outcome::Void, now);
                    }
                    let again = later.begin(of(Some(account), Some(numbered(place as u32))), now + wait);
                    assert!(again.is_ok(), "seed {seed}, step {step}: {again:?} after {wait}");
                }
            }
            while running.len() > chance.below(12) as usize {
                let (begun, name, place) = running.swap_remove(chance.below(running.len() as u64) as usize);
                let outcome = match chance.below(50) {
                    0 => Outcome::Void,
                    1 if place == 0 => Outcome::Succeeded,
                    _ => Outcome::Failed,
                };
                counts.end(begun, outcome, now);
                if outcome == Outcome::Failed && place != 0 {
                    by_account.entry(name).or_default().push(now);
                    by_source.entry(place).or_default().push(now);
                }
            }
        }
        for times in by_account.values() {
            assert_at_most(100, DAY, times, seed);
        }
        for times in by_source.values() {
            // The throttle counts an attempt when it begins, and this test when it ends: hence the margin.
            assert_at_most(10 + 12 + 12, 60 * SECOND, times, seed);
        }
        assert!(
            by_account.values().all(|times| times.len() > 200),
            "seed {seed}: nothing happened"
        );
    }
}

/// Asserts that no span of this length holds more than this many of the times.
fn assert_at_most(most: usize, span: Timestamp, times: &[Timestamp], seed: u64) {
    for (index, start) in times.iter().enumerate() {
        let within = times[index..]
            .iter()
            .take_while(|time| **time < start + span)
            .count();
        assert!(within <= most, "seed {seed}: {within} from {start} on");
    }
}

#[tokio::test]
async fn hundreds_of_thousands_of_addresses_and_names_hide_no_attack() {
    const MANY: u32 = 150_000;
    let now = Arc::new(AtomicU64::new(1));
    let counts = Counts::new(Arc::new(MemoryRecords::new(Arc::new(Set(now.clone())))));
    let fail = async |account: Option<ThrottledAccount>, from: u32| {
        let begun = counts.begin(of(account, Some(numbered(from)))).await.unwrap()?;
        counts.end(begun, Outcome::Failed).await.unwrap();
        Ok::<_, Timestamp>(())
    };
    let ann = Some(account("ann"));
    for from in 0..50 {
        assert_eq!(fail(ann, from).await, Ok(()));
        now.fetch_add(10 * SECOND, Ordering::Relaxed);
    }
    for number in 0..MANY {
        let _ = fail(Some(account(&format!("name {number}"))), number).await;
        let _ = fail(None, MANY + number).await;
        now.fetch_add(u64::from(number % 10 == 0), Ordering::Relaxed);
    }
    // The count of fifty is still there: the next failure costs ten seconds.
    assert_eq!(fail(ann, 5).await, Ok(()));
    assert_eq!(fail(ann, 6).await, Err(10 * SECOND));
    // A day later no failure counts any more.
    now.fetch_add(DAY, Ordering::Relaxed);
    for number in 0..1000 {
        let name = account(&format!("later {number}"));
        assert_eq!(fail(Some(name), number).await, Ok(()));
    }
    assert_eq!(fail(ann, 7).await, Ok(()));
}

#[test]
fn an_attempt_whose_host_was_killed_counts_as_one_failure() {
    let mut counts = TestCounts::default();
    let (ann, here) = (account("ann"), numbered(1));
    let begun = counts.begin(of(Some(ann), Some(here)), 0).unwrap();
    let limit = 120 * SECOND;
    assert_eq!(
        fail(&mut counts, "ann", here, limit - 1),
        Err(SECOND),
        "it is running"
    );
    assert_eq!(
        fail(&mut counts, "ann", here, limit),
        Err(SECOND),
        "it has failed"
    );
    assert_eq!(succeed(&mut counts, "ann", here, limit + SECOND), Ok(()));
    // Also from the known address: eight attempts that nothing ends.
    let now = HOUR;
    for _ in 0..8 {
        counts.begin(of(Some(ann), Some(here)), now).unwrap();
    }
    assert_eq!(fail(&mut counts, "ann", here, now + 1), Err(SECOND));
    assert_eq!(fail(&mut counts, "ann", here, now + limit), Err(3 * SECOND));
    assert_eq!(
        succeed(&mut counts, "ann", here, now + limit + 3 * SECOND),
        Ok(())
    );
    // An attempt that does end, but late, is counted too.
    counts.end(begun, Outcome::Failed, DAY);
    assert_eq!(fail(&mut counts, "ann", numbered(2), DAY), Err(SECOND));
}

#[test]
fn a_first_step_counts_as_a_failure_after_which_the_second_need_not_wait() {
    let mut counts = TestCounts::default();
    let ann = Some(account("ann"));
    for number in 0..100 {
        let subject = of(ann, Some(numbered(number)));
        let begun = counts.begin(subject, HOUR);
        let begun = begun.unwrap_or_else(|wait| panic!("after {number}: {wait}"));
        counts.end(begun, Outcome::Incomplete, HOUR);
    }
    let stranger = of(ann, Some(numbered(100)));
    assert!(counts.begin(stranger, HOUR).is_err(), "a hundred is the most");
    assert!(
        counts.begin(stranger, HOUR + DAY).is_ok(),
        "until a day has passed"
    );
    // Each takes a token of its address.
    let mut counts = TestCounts::default();
    for number in 0..10 {
        let subject = of(Some(account(&number.to_string())), Some(numbered(0)));
        let begun = counts.begin(subject, HOUR).expect("a token");
        counts.end(begun, Outcome::Incomplete, HOUR);
    }
    let subject = of(Some(account("another")), Some(numbered(0)));
    assert_eq!(counts.begin(subject, HOUR).err(), Some(5 * SECOND));
}

/// Two hosts that share their counts, and their clock.
fn hosts() -> ([Throttle; 2], Arc<AtomicU64>, MemoryRecords) {
    let now = Arc::new(AtomicU64::new(HOUR));
    let records = MemoryRecords::new(Arc::new(Set(now.clone())));
    let host = || Throttle::new(Arc::new(records.clone()));
    ([host(), host()], now, records)
}

struct Set(Arc<AtomicU64>);

impl Clock for Set {
    fn now(&self) -> Timestamp {
        self.0.load(Ordering::Relaxed)
    }
}

const WRONG: Result<(), Error> = Err(Error {
    code: Code::Unauthorized,
    message: String::new(),
    issues: Vec::new(),
    retry_after: None,
    missing_factor: None,
    cause: None,
});

#[tokio::test]
async fn hosts_that_share_their_counts_count_like_one() {
    let (hosts, now, _) = hosts();
    let ann = Some(account("ann"));
    for failures in 1..=100_u8 {
        let from = Some([10, 0, 0, failures].into());
        let attempt = hosts[usize::from(failures % 2)].begin(ann, from).await;
        let attempt = attempt.unwrap_or_else(|error| panic!("after {failures}: {error:?}"));
        let refused = hosts[usize::from((failures + 1) % 2)]
            .begin(ann, None)
            .await
            .err();
        assert_eq!(
            refused.and_then(|error| error.retry_after),
            Some(1),
            "one at a time"
        );
        attempt.settle(&WRONG).await;
        now.fetch_add(10 * SECOND, Ordering::Relaxed);
    }
    for host in &hosts {
        let refused = host.begin(ann, None).await.err().expect("a refusal");
        assert_eq!(refused.retry_after, Some(24 * 3600 - 10));
    }
}

#[tokio::test]
async fn an_address_that_is_known_at_one_host_is_known_at_the_other() {
    let (hosts, ..) = hosts();
    let (ann, home, away) = (
        Some(account("ann")),
        Some([10, 0, 0, 1].into()),
        Some([10, 0, 0, 2].into()),
    );
    let attempt = hosts[0].begin(ann, home).await.unwrap();
    attempt.settle(&Ok::<_, Error>(())).await;
    let stranger = hosts[0].begin(ann, away).await.unwrap();
    stranger.settle(&WRONG).await;
    assert!(hosts[1].begin(ann, away).await.is_err());
    let owner = hosts[1].begin(ann, home).await.unwrap();
    owner.settle(&Ok::<_, Error>(())).await;
}

#[tokio::test]
async fn an_attempt_that_one_host_left_ends_at_another() {
    let (hosts, ..) = hosts();
    let from = Some([10, 0, 0, 1].into());
    for _ in 0..30 {
        let left = hosts[0].begin(None, from).await.unwrap().leave();
        hosts[1].resume(left).settle(&Ok::<_, Error>(())).await;
    }
    for _ in 0..10 {
        hosts[0].begin(None, from).await.unwrap().leave();
    }
    assert!(hosts[1].begin(None, from).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_counted_is_not_tried() {
    let (hosts, _, records) = hosts();
    let attempt = hosts[0].begin(Some(account("ann")), None).await.unwrap();
    records.fail(true);
    let refused = hosts[1].begin(Some(account("bob")), None).await.err();
    assert_eq!(refused.map(|error| error.code), Some(Code::ServiceUnavailable));
    attempt.settle(&Ok::<_, Error>(())).await;
    records.fail(false);
    assert!(
        hosts[1].begin(Some(account("ann")), None).await.is_err(),
        "it counts as running"
    );
}

#[tokio::test]
async fn an_attempt_that_is_given_up_while_it_begins_counts_as_failed() {
    let (hosts, ..) = hosts();
    let from = Some([10, 0, 0, 1].into());
    for _ in 0..10 {
        let mut beginning = Box::pin(hosts[0].begin(None, from));
        assert!(futures_util::poll!(&mut beginning).is_pending());
    }
    while hosts[1].begin(None, from).await.map(LoginAttempt::leave).is_ok() {
        tokio::task::yield_now().await;
    }
}
