//! Random choices that can be repeated: all of them follow from a seed.

use std::str::FromStr;
use std::sync::{Arc, Mutex};

use portico_storage::secrets;

/// How many rounds a test has: as many as usual, or `PORTICO_TEST_ROUNDS`, which `make soak` sets.
pub fn rounds_from_environment(usual: usize) -> usize {
    number("PORTICO_TEST_ROUNDS").unwrap_or(usual)
}

/// The seed in `PORTICO_TEST_SEED`, with which a failure is repeated.
pub fn given_seed() -> Option<u64> {
    number("PORTICO_TEST_SEED")
}

/// A seed that is another one each time.
pub fn new_seed() -> u64 {
    fastrand::u64(..1_000_000_000)
}

fn number<N: FromStr>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse().ok();
    assert!(number.is_some(), "{variable} is not a number: {text}");
    number
}

/// A generator of random choices.
#[derive(Clone)]
pub struct Random(fastrand::Rng);

impl Random {
    /// The same choices in each run, unless `PORTICO_TEST_SEED` holds a seed; in `make soak` new ones, whose seed is
    /// printed.
    pub fn from_environment() -> Self {
        let seed = given_seed().unwrap_or_else(|| match rounds_from_environment(0) {
            0 => 1,
            _ => new_seed(),
        });
        println!("to repeat the same choices: PORTICO_TEST_SEED={seed}");
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Another generator, which follows from this one.
    pub fn split(&mut self) -> Self {
        Self(self.0.fork())
    }

    /// A number below this one.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    /// One of these; `None` if the list is empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        self.0.choice(choices)
    }
}

/// Random bytes for a service, which follow from a seed.
pub struct SeededBytes(Mutex<fastrand::Rng>);

impl SeededBytes {
    /// Bytes that follow from this seed.
    pub fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self(Mutex::new(fastrand::Rng::with_seed(seed))))
    }

    /// From now on the bytes follow from this seed.
    pub fn reseed(&self, seed: u64) {
        self.0.lock().expect("the lock").seed(seed);
    }
}

impl secrets::Random for SeededBytes {
    fn fill(&self, buffer: &mut [u8]) {
        self.0.lock().expect("the lock").fill(buffer);
    }
}
