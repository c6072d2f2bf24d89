//! Writing: every answer is durable.

use anyhow::ensure;
use serde_json::{Value, json};

use super::{Bench, Case, reads::rate};
use crate::{
    disk,
    load::{Load, Request, Sample},
    process::{Connection, Server},
    report::{Figure, Row, Target, Unit, median, ratio},
};

/// `POST /api/apps`, compared with native handlers with a transaction for each call and with shared commits.
/// If the disk is faster than the usual one, also on a simulated disk of the usual speed, to which the
/// targets apply.
pub fn create(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    if disk::time_of_a_page(bench.folder())? >= disk::USUAL {
        return create_on(bench, None, true);
    }
    let slow = disk::SlowDisk::new(&bench.this, bench.folder())?;
    let mut rows = create_on(bench, Some(slow), true)?;
    rows.extend(create_on(bench, None, false)?);
    Ok(rows)
}

/// The rows for one disk.
fn create_on(bench: &Bench, slow: Option<disk::SlowDisk>, has_targets: bool) -> anyhow::Result<Vec<Row>> {
    let disk = match slow {
        Some(_) => format!("a disk of {} us", disk::USUAL.as_micros()),
        None => "this machine's disk".to_owned(),
    };
    eprintln!("  {disk}");
    let bench = bench.on_disk(slow);
    let (data, portico, native) = bench.twins("written", 1_000, 1)?;
    let (portico, native) = (bench.portico(&portico)?, bench.native(&native)?);
    let post = |path: &str| [Request::post(path, &new_app()).with_key(&data.keys[0])];
    let (shared, one_by_one) = (post("/api/apps"), post("/api/apps/one-by-one"));
    let expected = created(&portico, &shared[0])?;
    for request in [&shared[0], &one_by_one[0]] {
        ensure!(
            created(&native, request)? == expected,
            "the native handlers create something else"
        );
    }

    let mut rows = Vec::new();
    for connections in [32, 1] {
        let load = |requests| Load {
            requests,
            connections,
        };
        eprintln!("  {connections} connections");
        let [own, sharing, portico] = bench.interleave([
            Case(&native, load(&one_by_one)),
            Case(&native, load(&shared)),
            Case(&portico, load(&shared)),
        ])?;
        let who = match connections {
            1 => format!("1 connection, {disk}"),
            connections => format!("{connections} connections, {disk}"),
        };
        let with_target = |row: Row, target| if has_targets { row.target(target) } else { row };
        let row = rate(format!("{who}, one transaction per call"), &own, &portico);
        rows.push(with_target(
            row,
            Target::AtLeast(least(connections, &own, &sharing)),
        ));
        if connections > 1 {
            let row = spread(format!("{who}, p50 against p99 of Portico"), &portico);
            rows.push(with_target(row, Target::AtMost(12.0)));
        }
        rows.push(rate(
            format!("{who}, natively with shared commits"),
            &sharing,
            &portico,
        ));
    }
    Ok(rows)
}

/// What is sent to create an app.
pub fn new_app() -> Value {
    json!({
        "name": " Jellyfin ",
        "iconUrl": "https://icons.example/svg/jellyfin.svg",
        "description": "Films and series",
        "href": "https://jellyfin.home.example/",
    })
}

/// The target, relative to a transaction for each call. On one connection, the component and its
/// surroundings add to the time of the disk. On many connections, the processor is the limit: if even native
/// handlers with shared commits do not reach four times as much with a quarter to spare, the target is three
/// quarters of what they reach.
fn least(connections: u32, own: &[Sample], sharing: &[Sample]) -> f64 {
    match connections {
        1 => 0.85,
        _ => {
            let least = 0.75 * ratio(sharing, own, |sample| sample.rate);
            (least * 100.0).round().min(400.0) / 100.0
        }
    }
}

/// How much longer the slowest answers take than most.
fn spread(work: String, samples: &[Sample]) -> Row {
    let figure = |of: fn(&Sample) -> f64| Figure::new(median(samples.iter().map(of)), Unit::Micros);
    let ratio = median(samples.iter().map(|sample| sample.p99 / sample.p50));
    let (p50, p99) = (figure(|sample| sample.p50), figure(|sample| sample.p99));
    Row::new(work, p50, p99, ratio)
}

/// The fields of a created app, without its id.
pub fn created(server: &Server, request: &Request) -> anyhow::Result<Value> {
    let answer = Connection::new(server.address)?.ask(&request.text())?;
    let mut app: Value = serde_json::from_str(&answer)?;
    ensure!(
        app["id"].is_string() && app["id"] == app["appId"],
        "no id: {answer}"
    );
    app["id"].take();
    app["appId"].take();
    Ok(app)
}
