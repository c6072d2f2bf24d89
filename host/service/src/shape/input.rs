//! Reading inputs by their shapes.
//!
//! Values are never coerced: `"5"` is not a number, and `2.5` is not an integer; `5.0` is 5, because JSON has one
//! type of number. Unknown keys are ignored, except where a shape lists all ([`Shape::Exact`]).

use portico_model::{PathSegment, error::Error, time};
use portico_rules::{
    rule::{Plain, Rule},
    sentences::{Numeral, Word},
};
use serde_json::{Map, Number, Value};

use super::{Field, Shape};
use crate::issues::Issues;

/// How much of an unknown key a refusal shows, in characters.
const LONGEST_KEY: usize = 64;

impl Shape {
    /// Checks an input, and normalises it for deserialisation into Rust's types.
    pub fn check(&self, input: Option<Value>) -> Result<Value, Error> {
        self.check_with(Check::default(), input)
    }

    /// The same, and refuses every text with U+0000: not every database can store it, or search for it.
    pub fn check_storable(&self, input: Option<Value>) -> Result<Value, Error> {
        let check = Check {
            only_storable: true,
            ..Check::default()
        };
        self.check_with(check, input)
    }

    fn check_with(&self, mut check: Check, input: Option<Value>) -> Result<Value, Error> {
        let value = match (self.plain(), input) {
            (Self::Nothing, _) | (Self::Optional(_), None) => Value::Null,
            (_, None) => {
                check.refuse(Rule::Required { noun: self.noun() });
                Value::Null
            }
            (shape, Some(mut value)) => {
                check.value(shape, &mut value);
                value
            }
        };
        check.issues.check()?;
        Ok(value)
    }

    /// Reads an input from the keys and values of a query string: numbers are decimal digits,
    /// booleans `true` or `false`, and no key comes twice.
    pub fn read_query(&self, pairs: Vec<(String, String)>) -> Result<Option<Value>, Error> {
        let Some(fields) = self.fields() else {
            return Ok(None);
        };
        let mut input = Map::new();
        let mut issues = Issues::default();
        for (key, text) in pairs {
            let refusal = if input.contains_key(&key) {
                Some(Rule::KeyTwice)
            } else {
                let shape = fields
                    .iter()
                    .find(|field| field.name == key)
                    .map(|field| *field.shape.in_query());
                let value = match shape {
                    Some(Self::Integer | Self::Position) => read_integer(&text),
                    Some(Self::Boolean) => text.parse().ok().map(Value::Bool),
                    _ => Some(Value::String(text.clone())),
                };
                let refusal = value.is_none().then(|| Rule::WrongType {
                    noun: shape.unwrap_or(Self::Text).noun(),
                    got: kind_in_query(&text).into(),
                });
                input.insert(key.clone(), value.unwrap_or_default());
                refusal
            };
            if let Some(rule) = refusal {
                issues.add([PathSegment::Field(key)], rule);
            }
        }
        issues.check()?;
        Ok(Some(Value::Object(input)))
    }
}

/// The number that a query string has as decimal digits.
pub fn read_integer(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A number with too many digits is clamped, because it is out of bounds anyway.
    Some(
        text.parse::<i64>()
            .unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
            .into(),
    )
}

/// The type of a value. The value itself is not shown: it may be a secret in the wrong field.
fn kind(value: &Value) -> Plain {
    match value {
        Value::Null => Plain::Null,
        Value::Bool(_) => Plain::Boolean,
        Value::Number(_) => Plain::Number,
        Value::String(_) => Plain::Text,
        Value::Array(_) => Plain::List,
        Value::Object(_) => Plain::Object,
    }
}

/// The same of a text in a query string: a number is shown, because it is not a secret.
fn kind_in_query(text: &str) -> Plain {
    match text.parse::<Number>() {
        Ok(number) => Plain::Sent {
            number: Numeral(number.to_string()),
        },
        Err(_) => Plain::Text,
    }
}

#[derive(Default)]
struct Check {
    path: Vec<Step>,
    issues: Issues,
    only_storable: bool,
}

/// A step from a value to a value inside it. Owns no text, because most inputs are valid.
#[derive(Clone, Copy)]
enum Step {
    Field(&'static str),
    Index(usize),
}

impl From<Step> for PathSegment {
    fn from(step: Step) -> Self {
        match step {
            Step::Field(name) => Self::Field(name.into()),
            Step::Index(index) => Self::Index(index as u32),
        }
    }
}

impl Check {
    fn refuse(&mut self, rule: Rule) {
        self.issues
            .add(self.path.iter().map(|step| PathSegment::from(*step)), rule);
    }

