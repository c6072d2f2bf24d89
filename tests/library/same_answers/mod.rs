//! The same answers from every storage driver: random sequences of procedures, by callers of every
//! kind, against memory and SQLite, and against memory and PostgreSQL.
//!
//! Both sides are whole services in this process, with the component that ships; the clock and all
//! random bytes are the test's, so that ids and tokens are the same on both. Every step must have the same
//! output or error on both, lists in the same order included. Their states are compared now and then and at
//! the end; each state must also keep the rules that hold at any time.
//!
//! Each sequence follows from a seed. Those of `seeds.txt` are run always. `make soak` also draws new ones, and adds
//! one that fails to the file. A sequence that fails is made as small as it gets, and shown with its seed:
//! `PORTICO_TEST_SEED=… cargo nextest run -p portico-tests --test library every_driver_gives_the_same_answers`.

mod documents;
mod generate;
mod inputs;
mod second_factors;
mod shrink;
mod side;
mod state;
mod steps;
mod texts;
mod world;

use std::{fs, io::Write, sync::Arc};

use generate::Generator;
use portico_tests::{given_seed, new_seed, postgresql::Postgresql, repository, rounds_from_environment};
use serde_json::Value;
use side::{Outcome, Side};
use steps::{Step, plain};

/// The seeds that are always run, a line for each.
const SEEDS: &str = "tests/library/same_answers/seeds.txt";

/// How many steps follow from a seed. The first is taken before a user exists, and there are few enough to be made fewer.
const STEPS: usize = 400;

/// The state is compared after this many steps, and at the end.
const STEPS_BETWEEN_LOOKS: usize = 50;

/// What went wrong at the last step.
struct Difference(String);

/// The driver that is compared with the one in memory.
#[derive(Clone)]
enum Driver {
    Sqlite,
    Postgresql(Arc<Postgresql>),
}

struct Pair {
    memory: Side,
    other: Side,
    there_was_an_admin: bool,
}

impl Pair {
    async fn new(driver: &Driver) -> Self {
        let other = async {
            match driver {
                Driver::Sqlite => Side::sqlite().await,
                Driver::Postgresql(server) => Side::postgresql(server).await,
            }
        };
        let (memory, other) = tokio::join!(Side::memory(), other);
        Self {
            memory,
            other,
            there_was_an_admin: false,
        }
    }

    /// Takes a step on both sides.
    async fn take(&self, step: &Step) -> Result<Outcome, Difference> {
        let (memory, other) = tokio::join!(self.memory.take(step), self.other.take(step));
        if memory != other {
            return Err(differ("the answers", &memory.text, &other.text));
        }
        if matches!(
            memory.code.as_str(),
            "INTERNAL_SERVER_ERROR" | "SERVICE_UNAVAILABLE" | "TIMEOUT"
        ) {
            return Err(Difference(format!("no caller can be blamed for {}", memory.text)));
        }
        Ok(memory)
    }

    /// Compares everything that is stored, and checks that it is a valid state.
    async fn look(&mut self) -> Result<(), Difference> {
        let (memory, other) = tokio::join!(state::export(&self.memory), state::export(&self.other));
        for (part, memory) in memory.as_object().expect("the parts of the state") {
            let other = &other[part];
            if memory != other {
                return Err(differ(part, &memory.to_string(), &other.to_string()));
            }
        }
        let mut faults = state::faults(&self.memory, &memory).await;
        let is_there_an_admin = state::has_admin(&memory["groups"]);
        if self.there_was_an_admin && !is_there_an_admin {
            faults.push("the last administrator is gone".into());
        }
        self.there_was_an_admin = is_there_an_admin;
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Difference(faults.join("\n")))
        }
    }
}

fn differ(what: &str, memory: &str, other: &str) -> Difference {
    let common = memory.chars().zip(other.chars());
    let common = common.take_while(|(memory, other)| memory == other).count();
    let from = |text: &str| plain(&text.chars().skip(common.saturating_sub(60)).collect::<String>());
    Difference(format!(
        "{what} differ at character {common}\n    memory: …{}\n    database: …{}",
        from(memory),
        from(other)
    ))
}

/// Runs a whole sequence again on fresh sides, and looks at their state at its end.
async fn run(driver: &Driver, steps: &[Step]) -> Result<(), Difference> {
    let mut pair = Pair::new(driver).await;
    for step in steps {
        pair.take(step).await?;
        // Whether the last administrator went can only be seen by looking often.
        if step.action.name().starts_with("group.")
            || ["user.delete", "state.apply"].contains(&step.action.name())
        {
            pair.there_was_an_admin |= state::has_admin(&pair.memory.ask("group.getAll", Value::Null).await);
        }
    }
    pair.look().await
}

/// Takes the steps that follow from this seed; gives the sequence so far if it fails.
async fn run_seed(driver: &Driver, seed: u64) -> Result<(), Vec<Step>> {
    let mut pair = Pair::new(driver).await;
    let mut generator = Generator::new(seed, &pair.memory.service.table);
    let mut steps = Vec::new();
    for number in 1..=STEPS {
        let step = generator.step(number);
        steps.push(step.clone());
        let Ok(outcome) = pair.take(&step).await else {
            return Err(steps);
        };
        generator.learn(&step, &outcome);
        if (number % STEPS_BETWEEN_LOOKS == 0 || number == STEPS) && pair.look().await.is_err() {
            return Err(steps);
        }
    }
    Ok(())
}

/// Makes a failing sequence small and says all about it.
async fn explain(driver: &Driver, seed: u64, steps: Vec<Step>) -> String {
    let length = steps.len();
    let (steps, tries) = shrink::shrink(steps, async |steps| run(driver, steps).await.is_err()).await;
    let what = match run(driver, &steps).await {
        Err(Difference(what)) => what,
        Ok(()) => "it does not fail again: something that no step says plays a part".into(),
    };
    let shown: Vec<_> = steps.iter().map(|step| format!("  {step}")).collect();
    format!(
        "PORTICO_TEST_SEED={seed}: {length} steps made {} in {tries} tries\n{}\n  {what}",
        steps.len(),
        shown.join("\n")
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_driver_gives_the_same_answers() {
    assert_same_answers(&Driver::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "make test-all"]
async fn every_driver_gives_the_same_answers_as_postgresql() {
    assert_same_answers(&Driver::Postgresql(Arc::new(Postgresql::shared()))).await;
}

async fn assert_same_answers(driver: &Driver) {
    let kept = kept_seeds();
    let seeds = match given_seed() {
        Some(seed) => vec![seed],
        None => kept.clone(),
    };
    let new = (0..rounds_from_environment(0)).map(|_| new_seed());
    for seed in seeds.into_iter().chain(new) {
        if let Err(steps) = run_seed(driver, seed).await {
            if !kept.contains(&seed) {
                keep_seed(seed);
            }
            panic!("{}", explain(driver, seed, steps).await);
        }
    }
}

fn kept_seeds() -> Vec<u64> {
    let text = fs::read_to_string(repository().join(SEEDS)).expect("the seeds");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().expect("a seed")).collect()
}

fn keep_seed(seed: u64) {
    let file = fs::OpenOptions::new().append(true).open(repository().join(SEEDS));
    writeln!(file.expect("the seeds"), "{seed}").expect("keep the seed");
}
