//! Compares a result with the expected one.

use serde_json::{Value, json};

use crate::cases::Expectation;
use crate::expand::expand;
use crate::protocol::Answer;

/// Where a list is not the expected one: the first such element.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference<'a> {
    /// Its number, from 1; `None` where the place does not matter.
    pub number: Option<usize>,
    /// What was expected; `None` if there should be no such element.
    pub expected: Option<&'a Value>,
    /// What the list has instead; `None` if it has nothing.
    pub got: Option<&'a Value>,
}

impl Expectation {
    /// With its placeholders expanded.
    pub(crate) fn expand(&self, marker: &str) -> Self {
        match self {
            Self::Ok(value) => Self::Ok(expand(value, marker)),
            Self::Unordered(value) => Self::Unordered(expand(value, marker)),
            Self::Includes(value) => Self::Includes(expand(value, marker)),
            Self::AtLeast(value) => Self::AtLeast(value.clone()),
            Self::Error(value) => Self::Error(value.clone()),
            Self::OneOf(each) => Self::OneOf(each.iter().map(|one| one.expand(marker)).collect()),
            Self::Success => Self::Success,
        }
    }

    pub(crate) fn is_met(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::OneOf(each), _) => each.iter().any(|one| one.is_met(answer)),
            (Self::Success, Answer::Ok(_)) => true,
            (Self::Ok(expected), Answer::Ok(got)) => same(expected, got),
            (Self::Unordered(expected), Answer::Ok(got)) => lists(expected, got, have_the_same),
            (Self::Includes(expected), Answer::Ok(got)) => lists(expected, got, includes),
            (Self::AtLeast(least), Answer::Ok(got)) => number(got) >= number(least) && got.is_number(),
            // `retry` is no answer of a case: whoever may get it is tried again.
            (Self::Error(expected), Answer::Error(_)) if expected == "any" => !answer.is_retry(),
            (Self::Error(expected), Answer::Error(got)) => same(&variant(expected), &variant(got)),
            _ => false,
        }
    }

    /// The first difference, if both are lists.
    pub(crate) fn difference<'a>(&'a self, answer: &'a Answer) -> Option<Difference<'a>> {
        let (Self::Ok(expected) | Self::Unordered(expected) | Self::Includes(expected)) = self else {
            return None;
        };
        let Answer::Ok(got) = answer else {
            return None;
        };
        let (expected, got) = (expected.as_array()?, got.as_array()?);
        let (number, expected, got) = match self {
            Self::Unordered(_) => {
                let (missing, left) = unmatched(expected, got);
                (None, missing.first().copied(), left.first().copied())
            }
            Self::Includes(_) => (None, first_missing(expected, got), None),
            _ => {
                let differs = |index: &usize| match (expected.get(*index), got.get(*index)) {
                    (Some(one), Some(other)) => !same(one, other),
                    _ => true,
                };
                let index = (0..expected.len().max(got.len())).find(differs)?;
                (Some(index + 1), expected.get(index), got.get(index))
            }
        };
        let differs = expected.is_some() || got.is_some();
        differs.then_some(Difference {
            number,
            expected,
            got,
        })
    }
}

/// An error where each case without a value is written as an object: `"retry"` as `{"retry": null}`, and the
/// same within `constraint`.
fn variant(error: &Value) -> Value {
    match error {
        Value::String(case) => json!({ case: null }),
        Value::Object(members) => {
            let each = members.iter().map(|(case, value)| match &case[..] {
                "constraint" => (case.clone(), variant(value)),
                _ => (case.clone(), value.clone()),
            });
            Value::Object(each.collect())
        }
        other => other.clone(),
    }
}

fn lists(expected: &Value, got: &Value, compare: fn(&[Value], &[Value]) -> bool) -> bool {
    match (expected, got) {
        (Value::Array(expected), Value::Array(got)) => compare(expected, got),
        _ => false,
    }
}

fn have_the_same(expected: &[Value], got: &[Value]) -> bool {
    let (missing, left) = unmatched(expected, got);
    missing.is_empty() && left.is_empty()
}

/// Those that are expected and not there, and those that are there and not expected.
fn unmatched<'a>(expected: &'a [Value], got: &'a [Value]) -> (Vec<&'a Value>, Vec<&'a Value>) {
    let mut left: Vec<_> = got.iter().collect();
    let mut missing = Vec::new();
    for one in expected {
        match left.iter().position(|other| same(one, other)) {
            Some(index) => {
                left.remove(index);
            }
            None => missing.push(one),
        }
    }
    (missing, left)
}

