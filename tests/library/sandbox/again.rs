//! Attacks again and again use nothing up.

use std::thread;

use portico_tests::{Client, Portico};

use super::service::Hostile;

/// The memory that a process has now, in MiB.
pub fn resident(server: &Portico) -> u64 {
    server.status("VmRSS") / 1024
}

/// The most memory that it ever had, in MiB.
pub fn peak(server: &Portico) -> u64 {
    server.status("VmHWM") / 1024
}

/// More than there are places in the pool, and than a leak of each could hide in.
#[test]
fn after_400_attacks_no_memory_and_no_place_in_the_pool_is_lost() {
    let hostile = Hostile::start();
    let attacks = [
        "memory",
        "panic",
        "recursion",
        "handles",
        "trap-in-write:Half",
        "aliases:100",
        "log:1000000",
        "not-text",
    ];
    let round = || {
        thread::scope(|scope| {
            for caller in 0..4 {
                let hostile = &hostile;
                scope.spawn(move || {
                    for attack in 0..25 {
                        let attack = attacks[(caller + attack) % attacks.len()];
                        hostile
                            .attack(attack)
                            .assert_refused(500, "INTERNAL_SERVER_ERROR");
                    }
                });
            }
        });
    };
    // The first hundred fill what stays for reuse.
    round();
    let before = resident(&hostile.server);
    for _ in 0..3 {
        round();
    }
    let after = resident(&hostile.server);
    assert!(after < before + 64, "{before} MiB became {after} MiB");
    hostile
        .server
        .anonymous()
        .get("/api/health/ready")
        .assert_status(200);
    hostile.assert_untouched();
}
