//! What came of a run, in words.

use std::fmt;

use serde_json::Value;

use crate::cases::{Case, Expectation};
use crate::protocol::Answer;

/// Of a value in the report, so many characters.
const SHOWN: usize = 600;

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// What the implementation calls itself.
    pub name: String,
    /// Each case that was tried, in order.
    pub outcomes: Vec<(Case, Outcome)>,
    /// Why the run ended before its last case.
    pub broken: Option<String>,
}

/// What came of a case.
#[derive(Debug)]
pub enum Outcome {
    /// The rule is kept.
    Kept,
    /// It could not be tried, for this reason.
    Skipped(String),
    /// The rule is broken.
    Broken(Box<Failure>),
}

/// Where a rule was broken.
#[derive(Debug)]
pub struct Failure {
    /// Which step of the case, from 1.
    pub step: usize,
    /// In which transaction.
    pub transaction: Option<String>,
    /// The function that was called.
    pub call: String,
    /// With these arguments.
    pub arguments: Value,
    /// What was expected.
    pub expected: Expectation,
    /// What was answered; none: nothing.
    pub got: Option<Answer>,
}

impl Report {
    /// Whether no rule was found to be broken.
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

    /// The cases that could not be tried, each with the reason.
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
            shown(&self.arguments.to_string())
        )?;
        let (word, value) = match &self.expected {
            Expectation::Ok(value) => ("ok", value.to_string()),
            Expectation::Unordered(value) => ("ok, in any order", value.to_string()),
            Expectation::Includes(value) => ("ok, with these in it in this order", value.to_string()),
            Expectation::AtLeast(value) => ("ok, at least", value.to_string()),
            Expectation::Error(value) => ("error", value.to_string()),
            Expectation::Success => ("ok", String::new()),
        };
        writeln!(formatter, "  expected  {word} {}", shown(&value))?;
        match &self.got {
            Some(Answer::Ok(value)) => write!(formatter, "  got       ok {}", shown(&value.to_string())),
            Some(Answer::Error(value)) => {
                write!(formatter, "  got       error {}", shown(&value.to_string()))
            }
            None => write!(
                formatter,
                "  got       no answer in time, though no other transaction is open"
            ),
        }
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} … ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
