//! Whether heavy reads delay others: an app by id, alone and beside each of them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use portico_tests::{NO_INPUT, trpc_query_path};

use super::fill::app_id;
use super::table::Figures;
use super::work::{Read, reads};
use crate::{
    load::Request,
    process::{Connection, Server},
};

/// Within what the 99th percentile of the time of an app by id may grow beside a heavy read.
const BOUND: f64 = 3.0;

const ROUNDS: usize = 3;

/// Words in the names of the heaviest reads with a bound.
const HEAVY: [&str; 3] = [
    "the last page",
    "the total of hits in every name",
    "two letters in no name",
];

/// Queries that answer a list without pages.
const LISTS: [&str; 4] = ["app.all", "user.getAll", "state.export", "group.getAll"];

/// The 99th percentile of an app by id, in microseconds: alone, and beside reads that go on all the time. It is compared
/// with that alone, and not with another size. Of three rounds, the one with the median ratio counts.
pub fn measure(
    server: &Server,
    token: &str,
    size: usize,
    only: &str,
    quick: bool,
) -> anyhow::Result<Vec<Figures>> {
    let time = Duration::from_secs(if quick { 1 } else { 3 });
    let by_id = trpc_query_path("app.byId", &serde_json::json!({"id": app_id(size / 2)}));
    let by_id = Request::get(by_id).with_key(token).text();
    let heavy = reads(size)
        .into_iter()
        .filter(|read| HEAVY.iter().any(|words| read.work.contains(words)));
    let lists = LISTS.into_iter().map(|name| Read {
        work: name.to_owned(),
        bound: None,
        path: trpc_query_path(name, &NO_INPUT),
    });
    let mut figures = Vec::new();
    for read in heavy.chain(lists) {
        let work = format!("p99 of app.byId beside {}", read.work);
        if !work.contains(only) {
            continue;
        }
        let heavy = Request::get(&read.path).with_key(token).text();
        let mut rounds = (0..ROUNDS)
            .map(|_| round(server, &by_id, &heavy, time))
            .collect::<anyhow::Result<Vec<_>>>()?;
        rounds.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        let Round { alone, beside } = rounds.swap_remove(ROUNDS / 2);
        figures.push(Figures {
            work,
            bound: Some(BOUND),
            micros: beside,
            alone: Some(alone),
            ..Figures::default()
        });
    }
    Ok(figures)
}

/// The 99th percentiles of one round, in microseconds. Both are of the same minute, because the machine is not as fast in
/// every minute.
struct Round {
    alone: f64,
    beside: f64,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.beside / self.alone
    }
}

fn round(server: &Server, by_id: &str, heavy: &str, time: Duration) -> anyhow::Result<Round> {
    let alone = p99(server, by_id, time)?;
    let stop = AtomicBool::new(false);
    let beside = thread::scope(|scope| {
        let heavy = scope.spawn(|| -> anyhow::Result<()> {
            let mut connection = Connection::new(server.address)?;
            while !stop.load(Ordering::Relaxed) {
                connection.send(heavy)?;
            }
            Ok(())
        });
        let beside = p99(server, by_id, time);
        stop.store(true, Ordering::Relaxed);
        heavy
            .join()
            .map_err(|_| anyhow::anyhow!("the heavy reads failed"))??;
        beside
    })?;
    Ok(Round { alone, beside })
}

/// The 99th percentile of the time of a request that is sent again and again for this long.
fn p99(server: &Server, request: &str, time: Duration) -> anyhow::Result<f64> {
    let mut connection = Connection::new(server.address)?;
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < time {
        let sent = Instant::now();
        connection.ask(request)?;
        times.push(sent.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() * 99 / 100])
}
