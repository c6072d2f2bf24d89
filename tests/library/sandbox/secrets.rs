//! No call finds what a call of another caller left behind: not in memory, not after a trap, not under
//! load. Tested for each pair of callers. An instance that is kept warm shows what a user left to the same
//! user only.

use std::{sync::Arc, time::Duration};

use portico_sandbox::{Limits, Sandbox};
use portico_tests::Client;

use super::{
    harness::{by_id, by_id_in, context, hostile},
    service::{Hostile, ask},
};

/// The first and the second caller.
pub const PAIRS: [(Option<&str>, Option<&str>); 4] = [
    (Some("ada"), Some("grace")),
    (Some("ada"), None),
    (None, Some("ada")),
    (None, None),
];

/// Few enough that every call gets the place of the one before it.
fn crowded(instances: u32) -> Limits {
    Limits {
        instances,
        ..Limits::default()
    }
}

async fn found(sandbox: &Sandbox, user: Option<&str>) -> String {
    let app = by_id(sandbox, user, "hostile:look").await.expect("an answer");
    app.name
}

/// The probe is worth something only if it finds what is there.
#[tokio::test]
async fn the_probe_finds_a_secret_in_an_instance_that_is_used_twice() {
    let sandbox = hostile(crowded(1));
    let mut instance = sandbox.enter(context(Some("ada"))).await.unwrap();
    by_id_in(&mut instance, "hostile:hide:canary").await.unwrap();
    let app = by_id_in(&mut instance, "hostile:look").await.unwrap();
    assert_eq!(app.name, "1 calls before this one in a static");
    let memory = by_id_in(&mut instance, "hostile:look-in-memory").await.unwrap();
    assert!(memory.name.starts_with("canary"), "{}", memory.name);
}

#[tokio::test]
async fn what_a_call_leaves_in_memory_is_invisible_to_other_callers() {
    for misbehaviour in ["hide", "hide-and-trap"] {
        for (first, second) in PAIRS {
            let sandbox = hostile(crowded(1));
            for _ in 0..3 {
                // It may end with a trap.
                let _ = by_id(&sandbox, first, &format!("hostile:{misbehaviour}:canary")).await;
                assert_eq!(found(&sandbox, second).await, "", "{first:?} then {second:?}");
            }
        }
    }
}

/// Calls that hash keep their room in memory: it has to be empty for the next one.
#[tokio::test]
async fn what_a_call_that_hashes_leaves_in_memory_is_invisible_to_other_callers() {
    let sandbox = hostile(Limits {
        hashing: 1,
        ..Limits::default()
    });
    let hashing = async |user, misbehaviour: &str| {
        let mut instance = sandbox.enter_to_hash(context(user)).await.unwrap();
        by_id_in(&mut instance, &format!("hostile:{misbehaviour}")).await
    };
    let mut instance = sandbox.enter_to_hash(context(None)).await.unwrap();
    by_id_in(&mut instance, "hostile:hide-far:canary").await.unwrap();
    let app = by_id_in(&mut instance, "hostile:look-far").await.unwrap();
    assert_eq!(app.name, "2 calls before this one in a static", "the probe finds");
    drop(instance);
    for misbehaviour in ["hide-far", "hide-far-and-trap"] {
        for (first, second) in PAIRS {
            for _ in 0..2 {
                // It may end with a trap.
                let _ = hashing(first, &format!("{misbehaviour}:canary")).await;
                let found = hashing(second, "look-far").await.expect("an answer");
                assert_eq!(found.name, "", "{misbehaviour}: {first:?} then {second:?}");
            }
        }
    }
}

const HIDE: &str = "hostile:hide:canary";
/// What is found of a call that hid something.
const ONE_CALL: &str = "1 calls before this one in a static";

#[tokio::test]
async fn an_instance_serves_its_user_again() {
    let sandbox = hostile(crowded(1));
    by_id(&sandbox, Some("ada"), HIDE).await.unwrap();
    assert_eq!(found(&sandbox, Some("ada")).await, ONE_CALL);
    assert_eq!(found(&sandbox, Some("ada")).await, ONE_CALL);
}

#[tokio::test]
async fn an_instance_that_trapped_serves_no_further_call() {
    let sandbox = hostile(crowded(1));
    by_id(&sandbox, Some("ada"), HIDE).await.unwrap();
    by_id(&sandbox, Some("ada"), "hostile:panic").await.unwrap_err();
    assert_eq!(found(&sandbox, Some("ada")).await, "");
}

