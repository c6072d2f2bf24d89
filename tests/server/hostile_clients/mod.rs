//! Clients that send much, read nothing, or continue with credentials that have ended.

mod bodies;
mod half_closed;
mod silent;

pub use self::silent::growth;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portico_tests::{
    Answer, Builder, Client, Fixtures, PASSWORD, PATIENCE, Portico, administrator, raw, wait_until,
};
use serde_json::{Value, json};

/// The most memory that the service ever had, in MiB.
fn peak_memory(server: &Portico) -> u64 {
    server.status("VmHWM") / 1024
}

#[test]
fn clients_that_stop_reading_do_not_delay_other_clients() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.apps(1000, "/icon.svg");
    let key = admin.key_of(&admin.user_id);
    let ordinary_calls = || {
        let began = Instant::now();
        admin.app("One more");
        server.anonymous().get("/api/health/ready").assert_status(200);
        began.elapsed()
    };
    let usual = (0..5).map(|_| ordinary_calls()).max().expect("calls");
    let procedures = vec!["app.all"; 100].join(",");
    let bearer = key.authorization();
    let request = raw::head(
        "GET",
        &format!("/api/trpc/{procedures}?batch=1"),
        &[("authorization", &bearer), ("trpc-accept", "application/jsonl")],
    );
    let silent: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = raw::connect(&server.address());
            stream.write_all(request.as_bytes()).expect("send");
            stream
        })
        .collect();
    for stream in &silent {
        stream.peek(&mut [0]).expect("the head of a stream");
    }
    // In the end the silent ones have all that they get, and cost nothing more.
    wait_until("calls that take about as long as before", || {
        ordinary_calls() < usual * 10
    });
    drop(silent);
}