    fn value(&mut self, shape: &Shape, value: &mut Value) {
        if let Shape::Bounded(_, bound) = shape
            && let Some(whole) = value.as_number().and_then(whole)
            && let Some(rule) = bound.broken_by(whole, value)
        {
            self.refuse(rule);
            return;
        }
        let shape = shape.plain();
        match (shape, &mut *value) {
            (Shape::Text, Value::String(text)) if self.only_storable && text.contains('\0') => {
                self.refuse(Rule::NulCharacter);
            }
            (Shape::Text, Value::String(_))
            | (Shape::Boolean, Value::Bool(_))
            | (Shape::Nothing | Shape::Anything, _) => {}
            (Shape::Either(one, other), _) => {
                match [one, other].into_iter().find(|one| one.is_kind_of(value)) {
                    Some(shape) => self.value(shape, value),
                    None => self.mismatch(shape, value),
                }
            }
            (Shape::Nullable(_), Value::Null) => {}
            (Shape::Nullable(shape) | Shape::Optional(shape), _) => self.value(shape, value),
            (Shape::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {}
            (Shape::Date, Value::String(text)) if time::parse(text).is_some() => {}
            (Shape::Integer | Shape::Position, Value::Number(number)) => {
                let bounds = f64::from(i32::MIN)..=f64::from(i32::MAX);
                match whole(number) {
                    Some(whole) if bounds.contains(&whole) => *value = (whole as i32).into(),
                    Some(whole) if matches!(shape, Shape::Position) => {
                        *value = (whole.clamp(*bounds.start(), *bounds.end()) as i32).into();
                    }
                    Some(_) => {
                        self.refuse(Rule::NumberOutside {
                            least: i32::MIN.into(),
                            most: i32::MAX.into(),
                            got: Word(number.to_string()),
                        });
                    }
                    None => self.mismatch(shape, value),
                }
            }
            (Shape::List(shape), Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.at(Step::Index(index), |check| check.value(shape, item));
                }
            }
            (Shape::Record(fields), Value::Object(object)) => self.fields(fields, object),
            (Shape::Exact(fields), Value::Object(object)) => {
                self.fields(fields, object);
                self.no_others(fields, object);
            }
            (Shape::Tagged(kinds), Value::Object(object)) => {
                let kind = object.get("kind").and_then(Value::as_str);
                match kinds.iter().find(|(name, _)| Some(*name) == kind) {
                    Some((_, fields)) => self.fields(fields, object),
                    None => self.at(Step::Field("kind"), |check| {
                        let names: Vec<_> = kinds.iter().map(|(name, _)| format!("{name:?}")).collect();
                        check.refuse(Rule::NotOneOf {
                            choices: names.join("|"),
                        });
                    }),
                }
            }
            _ => self.mismatch(shape, value),
        }
    }

    fn fields(&mut self, fields: &[Field], object: &mut Map<String, Value>) {
        for field in fields {
            let step = Step::Field(field.name);
            match object.get_mut(field.name) {
                Some(item) => self.at(step, |check| check.value(&field.shape, item)),
                None if field.optional => {}
                None => self.at(step, |check| {
                    check.refuse(Rule::Required {
                        noun: field.shape.noun(),
                    });
                }),
            }
        }
    }

    /// Refuses the keys that are none of these.
    fn no_others(&mut self, fields: &[Field], object: &Map<String, Value>) {
        let others = object
            .keys()
            .filter(|key| fields.iter().all(|field| field.name != *key));
        for key in others {
            let keys = fields.iter().map(|field| field.name).collect::<Vec<_>>();
            let shown = key.chars().take(LONGEST_KEY).collect();
            let path = self.path.iter().map(|step| PathSegment::from(*step));
            self.issues.add(
                path.chain([PathSegment::Field(shown)]),
                Rule::UnknownKey {
                    keys: keys.join(", "),
                },
            );
        }
    }

    fn at(&mut self, step: Step, check: impl FnOnce(&mut Self)) {
        self.path.push(step);
        check(self);
        self.path.pop();
    }

    fn mismatch(&mut self, shape: &Shape, value: &Value) {
        let got = match (shape, value) {
            (Shape::Choice(_) | Shape::Date, Value::String(_)) => Plain::AnotherText,
            // A number is not a secret.
            (Shape::Integer | Shape::Position, Value::Number(number)) => Plain::Sent {
                number: Numeral(number.to_string()),
            },
            _ => kind(value),
        };
        self.refuse(Rule::WrongType {
            noun: shape.noun(),
            got: got.into(),
        });
    }
}

/// The number, if it has no fraction. (Beyond 53 bits it may be rounded: it is out of bounds anyway.)
fn whole(number: &Number) -> Option<f64> {
    number.as_f64().filter(|number| number.fract() == 0.0)
}