fn includes(expected: &[Value], got: &[Value]) -> bool {
    first_missing(expected, got).is_none()
}

/// The first that is not there after those before it.
fn first_missing<'a>(expected: &'a [Value], got: &[Value]) -> Option<&'a Value> {
    let mut rest = got.iter();
    expected.iter().find(|one| !rest.any(|other| same(one, other)))
}

/// Equal, where a number may be written as a floating point number (`2000.0`).
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), Value::Number(_)) => one == other || number(one) == number(other),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let equal =
                |(name, one): (&String, &Value)| others.get(name).is_some_and(|other| same(one, other));
            ones.len() == others.len() && ones.iter().all(equal)
        }
        _ => one == other,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_compared_with_each_kind_of_expectation() {
        let ok = |value: Value| Answer::Ok(value);
        for (expected, met, unmet) in [
            (
                Expectation::Ok(json!({"a": 1})),
                json!({"a": 1.0}),
                json!({"a": 1, "b": null}),
            ),
            (Expectation::Ok(json!(null)), json!(null), json!(false)),
            (
                Expectation::Unordered(json!([1, 2])),
                json!([2, 1]),
                json!([2, 1, 1]),
            ),
            (
                Expectation::Unordered(json!([1, 1])),
                json!([1, 1]),
                json!([1, 2]),
            ),
            (
                Expectation::Includes(json!([1, 3])),
                json!([0, 1, 2, 3]),
                json!([3, 1]),
            ),
            (Expectation::AtLeast(json!(3)), json!(3), json!(2)),
            (Expectation::AtLeast(json!(3)), json!(4), json!("4")),
        ] {
            assert!(expected.is_met(&ok(met.clone())), "{expected:?} {met}");
            assert!(!expected.is_met(&ok(unmet.clone())), "{expected:?} {unmet}");
            assert!(!expected.is_met(&Answer::Error(met)), "{expected:?}");
        }
        let either = Expectation::OneOf(vec![
            Expectation::Ok(json!(0)),
            Expectation::Error(json!({"constraint": {"id": null}})),
        ]);
        assert!(either.is_met(&ok(json!(0))));
        assert!(either.is_met(&Answer::Error(json!({"constraint": {"id": null}}))));
        assert!(!either.is_met(&ok(json!(1))));
        let too_large = Expectation::Error(json!({"too-large": null}));
        assert!(too_large.is_met(&Answer::Error(json!("too-large"))));
        let refused = Answer::Error(json!({"constraint": "identity"}));
        assert!(Expectation::Error(json!({"constraint": {"identity": null}})).is_met(&refused));
        assert!(Expectation::Error(json!("any")).is_met(&refused));
        assert!(!Expectation::Error(json!({"constraint": {"reference": null}})).is_met(&refused));
        assert!(!Expectation::Success.is_met(&refused));
        for retry in [json!("retry"), json!({"retry": null})] {
            assert!(!Expectation::Error(json!("any")).is_met(&Answer::Error(retry)));
        }
    }

    #[test]
    fn the_first_element_that_differs_is_found() {
        let (one, two, three) = (json!(1), json!(2), json!(3));
        let difference = |number, expected, got| {
            Some(Difference {
                number,
                expected,
                got,
            })
        };
        let answer = Answer::Ok(json!([1, 3]));
        for (expected, differs) in [
            (
                Expectation::Ok(json!([1, 2])),
                difference(Some(2), Some(&two), Some(&three)),
            ),
            (
                Expectation::Ok(json!([1, 3, 2])),
                difference(Some(3), Some(&two), None),
            ),
            (
                Expectation::Ok(json!([1])),
                difference(Some(2), None, Some(&three)),
            ),
            (
                Expectation::Unordered(json!([3, 2])),
                difference(None, Some(&two), Some(&one)),
            ),
            (
                Expectation::Includes(json!([3, 1])),
                difference(None, Some(&one), None),
            ),
            (Expectation::Ok(json!([1, 3])), None),
            (Expectation::Ok(json!(1)), None),
            (Expectation::Success, None),
        ] {
            assert_eq!(expected.difference(&answer), differs, "{expected}");
        }
    }
}
