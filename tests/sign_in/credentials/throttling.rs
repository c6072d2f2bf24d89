//! The throttle over HTTP, by a clock that the test sets. Its rules over days are tested next to its code.

use std::time::Duration;

use portico_model::Provider;
use portico_sandbox::Limits;
use portico_service::identity::Identity;
use portico_storage::Authentication;
use portico_tests::clock::{DAY, SECOND};
use portico_tests::{
    Answer, Builder, Client, Fixtures, NO_INPUT, PASSWORD, PATIENCE, administrator, administrator_of,
    decode_stream, raw, wait_until,
};
use serde_json::{Value, json};

use super::harness::Host;

/// Limits with which every caller who waits for a permit gets one.
fn patient() -> Limits {
    Limits {
        wait: 2 * PATIENCE,
        ..Limits::default()
    }
}

#[track_caller]
fn assert_throttled(answer: &Answer, seconds: u64) {
    answer.assert_refused(429, "TOO_MANY_REQUESTS");
    assert_eq!(
        answer.header("retry-after"),
        Some(seconds.to_string().as_str()),
        "{answer}"
    );
    // The message of a procedure call is elsewhere than that of a sign-in.
    assert!(
        answer.text().contains(&format!(" {seconds} second")),
        "it does not say how long to wait: {answer}"
    );
}

fn registration(number: usize) -> Value {
    json!({
        "username": format!("user-{number}"), "password": PASSWORD, "email": "new@example.com",
        "inviteId": "none", "token": "wrong",
    })
}

/// The path and the body of a batch of registrations whose invite does not exist.
fn batch(procedure: &str, calls: usize) -> (String, String) {
    let path = format!("/api/trpc/{}?batch=1", vec![procedure; calls].join(","));
    let inputs: serde_json::Map<_, _> = (0..calls)
        .map(|number| (number.to_string(), registration(number)))
        .collect();
    (path, Value::Object(inputs).to_string())
}

fn codes(answers: &Value) -> Vec<String> {
    let answers = answers.as_array().expect("a list").iter();
    let codes = answers.map(|answer| {
        answer["error"]["data"]["code"]
            .as_str()
            .unwrap_or("OK")
            .to_owned()
    });
    codes.collect()
}

fn count(codes: &[String], code: &str) -> usize {
    codes.iter().filter(|one| *one == code).count()
}

#[test]
fn an_account_waits_longer_with_every_failure_and_opens_when_it_said() {
    let host = Host::throttled();
    administrator_of(&host.client);
    let mut number = 0;
    let mut wrong = || {
        number += 1;
        host.sign_in_from(&format!("192.0.2.{number}"), " ROOT", "not the password")
    };
    for failures in 1..=10 {
        wrong().assert_refused(401, "UNAUTHORIZED");
        let wait = match failures {
            1..=3 => 1,
            4..=9 => 3,
            _ => 5,
        };
        assert_throttled(&wrong(), wait);
        // The right password has to wait as well.
        assert_throttled(&host.sign_in_from("198.51.100.1", "root", PASSWORD), wait);
        host.throttle_clock.advance(wait * SECOND - 1);
        assert_throttled(&wrong(), 1);
        host.throttle_clock.advance(1);
    }
    // Another name has its own count.
    host.sign_in_from("198.51.100.1", "mallory", PASSWORD)
        .assert_status(401);
    host.sign_in_from("198.51.100.2", "root", PASSWORD)
        .assert_status(200);
}

#[test]
fn strangers_close_an_account_for_strangers_only() {
    let host = Host::throttled();
    administrator_of(&host.client);
    let home = "2001:db8:1:2::1";
    host.throttle_clock.advance(SECOND);
    host.sign_in_from(home, "root", PASSWORD).assert_status(200);
    let mut tries = 0;
    for number in 0..200 {
        let stranger = format!("192.0.2.{number}");
        tries += u32::from(host.sign_in_from(&stranger, "root", "not the password").status == 401);
        host.throttle_clock.advance(10 * SECOND);
    }
    assert_eq!(tries, 100, "a hundred a day");
    host.sign_in_from("198.51.100.1", "root", PASSWORD)
        .assert_refused(429, "TOO_MANY_REQUESTS");
    // At home, on another device there too, the owner comes in, even after a mistake.
    host.sign_in_from("2001:db8:1:2::99", "root", "a mistake")
        .assert_status(401);
    assert_throttled(&host.sign_in_from(home, "root", PASSWORD), 1);
    host.throttle_clock.advance(SECOND);
    host.sign_in_from(home, "root", PASSWORD).assert_status(200);
    host.throttle_clock.advance(DAY);
    host.sign_in_from("198.51.100.1", "root", PASSWORD)
        .assert_status(200);
}

