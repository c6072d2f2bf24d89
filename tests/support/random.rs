//! Random choices that can be repeated: all of them follow from a seed.

use std::sync::{Arc, Mutex};

use portico_storage::secrets;

/// The variable that holds the seed.
const SEED: &str = "PORTICO_TEST_SEED";

/// The seed from `PORTICO_TEST_SEED`, or a new one for each run. It is printed, so that a failure can
/// be repeated.
pub fn seed_from_environment() -> u64 {
    let seed = match std::env::var(SEED) {
        Ok(seed) => seed
            .parse()
            .unwrap_or_else(|_| panic!("{SEED} is not a number: {seed}")),
        Err(_) => fastrand::u64(..1_000_000_000),
    };
    println!("to repeat the same choices: {SEED}={seed}");
    seed
}

/// A generator of random choices.
#[derive(Clone)]
pub struct Random(fastrand::Rng);

impl Random {
    /// Choices that follow from the seed of [`seed_from_environment`].
    pub fn from_environment() -> Self {
        Self(fastrand::Rng::with_seed(seed_from_environment()))
    }

    /// Another generator, which follows from this one.
    pub fn split(&mut self) -> Self {
        Self(self.0.fork())
    }

    /// A number below this one.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    /// One of these; none if the list is empty.
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
