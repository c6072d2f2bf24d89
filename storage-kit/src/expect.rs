//! Compares a result with the expected one.

use serde_json::{Value, json};

use crate::cases::Expectation;
use crate::expand::expand;
use crate::protocol::Answer;

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
            (Self::Error(expected), Answer::Error(got)) => {
                expected == "any" || same(&variant(expected), &variant(got))
            }
            _ => false,
        }
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
    let mut left: Vec<_> = got.iter().collect();
    let all = expected.iter().all(|one| {
        let found = left.iter().position(|other| same(one, other));
        found.map(|index| left.swap_remove(index)).is_some()
    });
    all && left.is_empty()
}

fn includes(expected: &[Value], got: &[Value]) -> bool {
    let mut rest = got.iter();
    expected.iter().all(|one| rest.any(|other| same(one, other)))
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
    }
}
