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

/// The same requests with and without `--app-visibility boards`, on one connection: the time of a request.
pub fn visibility(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (all, seen) = (bench.path("all"), bench.path("seen"));
    let apps = data::seed(&all, APPS, 1)?.apps;
    let viewers = data::add_boards(&all, &apps, BOARDS)?;
    data::copy(&all, &seen)?;
    let all = bench.portico(&all)?;
    let mut command = bench.portico_command(&seen);
    command.args(["--app-visibility", "boards"]);
    let seen = bench.start(command)?;
    let by_id = |app: &String| format!("/api/apps/{app}");
    let (visible, hidden) = (by_id(&apps[0]), by_id(&apps[APPS / BOARDS]));
    ensure!(ask(&seen, &hidden, &viewers.of_all).is_ok(), "an app is missing");
    ensure!(
        ask(&seen, &hidden, &viewers.of_half).is_err(),
        "an app is seen that should not be"
    );
    let hits = format!("/api/apps/search?query={COMMON}&limit=100");

    let mut rows = Vec::new();
    for (what, path, key, target) in [
        ("by id", &visible, &viewers.of_half, Some(1.3)),
        ("100 hits, all boards shared", &hits, &viewers.of_all, Some(1.3)),
        // Every second app is passed over.
        (
            "100 hits, half of the boards shared",
            &hits,
            &viewers.of_half,
            None,
        ),
    ] {
        eprintln!("  {what}");
        let request = [Request::get(path).with_key(key)];
        for server in [&all, &seen] {
            let answer = ask(server, path, key)?;
            let is_whole = answer.as_array().is_none_or(|hits| hits.len() == 100);
            ensure!(is_whole, "{path} has too few hits");
        }
        let load = || Load {
            requests: &request,
            connections: 1,
        };
        let [all, seen] = bench.interleave([Case(&all, load()), Case(&seen, load())])?;
        let figure = |samples: &[_]| Figure::of(samples, Unit::Micros, |sample| 1e6 / sample.rate);
        let row = Row::new(
            work(what),
            figure(&all),
            figure(&seen),
            ratio(&all, &seen, |sample| sample.rate),
        );
        rows.push(match target {
            Some(most) => row.target(Target::AtMost(most)),
            None => row,
        });
    }
    let path = "/api/apps/paginated?page=1&pageSize=100";
    let time = |server| {
        let mut times = Vec::new();
        for _ in 0..PAGES {
            let began = Instant::now();
            ask(server, path, &viewers.of_half)?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
        anyhow::Ok(median(times.into_iter()))
    };
    let (all, seen) = (time(&all)?, time(&seen)?);
    let figure = |time| Figure::new(time, Unit::Micros);
    let work = work("a page of 100 with the total, half of the boards shared");
    rows.push(Row::new(work, figure(all), figure(seen), seen / all));
    Ok(rows)
}

fn work(what: &str) -> String {
    format!("{what}: everyone sees all apps against those on their boards")
}

fn ask(server: &Server, path: &str, key: &str) -> anyhow::Result<Value> {
    let answer = Connection::new(server.address)?.ask(&Request::get(path).with_key(key).text())?;
    Ok(serde_json::from_str(&answer)?)
}
