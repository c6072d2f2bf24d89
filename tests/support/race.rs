//! Calls that are sent at the same moment.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Barrier;
use std::thread;

use serde_json::Value;

use crate::{Answer, raw};

/// Sends these calls of one procedure at the same moment, each on a connection of its own, to the services at
/// these addresses in turn. Each call may have an API key or the token of a session.
#[track_caller]
pub fn race(addresses: &[String], procedure: &str, calls: &[(Option<&str>, Value)]) -> Vec<Answer> {
    let barrier = Barrier::new(calls.len());
    thread::scope(|scope| {
        let threads: Vec<_> = calls
            .iter()
            .zip(addresses.iter().cycle())
            .map(|((key, input), address)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let bearer = key.map(|key| format!("Bearer {key}"));
                    let headers: Vec<_> = bearer
                        .iter()
                        .map(|value| ("authorization", value.as_str()))
                        .collect();
                    let path = format!("/api/trpc/{procedure}");
                    let request = raw::with_json("POST", &path, &headers, &input.to_string());
                    let mut stream = raw::connect(address);
                    barrier.wait();
                    stream.write_all(request.as_bytes()).expect("send");
                    raw::read_answer(&mut stream, request.as_bytes())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    })
}

/// How many answers have each status.
pub fn count_statuses(answers: &[Answer]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.status).or_default() += 1;
    }
    counts
}
