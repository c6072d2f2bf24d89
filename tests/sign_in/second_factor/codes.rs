//! What a code is good for, and how often.

use std::thread;

use portico_model::time::Clock as _;
use portico_tests::clock::SECOND;
use portico_tests::second_factor::{set_up, sign_in_with, ticket_of, wrong_code};
use portico_tests::{Client, Fixtures, PASSWORD};
use serde_json::{Value, json};

use super::Bench;
use crate::credentials::harness::Host;

#[test]
fn only_the_right_password_tells_which_second_factor_is_missing() {
    let bench = Bench::new();
    bench.root.user("bob");
    let (_, kinds) = ticket_of(&bench.begin());
    assert_eq!(kinds, ["totp"]);
    // A wrong password is refused like that of a user without a factor, and of none, whatever code is sent.
    let seen = |name: &str, body: &Value| {
        let mut body = body.clone();
        body["username"] = name.into();
        let answer = bench.host.client.post("/api/auth/sign-in", &body);
        answer.assert_refused(401, "UNAUTHORIZED");
        answer.text()
    };
    let code = bench.code_after(1);
    for body in [
        json!({"password": "a wrong horse"}),
        json!({"password": "a wrong horse", "code": code}),
        json!({"password": "a wrong horse", "code": "x".repeat(10_000)}),
    ] {
        let answers = ["alice", "bob", "nobody"].map(|name| seen(name, &body));
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0], answers[2]);
        assert!(
            !answers[0].contains("secondFactor") && !answers[0].contains("ticket"),
            "{}",
            answers[0]
        );
    }
    // The right code was not used up by them.
    bench.sign_in(&code).assert_status(200);
    // A code of a user who has no factor is ignored.
    sign_in_with(&bench.host.client, "bob", PASSWORD, "123456").assert_status(200);
    // A field that was left empty is not a wrong code.
    let message = |answer: portico_tests::Answer| answer.error()["message"].clone();
    assert_eq!(message(bench.sign_in(" ")), message(bench.begin()));
}

#[test]
fn a_code_is_good_within_one_step_of_its_own_and_once() {
    let bench = Bench::new();
    // The code with which it was set up is used.
    ticket_of(&bench.sign_in(&bench.code_after(0)));
    for (steps, is_good) in [(-2, false), (2, false), (-1, false), (1, true)] {
        let answer = bench.sign_in(&bench.code_after(steps));
        assert_eq!(answer.status == 200, is_good, "{steps} steps away: {answer}");
    }
    // Neither again, nor one from before it.
    for steps in [1, 0] {
        ticket_of(&bench.sign_in(&bench.code_after(steps)));
    }
    bench.host.clock.advance(2 * 30_000);
    bench
        .sign_in(&bench.code_after(-1))
        .assert_refused(401, "UNAUTHORIZED");
    bench.sign_in(&bench.code_after(0)).assert_status(200);
    bench.wait();
    // Of a device whose clock is a step behind.
    bench.wait();
    bench.sign_in(&bench.code_after(-1)).assert_status(200);
    let own = bench.alice.query("secondFactor.getOwn", &Value::Null).data();
    assert_eq!(own["factors"][0]["kind"], "totp");
    assert_eq!(own["factors"][0]["lastUsedAt"], "2026-01-01T00:02:00.000Z");
}

#[test]
fn of_many_requests_with_the_same_code_at_once_one_succeeds() {
    let bench = Bench::new();
    for code in [bench.code_after(1), bench.recovery[0].clone()] {
        let (ticket, client) = (bench.ticket(), bench.host.client.clone());
        let tries: Vec<_> = (0..8)
            .map(|number| {
                let (ticket, code, client) = (ticket.clone(), code.clone(), client.clone());
                thread::spawn(move || {
                    let by_ticket = json!({"ticket": ticket, "code": code});
                    match number % 2 {
                        0 => client.post("/api/auth/second-factor", &by_ticket).status,
                        _ => sign_in_with(&client, "alice", PASSWORD, &code).status,
                    }
                })
            })
            .collect();
        let statuses: Vec<_> = tries
            .into_iter()
            .map(|one| one.join().expect("an answer"))
            .collect();
        let succeeded = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(succeeded, 1, "{statuses:?}");
        assert!(
            statuses.iter().all(|status| [200, 401].contains(status)),
            "{statuses:?}"
        );
    }
}

#[test]
fn ten_recovery_codes_are_good_once_each_and_new_ones_end_them() {
    let bench = Bench::new();
    assert_eq!(bench.recovery.len(), 10);
    let left = || bench.alice.query("secondFactor.getOwn", &Value::Null).data()["recoveryCodes"].clone();
    for (number, code) in bench.recovery.iter().enumerate() {
        assert_eq!(left(), 10 - number);
        // People type them as they like.
        bench
            .sign_in(&code.replace('-', " ").to_uppercase())
            .assert_status(200);
        ticket_of(&bench.sign_in(code));
    }
    assert_eq!(left(), 0);
    // The app still works, and makes new ones.
    let renew = json!({"code": bench.code_after(1)});
    let renewed = bench
        .alice
        .mutate("secondFactor.renewRecoveryCodes", &renew)
        .data();
    let renewed = renewed["recoveryCodes"].as_array().expect("codes");
    assert_eq!((renewed.len(), left()), (10, json!(10)));
    let renew = json!({"code": renewed[0]});
    bench
        .alice
        .mutate("secondFactor.renewRecoveryCodes", &renew)
        .data();
    for code in renewed {
        ticket_of(&bench.sign_in(code.as_str().expect("a text")));
    }
}

