//! Memory over all calls.

use std::{sync::Mutex, thread};

use portico_tests::Client;

use super::{again::peak, service::Hostile};

#[test]
fn twelve_calls_of_200_mebibytes_wait_for_each_other_and_are_all_answered() {
    let hostile = Hostile::start();
    let statuses = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let status = hostile.attack("hold:200").status;
                statuses.lock().expect("the lock").push(status);
            });
        }
    });
    let statuses = statuses.into_inner().expect("the lock");
    assert_eq!(statuses, [200; 12]);
    // Three at the same time, plus what the service has otherwise.
    let peak = peak(&hostile.server);
    assert!((200..900).contains(&peak), "{peak} MiB");
}

#[test]
fn small_calls_do_not_wait_for_large_ones() {
    let hostile = Hostile::start();
    thread::scope(|scope| {
        let large: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| hostile.attack("hold:200").status))
            .collect();
        while !large.iter().all(|call| call.is_finished()) {
            hostile.assert_untouched();
            hostile
                .server
                .anonymous()
                .get("/api/health/ready")
                .assert_status(200);
        }
    });
}
