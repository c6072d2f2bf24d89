//! A copy to PostgreSQL that is cut in the middle: nothing of it is there, and the next one succeeds.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use portico_tests::postgresql::Postgresql;
use portico_tests::{Builder, Client, PASSWORD, Portico, wait_until};
use rusqlite::Connection;
use serde_json::json;

use super::postgresql::rows_at;
use super::{assert_same, copy, copying, data, rows_in};

const IMAGE: usize = 300_000;

/// A service with this many large users, which was stopped.
fn source(users: usize) -> Portico {
    let mut server = Portico::start();
    assert!(server.stop().status.success());
    let database = Connection::open(server.data().join("portico.db")).expect("the database");
    let statements = format!(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {users})
        INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week, ping_icons_enabled,
            open_search_in_new_tab, image)
            SELECT 'u' || n, 'oidc', 'u' || n, 'u' || n, 'dark', 0, 0, 0, hex(randomblob({half})) FROM number;
        INSERT INTO invite (id, token_hash, expires_at, creator_id) VALUES ('i', x'00', 1, 'u1')",
        half = IMAGE / 2
    );
    database.execute_batch(&statements).expect("users");
    server
}

/// A target in which a copy waits when it writes invites, after users and apps, until the gate opens.
struct Gated {
    postgresql: Postgresql,
    url: String,
}

impl Gated {
    fn new() -> Self {
        let postgresql = Postgresql::start();
        let url = postgresql.create_database("home");
        // The tables are there before, as those of a host that has not been used yet.
        let mut server = Builder::default().environment("PORTICO_DATABASE", &url).start();
        assert!(server.stop().status.success());
        let this = Self { postgresql, url };
        this.postgresql.run(
            "home",
            "CREATE TABLE gate (\"is\" text); INSERT INTO gate VALUES ('closed');
            CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                WHILE (SELECT \"is\" FROM gate) = 'closed' LOOP PERFORM pg_sleep(0.05); END LOOP;
                IF (SELECT \"is\" FROM gate) = 'broken' THEN
                    RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100';
                END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER wait_at_gate BEFORE INSERT ON invite FOR EACH STATEMENT EXECUTE FUNCTION wait_at_gate()",
        );
        this
    }

    fn set(&self, is: &str) {
        self.postgresql
            .run("home", &format!("UPDATE gate SET \"is\" = '{is}'"));
    }

    fn sessions(&self, condition: &str) -> usize {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = 'home' AND application_name LIKE 'portico%' AND {condition}"
        );
        self.postgresql.run("postgres", &sql).parse().expect("a number")
    }

    /// Starts a copy and waits until it is at the gate.
    fn copy_to_gate(&self, source: &Portico) -> Child {
        let mut command = copying(&data(&source.data()), &self.url);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        wait_until("the copy", || {
            self.sessions("query LIKE 'COPY invite %' AND state = 'active'") == 1
        });
        child.expect("start it")
    }

    fn assert_empty(&self) {
        let counts = "SELECT (SELECT count(*) FROM user_account) + (SELECT count(*) FROM invite)";
        assert_eq!(self.postgresql.run("home", counts), "0");
    }
}

fn end(mut child: Child) -> String {
    let mut said = String::new();
    child
        .stderr
        .take()
        .expect("its errors")
        .read_to_string(&mut said)
        .expect("text");
    assert!(!child.wait().expect("its end").success(), "it succeeded: {said}");
    said
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

#[test]
#[ignore = "make test-all"]
fn a_copy_that_is_cut_leaves_nothing_and_the_next_one_succeeds() {
    let (source, target) = (source(50), Gated::new());
    for way in ["-KILL", "-INT", "connection", "server", "disk"] {
        target.set("closed");
        let child = target.copy_to_gate(&source);
        target.assert_empty();
        match way {
            "connection" => {
                let end =
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY invite %'";
                target.postgresql.run("home", end);
            }
            "server" => {
                target.postgresql.crash();
                target.postgresql.start_again();
            }
            "disk" => target.set("broken"),
            _ => signal(&child, way),
        }
        let said = end(child);
        assert!(!said.contains("panicked"), "{said}");
        match way {
            "-KILL" => assert_eq!(said, ""),
            "-INT" => assert!(said.contains("interrupted; nothing was written"), "{said}"),
            "disk" => assert!(said.contains("No space left on device (53100)"), "{said}"),
            _ => assert!(said.contains("cannot copy sqlite:"), "{said}"),
        }
        // The server notices that its client is gone when it has something to tell it.
        target.set("open");
        wait_until("the end of its session", || target.sessions("true") == 0);
        target.assert_empty();
    }
    copy(&data(&source.data()), &target.url).succeeded();
    assert_same(&rows_in(&source.data()), &rows_at(&target.url));
}

#[test]
#[ignore = "make test-all"]
fn while_a_copy_is_written_no_host_writes_and_little_is_in_memory() {
    // Far more than may be in memory at the same time.
    const USERS: usize = 500;
    let (source, target) = (source(USERS), Gated::new());
    let server = Builder::default()
        .environment("PORTICO_DATABASE", &target.url)
        .start();
    let child = target.copy_to_gate(&source);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("its state");
    let most = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("its memory");
    let most: usize = most.trim().trim_end_matches(" kB").parse().expect("a number");
    let all = USERS * IMAGE / 1024;
    assert!(
        most < all / 2,
        "{most} KiB in memory at most, of {all} KiB of images"
    );

    let account = json!({"username": "root", "password": PASSWORD});
    let anonymous = server.anonymous();
    let refused = anonymous.send_allowing_5xx("POST", "/api/trpc/user.initUser", Some(&account));
    assert_eq!(refused.status, 503, "{refused}");
    target.set("open");
    assert!(child.wait_with_output().expect("its end").status.success());
    anonymous
        .mutate("user.initUser", &account)
        .assert_refused(403, "FORBIDDEN");
    assert_same(&rows_in(&source.data()), &rows_at(&target.url));
}