#[test]
fn an_address_has_ten_attempts_across_all_limited_calls() {
    let host = Host::throttled();
    administrator_of(&host.client);
    let from = |address: &str, number: usize| {
        host.sign_in_from(address, &format!("name-{number}"), "not the password")
    };
    for number in 0..10 {
        from(&format!("2001:db8::{number}"), number).assert_status(401);
    }
    assert_throttled(&from("2001:db8::77", 10), 5);
    from("2001:db8:0:1::1", 11).assert_status(401);
    host.throttle_clock.advance(5 * SECOND);
    from("2001:db8::77", 12).assert_status(401);
    assert_throttled(&from("2001:db8::77", 13), 5);
    // The address that the proxy adds counts, not those that the client writes.
    let forged = format!("203.0.113.{}, 2001:db8::5", 9);
    assert_throttled(&from(&forged, 14), 5);
}

#[test]
fn a_batch_of_registrations_is_as_many_tries() {
    let host = Host::throttled();
    administrator_of(&host.client);
    let (path, body) = batch("user.register", 256);
    let headers = [("content-type", "application/json")];
    let answer = host.client.send("POST", &path, &headers, Some(body.as_bytes()));
    answer.assert_status(207);
    let all = codes(&answer.json());
    assert_eq!(
        (count(&all, "FORBIDDEN"), count(&all, "TOO_MANY_REQUESTS")),
        (10, 246)
    );
    assert_eq!(answer.header("retry-after"), Some("5"), "{answer}");

    // One call, and a stream of them.
    let one = host.client.mutate("user.register", &registration(1));
    assert_eq!((one.status, one.header("retry-after")), (429, Some("5")), "{one}");
    assert_eq!(one.json()["error"]["data"]["code"], "TOO_MANY_REQUESTS", "{one}");
    let headers = [
        ("content-type", "application/json"),
        ("trpc-accept", "application/jsonl"),
    ];
    let answer = host.client.send("POST", &path, &headers, Some(body.as_bytes()));
    let streamed: Vec<_> = decode_stream(&answer.text(), false).into_values().collect();
    assert_eq!(count(&codes(&json!(streamed)), "TOO_MANY_REQUESTS"), 256);

    // Sign-in and the first administrator draw on the same.
    assert_throttled(
        &host
            .client
            .post("/api/auth/sign-in", &json!({"username": "x", "password": "y"})),
        5,
    );
    host.throttle_clock.advance(50 * SECOND);
    let headers = [("content-type", "application/json")];
    let answer = host.client.send("POST", &path, &headers, Some(body.as_bytes()));
    assert_eq!(count(&codes(&answer.json()), "FORBIDDEN"), 10);
}

#[test]
fn guessing_a_link_for_a_new_password_is_limited_and_a_link_ends_after_a_day() {
    let host = Host::throttled();
    host.insert_user("root", Provider::Credentials, None);
    host.insert_user("alice", Provider::Credentials, None);
    host.store(async |transaction| transaction.grant_admin("root").await.unwrap());
    let link = || {
        let identity = Identity::user("root".into(), vec!["admin".into()], Authentication::Host);
        let input = json!({"userId": "alice"});
        let made = local_call(&host, "user.createPasswordLink", &identity, input);
        made["token"].as_str().expect("a token").to_owned()
    };
    let set = |token: &str| {
        let input = json!({"token": token, "password": PASSWORD});
        host.client.mutate("user.setPasswordByLink", &input)
    };
    let late = link();
    host.clock.advance(DAY);
    set(&late).assert_refused(403, "FORBIDDEN");
    let good = link();
    host.clock.advance(DAY - SECOND);
    for _ in 0..9 {
        set("a guess").assert_refused(403, "FORBIDDEN");
    }
    assert_throttled(&set(&good), 5);
    host.throttle_clock.advance(5 * SECOND);
    set(&good).assert_status(200);
}

/// Calls a procedure without a transport.
fn local_call(host: &Host, procedure: &str, identity: &Identity, input: Value) -> Value {
    let procedure = host.service.table.find(procedure).expect("a procedure");
    let call = host.service.call(procedure, identity, "test", Ok(Some(input)));
    let output = host.runtime.block_on(call).expect("an answer");
    serde_json::from_str(&output).expect("JSON")
}

