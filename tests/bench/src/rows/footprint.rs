//! The footprint: start time and memory.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::Bench;
use crate::{
    data::{self, COMMON},
    load::{Load, Request},
    process::{Connection, Memory, first_answer},
    report::{Figure, Row, Target, Unit, median},
};

const IDLE_CONNECTIONS: usize = 5_000;
const MANY_APPS: usize = 100_000;

/// The host closes connections that are idle for this long, so all must be open before.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// The time from the start of the program to its first answer, with the compiled component cached.
pub fn start(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (data, portico, native) = bench.twins("start", 10_000, 1)?;
    let request = Request::get(format!("/api/apps/{}", data.apps[0])).text();
    let start_portico = || first_answer(bench.portico_command(&portico), &request);
    let start_native = || first_answer(bench.native_command(&native), &request);
    let first = start_portico()?;
    start_native()?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds * 5 {
        without.push(start_native()?.as_secs_f64() * 1e6);
        with.push(start_portico()?.as_secs_f64() * 1e6);
    }
    let figure = |times: &[f64]| Figure::new(median(times.iter().copied()), Unit::Micros);
    let mut rows = vec![
        Row::new(
            "exec to first answer, second start",
            figure(&without),
            figure(&with),
            median(with.iter().zip(&without).map(|(with, without)| with / without)),
        )
        .target(Target::AtMost(2.0)),
    ];
    // If earlier rows have filled the cache, this was not a first start.
    let first = first.as_secs_f64() * 1e6;
    if first > 10.0 * rows[0].portico.value {
        let without = figure(&without);
        let ratio = first / without.value;
        rows.push(Row::new(
            "first start, which compiles",
            without,
            Figure::new(first, Unit::Micros),
            ratio,
        ));
    }
    Ok(rows)
}

/// Resident memory after a second start, and with many connections and apps.
pub fn memory(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (data, portico, native) = bench.twins("idle", 1_000, 1)?;
    let request = Request::get(format!("/api/apps/{}", data.apps[0])).text();
    first_answer(bench.portico_command(&portico), &request)?;
    let (portico, native) = (bench.portico(&portico)?, bench.native(&native)?);
    for server in [&portico, &native] {
        Connection::new(server.address)?.ask(&request)?;
    }
    let mut rows = vec![row("idle", 60.0, native.memory()?, portico.memory()?)];
    drop((portico, native));

    more_files()?;
    let portico = bench.path("crowded");
    let data = data::seed(&portico, MANY_APPS, 1)?;
    let portico = bench.portico(&portico)?;
    // To reach the last page, a reader goes through the whole table.
    let last = format!(
        "/api/apps/paginated?page={}&pageSize=100&search={COMMON}",
        MANY_APPS / 100
    );
    let last = [Request::get(last).with_key(&data.keys[0])];
    let load = Load {
        requests: &last,
        connections: 32,
    };
    load.run(&portico, bench.folder(), bench.seconds)?;
    let busy = portico.memory()?;

    let began = Instant::now();
    let mut connections = Vec::with_capacity(IDLE_CONNECTIONS);
    for app in data.apps.iter().take(IDLE_CONNECTIONS) {
        let mut connection = Connection::new(portico.address)?;
        connection.ask(&Request::get(format!("/api/apps/{app}")).text())?;
        connections.push(connection);
    }
    let crowded = portico.memory()?;
    ensure!(
        began.elapsed() < IDLE_TIME,
        "connecting took so long that the first connections were closed"
    );
    rows.push(row(
        "100,000 apps, before and with 5,000 idle connections",
        300.0,
        busy,
        crowded,
    ));
    Ok(rows)
}

/// A row with the ratio of Portico's memory to its limit.
fn row(work: &str, most: f64, beside: Memory, portico: Memory) -> Row {
    let figure = |memory: Memory| Figure::new(memory.resident, Unit::MebiBytes);
    let work = format!(
        "{work}, of {most} MiB ({:.0} MiB are no file's)",
        portico.anonymous
    );
    let ratio = portico.resident / most;
    Row::new(work, figure(beside), figure(portico), ratio).target(Target::AtMost(1.0))
}

/// Each idle connection is an open file in both processes.
fn more_files() -> anyhow::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let needed = IDLE_CONNECTIONS as u64 + 500;
    ensure!(
        limit.maximum.is_none_or(|most| most >= needed),
        "{needed} open files are needed, and the limit is {:?}: raise it (ulimit -Hn)",
        limit.maximum
    );
    limit.current = limit.maximum.map(|most| most.max(needed)).or(Some(needed));
    setrlimit(Resource::Nofile, limit)?;
    Ok(())
}
