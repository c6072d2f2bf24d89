//! The results of a run, as text.

use std::fmt;

use serde_json::Value;

use crate::cases::{Case, Expectation};
use crate::expect::Difference;
use crate::protocol::Answer;

/// The most characters of a value in the report.
const MAX_SHOWN: usize = 600;

/// The results of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// The name that the implementation gave itself.
    pub name: String,
    /// Each case that ran, with its result, in order.
    pub outcomes: Vec<(Case, Outcome)>,
    /// Why the run ended before its last case.
    pub broken: Option<String>,
}

/// The result of a case.
#[derive(Debug)]
pub enum Outcome {
    /// The rule is satisfied.
    Kept,
    /// It could not run, for this reason.
    Skipped(String),
    /// The rule is broken.
    Broken(Box<Failure>),
}

/// Where a rule was broken.
#[derive(Debug)]
pub struct Failure {
    /// The number of the step, from 1; 0 where the runner looks whether the case's need is met.
    pub step: usize,
    /// The transaction; `None` for a call of the bridge.
    pub transaction: Option<String>,
    /// The function that was called.
    pub call: String,
    /// Its arguments.
    pub arguments: Value,
    /// The expected result.
    pub expected: Expectation,
    /// The result; `None` if there was no response in time.
    pub got: Option<Answer>,
}

impl Report {
    /// Whether the run reached its last case and no rule was broken.
    pub fn is_kept(&self) -> bool {
        self.broken.is_none() && self.failures().next().is_none()
    }

    /// The cases whose rule is broken.
    pub fn failures(&self) -> impl Iterator<Item = (&Case, &Failure)> {
        self.outcomes.iter().filter_map(|(case, outcome)| match outcome {
            Outcome::Broken(failure) => Some((case, &**failure)),
            _ => None,
        })
    }

    /// The cases that could not run, each with the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&Case, &str)> {
        self.outcomes.iter().filter_map(|(case, outcome)| match outcome {
            Outcome::Skipped(reason) => Some((case, &reason[..])),
            _ => None,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, failure) in self.failures() {
            writeln!(formatter, "BROKEN {}: {}", case.file, case.name)?;
            writeln!(formatter, "  rule      {}", case.rule)?;
            writeln!(formatter, "{failure}\n")?;
        }
        for (case, reason) in self.skipped() {
            writeln!(formatter, "skipped {}: {} ({reason})", case.file, case.name)?;
        }
        let (broken, skipped) = (self.failures().count(), self.skipped().count());
        let kept = self.outcomes.len() - broken - skipped;
        write!(
            formatter,
            "{}: {kept} cases kept, {broken} broken, {skipped} skipped",
            self.name
        )?;
        match &self.broken {
            Some(reason) => write!(formatter, "; ended before its last case: {reason}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.transaction {
            Some(name) => format!(" in transaction {name}"),
            None => " of the bridge".into(),
        };
        writeln!(
            formatter,
            "  step {:<4} `{}`{place}, {}",
            self.step,
            self.call,
            shortened(&self.arguments.to_string())
        )?;
        writeln!(formatter, "  expected  {}", self.expected)?;
        let Some(got) = &self.got else {
            return write!(
                formatter,
                "  got       no answer in time, though no other transaction is open"
            );
        };
        write!(formatter, "  got       {got}")?;
        if got.is_retry() {
            write!(formatter, ", though no other transaction is open")?;
        }
        match self.expected.difference(got) {
            Some(difference) => write!(formatter, "\n  differs   {difference}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, value) = match self {
            Self::Ok(value) => ("ok", value),
            Self::Error(value) => ("error", value),
        };
        write!(formatter, "{word} {}", shortened(&value.to_string()))
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.number {
            write!(formatter, "element {number}: ")?;
        }
        let text = |value: Option<&Value>| match value {
            Some(value) => shortened(&value.to_string()),
            None => "nothing".into(),
        };
        write!(
            formatter,
            "expected {}, got {}",
            text(self.expected),
            text(self.got)
        )
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, value) = match self {
            Self::Ok(value) => ("ok", value),
            Self::Unordered(value) => ("ok, in any order", value),
            Self::Includes(value) => ("ok, with these in it in this order", value),
            Self::AtLeast(value) => ("ok, at least", value),
            Self::Error(value) => ("error", value),
            Self::Success => return formatter.write_str("ok"),
            Self::OneOf(each) => {
                for (number, one) in each.iter().enumerate() {
                    let or = if number == 0 { "" } else { ", or " };
                    write!(formatter, "{or}{one}")?;
                }
                return Ok(());
            }
        };
        write!(formatter, "{words} {}", shortened(&value.to_string()))
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{} … ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
