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

/// Words in the names of the heaviest reads with a bound.
const HEAVY: [&str; 3] = [
    "the last page",
    "the total of hits in every name",
    "two letters in no name",
];

/// Queries that answer a list without pages.
const LISTS: [&str; 4] = ["app.all", "user.getAll", "state.export", "group.getAll"];

/// The 99th percentile of an app by id, in microseconds: alone, and beside reads that go on all the time. It is compared
/// with that alone, and not with another size.
pub fn measure(
    server: &Server,
    token: &str,
    size: usize,
    only: &str,
    quick: bool,
) -> anyhow::Result<Vec<Figures>> {
    if !"beside".contains(only) {
        return Ok(Vec::new());
    }
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
        // Anew for each: the machine is not as fast in every minute.
        let alone = p99(server, &by_id, time)?;
        let request = Request::get(&read.path).with_key(token).text();
        let stop = AtomicBool::new(false);
        let beside = thread::scope(|scope| {
            let heavy = scope.spawn(|| -> anyhow::Result<()> {
                let mut connection = Connection::new(server.address)?;
                while !stop.load(Ordering::Relaxed) {
                    connection.send(&request)?;
                }
                Ok(())
            });
            let beside = p99(server, &by_id, time);
            stop.store(true, Ordering::Relaxed);
            heavy
                .join()
                .map_err(|_| anyhow::anyhow!("the heavy reads failed"))??;
            beside
        })?;
        figures.push(Figures {
            work: format!("p99 of app.byId beside {}", read.work),
            bound: Some(BOUND),
            micros: beside,
            alone: Some(alone),
            ..Figures::default()
        });
    }
    Ok(figures)
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