#[tokio::test]
async fn an_instance_whose_call_was_dropped_serves_no_further_call() {
    let sandbox = hostile(crowded(1));
    by_id(&sandbox, Some("ada"), HIDE).await.unwrap();
    let looping = by_id(&sandbox, Some("ada"), "hostile:loop");
    tokio::time::timeout(Duration::from_millis(50), looping)
        .await
        .expect_err("it does not end by itself");
    assert_eq!(found(&sandbox, Some("ada")).await, "");
}

#[tokio::test]
async fn an_instance_with_much_memory_is_not_kept() {
    let sandbox = hostile(crowded(1));
    by_id(&sandbox, Some("ada"), HIDE).await.unwrap();
    by_id(&sandbox, Some("ada"), "hostile:hold:10").await.unwrap();
    assert_eq!(found(&sandbox, Some("ada")).await, "");
}

#[tokio::test]
async fn few_instances_are_kept_and_a_second_call_replaces_the_one_that_was_idle_longest() {
    let sandbox = hostile(Limits {
        warm: 2,
        ..crowded(1)
    });
    for user in ["ada", "grace", "alan", "alan"] {
        by_id(&sandbox, Some(user), HIDE).await.unwrap();
    }
    assert_eq!(found(&sandbox, Some("alan")).await, ONE_CALL);
    assert_eq!(found(&sandbox, Some("grace")).await, ONE_CALL);
    assert_eq!(found(&sandbox, Some("ada")).await, "");
}

#[tokio::test]
async fn many_users_who_call_in_turn_replace_no_kept_instance() {
    let sandbox = hostile(Limits {
        warm: 2,
        ..crowded(1)
    });
    for user in ["ada", "grace"] {
        by_id(&sandbox, Some(user), HIDE).await.unwrap();
    }
    for _ in 0..3 {
        for user in ["one", "two", "three"] {
            by_id(&sandbox, Some(user), HIDE).await.unwrap();
            assert_eq!(found(&sandbox, Some("ada")).await, ONE_CALL);
        }
    }
    assert_eq!(found(&sandbox, Some("grace")).await, ONE_CALL);
}

#[tokio::test]
async fn an_instance_is_kept_for_a_while_only() {
    let sandbox = hostile(Limits {
        warm_time: Duration::from_millis(10),
        ..crowded(1)
    });
    by_id(&sandbox, Some("ada"), HIDE).await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(found(&sandbox, Some("ada")).await, "");
}

#[tokio::test]
async fn without_warm_instances_every_call_gets_a_fresh_one() {
    let sandbox = hostile(Limits {
        warm: 0,
        ..crowded(1)
    });
    by_id(&sandbox, Some("ada"), HIDE).await.unwrap();
    assert_eq!(found(&sandbox, Some("ada")).await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_no_call_finds_data_of_another_caller() {
    let sandbox = Arc::new(hostile(crowded(3)));
    let calls: Vec<_> = (0..600)
        .map(|number| {
            let sandbox = sandbox.clone();
            tokio::spawn(async move {
                // Each of these eight does the same every time.
                let user = format!("user {}", number % 8);
                let misbehaviour = match number % 8 {
                    0 | 4 => "hide:canary",
                    1 | 5 => "hide-and-trap:canary",
                    _ => return found(&sandbox, Some(&user)).await,
                };
                let _ = by_id(&sandbox, Some(&user), &format!("hostile:{misbehaviour}")).await;
                String::new()
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), "");
    }
}

#[test]
fn over_http_no_caller_finds_what_another_left() {
    let hostile = Hostile::start();
    let anonymous = hostile.server.anonymous();
    let found = |caller: &dyn Client| {
        let answer = caller.try_send("GET", "/api/apps/hostile:look", &[], None);
        let answer = answer.expect("an answer").json();
        answer["name"].as_str().expect("a name").to_owned()
    };
    for misbehaviour in ["hide:canary", "hide-and-trap:canary"] {
        for _ in 0..10 {
            ask(&hostile.ada.key, misbehaviour);
            assert_eq!(found(&hostile.grace), "");
            assert_eq!(found(&anonymous), "");
            let path = format!("/api/apps/hostile:{misbehaviour}");
            anonymous.try_send("GET", &path, &[], None).expect("an answer");
            assert_eq!(found(&hostile.grace), "");
            assert_eq!(found(&anonymous), "");
        }
    }
}
