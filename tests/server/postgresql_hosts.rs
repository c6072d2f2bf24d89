//! Several `portico serve` on one PostgreSQL, which answer as one.

use std::sync::Arc;
use std::time::Duration;

use portico_postgres::PostgresStorage;
use portico_service::audit::{Audit, AuditSettings};
use portico_storage::{RecordKey, RecordKind, SharedRecord};
use portico_tests::clock::{DAY, NEW_YEAR};
use portico_tests::postgresql::Postgresql;
use portico_tests::{
    Answer, Builder, Client, Fixtures, NO_INPUT, PASSWORD, Portico, TestClock, administrator, wait_until,
};
use serde_json::{Value, json};

use crate::icon_sources::index_server::{Reply, Server, TREE};

/// A database, and two hosts on it that limit sign-ins by the address that a proxy says.
fn two_hosts() -> (Postgresql, [Portico; 2]) {
    let postgresql = Postgresql::shared();
    let hosts = two_hosts_on(&postgresql);
    (postgresql, hosts)
}

fn two_hosts_on(postgresql: &Postgresql) -> [Portico; 2] {
    let url = postgresql.create_database("home");
    let start = || {
        Builder::default()
            .environment("PORTICO_DATABASE", &url)
            .environment("PORTICO_SIGN_IN_THROTTLE", "on")
            .environment("PORTICO_TRUSTED_PROXIES", "127.0.0.1")
            .start()
    };
    [start(), start()]
}

fn sign_in(host: &Portico, address: &str, name: &str, password: &str) -> Answer {
    let body = json!({"username": name, "password": password}).to_string();
    let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
    let answer = host
        .anonymous()
        .try_send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()));
    answer.expect("an answer")
}

fn ready(host: &Portico) -> Answer {
    host.anonymous()
        .send_allowing_5xx("GET", "/api/health/ready", None)
}

fn retry_after(answer: &Answer) -> u64 {
    answer.assert_refused(429, "TOO_MANY_REQUESTS");
    answer
        .header("retry-after")
        .expect("a time")
        .parse()
        .expect("seconds")
}

/// Fails to sign in, once the throttle lets it.
fn fail(host: &Portico, address: &str, name: &str) {
    wait_until("an attempt that is let in", || {
        sign_in(host, address, name, "not the password").status == 401
    });
}

/// Makes the wait after the last failure an hour longer, which no machine is slow enough for.
fn wait_longer(postgresql: &Postgresql) {
    let update = "
        UPDATE shared_record
        SET value = convert_to(jsonb_set(
            convert_from(value, 'UTF8')::jsonb,
            '{open_at}',
            to_jsonb((convert_from(value, 'UTF8')::jsonb ->> 'open_at')::bigint + 3600000)
        )::text, 'UTF8')
        WHERE kind = 'account-failures' AND ends_at > 0";
    postgresql.run("home", update);
}

#[test]
#[ignore = "make test-all"]
fn guesses_at_a_password_are_counted_across_hosts() {
    let (postgresql, [one, two]) = two_hosts();
    administrator(&one);
    for name in ["root", "no such user"] {
        for (number, host) in [&one, &two, &two, &one].into_iter().enumerate() {
            fail(host, &format!("192.0.2.{number}"), name);
        }
    }
    let failures = "
        SELECT convert_from(value, 'UTF8')::jsonb ->> 'failures' FROM shared_record
        WHERE kind = 'account-failures' AND ends_at > 0";
    assert_eq!(postgresql.run("home", failures), "4\n4");
    wait_longer(&postgresql);
    for name in ["ROOT", "no such user"] {
        for host in [&one, &two] {
            let seconds = retry_after(&sign_in(host, "192.0.2.9", name, PASSWORD));
            assert!((3000..=3603).contains(&seconds), "{seconds}");
        }
    }
}

