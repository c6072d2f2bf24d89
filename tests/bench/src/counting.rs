//! What is counted of one `GET /api/apps/{id}`, alone: the counters count whether `--metrics` publishes them or not, so two
//! hosts cannot be compared.

use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use portico_metrics::{Counter, Family, Gauge, Histogram, Waits};

use crate::table::median;

type Outcomes<K> = Family<K, Histogram>;

static REQUESTS: Family<String, Outcomes<(&str, u16)>> =
    Family::new(512, || Family::new(128, Histogram::of_requests));
static CALLS: Family<&str, Outcomes<&str>> = Family::new(512, || Family::new(32, Histogram::of_requests));
static ACTIVE: Gauge = Gauge::new();
static RUNNING: Gauge = Gauge::new();
static WARM: Counter = Counter::new();
static PLACES: Waits = Waits::new();
static READING: Waits = Waits::new();

/// How many labels a busy host has, and how many calls each thread counts in a round.
const LABELS: usize = 200;
const CALLS_OF_A_ROUND: u32 = 1_000_000;
const THREADS: usize = 2;

/// The nanoseconds of one call, counted on two threads at once. The clock is read as often as the host does for metrics.
pub fn nanoseconds(rounds: usize) -> anyhow::Result<f64> {
    for number in 0..LABELS {
        count(
            &format!("/api/{number}/{{id}}"),
            format!("procedure.{number}").leak(),
        );
    }
    let mut figures = Vec::new();
    for _ in 0..rounds {
        let threads = [(); THREADS].map(|()| thread::spawn(count_round));
        for thread in threads {
            let time: Duration = thread.join().ok().context("a thread that counts")?;
            figures.push(time.as_secs_f64() * 1e9 / f64::from(CALLS_OF_A_ROUND));
        }
    }
    Ok(median(figures))
}

fn count_round() -> Duration {
    let started = Instant::now();
    for _ in 0..CALLS_OF_A_ROUND {
        count(black_box("/api/apps/{id}"), black_box("app.byId"));
    }
    started.elapsed()
}

fn count(route: &str, procedure: &'static str) {
    let started = Instant::now();
    let (_active, _running) = (ACTIVE.hold(), RUNNING.hold());
    WARM.increment();
    PLACES.time.observe(Instant::now().elapsed());
    // The caller, and the app.
    for _ in 0..2 {
        READING.time.observe(Instant::now().elapsed());
    }
    let time = started.elapsed();
    CALLS.record(&procedure, |outcomes| {
        outcomes.record(&"OK", |times| times.observe(time));
    });
    REQUESTS.record(route, |answers| {
        answers.record(&("GET", 200), |times| times.observe(time));
    });
}
