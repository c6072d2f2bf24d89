//! What ends a sign-in between its two steps, and what a ticket is not good for.

use portico_tests::Client;
use portico_tests::clock::MINUTE;
use portico_tests::second_factor::ticket_of;
use serde_json::{Value, json};

use super::Bench;

#[test]
fn a_ticket_ends_with_the_password_the_user_and_after_ten_minutes() {
    for end in ["password", "disabled", "deleted", "time"] {
        let bench = Bench::new();
        let ticket = bench.ticket();
        let user = json!({"userId": bench.alice.id, "password": "another horse", "disabled": true});
        let ends = |procedure: &str, keys: &[&str]| {
            let keys = keys.iter().map(|key| ((*key).to_owned(), user[*key].clone()));
            let input = Value::Object(keys.collect());
            bench.root.mutate(procedure, &input).assert_done();
        };
        match end {
            "password" => ends("user.changePassword", &["userId", "password"]),
            "disabled" => ends("user.setDisabled", &["userId", "disabled"]),
            "deleted" => ends("user.delete", &["userId"]),
            _ => bench.host.clock.advance(10 * MINUTE),
        }
        let answer = bench.go_on(&ticket, &bench.code_after(1));
        answer.assert_refused(401, "UNAUTHORIZED");
        assert!(answer.error()["data"]["ticket"].is_null(), "{end}: {answer}");
        assert!(answer.header("set-cookie").is_none(), "{end}: {answer}");
        if matches!(end, "password" | "disabled") {
            let text = answer.error()["message"].to_string();
            assert!(
                text.contains("The user or the password was changed meanwhile"),
                "{text}"
            );
        }
        if end == "disabled" {
            // It does not come back with the user.
            let enabled = json!({"userId": bench.alice.id, "disabled": false});
            bench.root.mutate("user.setDisabled", &enabled).assert_done();
            let again = bench.go_on(&ticket, &bench.code_after(1));
            again.assert_refused(401, "UNAUTHORIZED");
            bench
                .go_on(&bench.ticket(), &bench.code_after(1))
                .assert_status(200);
        }
    }
    // Just before that, it is good.
    let bench = Bench::new();
    let ticket = bench.ticket();
    bench.host.clock.advance(10 * MINUTE - 1);
    bench.go_on(&ticket, &bench.code_after(0)).assert_status(200);
    // And then no more.
    bench.wait();
    bench
        .go_on(&ticket, &bench.code_after(1))
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn of_many_requests_with_one_ticket_and_codes_that_are_all_good_one_succeeds_and_the_others_lose_no_code() {
    let bench = Bench::new();
    let ticket = bench.ticket();
    let tries: Vec<_> = bench.recovery[..6]
        .iter()
        .map(|code| {
            let client = bench.host.client.clone();
            let body = json!({"ticket": ticket, "code": code});
            std::thread::spawn(move || client.post("/api/auth/second-factor", &body).status)
        })
        .collect();
    let mut statuses: Vec<_> = tries
        .into_iter()
        .map(|one| one.join().expect("an answer"))
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401, 401, 401, 401, 401]);
    let own = bench.alice.query("secondFactor.getOwn", &Value::Null).data();
    assert_eq!(own["recoveryCodes"], 9);
}

#[test]
fn after_its_factor_was_removed_a_ticket_signs_no_one_in() {
    let bench = Bench::new();
    let ticket = bench.ticket();
    let user = json!({"userId": bench.alice.id});
    let removed = bench.root.mutate("secondFactor.deleteOfUser", &user).data();
    assert_eq!(removed, json!({"deleted": 1}));
    // Whatever is sent instead of a code, only the password could begin a session now.
    for code in ["any", &bench.code_after(1), &bench.recovery[0]] {
        let answer = bench.go_on(&ticket, code);
        answer.assert_refused(401, "UNAUTHORIZED");
        assert!(answer.header("set-cookie").is_none(), "{answer}");
    }
    bench.begin().assert_status(200);
}

#[test]
fn a_ticket_is_not_a_credential() {
    let bench = Bench::new();
    let ticket = bench.ticket();
    for headers in [
        [("authorization", format!("Bearer {ticket}"))],
        [("apikey", ticket.clone())],
        [("cookie", format!("portico_session={ticket}"))],
    ] {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        for path in [
            "/api/auth/session",
            "/api/trpc/app.all",
            "/api/apps",
            "/api/secondFactors/own",
        ] {
            let answer = bench.host.client.send("GET", path, &headers, None);
            answer.assert_refused(401, "UNAUTHORIZED");
        }
    }
    // Nor does it set up another factor for a user who has one.
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    let code = portico_tests::second_factor::code_at(secret, portico_tests::clock::NEW_YEAR);
    let body = json!({"ticket": ticket, "secret": secret, "code": code});
    let answer = bench.host.client.post("/api/auth/second-factor/set-up", &body);
    assert_eq!(ticket_of(&answer), (ticket, vec!["totp".to_owned()]));
    let own = bench.alice.query("secondFactor.getOwn", &Value::Null).data();
    assert_eq!(own["factors"].as_array().expect("factors").len(), 1);
    // A text that is not a ticket is refused.
    for ticket in ["", "x", &"x".repeat(43)] {
        bench
            .go_on(ticket, &bench.code_after(1))
            .assert_refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn both_steps_are_in_the_audit_log_and_the_second_begins_the_session() {
    let bench = Bench::new();
    let before = bench.alice.get("/api/auth/session").status;
    let ticket = bench.ticket();
    ticket_of(&bench.go_on(&ticket, "000000 000000"));
    let answer = bench.go_on(&ticket, &bench.code_after(1));
    answer.assert_status(200);
    assert!(answer.header("set-cookie").is_some(), "{answer}");
    let session = bench
        .host
        .client
        .key(answer.json()["token"].as_str().expect("a token"));
    session.get("/api/auth/session").assert_status(200);
    assert_eq!(bench.alice.get("/api/auth/session").status, before);
    bench.host.runtime.block_on(bench.host.service.audit.flush());
    let page = json!({"page": 1, "pageSize": 100, "procedure": "sign-in"});
    let rows = bench.root.query("audit.getPaginated", &page).data();
    let mut rows: Vec<_> = rows["items"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["target"] == json!(bench.alice.id))
        .map(|row| {
            (
                row["outcome"].as_str().expect("a text").to_owned(),
                row["times"].clone(),
            )
        })
        .collect();
    rows.sort_by_key(|(outcome, _)| outcome.clone());
    assert_eq!(rows.first().expect("a row").0, "OK");
    assert!(
        rows.iter().any(|(outcome, _)| outcome == "UNAUTHORIZED"),
        "{rows:?}"
    );
}