#[test]
#[ignore = "make test-all"]
fn the_attempts_of_an_address_are_counted_across_hosts() {
    let (_postgresql, [one, two]) = two_hosts();
    administrator(&one);
    let began = std::time::Instant::now();
    let mut failed = 0;
    // Until each of them has refused one.
    for host in [&one, &two] {
        loop {
            match sign_in(host, "192.0.2.1", &format!("name {failed}"), "wrong password").status {
                429 => break,
                status => assert_eq!(status, 401),
            }
            failed += 1;
        }
    }
    // A burst of ten, and one more in five seconds; each for itself would have taken ten.
    let most = 10 + began.elapsed().as_secs() / 5 + 1;
    assert!((10..=most).contains(&failed), "{failed}");
    assert_eq!(sign_in(&two, "192.0.2.2", "root", PASSWORD).status, 200);
}

#[test]
#[ignore = "make test-all"]
fn an_address_that_is_known_at_one_host_is_known_at_the_other() {
    let (postgresql, [one, two]) = two_hosts();
    administrator(&one);
    assert_eq!(sign_in(&one, "192.0.2.1", "root", PASSWORD).status, 200);
    // A stranger locks the account for others.
    fail(&one, "192.0.2.7", "root");
    wait_longer(&postgresql);
    retry_after(&sign_in(&two, "192.0.2.8", "root", PASSWORD));
    assert_eq!(sign_in(&two, "192.0.2.1", "root", PASSWORD).status, 200);
}

/// The host that made the change follows at once, although it has just read what was stored before.
#[test]
#[ignore = "make test-all"]
fn another_host_shows_what_was_chosen_a_second_later() {
    let (_postgresql, [one, two]) = two_hosts();
    let admin = administrator(&one);
    let input = json!({"id": admin.app("an app")});
    admin.user("grace");
    let [at_one, at_two] = [&one, &two].map(|host| host.sign_in("grace", PASSWORD));
    let is_seen_at_one = || at_one.query("app.byId", &input).status == 200;
    let is_seen_at_two = || at_two.query("app.byId", &input).status == 200;
    for (visibility, is_seen) in [("boards", false), ("everyone", true), ("boards", false)] {
        assert!(is_seen_at_one() != is_seen && is_seen_at_two() != is_seen);
        let change = json!({"appVisibility": visibility});
        admin.mutate("site.update", &change).assert_status(200);
        assert_eq!(is_seen_at_one(), is_seen);
        wait_until("the other host follows", || is_seen_at_two() == is_seen);
    }
}

#[test]
#[ignore = "make test-all"]
fn another_host_checks_what_was_allowed_at_its_next_look() {
    let (_postgresql, [one, two]) = two_hosts();
    let admin = administrator(&one);
    let app = json!({"name": "NAS", "iconUrl": "/i.svg", "pingUrl": "http://[fd5a:9c31:77e0::1]:8080/"});
    let ids = json!([admin.make("app.create", &app, "id")]);
    let there = two.sign_in("root", PASSWORD);
    let status = || there.query("app.status", &ids).data()[0]["status"].clone();
    wait_until("the other host refuses", || status() == "not-allowed");
    let allowed = json!({"pingAllow": ["fd00::/8"]});
    admin.mutate("site.update", &allowed).assert_status(200);
    assert_eq!(status(), "unknown", "it is looked at anew");
}

