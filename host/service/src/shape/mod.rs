//! The shapes of inputs and outputs: their keys, and the type of each.
//!
//! A shape checks types, and the bounds of numbers, whose types in the contract are as narrow as these. The function
//! that runs a procedure checks the other bounds and rules (lengths, counts, URLs), which a shape may state for the
//! description. One shape serves every transport: it
//! checks JSON bodies and reads query strings (`input.rs`), finds the dates that superjson marks, and describes a
//! procedure to people and in OpenAPI.

mod input;
mod record;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use portico_rules::{
    bounds,
    rule::{Noun, Plain, Rule},
    sentences::Word,
};
use serde_json::Value;

pub use self::input::read_integer;
pub(crate) use self::record::{Shaped, join, join_all, records, shape_of};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Nothing,
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number of at most 32 bits.
    Integer,
    /// A position in a list. A number beyond 32 bits is clamped: it is past the end of any list.
    Position,
    /// A date with time, RFC 3339.
    Date,
    /// One of these texts.
    Choice(&'static [&'static str]),
    List(&'static Shape),
    /// An object with these keys. Others are ignored.
    Record(&'static [Field]),
    /// An object with these keys and no others: where a misspelt key would mean more than its writer wants.
    Exact(&'static [Field]),
    /// An object whose key `kind` determines its other keys.
    Tagged(&'static [(&'static str, &'static [Field])]),
    /// One of two shapes of different JSON types, such as a text and an object.
    Either(&'static Shape, &'static Shape),
    /// Any JSON value.
    Anything,
    /// This or null.
    Nullable(&'static Shape),
    /// This or nothing.
    Optional(&'static Shape),
    /// This, under a name in the description.
    Named(&'static str, &'static Shape),
    /// This within a bound. The shape checks bounds of numbers, the procedure all others.
    Bounded(&'static Shape, Bound),
}

#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// The smallest and the largest number of characters (Unicode scalar values).
    Length(u32, u32),
    /// The smallest and the largest number.
    Range(i32, i32),
    /// The smallest number.
    From(i32),
    /// The smallest and the largest number of entries.
    Count(u32, u32),
    /// A regular expression, in ECMAScript's syntax, that must match somewhere in the text.
    Pattern(&'static str),
}

impl Bound {
    /// How many characters a text may have.
    pub const fn length(characters: RangeInclusive<usize>) -> Self {
        Self::Length(*characters.start() as u32, *characters.end() as u32)
    }

    /// How many entries a list may have.
    pub const fn count(entries: RangeInclusive<usize>) -> Self {
        Self::Count(*entries.start() as u32, *entries.end() as u32)
    }

    /// How large a number may be.
    pub const fn range(numbers: RangeInclusive<u32>) -> Self {
        Self::Range(*numbers.start() as i32, *numbers.end() as i32)
    }

    /// The rule that a number breaks, which was sent as this value.
    fn broken_by(&self, number: f64, sent: &Value) -> Option<Rule> {
        let got = || Word(sent.to_string());
        match *self {
            Self::Range(from, to) if !(f64::from(from)..=f64::from(to)).contains(&number) => {
                Some(Rule::NumberBetween {
                    least: from.into(),
                    most: to.into(),
                    got: got(),
                })
            }
            Self::From(from) if number < f64::from(from) => Some(Rule::NumberFrom {
                least: from.into(),
                got: got(),
            }),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether it may be absent.
    pub optional: bool,
    /// Its description; if empty, the contract (`wit/`) has it.
    pub about: &'static str,
}

impl Field {
    /// The same with this description.
    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

/// A key that must be there.
pub const fn required(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        optional: false,
        about: "",
    }
}

/// A key that may be absent.
pub const fn optional(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        optional: true,
        about: "",
    }
}

/// `{id, name}`.
pub const NAMED: Shape = Shape::Named(
    "Named",
    &Shape::Record(&[
        required("id", Shape::Text).about("The id."),
        required("name", Shape::Text).about("The name."),
    ]),
);
pub const NULLABLE_TEXT: Shape = Shape::Nullable(&Shape::Text);
pub const PROVIDER: Shape = Shape::Choice(&["credentials", "oidc", "ldap"]);
/// The dashboard's colours.
pub const COLOR_SCHEME: Shape = Shape::Choice(&["light", "dark", "auto"]);
pub const NULLABLE_DATE: Shape = Shape::Nullable(&Shape::Date);
/// How many records a page has.
pub const PAGE_SIZE: Shape = Shape::Bounded(&Shape::Integer, Bound::range(bounds::PAGE_SIZE));

impl Shape {
    /// The shape without its name and its bounds.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Named(_, shape) | Self::Bounded(shape, _) => shape.plain(),
            shape => shape,
        }
    }

    /// The shape of the text that a query string has for it: a query string has no null.
    fn in_query(&self) -> &Self {
        match self.plain() {
            Self::Nullable(shape) => shape.in_query(),
            shape => shape,
        }
    }

    /// The keys of an object, which may be optional.
    pub fn fields(&self) -> Option<&'static [Field]> {
        match self.plain() {
            Self::Record(fields) | Self::Exact(fields) => Some(fields),
            Self::Optional(shape) => shape.fields(),
            _ => None,
        }
    }

    /// Whether it contains a list, so that its shape does not bound its length.
    pub(crate) fn holds_list(&self) -> bool {
        match self {
            Self::List(_) | Self::Anything => true,
            Self::Record(fields) | Self::Exact(fields) => fields.iter().any(|field| field.shape.holds_list()),
            Self::Tagged(kinds) => {
                let mut fields = kinds.iter().flat_map(|(_, fields)| *fields);
                fields.any(|field| field.shape.holds_list())
            }
            Self::Either(one, other) => one.holds_list() || other.holds_list(),
            Self::Nullable(shape) | Self::Optional(shape) => shape.holds_list(),
            Self::Named(_, shape) | Self::Bounded(shape, _) => shape.holds_list(),
            Self::Nothing
            | Self::Text
            | Self::Boolean
            | Self::Integer
            | Self::Position
            | Self::Date
            | Self::Choice(_) => false,
        }
    }

    /// Whether a value of this shape can hold a date.
    pub fn has_dates(&self) -> bool {
        match self.plain() {
            Self::Date => true,
            Self::List(shape) | Self::Nullable(shape) | Self::Optional(shape) => shape.has_dates(),
            Self::Either(one, other) => one.has_dates() || other.has_dates(),
            Self::Record(fields) | Self::Exact(fields) => fields.iter().any(|field| field.shape.has_dates()),
            Self::Tagged(kinds) => kinds
                .iter()
                .any(|(_, fields)| fields.iter().any(|field| field.shape.has_dates())),
            _ => false,
        }
    }

    /// Passes the path of every date in a value of this shape to `found`.
    pub fn each_date(&self, value: &Value, path: &mut Vec<String>, found: &mut impl FnMut(&[String])) {
        match (self.plain(), value) {
            (Self::Date, Value::String(_)) => found(path),
            (Self::List(shape), Value::Array(items)) if shape.has_dates() => {
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    shape.each_date(item, path, found);
                    path.pop();
                }
            }
            (Self::Record(fields) | Self::Exact(fields), Value::Object(object)) => {
                for field in *fields {
                    if let Some(item) = object.get(field.name) {
                        path.push(field.name.to_owned());
                        field.shape.each_date(item, path, found);
                        path.pop();
                    }
                }
            }
            (Self::Nullable(shape) | Self::Optional(shape), value) => shape.each_date(value, path, found),
            (Self::Either(one, other), value) => {
                let shape = if one.is_kind_of(value) { one } else { other };
                shape.each_date(value, path, found);
            }
            _ => {}
        }
    }

    /// The shape in one line, for people: `{query: text, limit?: integer}`.
    pub fn describe(&self) -> String {
        match self {
            Self::Nothing => "none".into(),
            Self::Text => "text".into(),
            Self::Boolean => "boolean".into(),
            Self::Integer | Self::Position => "integer".into(),
            Self::Date => "date".into(),
            Self::Choice(choices) => choices
                .iter()
                .map(|choice| format!("{choice:?}"))
                .collect::<Vec<_>>()
                .join("|"),
            Self::List(shape) => format!("[{}]", shape.describe()),
            Self::Record(fields) | Self::Exact(fields) => describe_fields(None, fields),
            Self::Tagged(kinds) => kinds
                .iter()
                .map(|(kind, fields)| describe_fields(Some(kind), fields))
                .collect::<Vec<_>>()
                .join(" or "),
            Self::Either(one, other) => format!("{}|{}", one.describe(), other.describe()),
            Self::Anything => "anything".into(),
            Self::Nullable(shape) => format!("{}|null", shape.describe()),
            Self::Optional(shape) => format!("{} or none", shape.describe()),
            Self::Named(_, shape) => shape.describe(),
            Self::Bounded(shape, bound) => match bound {
                Bound::Range(from, to) => format!("{from}..{to}"),
                Bound::From(from) => format!("{from}.."),
                Bound::Length(0, to) | Bound::Count(0, to) => format!("{} ..{to}", shape.describe()),
                Bound::Length(from, to) => format!("{} {from}..{to}", shape.describe()),
                Bound::Count(from, to) => format!("{} {from}..{to}", shape.describe()),
                Bound::Pattern(_) => shape.describe(),
            },
        }
    }

    /// Whether a value has the JSON type of this shape.
    fn is_kind_of(&self, value: &Value) -> bool {
        match self {
            Self::Nothing => false,
            Self::Anything => true,
            Self::Text | Self::Date | Self::Choice(_) => value.is_string(),
            Self::Boolean => value.is_boolean(),
            Self::Integer | Self::Position => value.is_number(),
            Self::List(_) => value.is_array(),
            Self::Record(_) | Self::Exact(_) | Self::Tagged(_) => value.is_object(),
            Self::Either(one, other) => one.is_kind_of(value) || other.is_kind_of(value),
            Self::Nullable(shape) | Self::Optional(shape) => value.is_null() || shape.is_kind_of(value),
            Self::Named(_, shape) | Self::Bounded(shape, _) => shape.is_kind_of(value),
        }
    }

    fn noun(&self) -> Noun {
        match self {
            Self::Nothing => Plain::Nothing.into(),
            Self::Text => Plain::Text.into(),
            Self::Boolean => Plain::Boolean.into(),
            Self::Integer | Self::Position => Plain::WholeNumber.into(),
            Self::Date => Plain::Date.into(),
            Self::Choice(_) => Noun::from(Plain::OneOf {
                choices: Word(self.describe()),
            }),
            Self::List(_) => Plain::List.into(),
            Self::Record(_) | Self::Exact(_) | Self::Tagged(_) => Plain::Object.into(),
            Self::Either(one, other) => one.noun().or(other.noun()),
            Self::Anything => Plain::Anything.into(),
            Self::Nullable(shape) => shape.noun().or(Plain::Null.into()),
            Self::Optional(shape) | Self::Named(_, shape) | Self::Bounded(shape, _) => shape.noun(),
        }
    }
}

fn describe_fields(kind: Option<&str>, fields: &[Field]) -> String {
    let kind = kind.map(|kind| format!("kind: {kind:?}"));
    let fields = fields.iter().map(|field| {
        format!(
            "{}{}: {}",
            field.name,
            if field.optional { "?" } else { "" },
            field.shape.describe()
        )
    });
    format!(
        "{{{}}}",
        kind.into_iter().chain(fields).collect::<Vec<_>>().join(", ")
    )
}

/// A text as an error shows it: in quotes, and cut after some characters.
pub fn quote(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() > SHOWN {
        format!("{:?}…", text.chars().take(SHOWN).collect::<String>())
    } else {
        format!("{text:?}")
    }
}
