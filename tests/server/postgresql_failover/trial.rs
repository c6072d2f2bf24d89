//! Failures under load: rounds in which clients write without a pause, something fails, all hosts must serve
//! again by themselves, and the database must hold what was acknowledged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portico_tests::postgresql::Postgresql;
use portico_tests::{Random, SetOnDrop, administrator_of, rounds_from_environment};

use super::facts;
use super::load::{Load, Tally, check};
use super::site::{Site, wait_until};
use crate::durability::facts::Facts;
use crate::durability::writer::Writer;
use crate::durability::{check_facts, writers};

/// Clients that continue whatever the response is.
const CLIENTS: usize = 4;

/// How many changes are acknowledged before something fails, at least, and after it.
const ENOUGH: usize = 20;

/// How many rounds there are, unless `PORTICO_TEST_ROUNDS` says otherwise.
pub const ROUNDS: usize = 2;

/// Three hosts under load. Two kinds of clients write: those of `load.rs`, and the writers of `durability/`,
/// which change everything there is, and stop when it is not known what came of a call.
pub struct Trial {
    pub site: Site,
    pub random: Random,
    clients: Vec<Load>,
    /// One for each host, which asks this host alone.
    probes: Vec<Load>,
    writers: Vec<Writer>,
    /// Facts that no client changes, and the successes that the audit log has of what came before.
    given: Facts,
    before: BTreeMap<String, usize>,
    /// Longest time without an acknowledged change, and until all hosts served again.
    gap: Duration,
    back: Duration,
}

impl Trial {
    /// Begins on an empty database.
    pub fn begin(site: Site, server: &Postgresql) -> Self {
        let mut random = Random::from_environment();
        let anonymous = site.anonymous();
        let admin = administrator_of(&anonymous);
        let clients = (0..CLIENTS).map(|number| Load::new(&admin, &anonymous, &format!("load-{number}")));
        let clients = clients.collect();
        let probes = site.hosts.iter().enumerate();
        let probes =
            probes.map(|(number, host)| Load::new(&admin, &host.anonymous(), &format!("probe-{number}")));
        let probes = probes.collect();
        let writers = writers(&admin, &anonymous, &mut random);
        let mut this = Self {
            site,
            random,
            clients,
            probes,
            writers,
            given: facts::look(server).0,
            before: BTreeMap::new(),
            gap: Duration::ZERO,
            back: Duration::ZERO,
        };
        this.before = this.other_successes(server);
        this
    }

    /// Rounds, usually as many as this, with what fails in each: `fail` lets something fail, and returns the server
    /// that then has the data. It may wait for more changes to be acknowledged.
    pub fn rounds<'a>(
        &mut self,
        name: &str,
        usual: usize,
        mut fail: impl FnMut(&mut Site, usize, &dyn Fn()) -> &'a Postgresql,
    ) {
        let rounds = rounds_from_environment(usual);
        for round in 1..=rounds {
            let server = self.fail_under_load(|site, wait_for_more| fail(site, round, wait_for_more));
            let tally = self.check(server);
            println!(
                "{name}, round {round} of {rounds}: {} acknowledged, {} made and {} not made without an answer; at \
                 most {:.1} s without one, {:.1} s until all hosts served",
                tally.acknowledged,
                tally.made,
                tally.not_made,
                self.gap.as_secs_f64(),
                self.back.as_secs_f64(),
            );
        }
    }

    /// Lets something fail while clients write, waits until all hosts serve again, and stops the clients.
    fn fail_under_load<'a>(
        &mut self,
        fail: impl FnOnce(&mut Site, &dyn Fn()) -> &'a Postgresql,
    ) -> &'a Postgresql {
        let (stop, acknowledged) = (&AtomicBool::new(false), &AtomicUsize::new(0));
        let wait_for_more = || {
            let before = acknowledged.load(Ordering::SeqCst);
            wait_until("acknowledged change", || {
                acknowledged.load(Ordering::SeqCst) >= before + ENOUGH
            });
        };
        let Self {
            site,
            clients,
            probes,
            writers,
            ..
        } = self;
        let moment = Duration::from_micros(self.random.below(200_000) as u64);
        let server = thread::scope(|scope| {
            let stopping = SetOnDrop(stop);
            for client in &mut *clients {
                scope.spawn(move || client.write_until(stop, acknowledged));
            }
            for writer in writers {
                let answered = || _ = acknowledged.fetch_add(1, Ordering::SeqCst);
                scope.spawn(move || {
                    let goes_on = || !stop.load(Ordering::SeqCst);
                    writer.write_while(goes_on, |status| status >= 500, answered);
                });
            }
            wait_for_more();
            thread::sleep(moment);
            let server = fail(site, &wait_for_more);
            let began = Instant::now();
            for probe in probes {
                wait_until("host that serves again", || probe.write());
            }
            self.back = self.back.max(began.elapsed());
            site.wait_until_ready();
            wait_for_more();
            drop(stopping);
            server
        });
        let gaps = self.clients.iter().map(|client| client.longest_gap);
        self.gap = gaps.fold(self.gap, Duration::max);
        server
    }

    /// Reads everything back.
    fn check(&mut self, server: &Postgresql) -> Tally {
        // What was sent by a host that is gone may still be under way.
        let busy = "
            SELECT count(*) FROM pg_stat_activity
            WHERE application_name LIKE 'portico%' AND datname = 'home' AND state <> 'idle'";
        wait_until("idle server", || server.run("postgres", busy) == "0");
        let (observed, ids) = facts::look(server);
        check_facts(&mut self.writers, &self.given, &observed, &ids);
        let twice = "
            SELECT string_agg(procedure, ' ') FROM audit WHERE outcome = 'OK' GROUP BY request_id HAVING count(*) > 1";
        assert_eq!(
            server.run("home", twice),
            "",
            "two rows of the audit log for one change"
        );
        self.check_audit_log_of_writers(server);
        let clients: Vec<_> = self.clients.iter().chain(&self.probes).collect();
        check(server, &clients)
    }

    /// Each success of a writer has one row.
    fn check_audit_log_of_writers(&self, server: &Postgresql) {
        let found = self.other_successes(server);
        let mut expected: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (procedure, count) in &self.before {
            expected.insert(procedure.clone(), (*count, *count));
        }
        for (procedure, (least, most)) in self.writers.iter().flat_map(|writer| &writer.succeeded) {
            let sum = expected.entry((*procedure).to_owned()).or_default();
            *sum = (sum.0 + least, sum.1 + most);
        }
        for (procedure, (least, most)) in expected {
            let count = found.get(&procedure).copied().unwrap_or(0);
            assert!(
                (least..=most).contains(&count),
                "{procedure}: {count} rows, not {least} to {most}"
            );
        }
    }

    /// The successes in the audit log that are not of the clients of `load.rs`, by procedure.
    fn other_successes(&self, server: &Postgresql) -> BTreeMap<String, usize> {
        let sql = "
            SELECT procedure || ' ' || count(*) FROM audit LEFT JOIN user_account AS u ON u.id = actor_id
            WHERE outcome = 'OK' AND coalesce(name, '') NOT LIKE 'load-%' AND coalesce(name, '') NOT LIKE 'probe-%'
            GROUP BY procedure";
        let rows = server.run("home", sql);
        let rows = rows.lines().filter_map(|row| row.split_once(' '));
        rows.map(|(procedure, count)| (procedure.to_owned(), count.parse().expect("a count")))
            .collect()
    }
}
