//! Searching: the cost with many apps, compared with few.

use anyhow::ensure;
use serde_json::Value;

use super::{Bench, Case};
use crate::{
    data::{COMMON, NEVER, ONCE, RARE},
    load::{Load, Request},
    process::Connection,
    report::{Figure, Row, Target, Unit, ratio},
};

const FEW: usize = 1_000;
const MANY: usize = 100_000;

/// The default number of hits that a search returns.
const DEFAULT_LIMIT: usize = 10;

/// `GET /api/apps/search` by name, on one connection: the time of a search.
pub fn search(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (few_data, many_data) = (bench.path("few"), bench.path("many"));
    let few_key = crate::data::seed(&few_data, FEW, 1)?.keys.remove(0);
    let many_key = crate::data::seed(&many_data, MANY, 1)?.keys.remove(0);
    let (few, many) = (bench.portico(&few_data)?, bench.portico(&many_data)?);

    let mut rows = Vec::new();
    for (what, word, in_few, in_many) in [
        ("a word in every name", COMMON, DEFAULT_LIMIT, DEFAULT_LIMIT),
        ("a word in one of a thousand names", RARE, 1, DEFAULT_LIMIT),
        ("one hit", ONCE, 1, 1),
        ("no hit", NEVER, 0, 0),
    ] {
        eprintln!("  {what}");
        let request = |key: &str| [Request::get(format!("/api/apps/search?query={word}")).with_key(key)];
        let (few_request, many_request) = (request(&few_key), request(&many_key));
        for (server, [request], expected) in [(&few, &few_request, in_few), (&many, &many_request, in_many)] {
            let hits = Connection::new(server.address)?.ask(&request.text())?;
            let hits: Vec<Value> = serde_json::from_str(&hits)?;
            ensure!(
                hits.len() == expected,
                "{word} has {} hits, not {expected}",
                hits.len()
            );
            let names: Vec<_> = hits.iter().map(|hit| hit["name"].as_str()).collect();
            ensure!(names.is_sorted(), "hits are not ordered by name");
        }
        let load = |requests| Load {
            requests,
            connections: 1,
        };
        let cases = [Case(&few, load(&few_request)), Case(&many, load(&many_request))];
        let [few, many] = bench.interleave(cases)?;
        let figure = |samples: &[_]| Figure::of(samples, Unit::Micros, |sample| 1e6 / sample.rate);
        let row = Row::new(
            format!("{what}, in 1,000 apps against in 100,000"),
            figure(&few),
            figure(&many),
            ratio(&few, &many, |sample| sample.rate),
        );
        rows.push(row.target(Target::AtMost(3.0)));
    }
    Ok(rows)
}