#[test]
fn a_guesser_of_codes_waits_like_one_of_passwords_whatever_name_and_ticket_they_use() {
    let host = Host::throttled();
    let bench = Bench::on(host);
    let clock = &bench.host.throttle_clock;
    let wrong = || wrong_code(&bench.secret, bench.host.clock.now());
    let from = |number: usize, path: &str, body: &Value| {
        let address = format!("192.0.2.{number}");
        let headers = [
            ("content-type", "application/json"),
            ("x-forwarded-for", address.as_str()),
        ];
        let body = body.to_string();
        bench
            .host
            .client
            .send("POST", path, &headers, Some(body.as_bytes()))
    };
    let password = json!({"username": "alice", "password": PASSWORD});
    // The first step counts as well, but the second one need not wait for it.
    let (ticket, _) = ticket_of(&from(1, "/api/auth/sign-in", &password));
    let guess = |number: usize, code: &str| {
        from(
            number,
            "/api/auth/second-factor",
            &json!({"ticket": ticket, "code": code}),
        )
    };
    let mut number = 1;
    for failures in 1..=5 {
        number += 1;
        ticket_of(&guess(number, &wrong()));
        // The right code is refused meanwhile, and so is one that is sent with the password.
        number += 1;
        let wait = if failures < 3 { 1 } else { 3 };
        let waiting = guess(number, &bench.code_after(1));
        waiting.assert_refused(429, "TOO_MANY_REQUESTS");
        let seconds: u64 = waiting
            .header("retry-after")
            .expect("a time")
            .parse()
            .expect("a number");
        assert!(
            (1..=wait).contains(&seconds),
            "after {failures} failures: {waiting}"
        );
        let mut whole = password.clone();
        whole["code"] = bench.code_after(1).into();
        from(number, "/api/auth/sign-in", &whole).assert_refused(429, "TOO_MANY_REQUESTS");
        clock.advance(3 * SECOND);
    }
    // After ten wrong codes in all, the ticket has ended.
    for _ in 0..5 {
        number += 1;
        clock.advance(60 * SECOND);
        ticket_of(&guess(number, &wrong()));
    }
    clock.advance(60 * SECOND);
    let ended = guess(number + 1, &bench.code_after(1));
    assert!(ended.error()["data"]["ticket"].is_null(), "{ended}");
    ended.assert_refused(401, "UNAUTHORIZED");
    // In the profile, guesses count for the same user.
    clock.advance(60 * SECOND);
    let renew = |code: &str| {
        bench
            .alice
            .mutate("secondFactor.renewRecoveryCodes", &json!({"code": code}))
    };
    renew(&wrong()).assert_refused(403, "FORBIDDEN");
    renew(&bench.code_after(1)).assert_refused(429, "TOO_MANY_REQUESTS");
}

#[test]
fn a_failed_second_step_does_not_lock_an_address_of_its_owner_out() {
    let host = Host::throttled();
    let bench = Bench::on(host);
    // From here alice signs in: the password, then the code.
    let ticket = bench.ticket();
    bench.go_on(&ticket, &bench.code_after(1)).assert_status(200);
    // Elsewhere a stranger with her password guesses codes.
    let body = json!({"username": "alice", "password": PASSWORD, "code": "000000"}).to_string();
    for number in 0..3 {
        let address = format!("192.0.2.{number}");
        let headers = [
            ("content-type", "application/json"),
            ("x-forwarded-for", address.as_str()),
        ];
        let client = &bench.host.client;
        client.send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()));
    }
    bench.wait();
    bench.sign_in(&bench.code_after(1)).assert_status(200);
}

#[test]
fn others_at_the_address_do_not_come_between_the_two_steps() {
    let host = Host::throttled();
    let bench = Bench::on(host);
    let ticket = bench.ticket();
    bench.go_on(&ticket, &bench.code_after(1)).assert_status(200);
    // Others send texts that are no tickets, until the address has no attempt left.
    let statuses: Vec<_> = (0..12).map(|_| bench.go_on("none", "none").status).collect();
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    bench.wait();
    let ticket = bench.ticket();
    bench.go_on(&ticket, &bench.code_after(1)).assert_status(200);
}

#[test]
fn another_user_of_the_same_secret_is_another() {
    let bench = Bench::new();
    let bob = bench.root.user("bob");
    let now = bench.host.clock.now();
    let (secret, recovery) = set_up(&bob, now);
    assert_ne!(secret, bench.secret);
    // Nor do codes of one sign the other in.
    ticket_of(&bench.sign_in(&recovery[0]));
    sign_in_with(&bench.host.client, "bob", PASSWORD, &recovery[0]).assert_status(200);
}