#[test]
fn a_large_body_from_an_anonymous_client_costs_little_memory() {
    let server = Portico::start();
    let admin = administrator(&server);
    let before = peak_memory(&server);
    let values = vec![r#"{"":0}"#; 2_000_000].join(",");
    let body = format!("[{values}]");
    for (path, status) in [
        ("/api/trpc/app.createMany", 401),
        ("/api/trpc/user.register", 413),
    ] {
        // The service refuses before it has read everything, and hangs up.
        let request = raw::with_json("POST", path, &[], &body);
        let answer = raw::send(&server.address(), request.as_bytes());
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
    }
    let grown = peak_memory(&server) - before;
    assert!(grown < 64, "it took {grown} MiB");
    assert!(admin.app_names().is_empty() && admin.user_names() == ["root"]);
}

#[test]
fn an_input_of_many_small_values_is_refused_before_it_is_read() {
    let server = Portico::start();
    let admin = administrator(&server);
    let before = peak_memory(&server);
    let body = format!("[{}]", vec![r#"{"":0}"#; 2_000_000].join(","));
    let answer = admin.send_text("POST", "/api/trpc/app.createMany", &body);
    answer.assert_refused(400, "BAD_REQUEST");
    assert!(answer.text().contains("100000 values"), "{answer}");
    let grown = peak_memory(&server) - before;
    assert!(grown < 96, "it took {grown} MiB");
}

#[test]
fn the_answers_of_a_batch_are_bounded_together() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.apps(200, &"x".repeat(20_000));
    let calls = 100;
    let answer = admin.get(&format!("/api/trpc/{}?batch=1", vec!["app.all"; calls].join(",")));
    answer.assert_status(207);
    let answers = answer.json();
    let refused = |index: usize| answers[index]["error"]["data"]["code"] == "PAYLOAD_TOO_LARGE";
    assert!(
        !refused(0) && refused(calls - 1),
        "the last ones are refused, the first are not"
    );
}

#[test]
fn a_session_does_not_outlive_the_change_of_the_password_that_it_began_with() {
    let server = Portico::start();
    let admin = administrator(&server);
    let user = admin.user("alice");
    let credentials = json!({"username": "alice", "password": PASSWORD});
    let anonymous = server.anonymous();
    let began = AtomicUsize::new(0);
    let tokens = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut tokens = Vec::new();
                    let end = Instant::now() + 2 * PATIENCE;
                    loop {
                        assert!(Instant::now() < end, "no sign-in is refused");
                        let answer = anonymous.post("/api/auth/sign-in", &credentials);
                        if answer.status == 401 {
                            return tokens;
                        }
                        answer.assert_status(200);
                        tokens.push(answer.json()["token"].as_str().expect("a token").to_owned());
                        began.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        // The change comes while sign-ins succeed: without tokens the test would show nothing.
        wait_until("four sign-ins", || began.load(Ordering::Relaxed) >= 4);
        let change = json!({"userId": user.id, "password": "another password"});
        admin.mutate("user.changePassword", &change).assert_status(200);
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("tokens"))
            .collect::<Vec<_>>()
    });
    assert!(tokens.len() >= 4, "{} sessions", tokens.len());
    for token in tokens {
        server
            .key(&token)
            .get("/api/auth/session")
            .assert_refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn a_user_who_is_deleted_while_they_act_is_refused_from_then_on() {
    let server = Portico::start();
    let admin = administrator(&server);
    for round in 0..5 {
        let name = format!("user-{round}");
        let user = admin.user_with(&name, "admin");
        let credentials = json!({"username": name, "password": PASSWORD});
        let anonymous = server.anonymous();
        let successes: [AtomicUsize; 3] = Default::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                until_refused(&successes[0], |_| {
                    anonymous.post("/api/auth/sign-in", &credentials)
                });
            });
            scope.spawn(|| {
                let input = json!({"expirationDate": "2099-01-01T00:00:00.000Z"});
                until_refused(&successes[1], |_| user.mutate("invite.createInvite", &input));
            });
            scope.spawn(|| {
                until_refused(&successes[2], |number| {
                    let name = format!("{name} {number}");
                    let input = json!({"name": name, "isPublic": false, "items": []});
                    user.mutate("board.create", &input)
                });
            });
            // The user acts while they are deleted: without a success the test would show nothing.
            wait_until("a success of each kind", || {
                successes.iter().all(|count| count.load(Ordering::Relaxed) > 0)
            });
            admin
                .mutate("user.delete", &json!({"userId": user.id}))
                .assert_status(200);
        });
    }
}

