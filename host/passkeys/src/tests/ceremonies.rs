//! Challenges: once, in time, for one purpose and one holder, at any host, and bounded in number.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use portico_model::{Timestamp, time::Clock};
use portico_storage::{
    MemoryRecords, RecordKind,
    secrets::{Secrets, SystemRandom},
};

use crate::{Ceremonies, Ceremony, Purpose, TIME_LIMIT, ceremonies::MOST_OF_HOLDER};

struct Set(Arc<AtomicU64>);

impl Clock for Set {
    fn now(&self) -> Timestamp {
        self.0.load(Ordering::Relaxed)
    }
}

/// Two hosts, what they make challenges of, and their clock.
fn hosts() -> ([Ceremonies; 2], Secrets, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(1));
    let records = Arc::new(MemoryRecords::new(Arc::new(Set(now.clone()))));
    let host = || Ceremonies::new(records.clone());
    ([host(), host()], Secrets::new(Arc::new(SystemRandom)), now)
}

const ADA: Ceremony<'static> = Ceremony {
    purpose: Purpose::Registration,
    holder: "ada",
};

/// A sign-in of this browser.
fn visitor(browser: &str) -> Ceremony<'_> {
    Ceremony {
        purpose: Purpose::SignIn,
        holder: browser,
    }
}

#[tokio::test]
async fn a_challenge_is_good_once_at_any_host() {
    let ([one, two], secrets, _) = hosts();
    let challenge = one.begin(ADA, &secrets).await.unwrap();
    let other = two.begin(ADA, &secrets).await.unwrap();
    assert_ne!(challenge, other);
    assert!(two.end(&challenge, ADA).await.unwrap());
    assert!(!one.end(&challenge, ADA).await.unwrap());
    assert!(!one.end(b"made up", ADA).await.unwrap());
    assert!(one.end(&other, ADA).await.unwrap());
}

#[tokio::test]
async fn a_challenge_is_good_for_its_purpose_and_its_holder() {
    let ([one, _], secrets, _) = hosts();
    let others = [
        Ceremony { holder: "bob", ..ADA },
        Ceremony { holder: "", ..ADA },
        Ceremony {
            purpose: Purpose::SignIn,
            ..ADA
        },
        Ceremony {
            purpose: Purpose::SecondFactor,
            ..ADA
        },
    ];
    for other in others {
        let challenge = one.begin(ADA, &secrets).await.unwrap();
        assert!(!one.end(&challenge, other).await.unwrap(), "{other:?}");
        // What others try takes nothing from its holder.
        assert!(one.end(&challenge, ADA).await.unwrap());
    }
}

#[tokio::test]
async fn a_challenge_expires_after_five_minutes() {
    let ([one, two], secrets, now) = hosts();
    let first = one.begin(ADA, &secrets).await.unwrap();
    let second = one.begin(ADA, &secrets).await.unwrap();
    now.store(TIME_LIMIT, Ordering::Relaxed);
    assert!(two.end(&first, ADA).await.unwrap());
    now.store(TIME_LIMIT + 1, Ordering::Relaxed);
    assert!(!two.end(&second, ADA).await.unwrap());
}

#[tokio::test]
async fn a_flood_of_visitors_does_not_displace_people_who_have_signed_in() {
    let ([one, _], secrets, now) = hosts();
    let own = one.begin(ADA, &secrets).await.unwrap();
    let first = one.begin(visitor("the first"), &secrets).await.unwrap();
    for browser in 0..RecordKind::PasskeyCeremonies.most() {
        now.fetch_add(1, Ordering::Relaxed);
        let browser = browser.to_string();
        one.begin(visitor(&browser), &secrets).await.unwrap();
    }
    assert!(!one.end(&first, visitor("the first")).await.unwrap());
    assert!(one.end(&own, ADA).await.unwrap());
}

#[tokio::test]
async fn a_user_who_begins_without_end_displaces_only_their_own() {
    let ([one, two], secrets, _) = hosts();
    let bob = Ceremony { holder: "bob", ..ADA };
    let of_ada = one.begin(ADA, &secrets).await.unwrap();
    let mut of_bob = Vec::new();
    for _ in 0..=RecordKind::PasskeyCeremonies.most() {
        of_bob.push(two.begin(bob, &secrets).await.unwrap());
    }
    assert!(one.end(&of_ada, ADA).await.unwrap());
    let kept = of_bob.split_off(of_bob.len() - MOST_OF_HOLDER);
    assert!(!one.end(&of_bob[of_bob.len() - 1], bob).await.unwrap());
    for challenge in kept {
        assert!(one.end(&challenge, bob).await.unwrap());
    }
}
