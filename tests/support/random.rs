//! Random numbers that can be had again.

use std::time::{SystemTime, UNIX_EPOCH};

/// A small generator of random numbers (xorshift), so that a failure can be run again.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Numbers that follow from this one.
    pub fn new(seed: u64) -> Self {
        // Near zero it takes a while to become random, and it stays at zero for ever.
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        random.next();
        random
    }

    /// Numbers from `PORTICO_TEST_SEED`, or others each time; the seed is printed.
    pub fn from_environment() -> Self {
        let seed = match std::env::var("PORTICO_TEST_SEED") {
            Ok(seed) => seed.parse().expect("PORTICO_TEST_SEED is a number"),
            Err(_) => {
                let clock = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
                clock.as_nanos() as u64
            }
        };
        println!("to choose the same again: PORTICO_TEST_SEED={seed}");
        Self::new(seed)
    }

    /// A generator of its own for somebody else.
    pub fn split(&mut self) -> Self {
        Self::new(self.next())
    }

    /// A number below this one.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of these; none if there is none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        (!choices.is_empty()).then(|| &choices[self.below(choices.len())])
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