/// Calls until a call is refused because its caller does not exist. Counts the calls that succeeded.
fn until_refused(successes: &AtomicUsize, call: impl Fn(usize) -> Answer) {
    let end = Instant::now() + 2 * PATIENCE;
    loop {
        assert!(Instant::now() < end, "no call is refused");
        let answer = call(successes.load(Ordering::Relaxed));
        if answer.status != 200 {
            answer.assert_refused(401, "UNAUTHORIZED");
            return;
        }
        successes.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_batch_stops_creating_users_when_its_caller_is_deleted() {
    let server = Portico::start();
    let admin = administrator(&server);
    let other = admin.user_with("other", "admin");
    // Many, so that the deletion comes in the middle also where a hash takes little time.
    let calls = 200;
    let inputs: serde_json::Map<String, Value> = (0..calls)
        .map(|number| {
            let input = json!({"username": format!("new-{number}"), "password": PASSWORD, "groupIds": []});
            (number.to_string(), input)
        })
        .collect();
    let path = format!("/api/trpc/{}?batch=1", vec!["user.create"; calls].join(","));
    let answer = thread::scope(|scope| {
        let batch = scope.spawn(|| other.send_json("POST", &path, &Value::Object(inputs)));
        wait_until("the first new user", || {
            admin.user_names().iter().any(|name| name.starts_with("new-"))
        });
        admin
            .mutate("user.delete", &json!({"userId": other.id}))
            .assert_status(200);
        batch.join().expect("the answer")
    });
    let answers = answer.json();
    let last = &answers[calls - 1];
    assert_eq!(last["error"]["data"]["code"], "UNAUTHORIZED", "{last}");
}

#[test]
fn headers_beyond_the_limit_are_refused_in_json() {
    let server = Portico::start();
    let anonymous = server.anonymous();
    let get = |filler: usize, header: usize| {
        let path = format!("/api/health/live?{}", "x".repeat(filler));
        anonymous.send("GET", &path, &[("x-filler", &"x".repeat(header))], None)
    };
    get(1, 60_000).assert_status(200);
    for size in [66_000, 100_000] {
        get(1, size).assert_refused(413, "PAYLOAD_TOO_LARGE");
    }
    get(60_000, 1).assert_status(200);
}

#[test]
fn running_out_of_files_does_not_flood_the_log() {
    let server = Builder::default().limit("--nofile=100").start();
    let start = Instant::now();
    let connections: Vec<_> = (0..120).map(|_| raw::connect(&server.address())).collect();
    let complaints = || server.log().matches("cannot accept a connection").count();
    wait_until("a complaint", || complaints() > 0);
    // It tries twenty times a second, and complains once a second.
    thread::sleep(Duration::from_millis(2500));
    wait_until("a second complaint", || complaints() > 1);
    let said = complaints();
    let most = start.elapsed().as_secs() as usize + 2;
    assert!(said <= most, "{said} in {:?}", start.elapsed());
    drop(connections);
    assert_eq!(server.anonymous().get("/api/health/live").status, 200);
}

/// The service authorises before it reads the body. Many clients read the answer only after they have
/// sent all of the body.
#[test]
fn a_client_that_reads_only_after_it_has_sent_a_large_body_gets_the_refusal() {
    const LENGTH: usize = 3 << 20;
    let server = Portico::start();
    for _ in 0..5 {
        let mut client = TcpStream::connect(server.address()).expect("a connection");
        let head = format!(
            "POST /api/users/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {LENGTH}\r\n\r\n"
        );
        client.write_all(head.as_bytes()).expect("the head");
        for part in vec![b' '; LENGTH].chunks(64 << 10) {
            client.write_all(part).expect("the body is taken");
        }
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
}

#[test]
fn lists_without_end_hold_up_no_other_caller_and_end_when_their_clients_leave() {
    let server = Portico::start();
    let admin = administrator(&server);
    let app = admin.app("App");
    let key = admin.key_of(&admin.user_id);
    server.make_lists_of_invites_endless();
    // More than there are permits for long calls. Half of them stay, the others leave.
    let stay: Vec<_> = (0..6).map(|_| server.begin_endless_list(&key.key)).collect();
    let leave: Vec<_> = (0..6).map(|_| server.begin_endless_list(&key.key)).collect();
    let quickly = |what: &str, ask: &dyn Fn()| {
        let began = Instant::now();
        ask();
        let passed = began.elapsed();
        // A call that waited for the lists would wait for 30 s.
        assert!(passed < Duration::from_secs(15), "{what} took {passed:?}");
    };
    let others_are_answered = || {
        quickly("health", &|| {
            server.anonymous().get("/api/health/live").assert_status(200);
        });
        quickly("an app by its id", &|| {
            admin.get(&format!("/api/apps/{app}")).assert_status(200);
        });
        quickly("a write", &|| drop(admin.app("Another")));
    };
    others_are_answered();
    leave.into_iter().for_each(raw::reset);
    others_are_answered();
    stay.into_iter().for_each(raw::reset);
    quickly("a list", &|| assert!(admin.app_names().len() >= 3));
    // Nothing continues for the clients that disconnected.
    let began = Instant::now();
    loop {
        let before = server.processor_time();
        thread::sleep(Duration::from_millis(500));
        if server.processor_time() - before < Duration::from_millis(100) {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "it still works on something");
    }
}
