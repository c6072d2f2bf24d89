//! Apps that not everyone sees: what it costs that callers see only the apps on boards that they may view.

use anyhow::ensure;
use serde_json::Value;

use super::{Bench, Case};
use crate::{
    data::{self, COMMON},
    load::{Load, Request},
    process::{Connection, Server},
    report::{Figure, Row, Target, Unit, ratio},
};

const APPS: usize = 100_000;
const BOARDS: usize = 1_000;

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
    for (what, path, target) in [
        ("by id", format!("/api/apps/{visible}"), Some(1.3)),
        (
            "a hundred hits",
            format!("/api/apps/search?query={COMMON}&limit=100"),
            Some(1.3),
        ),
        (
            "the first page of 100, with the total",
            "/api/apps/paginated?page=1&pageSize=100".into(),
            None,
        ),
    ] {
        eprintln!("  {what}");
        let (one, other) = (ask(&all, &path, &key)?, ask(&seen, &path, &key)?);
        let is_hundred = |answer: &Value| answer.as_array().is_none_or(|hits| hits.len() >= 100);
        ensure!(
            one["code"].is_null() && other["code"].is_null(),
            "{path}: {other}"
        );
        ensure!(is_hundred(&one) && is_hundred(&other), "{path} has too few hits");
        let request = [Request::get(&path).with_key(&key)];
        let load = || Load {
            requests: &request,
            connections: 1,
        };
        let [all, seen] = bench.interleave([Case(&all, load()), Case(&seen, load())])?;
        let figure = |samples: &[_]| Figure::of(samples, Unit::Micros, |sample| 1e6 / sample.rate);
        let ratio = ratio(&all, &seen, |sample| sample.rate);
        let work = format!("{what}, of {APPS} apps against those on 500 of {BOARDS} boards");
        let row = Row::new(work, figure(&all), figure(&seen), ratio);
        rows.push(match target {
            Some(most) => row.target(Target::AtMost(most)),
            None => row,
        });
    }
    Ok(rows)
}

fn ask(server: &Server, path: &str, key: &str) -> anyhow::Result<Value> {
    let answer = Connection::new(server.address)?.ask(&Request::get(path).with_key(key).text())?;
    Ok(serde_json::from_str(&answer)?)
}
