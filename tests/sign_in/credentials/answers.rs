//! A failed sign-in does not reveal the reason: neither by its response nor by how long it takes.

use portico_model::Provider;
use portico_tests::{Client, PASSWORD, administrator_of};

use super::harness::Host;

/// A service with an administrator, and users of other providers.
fn prepared(host: Host) -> Host {
    administrator_of(&host.client);
    host.insert_user("olga", Provider::Oidc, None);
    host.insert_user("luis", Provider::Ldap, None);
    host
}

#[test]
fn a_failed_sign_in_answers_the_same_byte_for_byte() {
    let host = prepared(Host::start());
    let sign_in = |name: &str, password: &str| host.sign_in_from("192.0.2.1", name, password);
    let wrong = sign_in("root", "not the password");
    wrong.assert_refused(401, "UNAUTHORIZED");
    assert!(wrong.header("set-cookie").is_none());
    let long = "x".repeat(300);
    for (name, password) in [
        ("mallory", PASSWORD),
        ("olga", PASSWORD),
        ("luis", PASSWORD),
        ("root", ""),
        ("olga", ""),
        ("root", &long),
        ("mallory", &long),
        (&long, PASSWORD),
        ("", ""),
        ("r", PASSWORD),
        ("root\0", PASSWORD),
        ("' OR 1=1 --", PASSWORD),
        ("root", &format!("{PASSWORD} ")),
        ("root", &PASSWORD.to_uppercase()),
    ] {
        assert_eq!(sign_in(name, password).seen(), wrong.seen(), "{name:?}");
    }
    assert_eq!(sign_in(" RooT ", PASSWORD).status, 200, "the password still fits");
}

#[test]
fn a_locked_account_answers_like_an_unknown_name() {
    let host = prepared(Host::throttled());
    let mut closed = Vec::new();
    for (number, name) in ["root", "mallory", "olga"].into_iter().enumerate() {
        let sign_in = || host.sign_in_from(&format!("192.0.2.{number}"), name, "not the password");
        sign_in().assert_refused(401, "UNAUTHORIZED");
        let refused = sign_in();
        refused.assert_refused(429, "TOO_MANY_REQUESTS");
        closed.push(refused.seen());
    }
    assert!(closed.iter().all(|one| *one == closed[0]), "{closed:?}");
}

#[test]
fn every_answer_tells_browsers_to_keep_and_run_nothing() {
    let host = prepared(Host::start());
    let answers = [
        host.client.get("/api/health/live"),
        host.client.get("/api/users"),
        host.client.get("/api/none"),
        host.client.query("app.byIds", &serde_json::json!([])),
        host.sign_in_from("192.0.2.1", "root", PASSWORD),
    ];
    for answer in answers {
        for (name, value) in [
            ("cache-control", "no-store"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'",
            ),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}: {answer}");
        }
        let cors = answer
            .headers
            .iter()
            .find(|(name, _)| name.starts_with("access-control"));
        assert_eq!(cors, None, "{answer}");
    }
}

/// A clock on the wall would measure what else this machine does, so this counts the processor
/// time of the whole process, which is this test's own. It comes in ticks of 10 ms: only the sum
/// over many tries says something, the tries of all kinds in turn.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_sign_in_is_the_same_work_for_every_reason() {
    const TRIES: usize = 30;
    let host = prepared(Host::start());
    let kinds = [
        ("root", "wrong password"),
        ("mallory", "unknown name"),
        ("olga", "other provider"),
    ];
    // The second is no NFC, so it is compared in two forms.
    for password in ["not the password", "not the passwo\u{308}rd"] {
        let mut ticks = [0; 3];
        for _ in 0..TRIES {
            for (ticks, (name, _)) in ticks.iter_mut().zip(kinds) {
                let before = processor_ticks();
                host.sign_in_from("192.0.2.1", name, password).assert_status(401);
                *ticks += processor_ticks() - before;
            }
        }
        for (one, (_, kind)) in ticks.iter().zip(kinds) {
            // A try without a hash has a hundredth of the work, and one with two hashes has twice as much. Between them
            // is what other work of the machine does to the caches.
            let ratio = *one as f64 / ticks[0] as f64;
            assert!((0.6..1.6).contains(&ratio), "{kind}: {ratio}, all: {ticks:?}");
        }
        assert!(ticks[0] as usize > TRIES, "{ticks:?}: nothing was hashed");
    }
}

fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program is in brackets, and may contain anything.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<u64>().unwrap();
    ticks(11) + ticks(12)
}