#[test]
#[ignore = "make test-all"]
fn icons_are_the_same_at_every_host_although_only_one_reaches_their_source() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let index = Server::start(Reply::Body(TREE.into()));
    let start = || {
        Builder::default()
            .environment("PORTICO_DATABASE", &url)
            .environment(
                "PORTICO_ICON_SOURCES",
                format!("{}|http://icons.example", index.url),
            )
            .start()
    };
    let (one, two) = (start(), start());
    let admin = administrator(&one);
    let there = two.sign_in("root", PASSWORD);
    let icon = |client: &dyn Fn(&str) -> Answer| {
        let created = client("Jellyfin").data();
        created[0]["iconUrl"].as_str().expect("an icon").to_owned()
    };
    let create = |name: &str| json!([{"name": name, "iconUrl": null}]);
    let here = |name: &str| admin.mutate("app.createMany", &create(name));
    let there = |name: &str| there.mutate("app.createMany", &create(name));
    wait_until("an icon", || {
        icon(&here) == "http://icons.example/svg/jellyfin.svg"
    });
    index.now_replies(Reply::Status(500));
    assert_eq!(icon(&there), icon(&here));
    let (asked, host) = (index.hits(), start());
    let third = host.sign_in("root", PASSWORD);
    assert_eq!(
        icon(&|name: &str| third.mutate("app.createMany", &create(name))),
        "http://icons.example/svg/jellyfin.svg"
    );
    assert_eq!(index.hits(), asked, "a host asked although there is a copy");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn one_host_at_a_time_removes_old_rows_of_the_audit_log() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let open = async || Arc::new(PostgresStorage::open(&url).await.expect("a database"));
    let (one, two) = (open().await, open().await);
    let settings = AuditSettings {
        most_rows: 1000,
        settling: Duration::ZERO,
        ..AuditSettings::default()
    };
    let clock = TestClock::at(NEW_YEAR);
    let audits = [one.clone(), two.clone()].map(|storage| {
        let shared = storage.shared();
        Audit::new(storage, shared, clock.clone(), settings.clone())
    });
    let fill = format!(
        "INSERT INTO audit (time, authentication, request_id, procedure, created, outcome, times)
        SELECT {NEW_YEAR} - CASE WHEN n <= 500 THEN 91 * {DAY}::bigint ELSE n END, 'none', '-', 'app.create', 0, 'OK', 1
        FROM generate_series(1, 3000) AS n"
    );
    postgresql.run("home", &fill);
    let rows = || postgresql.run("home", "SELECT count(*) FROM audit");
    // Another host is at it.
    let records = one.shared();
    let turn = [RecordKey::new(RecordKind::Turn, "audit")];
    let held = records.change(&turn, |records, now| {
        records[0] = Some(SharedRecord {
            value: b"another".to_vec(),
            rank: 0,
            ends_at: now + DAY,
        });
    });
    held.await.expect("a turn");
    audits[0].prune().await.expect("nothing to do");
    assert_eq!(rows(), "3000");
    records
        .change(&turn, |records, _| records[0] = None)
        .await
        .expect("the end of it");
    let [one, two] = &audits;
    let (one, two) = tokio::join!(one.prune(), two.prune());
    assert_eq!((one, two), (Ok(()), Ok(())));
    // With each for itself, they would remove more than is too much.
    assert_eq!(rows(), "1000");
}

#[test]
#[ignore = "make test-all"]
fn a_host_that_has_become_too_old_is_not_ready_and_its_log_names_both_versions() {
    let (postgresql, [one, _two]) = two_hosts();
    let admin = administrator(&one);
    let ready_answer = ready(&one);
    assert_eq!(ready_answer.status, 200);
    let newer = "
        UPDATE portico_version SET version = 99, oldest = 99;
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'portico/%'";
    let since = one.log().len();
    postgresql.run("home", newer);
    wait_until("a refusal", || ready(&one).status == 503);
    assert_eq!(admin.send_allowing_5xx("GET", "/api/apps", None).status, 503);
    let line = one.wait_for_log(since, "version 99");
    assert!(line.contains("this portico knows versions up to "), "{line}");
    // A newer host that lets this one work alongside it.
    postgresql.run("home", "UPDATE portico_version SET oldest = 2");
    wait_until("an answer", || ready(&one).status == 200);
    admin.query("app.all", &NO_INPUT).data();
}