#[test]
fn creating_the_first_administrator_is_limited_too() {
    let host = Host::throttled();
    for number in 0..10 {
        let unknown = json!({"username": format!("name-{number}"), "password": PASSWORD});
        host.client.post("/api/auth/sign-in", &unknown).assert_status(401);
    }
    let account = json!({"username": "root", "password": PASSWORD});
    let answer = host.client.mutate("user.initUser", &account);
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (429, Some("5")),
        "{answer}"
    );
    let (path, body) = batch("user.initUser", 20);
    let headers = [("content-type", "application/json")];
    let answer = host.client.send("POST", &path, &headers, Some(body.as_bytes()));
    answer.assert_status(429);
    assert_eq!(answer.header("retry-after"), Some("5"), "{answer}");
    host.throttle_clock.advance(5 * SECOND);
    host.client.mutate("user.initUser", &account).assert_status(200);
}

#[test]
fn successes_and_malformed_tries_are_not_counted() {
    let host = Host::throttled();
    let admin = administrator_of(&host.client);
    for _ in 0..15 {
        host.client.sign_in("root", PASSWORD);
        let mut input = registration(1);
        input["password"] = json!("short");
        host.client
            .mutate("user.register", &input)
            .assert_bad_field("password");
        host.client
            .post("/api/auth/sign-in", &json!({"username": "root"}))
            .assert_bad_field("password");
    }
    for number in 0..15 {
        let invite = admin.invite();
        let mut input = registration(number);
        input["inviteId"] = json!(invite.id);
        input["token"] = json!(invite.token);
        host.client.mutate("user.register", &input).assert_status(200);
    }
    // Calls that need a permission are not limited.
    for number in 0..15 {
        admin.user(&format!("made-{number}"));
    }
}

#[test]
fn guesses_of_an_invite_are_counted_and_looks_of_who_has_it_are_not() {
    let host = Host::throttled();
    let invite = administrator_of(&host.client).invite();
    let look = |token: &str| {
        let input = json!({"inviteId": invite.id, "token": token});
        host.client.query("invite.getByToken", &input)
    };
    for _ in 0..15 {
        assert_eq!(look(&invite.token).status, 200);
    }
    let refused: Vec<_> = (0..11).map(|number| look(&number.to_string()).status).collect();
    assert_eq!(refused[..10], [403; 10]);
    assert_eq!(refused[10], 429);
    // Registering counts at the same place.
    host.client
        .mutate("user.register", &registration(1))
        .assert_refused(429, "TOO_MANY_REQUESTS");
}

#[test]
fn a_page_of_another_site_does_not_use_up_the_attempts_of_who_looks_at_it() {
    let host = Host::throttled();
    let invite = administrator_of(&host.client).invite();
    let input = json!({"inviteId": invite.id, "token": "wrong"}).to_string();
    let path = format!(
        "/api/trpc/invite.getByToken?input={}",
        portico_tests::escape(&input)
    );
    let look = |site, mode, dest| {
        let headers = [
            ("sec-fetch-site", site),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ];
        host.client.send("GET", &path, &headers, None)
    };
    for _ in 0..10 {
        for (site, mode, dest) in [
            ("cross-site", "no-cors", "image"),
            ("cross-site", "navigate", "iframe"),
            ("same-site", "cors", "empty"),
        ] {
            let refused = look(site, mode, dest);
            refused.assert_refused(403, "FORBIDDEN");
            assert!(
                refused.error().to_string().contains("a page to open"),
                "{refused}"
            );
        }
    }
    // A person whom a link leads there, and the pages of this service, are counted: ten of them.
    for number in 0..11 {
        let (site, mode, dest) = match number % 2 {
            0 => ("cross-site", "navigate", "document"),
            _ => ("same-origin", "cors", "empty"),
        };
        let refused = look(site, mode, dest);
        assert_eq!(
            refused.status,
            if number < 10 { 403 } else { 429 },
            "{number}: {refused}"
        );
        assert!(
            !refused.error().to_string().contains("a page to open"),
            "{refused}"
        );
    }
}

#[test]
fn a_try_counts_although_its_client_hangs_up() {
    let host = Host::throttled_with(patient());
    administrator_of(&host.client);
    let permits = host.take_all_hash_permits();
    // As many as an address has.
    let connections: Vec<_> = (0..10)
        .map(|number| {
            let body = json!({"username": format!("name-{number}"), "password": PASSWORD}).to_string();
            let request = raw::with_json("POST", "/api/auth/sign-in", &[], &body);
            let mut stream = raw::connect(&host.client.endpoint().address());
            std::io::Write::write_all(&mut stream, request.as_bytes()).expect("send");
            stream
        })
        .collect();
    wait_until("ten who wait for a permit", || {
        host.service.waiting_to_hash() == 10
    });
    let is_open = || {
        host.runtime.block_on(async {
            match host
                .service
                .throttle
                .begin(None, Some([127, 0, 0, 1].into()))
                .await
            {
                Ok(attempt) => {
                    attempt.settle(&Ok(())).await;
                    true
                }
                Err(_) => false,
            }
        })
    };
    assert!(!is_open());
    drop(connections);
    wait_until("the end of their waiting", || {
        assert!(!is_open(), "a try that was given up cost nothing");
        host.service.waiting_to_hash() == 0
    });
    assert!(!is_open(), "a try that was given up cost nothing");
    drop(permits);
}

