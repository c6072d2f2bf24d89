//! How the steps were distributed: twenty thousand refusals would prove nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{generate, side::Outcome, steps::Step};

#[derive(Default)]
pub struct Distribution(BTreeMap<String, BTreeMap<String, usize>>);

impl Distribution {
    pub fn note(&mut self, step: &Step, outcome: &Outcome) {
        let codes = self.0.entry(step.action.name().to_owned()).or_default();
        *codes.entry(outcome.code.clone()).or_default() += 1;
    }

    pub fn steps(&self) -> usize {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    /// Those with fewer successes than this.
    pub fn rarer_than(&self, floor: usize) -> Vec<String> {
        generate::names()
            .map(|name| (name, self.count(name, "OK")))
            .filter(|(_, successes)| *successes < floor)
            .map(|(name, successes)| format!("{name}: {successes}"))
            .collect()
    }

    pub fn successes(&self) -> usize {
        self.0.keys().map(|name| self.count(name, "OK")).sum()
    }

    fn count(&self, name: &str, code: &str) -> usize {
        let count = self.0.get(name).and_then(|codes| codes.get(code));
        count.copied().unwrap_or_default()
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: BTreeSet<_> = self.0.values().flat_map(BTreeMap::keys).collect();
        write!(formatter, "{:30}{:>8}", "", "steps")?;
        for code in &codes {
            write!(formatter, "  {code}")?;
        }
        writeln!(formatter)?;
        for (name, counts) in &self.0 {
            write!(formatter, "{name:30}{:>8}", counts.values().sum::<usize>())?;
            for code in &codes {
                write!(
                    formatter,
                    "  {:>width$}",
                    self.count(name, code),
                    width = code.len()
                )?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}