#[test]
#[ignore = "make test-all"]
fn without_the_database_sign_ins_are_refused_in_time_and_nothing_is_let_in_uncounted() {
    let postgresql = Postgresql::start();
    let [one, two] = two_hosts_on(&postgresql);
    administrator(&one);
    for _ in 0..2 {
        postgresql.crash();
        for host in [&one, &two] {
            assert_eq!(sign_in(host, "192.0.2.1", "root", PASSWORD).status, 503);
            assert_eq!(sign_in(host, "192.0.2.1", "root", "wrong password").status, 503);
            assert_eq!(ready(host).status, 503);
        }
        postgresql.start_again();
        for host in [&one, &two] {
            wait_until("an answer", || ready(host).status == 200);
            assert_eq!(sign_in(host, "192.0.2.1", "root", PASSWORD).status, 200);
        }
    }
    // The background task of the audit log writes again too.
    let since = "SELECT count(*) > 0 FROM audit WHERE procedure = 'sign-in' AND outcome = 'UNAUTHORIZED'";
    assert_eq!(
        sign_in(&two, "192.0.2.5", "no such user", "wrong password").status,
        401
    );
    wait_until("a row", || postgresql.run("home", since) == "t");
}

#[test]
#[ignore = "make test-all"]
fn clients_of_homarr_that_change_one_board_at_two_hosts_at_once_lose_nothing() {
    const EACH: usize = 10;
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let start = || {
        Builder::default()
            .environment("PORTICO_DATABASE", &url)
            .argument("--compat-homarr")
            .start()
    };
    let hosts = [start(), start()];
    let admin = administrator(&hosts[0]);
    let created = admin.post(
        "/api/boards",
        &json!({"name": "busy", "columnCount": 10, "isPublic": true}),
    );
    let board = created.assert_status(200).json()["boardId"].clone();
    let made = admin.mutate("apiKeys.createOwn", &json!({"name": "busy"})).data();
    let key = made["apiKey"].as_str().expect("a key");
    std::thread::scope(|scope| {
        for host in &hosts {
            let client = host.key(key).in_api_key_header();
            let board = &board;
            scope.spawn(move || {
                for _ in 0..EACH {
                    let item = json!({"boardId": board, "kind": "clock"});
                    client.post("/api/boards/items", &item).assert_status(200);
                }
            });
        }
    });
    let whole = hosts[1]
        .anonymous()
        .get("/api/trpc/board.getBoardByName?input=%7B%22json%22%3A%7B%22name%22%3A%22busy%22%7D%7D")
        .json();
    let items = whole["result"]["data"]["json"]["items"].as_array().map(Vec::len);
    assert_eq!(items, Some(2 * EACH), "{whole}");
}

#[test]
#[ignore = "make test-all"]
fn of_thirty_two_writers_of_everything_on_two_hosts_none_fails_for_a_conflict() {
    const EACH: usize = 6;
    let (postgresql, hosts) = two_hosts();
    let admin = administrator(&hosts[0]);
    let shared = admin.app("shared");
    std::thread::scope(|scope| {
        for writer in 0..32 {
            let key = hosts[writer % 2].key(&admin.token);
            let shared = &shared;
            scope.spawn(move || {
                for round in 0..EACH {
                    let name = format!("{writer}-{round}");
                    let write = |procedure: &str, input: &Value| key.mutate(procedure, input).data();
                    let app = write("app.create", &json!({"name": name, "iconUrl": "/i.svg"}));
                    // All change this one.
                    write("app.update", &json!({"id": shared, "name": name}));
                    let group = write("group.createGroup", &json!({"name": name}));
                    let permissions = json!({"groupId": group["id"], "permissions": ["app-create"]});
                    write("group.savePermissions", &permissions);
                    let items =
                        json!([{"kind": "app", "appId": app["id"]}, {"kind": "app", "appId": shared}]);
                    write(
                        "board.create",
                        &json!({"name": name, "isPublic": false, "items": items}),
                    );
                    write("app.delete", &json!({"id": app["id"]}));
                }
            });
        }
    });
    let counts = "SELECT count(*) FROM app UNION ALL SELECT count(*) FROM user_group WHERE name LIKE '%-%'
        UNION ALL SELECT count(*) FROM board";
    let all = 32 * EACH;
    assert_eq!(postgresql.run("home", counts), format!("1\n{all}\n{all}"));
}
