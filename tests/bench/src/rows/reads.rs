//! Reading: one app, a hundred apps, fifty calls at once.

use anyhow::ensure;
use serde_json::json;

use super::{Bench, Case};
use crate::{
    data,
    load::{Load, Request, Sample},
    process::{Connection, Server},
    report::{Figure, Row, Target, Unit, ratio},
};

const APPS: usize = 10_000;
const USERS: usize = 1_000;
const CONNECTIONS: u32 = 32;

/// The calls in a batch.
const BATCH: usize = 50;

/// `GET /api/apps/{id}`, with one key, with many keys, and without a key.
pub fn by_id(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (data, portico, native) = bench.twins("apps", APPS, USERS)?;
    let (portico, native) = (bench.portico(&portico)?, bench.native(&native)?);
    let path = format!("/api/apps/{}", data.apps[APPS / 3]);
    let anonymous = [Request::get(&path)];
    let one_key = [Request::get(&path).with_key(&data.keys[0])];
    let keys = data.keys.iter().zip(&data.apps);
    let many_keys: Vec<_> = keys
        .map(|(key, app)| Request::get(format!("/api/apps/{app}")).with_key(key))
        .collect();
    for request in anonymous.iter().chain(&one_key).chain(many_keys.iter().take(5)) {
        same_answer(&portico, &native, request)?;
    }

    let mut rows = Vec::new();
    for (who, requests, least) in [
        ("one user's key", &one_key[..], 0.75),
        ("1,000 users' keys in turn", &many_keys[..], 0.45),
        ("anonymous", &anonymous[..], 0.42),
    ] {
        eprintln!("  {who}");
        let load = || Load {
            requests,
            connections: CONNECTIONS,
        };
        let fixed = [Request::get("/fixed")];
        let fixed = Load {
            requests: &fixed,
            ..load()
        };
        let cases = [
            Case(&native, fixed),
            Case(&native, load()),
            Case(&portico, load()),
        ];
        let [fixed, native, portico] = bench.interleave(cases)?;
        if rows.is_empty() {
            let work = format!("{who}, fixed bytes against native");
            // The share of HTTP and kernel time in native depends on the processor: 0.56 and 0.46 were seen.
            rows.push(rate(work, &fixed, &native).target(Target::AtLeast(0.4)));
            rows.push(rate(who, &native, &portico).target(Target::AtLeast(least)));
            rows.push(p99(format!("{who}, p99"), &native, &portico).target(Target::AtMost(1.5)));
        } else {
            rows.push(rate(who, &native, &portico).target(Target::AtLeast(least)));
            rows.push(p99(format!("{who}, p99"), &native, &portico));
        }
    }
    Ok(rows)
}

/// `GET /api/apps`, 100 apps.
pub fn list(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (data, portico, native) = bench.twins("list", 100, 1)?;
    let (portico, native) = (bench.portico(&portico)?, bench.native(&native)?);
    let requests = [Request::get("/api/apps").with_key(&data.keys[0])];
    same_answer(&portico, &native, &requests[0])?;
    let load = || Load {
        requests: &requests,
        connections: CONNECTIONS,
    };
    let [native, portico] = bench.interleave([Case(&native, load()), Case(&portico, load())])?;
    Ok(vec![
        rate("100 apps", &native, &portico).target(Target::AtLeast(0.5)),
    ])
}

/// Fifty queries in one request, and one after the other.
pub fn batch(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let portico = bench.path("batch");
    let data = data::seed(&portico, APPS, 1)?;
    let portico = bench.portico(&portico)?;
    let apps = &data.apps[..BATCH];
    let single: Vec<_> = apps
        .iter()
        .map(|id| {
            let input = escape(&json!({ "id": id }).to_string());
            Request::get(format!("/api/trpc/app.byId?input={input}")).with_key(&data.keys[0])
        })
        .collect();
    let inputs: serde_json::Map<_, _> = apps
        .iter()
        .enumerate()
        .map(|(index, id)| (index.to_string(), json!({ "id": id })))
        .collect();
    let input = escape(&serde_json::Value::from(inputs).to_string());
    let names = vec!["app.byId"; BATCH].join(",");
    let together = [Request::get(format!("/api/trpc/{names}?batch=1&input={input}")).with_key(&data.keys[0])];

    let mut connection = Connection::new(portico.address)?;
    let mut answers = Vec::new();
    for request in &single {
        answers.push(connection.ask(&request.text())?);
    }
    ensure!(
        connection.ask(&together[0].text())? == format!("[{}]", answers.join(",")),
        "a batch answers something else than its calls one by one"
    );

    let load = |requests| Load {
        requests,
        connections: 1,
    };
    let cases = [Case(&portico, load(&single)), Case(&portico, load(&together))];
    let [single, together] = bench.interleave(cases)?;
    let of_50 = |sample: &Sample| BATCH as f64 * 1e6 / sample.rate;
    let whole = |sample: &Sample| 1e6 / sample.rate;
    let mut one_by_one = Figure::of(&single, Unit::Micros, of_50);
    one_by_one.processor_micros = one_by_one.processor_micros.map(|micros| micros * BATCH as f64);
    let together_figure = Figure::of(&together, Unit::Micros, whole);
    let ratios = together.iter().zip(&single);
    let ratio = crate::report::median(ratios.map(|(together, single)| whole(together) / of_50(single)));
    let row = Row::new(
        "50 queries, one by one against in one request",
        one_by_one,
        together_figure,
        ratio,
    );
    Ok(vec![row.target(Target::AtMost(0.25))])
}

/// Fails unless both servers answer the same bytes.
pub fn same_answer(portico: &Server, native: &Server, request: &Request) -> anyhow::Result<()> {
    let ask = |server: &Server| Connection::new(server.address)?.ask(&request.text());
    let (portico, native) = (ask(portico)?, ask(native)?);
    ensure!(
        portico == native,
        "Portico answers {portico}, and the native handlers {native}"
    );
    Ok(())
}

/// A row of requests per second.
pub fn rate(work: impl Into<String>, native: &[Sample], portico: &[Sample]) -> Row {
    let ratio = ratio(portico, native, |sample| sample.rate);
    Row::new(work, Figure::rate(native), Figure::rate(portico), ratio)
}

/// A row of the 99th percentile of the latency.
pub fn p99(work: impl Into<String>, native: &[Sample], portico: &[Sample]) -> Row {
    let p99 = |sample: &Sample| sample.p99;
    let figure = |samples: &[Sample]| Figure {
        processor_micros: None,
        ..Figure::of(samples, Unit::Micros, p99)
    };
    Row::new(work, figure(native), figure(portico), ratio(portico, native, p99))
}

/// Escapes text for a query string.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => escaped.push(byte.into()),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
