//! Passwords: the cost of hashing, and its effect on other requests.

use std::time::Duration;

use serde_json::json;

use super::{Bench, Case, reads::p99};
use crate::{
    data::{self, Data, PASSWORD},
    load::{Load, Request, Sample},
    process::{Connection, Server},
    report::{Figure, Row, Target, Unit, has_avx512, median, ratio},
};

/// How many clients sign in without pause.
const SIGNING_IN: u32 = 16;
const READING: u32 = 32;

fn sign_ins(data: &Data) -> Vec<Request> {
    let request = |user| json!({ "username": user, "password": PASSWORD });
    let requests = data.users.iter().map(request);
    requests
        .map(|body| Request::post("/api/auth/sign-in", &body))
        .collect()
}

/// The processor time of a sign-in. Almost all of it is the hash; the rest is less than a hundredth.
pub fn hashing(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (data, portico, native) = bench.twins("hashing", 0, 8)?;
    let (portico, native) = (bench.portico(&portico)?, bench.native(&native)?);
    let requests = sign_ins(&data);
    for server in [&portico, &native] {
        Connection::new(server.address)?.ask(&requests[0].text())?;
    }
    let load = || Load {
        requests: &requests,
        connections: 1,
    };
    let [native, portico] = bench.interleave([Case(&native, load()), Case(&portico, load())])?;
    let processor = |sample: &Sample| sample.processor;
    let figure = |samples: &[Sample]| Figure::of(samples, Unit::ProcessorMicros, processor);
    let ratio = ratio(&portico, &native, processor);
    let row = Row::new(
        "processor time of a sign-in",
        figure(&native),
        figure(&portico),
        ratio,
    );
    // Compiled code multiplies 64-bit lanes in one instruction with AVX-512, and in several without.
    // docs/performance.md has figures of both.
    let most = if has_avx512() { 2.2 } else { 2.8 };
    Ok(vec![row.target(Target::AtMost(most))])
}

/// Reads alone, and while others sign in without pause.
///
/// Hashing threads are recognised by `hash` in their name or because they started after the server was ready.
/// All other time counts as reading, including what sign-ins cost besides hashing.
pub fn reads_beside_sign_ins(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let portico = bench.path("sign-ins");
    let data = data::seed(&portico, 1_000, 64)?;
    let portico = bench.portico(&portico)?;
    let first: Vec<u32> = portico.threads()?.into_keys().collect();
    let requests = sign_ins(&data);
    let signing_in = Load {
        requests: &requests,
        connections: SIGNING_IN,
    };
    let read = [Request::get(format!("/api/apps/{}", data.apps[0])).with_key(&data.keys[0])];
    let reading = Load {
        requests: &read,
        connections: READING,
    };
    let folder = bench.folder();
    // Seconds before reading starts and after it ends.
    let (before, after) = (1, 1);
    let seconds = bench.seconds;

    let (mut alone, mut beside, mut signed_in) = (Vec::new(), Vec::new(), Vec::new());
    reading.run(&portico, folder, 1)?;
    for round in 0..bench.rounds {
        eprint!("\r  round {} of {} ", round + 1, bench.rounds);
        alone.push(read_for(&portico, &first, || {
            reading.run(&portico, folder, seconds)
        })?);
        let others = signing_in.start(&portico, folder, "sign-ins", before + seconds + after)?;
        std::thread::sleep(Duration::from_secs(before.into()));
        beside.push(read_for(&portico, &first, || {
            reading.run(&portico, folder, seconds)
        })?);
        signed_in.push(others.finish()?);
    }
    eprintln!();

    let processor = |sample: &Sample| sample.processor;
    let figure = |samples: &[Sample]| Figure {
        processor_micros: None,
        ..Figure::of(samples, Unit::ProcessorMicros, processor)
    };
    let rates = |samples: &[Sample]| Figure {
        processor_micros: None,
        ..Figure::rate(samples)
    };
    let rate_of = median(signed_in.iter().map(|sample| sample.rate));
    Ok(vec![
        Row::new(
            "processor time of a read, alone against beside 16 who sign in",
            figure(&alone),
            figure(&beside),
            ratio(&beside, &alone, processor),
        )
        .target(Target::AtMost(1.25)),
        p99("p99 of reads, the same", &alone, &beside).target(Target::AtMost(5.0)),
        Row::new(
            format!("reads, the same ({rate_of:.0} sign-ins/s beside them)"),
            rates(&alone),
            rates(&beside),
            ratio(&beside, &alone, |sample| sample.rate),
        ),
    ])
}

/// Counts only the processor time of reading threads.
fn read_for(
    server: &Server,
    first: &[u32],
    load: impl FnOnce() -> anyhow::Result<Sample>,
) -> anyhow::Result<Sample> {
    let reading = || -> anyhow::Result<Duration> {
        let threads = server.threads()?.into_iter();
        let reading = threads.filter(|(id, thread)| first.contains(id) && !thread.name.contains("hash"));
        Ok(reading.map(|(_, thread)| thread.time).sum())
    };
    let before = reading()?;
    let sample = load()?;
    let time = reading()? - before;
    Ok(Sample {
        processor: time.as_secs_f64() * 1e6 / sample.answers,
        ..sample
    })
}