#[test]
fn one_address_that_asks_for_many_hashes_does_not_delay_others() {
    const MANY: usize = 40;
    let host = Host::with_limits(patient());
    administrator_of(&host.client);
    let permits = host.take_all_hash_permits();
    let order = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let sign_in = |address: &'static str, name: String| {
            let (host, order) = (&host, &order);
            scope.spawn(move || {
                let body = json!({"username": name, "password": PASSWORD}).to_string();
                let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
                let client = &host.client;
                let answer = client.try_send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()));
                order
                    .lock()
                    .unwrap()
                    .push((address, answer.expect("an answer").status));
            });
        };
        for number in 0..MANY {
            sign_in("192.0.2.1", format!("name-{number}"));
        }
        wait_until("all of them", || host.service.waiting_to_hash() == MANY);
        sign_in("192.0.2.2", "root".into());
        wait_until("one more", || host.service.waiting_to_hash() == MANY + 1);
        drop(permits);
    });
    let order = order.into_inner().unwrap();
    let place = order
        .iter()
        .position(|(address, _)| *address == "192.0.2.2")
        .unwrap();
    assert_eq!(order[place].1, 200);
    assert!(
        place < MANY / 2,
        "it came after {place} of {MANY} who were there before"
    );
}

#[test]
fn a_call_that_waits_too_long_for_a_turn_to_hash_is_told_when_to_try_again() {
    let host = Host::throttled_with(Limits {
        wait: Duration::from_secs(1),
        ..Limits::default()
    });
    administrator_of(&host.client);
    let permits = host.take_all_hash_permits();
    let body = json!({"username": "root", "password": PASSWORD}).to_string();
    let headers = [("content-type", "application/json")];
    let sign_in = || {
        host.client
            .try_send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()))
    };
    let answer = sign_in().expect("an answer");
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("1")),
        "{answer}"
    );
    assert_eq!(answer.json()["code"], "SERVICE_UNAVAILABLE");
    host.client.get("/api/health/ready").assert_status(200);
    drop(permits);
    // The password was not checked: that was no failure.
    sign_in().expect("an answer").assert_status(200);
}

#[test]
fn the_throttle_is_on_unless_it_is_switched_off() {
    // The statuses of tries, until one is refused, or of this many.
    let tries = |builder: Builder, most: usize| {
        let server = builder.start();
        let admin = administrator(&server);
        let mut statuses = Vec::new();
        while statuses.len() < most && statuses.last() != Some(&429) {
            let number = statuses.len();
            let body = json!({"username": format!("name-{number}"), "password": PASSWORD}).to_string();
            // Headers of the client itself change nothing.
            let from = format!("192.0.2.{number}");
            let headers = [
                ("content-type", "application/json"),
                ("x-forwarded-for", from.as_str()),
            ];
            let client = server.anonymous();
            let answer = client.send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()));
            statuses.push(answer.status);
        }
        admin.query("app.all", &NO_INPUT).assert_status(200);
        statuses
    };
    let on = Builder::default().argument("--sign-in-throttle").argument("on");
    // An address has a burst of ten tries. On a slow machine it gets more of them, one every five seconds.
    let limited = tries(on, 60);
    assert!(
        limited.len() > 10 && limited.ends_with(&[401, 429]),
        "{limited:?}"
    );
    assert_eq!(
        tries(Builder::default(), 12),
        [401; 12],
        "the tests' own environment says off"
    );
    let proxied = Builder::default()
        .environment("PORTICO_SIGN_IN_THROTTLE", "on")
        .environment("PORTICO_TRUSTED_PROXIES", "127.0.0.0/8,::1");
    assert_eq!(
        tries(proxied, 12),
        [401; 12],
        "each came from an address of its own"
    );
}

#[test]
fn names_that_are_much_longer_than_any_users_are_counted_by_their_beginning() {
    let host = Host::throttled();
    let long = "a".repeat(5000);
    let refused = host.sign_in_from("192.0.2.1", &format!("{long}1"), PASSWORD);
    refused.assert_refused(401, "UNAUTHORIZED");
    let refused = host.sign_in_from("192.0.2.2", &format!("{long}2"), PASSWORD);
    assert_throttled(&refused, 1);
    let refused = host.sign_in_from("192.0.2.3", &"a".repeat(255), PASSWORD);
    refused.assert_refused(401, "UNAUTHORIZED");
}
