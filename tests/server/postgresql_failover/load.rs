//! Clients that write without a pause and remember the responses, whatever happens to the service.
//!
//! Each change makes records with names that nothing else has. So afterwards it is known of each change
//! whether it was made, how often, and whether all of it is there.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portico_tests::postgresql::Postgresql;
use portico_tests::{Client, Fixtures, Key, PASSWORD, Session};
use serde_json::{Value, json};

/// A change that was sent.
struct Change {
    procedure: &'static str,
    /// The names of its records.
    names: Vec<String>,
    is_acknowledged: bool,
}

/// A client that writes.
pub struct Load {
    name: String,
    user_id: String,
    key: Key,
    /// Groups whose members the users become that it creates.
    groups: [String; 2],
    changes: Vec<Change>,
    /// The longest time between two acknowledged changes.
    pub longest_gap: Duration,
}

/// What came of all changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub acknowledged: usize,
    /// Not acknowledged, and made.
    pub made: usize,
    /// Not acknowledged, and not made.
    pub not_made: usize,
}

impl Load {
    /// A client of this name, who sends requests to where `client` does.
    pub fn new(admin: &Session, client: &impl Client, name: &str) -> Self {
        let group = |number| admin.group(&format!("{name}-{number}"), &["admin"]);
        let groups = [group(1), group(2)];
        let user = admin.user_in(name, &[&groups[0]]);
        Self {
            name: name.to_owned(),
            user_id: user.id,
            key: Key::new(client.endpoint(), &user.key.key),
            groups,
            changes: Vec::new(),
            longest_gap: Duration::ZERO,
        }
    }

    /// Writes until it is told to stop. Adds what is acknowledged to a count.
    pub fn write_until(&mut self, stop: &AtomicBool, acknowledged: &AtomicUsize) {
        let mut last = Instant::now();
        while !stop.load(Ordering::SeqCst) {
            if self.write() {
                acknowledged.fetch_add(1, Ordering::SeqCst);
                self.longest_gap = self.longest_gap.max(last.elapsed());
                last = Instant::now();
            } else {
                thread::sleep(Duration::from_millis(20));
            }
        }
        self.longest_gap = self.longest_gap.max(last.elapsed());
    }

    /// Writes once. Answers whether it was acknowledged.
    pub fn write(&mut self) -> bool {
        let name = format!("{} {}", self.name, self.changes.len());
        let app = |name: &str| json!({"name": name, "iconUrl": "/i.svg"});
        let (procedure, names, input): (_, _, Value) = match self.changes.len() % 8 {
            3 | 6 => {
                let names: Vec<_> = (0..5).map(|number| format!("{name} {number}")).collect();
                let apps = names.iter().map(|name| app(name)).collect();
                ("app.createMany", names, apps)
            }
            5 => {
                let input = json!({"username": name, "password": PASSWORD, "groupIds": self.groups});
                ("user.create", vec![name], input)
            }
            _ => ("app.create", vec![name.clone()], app(&name)),
        };
        let path = format!("/api/trpc/{procedure}");
        let headers = [("content-type", "application/json")];
        let answer = self
            .key
            .try_send("POST", &path, &headers, Some(input.to_string().as_bytes()));
        let is_acknowledged = match answer {
            Ok(answer) if answer.status < 500 => {
                // None of them may be refused: the caller may do it, and the names are new.
                answer.assert_status(200);
                true
            }
            // It is not known what came of it.
            Ok(_) | Err(_) => false,
        };
        self.changes.push(Change {
            procedure,
            names,
            is_acknowledged,
        });
        is_acknowledged
    }
}

/// Compares a database with what was acknowledged. Each change is there once and as a whole, or not at all, and
/// has one row in the audit log, or none.
pub fn check(server: &Postgresql, clients: &[&Load]) -> Tally {
    let found = names(server);
    let rows = audit_rows(server);
    let (mut tally, mut all) = (Tally::default(), 0);
    for client in clients {
        let mut made_by_procedure = BTreeMap::new();
        for change in &client.changes {
            let counts = change
                .names
                .iter()
                .map(|name| found.get(name).copied().unwrap_or(0));
            let counts: Vec<_> = counts.collect();
            let is_made = counts.iter().all(|count| *count == 1);
            let what = format!("{} of {:?}: found {counts:?}", change.procedure, change.names);
            assert!(
                is_made || counts.iter().all(|count| *count == 0),
                "by half or twice: {what}"
            );
            assert!(
                is_made || !change.is_acknowledged,
                "acknowledged and lost: {what}"
            );
            match (change.is_acknowledged, is_made) {
                (true, _) => tally.acknowledged += 1,
                (false, true) => tally.made += 1,
                (false, false) => tally.not_made += 1,
            }
            if is_made {
                all += counts.len();
                *made_by_procedure.entry(change.procedure.to_owned()).or_insert(0) += 1;
            }
        }
        let audited = rows.get(&client.user_id).cloned().unwrap_or_default();
        assert_eq!(
            audited, made_by_procedure,
            "rows of the audit log by {}",
            client.name
        );
    }
    let of_clients = found
        .keys()
        .filter(|name| clients.iter().any(|client| client.made(name)));
    assert_eq!(of_clients.count(), all, "records that were not sent");
    tally
}

impl Load {
    fn made(&self, name: &str) -> bool {
        name.strip_prefix(&self.name)
            .is_some_and(|rest| rest.starts_with(' '))
    }
}

/// How often each name of an app is there, and of a user who is a member of two groups.
fn names(server: &Postgresql) -> HashMap<String, usize> {
    let sql = "
        SELECT count(*) || ' ' || name FROM app GROUP BY name
        UNION ALL
        SELECT CASE (SELECT count(*) FROM group_member WHERE user_id = user_account.id) WHEN 2 THEN 1 ELSE 7 END
            || ' ' || name FROM user_account WHERE name LIKE '% %'";
    let rows = server.run("home", sql);
    let rows = rows.lines().filter_map(|row| row.split_once(' '));
    rows.map(|(count, name)| (name.to_owned(), count.parse().expect("a count")))
        .collect()
}

/// How many successes of each procedure the audit log has, by actor.
fn audit_rows(server: &Postgresql) -> HashMap<String, BTreeMap<String, usize>> {
    let sql = "
        SELECT actor_id || ' ' || procedure || ' ' || count(*) FROM audit
        WHERE outcome = 'OK' AND actor_id IS NOT NULL GROUP BY actor_id, procedure";
    let mut rows: HashMap<_, BTreeMap<_, _>> = HashMap::new();
    for row in server.run("home", sql).lines() {
        let columns: Vec<_> = row.split(' ').collect();
        let count = columns[2].parse().expect("a count");
        rows.entry(columns[0].to_owned())
            .or_default()
            .insert(columns[1].to_owned(), count);
    }
    rows
}
