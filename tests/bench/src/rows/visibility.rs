//! Apps that not everyone sees: what it costs that callers see only the apps on boards that they may view.

use std::time::Instant;

use anyhow::ensure;
use serde_json::Value;

use super::{Bench, Case};
use crate::{
    data::{self, COMMON},
    load::{Load, Request},
    process::{Connection, Server},
    report::{Figure, Row, Target, Unit, median, ratio},
};

const APPS: usize = 100_000;
const BOARDS: usize = 1_000;

/// How many pages with their total are read: the total of one viewer looks at every app.
const PAGES: usize = 9;

/// The same requests of one caller, who may view every second board, with and without `--app-visibility boards`.
/// One connection: the time of a request.
pub fn visibility(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (all, seen) = (bench.path("all"), bench.path("seen"));
    let apps = data::seed(&all, APPS, 1)?.apps;
    let key = data::add_boards(&all, &apps, BOARDS)?;
    data::copy(&all, &seen)?;
    let all = bench.portico(&all)?;
    let mut command = bench.portico_command(&seen);
    command.args(["--app-visibility", "boards"]);
    let seen = bench.start(command)?;
    // The first board is shared with the caller, the second is not.
    let (visible, hidden) = (&apps[0], &apps[APPS / BOARDS]);
    let hidden = format!("/api/apps/{hidden}");
    ensure!(ask(&all, &hidden, &key).is_ok(), "an app is missing");
    ensure!(
        ask(&seen, &hidden, &key).is_err(),
        "an app is seen that should not be"
    );

    let mut rows = Vec::new();
    for (what, path) in [
        ("by id", format!("/api/apps/{visible}")),
        (
            "a hundred hits",
            format!("/api/apps/search?query={COMMON}&limit=100"),
        ),
    ] {
        eprintln!("  {what}");
        let request = [Request::get(&path).with_key(&key)];
        for server in [&all, &seen] {
            let answer = ask(server, &path, &key)?;
            let is_whole = answer.as_array().is_none_or(|hits| hits.len() == 100);
            ensure!(is_whole, "{path} has too few hits");
        }
        let load = || Load {
            requests: &request,
            connections: 1,
        };
        let [all, seen] = bench.interleave([Case(&all, load()), Case(&seen, load())])?;
        let figure = |samples: &[_]| Figure::of(samples, Unit::Micros, |sample| 1e6 / sample.rate);
        let ratio = ratio(&all, &seen, |sample| sample.rate);
        rows.push(Row::new(work(what), figure(&all), figure(&seen), ratio).target(Target::AtMost(1.3)));
    }
    let path = "/api/apps/paginated?page=1&pageSize=100";
    let time = |server| {
        let mut times = Vec::new();
        for _ in 0..PAGES {
            let began = Instant::now();
            ask(server, path, &key)?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
        anyhow::Ok(median(times.into_iter()))
    };
    let (all, seen) = (time(&all)?, time(&seen)?);
    let work = work("the first page of 100, with the total");
    let figure = |time| Figure::new(time, Unit::Micros);
    rows.push(Row::new(work, figure(all), figure(seen), seen / all));
    Ok(rows)
}

fn work(what: &str) -> String {
    format!("{what}, of {APPS} apps against those on half of {BOARDS} boards")
}

fn ask(server: &Server, path: &str, key: &str) -> anyhow::Result<Value> {
    let answer = Connection::new(server.address)?.ask(&Request::get(path).with_key(key).text())?;
    Ok(serde_json::from_str(&answer)?)
}
