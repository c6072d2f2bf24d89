//! Whether heavy requests delay others: an app by id, alone and beside each of them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use portico_tests::{NO_INPUT, trpc_query_path};
use serde_json::{Value, json};

use super::fill::app_id;
use super::table::Figures;
use super::work::reads;
use crate::{
    load::Request,
    process::{Connection, Server},
};

/// Within what the 99th percentile of the time of an app by id may grow beside a heavy request.
const BOUND: f64 = 3.0;

const ROUNDS: usize = 3;

/// Words in the names of the heaviest reads with a bound.
const HEAVY: [&str; 3] = [
    "the last page",
    "the total of hits in every name",
    "two letters in no name",
];

/// Queries that answer a list without pages.
const LISTS: [&str; 8] = [
    "app.all",
    "app.selectable",
    "user.getAll",
    "user.selectable",
    "group.getAll",
    "board.getAll",
    "board.getVisible",
    "state.export",
];

/// The 99th percentile of an app by id, in microseconds: alone, and beside requests that go on all the time. It is
/// compared with that alone, and not with another size. Of three rounds, the one with the median ratio counts.
pub fn measure(
    server: &Server,
    token: &str,
    size: usize,
    only: &str,
    quick: bool,
) -> anyhow::Result<Vec<Figures>> {
    let time = Duration::from_secs(if quick { 1 } else { 3 });
    let by_id = trpc_query_path("app.byId", &json!({"id": app_id(size / 2)}));
    let by_id = Request::get(by_id).with_key(token).text();
    let reads = reads(size)
        .into_iter()
        .filter(|read| HEAVY.iter().any(|words| read.work.contains(words)))
        .map(|read| (read.work, Request::get(&read.path)));
    let lists = LISTS
        .into_iter()
        .map(|name| (name.to_owned(), Request::get(trpc_query_path(name, &NO_INPUT))));
    let writes = writes().into_iter().map(|(name, input)| {
        (
            name.to_owned(),
            Request::post(format!("/api/trpc/{name}"), &input),
        )
    });
    let mut figures = Vec::new();
    for (name, heavy) in reads.chain(lists).chain(writes) {
        let work = format!("p99 of app.byId beside {name}");
        if !work.contains(only) {
            continue;
        }
        let heavy = heavy.with_key(token).text();
        let mut rounds = (0..ROUNDS)
            .map(|_| round(server, &by_id, &heavy, time))
            .collect::<anyhow::Result<Vec<_>>>()?;
        rounds.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        let Round {
            alone,
            beside,
            status,
        } = rounds.swap_remove(ROUNDS / 2);
        figures.push(Figures {
            work,
            bound: Some(BOUND),
            micros: beside,
            alone: Some(alone),
            status: Some(status).filter(|status| status != "200"),
            ..Figures::default()
        });
    }
    Ok(figures)
}

/// Writes, and their inputs. The document is that of one app: applied again it changes nothing, but all records are read
/// for it, in a transaction that others who write wait for.
fn writes() -> [(&'static str, Value); 2] {
    let app = json!({"name": "Beside", "iconUrl": "/icon.svg"});
    let mut named = app.clone();
    named["id"] = json!("beside");
    [("app.create", app), ("state.apply", json!({"apps": [named]}))]
}

/// The 99th percentiles of one round, in microseconds. Both are of the same minute, because the machine is not as fast in
/// every minute.
struct Round {
    alone: f64,
    beside: f64,
    /// Of the heavy request.
    status: String,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.beside / self.alone
    }
}

fn round(server: &Server, by_id: &str, heavy: &str, time: Duration) -> anyhow::Result<Round> {
    let alone = p99(server, by_id, time)?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let heavy = scope.spawn(|| -> anyhow::Result<String> {
            let mut connection = Connection::new(server.address)?;
            let mut status = String::new();
            while !stop.load(Ordering::Relaxed) {
                (status, _) = connection.send(heavy)?;
            }
            Ok(status)
        });
        let beside = p99(server, by_id, time);
        stop.store(true, Ordering::Relaxed);
        let status = heavy
            .join()
            .map_err(|_| anyhow::anyhow!("the heavy requests failed"))??;
        Ok(Round {
            alone,
            beside: beside?,
            status,
        })
    })
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
