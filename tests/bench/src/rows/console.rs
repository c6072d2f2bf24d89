//! The console: what its first page weighs, and how long its tiles take.

use anyhow::{Context as _, ensure};

use super::{Bench, Case};
use crate::{
    data,
    load::{Load, Request},
    process::{Connection, Server},
    report::{Figure, Row, Target, Unit, ratio},
};

/// The most that the first page with 20 apps may weigh, compressed, with its scripts and its style sheet.
const MOST_BYTES: f64 = 60_000.0;

/// The longest that 1,000 tiles may take.
const MOST_MICROS: f64 = 100_000.0;

/// Bytes of the first page, and the time to 1,000 tiles beside the list of the same apps as JSON.
pub fn console(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let few = bench.path("few");
    let data = data::seed(&few, 20, 1)?;
    let server = bench.portico(&few)?;
    let page = weight(&server, "/", &data.keys[0])?;
    let assets: usize = assets(&server, &data.keys[0])?
        .iter()
        .map(|path| weight(&server, path, &data.keys[0]))
        .sum::<anyhow::Result<usize>>()?;
    let mebibytes = |bytes: usize| Figure::new(bytes as f64 / f64::from(1 << 20), Unit::MebiBytes);
    let weight = Row::new(
        format!("20 tiles: the page beside all that is loaded, of {MOST_BYTES} bytes"),
        mebibytes(page),
        mebibytes(page + assets),
        (page + assets) as f64 / MOST_BYTES,
    )
    .target(Target::AtMost(1.0));
    drop(server);

    let many = bench.path("many");
    let data = data::seed(&many, 1_000, 1)?;
    let server = bench.portico(&many)?;
    let tiles = ask(&server, "/", &data.keys[0])?;
    let tiles = tiles.matches("class=\"tile\"").count();
    ensure!(tiles == 1_000, "the first page has {tiles} tiles");
    let [list, page] = ["/api/apps", "/"].map(|path| [Request::get(path).with_key(&data.keys[0])]);
    let load = |requests| Load {
        requests,
        connections: 1,
    };
    let [list, page] = bench.interleave([Case(&server, load(&list)), Case(&server, load(&page))])?;
    let micros = |samples: &[_]| Figure::of(samples, Unit::Micros, |sample| 1e6 / sample.rate);
    let (list_time, page_time) = (micros(&list), micros(&page));
    let share = page_time.value / MOST_MICROS;
    let limit = Figure::new(MOST_MICROS, Unit::Micros);
    Ok(vec![
        weight,
        Row::new("1,000 tiles beside 100 ms", limit, micros(&page), share).target(Target::AtMost(1.0)),
        Row::new(
            "1,000 tiles beside the list of the API",
            list_time,
            page_time,
            ratio(&list, &page, |sample| sample.rate),
        ),
    ])
}

/// The size of an answer, compressed.
fn weight(server: &Server, path: &str, key: &str) -> anyhow::Result<usize> {
    let request = Request::get(path).with_key(key).compressed().text();
    let (status, body) = Connection::new(server.address)?.send(&request)?;
    ensure!(status == "200", "{path}: {status}");
    Ok(body.len())
}

/// What the first page loads from the console.
fn assets(server: &Server, key: &str) -> anyhow::Result<Vec<String>> {
    let page = ask(server, "/", key)?;
    let mut paths: Vec<String> = page
        .split('"')
        .filter(|part| part.starts_with("/console/"))
        .filter_map(|part| Some(part.split('#').next()?.to_owned()))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    ensure!(paths.len() >= 4, "the page names only {paths:?}");
    Ok(paths)
}

fn ask(server: &Server, path: &str, key: &str) -> anyhow::Result<String> {
    let request = Request::get(path).with_key(key).text();
    let answer = Connection::new(server.address)?.ask(&request);
    answer.with_context(|| path.to_owned())
}
