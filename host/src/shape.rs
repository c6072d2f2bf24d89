//! The shapes of inputs and outputs: which keys there are, and what type each has.
//!
//! A shape says what JSON can say. Bounds and rules (how long, how many, which URLs) belong to
//! whoever runs the procedure: a shape may state a bound, for the description, and does not check it.
//! One shape serves every transport: it checks JSON bodies, reads query strings, finds the dates that
//! superjson marks, and describes a procedure to people and in OpenAPI.
//!
//! Nothing is coerced: `"5"` is no number and `2.5` no integer; `5.0` is 5, as JSON has one kind of
//! number. Unknown keys are ignored.

use serde_json::{Map, Number, Value};

use crate::{
    error::Error,
    model::{Issue, PathSegment},
    time,
};

/// After so many broken rules nobody reads on.
const MOST_ISSUES: usize = 50;

/// What a value looks like.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Nothing at all.
    Nothing,
    /// A text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number of at most 32 bits.
    Integer,
    /// A whole number that counts up a list: one beyond 32 bits is as far beyond its end as any.
    Position,
    /// A date with time, RFC 3339.
    Date,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list.
    List(&'static Shape),
    /// An object with these keys.
    Record(&'static [Field]),
    /// An object whose key `kind` says which keys it has.
    Tagged(&'static [(&'static str, &'static [Field])]),
    /// One of two, told apart by what they are in JSON: a text, an object, a list.
    Either(&'static Shape, &'static Shape),
    /// Anything that JSON can say.
    Anything,
    /// This or null.
    Nullable(&'static Shape),
    /// This or nothing.
    Optional(&'static Shape),
    /// This, which has a name of its own in the description.
    Named(&'static str, &'static Shape),
    /// This within a bound, which the procedure holds and not the shape.
    Bounded(&'static Shape, Bound),
}

/// What a value keeps to beyond its type.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// So many characters (Unicode scalar values), from and to.
    Length(u32, u32),
    /// A number from and to.
    Range(i32, i32),
    /// A number of at least this.
    From(i32),
    /// So many entries, from and to.
    Count(u32, u32),
    /// A text in which this regular expression is found, in the form of ECMAScript.
    Pattern(&'static str),
}

/// A key of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it may be absent.
    pub optional: bool,
    /// What it means. Where this is empty, the contract (`wit/`) says it.
    pub about: &'static str,
}

impl Field {
    /// The same with this as its meaning.
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

/// The key `id` of a record.
pub const ID_FIELD: Field = required("id", Shape::Text).about("Which record: its id.");
/// `{id}`.
pub const ID: Shape = Shape::Named("Reference", &Shape::Record(&[ID_FIELD]));
/// `{id, name}`.
pub const NAMED: Shape = Shape::Named(
    "Named",
    &Shape::Record(&[
        required("id", Shape::Text).about("The id."),
        required("name", Shape::Text).about("The name."),
    ]),
);
/// A text or null.
pub const NULLABLE_TEXT: Shape = Shape::Nullable(&Shape::Text);
/// Who vouches for a user.
pub const PROVIDER: Shape = Shape::Choice(&["credentials", "oidc", "ldap"]);
/// A date or null.
pub const NULLABLE_DATE: Shape = Shape::Nullable(&Shape::Date);
/// `{query, limit?}`.
pub const SEARCH: Shape = Shape::Named(
    "Search",
    &Shape::Record(&[
        required("query", Shape::Text).about("What the name contains; an empty text fits every name."),
        optional("limit", Shape::Bounded(&Shape::Integer, Bound::Range(1, 100)))
            .about("How many to answer at most; 10 if absent."),
    ]),
);

impl Shape {
    /// The shape without its name and its bounds.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Named(_, shape) | Self::Bounded(shape, _) => shape.plain(),
            shape => shape,
        }
    }

    /// The keys of an object, also of one that may be absent.
    pub fn fields(&self) -> Option<&'static [Field]> {
        match self.plain() {
            Self::Record(fields) => Some(fields),
            Self::Optional(shape) => shape.fields(),
            _ => None,
        }
    }

    /// Whether there is a list in it: then it has no length of its own.
    pub fn holds_list(&self) -> bool {
        match self {
            Self::List(_) | Self::Anything => true,
            Self::Record(fields) => fields.iter().any(|field| field.shape.holds_list()),
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

    /// Checks an input and brings it into the form that Rust's types are read from.
    pub fn check(&self, input: Option<Value>) -> Result<Value, Error> {
        let mut check = Check {
            path: Vec::new(),
            issues: Vec::new(),
        };
        let value = match (self.plain(), input) {
            (Self::Nothing, _) | (Self::Optional(_), None) => Value::Null,
            (_, None) => {
                check.refuse(format!("is required: {}", self.noun()));
                Value::Null
            }
            (shape, Some(mut value)) => {
                check.value(shape, &mut value);
                value
            }
        };
        if check.issues.is_empty() {
            Ok(value)
        } else {
            Err(Error::invalid(check.issues))
        }
    }

    /// Reads an input from the keys and values of a query string: numbers are decimal digits,
    /// booleans `true` or `false`, and no key comes twice.
    pub fn read_query(&self, pairs: Vec<(String, String)>) -> Result<Option<Value>, Error> {
        let Some(fields) = self.fields() else {
            return Ok(None);
        };
        let mut input = Map::new();
        let mut issues = Vec::new();
        for (key, text) in pairs {
            let refusal = if input.contains_key(&key) {
                Some("is there more than once".to_owned())
            } else {
                let shape = fields
                    .iter()
                    .find(|field| field.name == key)
                    .map(|field| *field.shape.plain());
                let value = match shape {
                    Some(Self::Integer | Self::Position) => read_integer(&text),
                    Some(Self::Boolean) => text.parse().ok().map(Value::Bool),
                    _ => Some(Value::String(text.clone())),
                };
                let refusal = value
                    .is_none()
                    .then(|| format!("must be {}, got another text", shape.unwrap_or(Self::Text).noun()));
                input.insert(key.clone(), value.unwrap_or_default());
                refusal
            };
            if let Some(message) = refusal
                && issues.len() < MOST_ISSUES
            {
                issues.push(Issue {
                    path: vec![PathSegment::Field(key)],
                    message,
                });
            }
        }
        if issues.is_empty() {
            Ok(Some(Value::Object(input)))
        } else {
            Err(Error::invalid(issues))
        }
    }

    /// Whether a value of this shape can hold a date.
    pub fn has_dates(&self) -> bool {
        match self.plain() {
            Self::Date => true,
            Self::List(shape) | Self::Nullable(shape) | Self::Optional(shape) => shape.has_dates(),
            Self::Either(one, other) => one.has_dates() || other.has_dates(),
            Self::Record(fields) => fields.iter().any(|field| field.shape.has_dates()),
            Self::Tagged(kinds) => kinds
                .iter()
                .any(|(_, fields)| fields.iter().any(|field| field.shape.has_dates())),
            _ => false,
        }
    }

    /// Hands the path of every date in a value of this shape to `found`.
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
            (Self::Record(fields), Value::Object(object)) => {
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
            Self::Record(fields) => describe_fields(None, fields),
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

    /// Whether a value is in JSON what this shape is.
    fn is_kind_of(&self, value: &Value) -> bool {
        match self {
            Self::Nothing => false,
            Self::Anything => true,
            Self::Text | Self::Date | Self::Choice(_) => value.is_string(),
            Self::Boolean => value.is_boolean(),
            Self::Integer | Self::Position => value.is_number(),
            Self::List(_) => value.is_array(),
            Self::Record(_) | Self::Tagged(_) => value.is_object(),
            Self::Either(one, other) => one.is_kind_of(value) || other.is_kind_of(value),
            Self::Nullable(shape) | Self::Optional(shape) => value.is_null() || shape.is_kind_of(value),
            Self::Named(_, shape) | Self::Bounded(shape, _) => shape.is_kind_of(value),
        }
    }

    fn noun(&self) -> String {
        match self {
            Self::Nothing => "nothing".into(),
            Self::Text => "a text".into(),
            Self::Boolean => "true or false".into(),
            Self::Integer | Self::Position => "a whole number".into(),
            Self::Date => "a date such as 2026-01-31T12:00:00.000Z".into(),
            Self::Choice(_) => format!("one of {}", self.describe()),
            Self::List(_) => "a list".into(),
            Self::Record(_) | Self::Tagged(_) => "an object".into(),
            Self::Either(one, other) => format!("{} or {}", one.noun(), other.noun()),
            Self::Anything => "anything".into(),
            Self::Nullable(shape) => format!("{} or null", shape.noun()),
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

fn read_integer(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // More digits than fit are still a number: too large a one.
    Some(
        text.parse::<i64>()
            .unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
            .into(),
    )
}

/// A text as an error shows it: in quotes, and not too much of it.
pub(crate) fn quote(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() > SHOWN {
        format!("{:?}…", text.chars().take(SHOWN).collect::<String>())
    } else {
        format!("{text:?}")
    }
}

/// What kind of value it is. Never a text: it may be a secret in the wrong place.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Check {
    path: Vec<PathSegment>,
    issues: Vec<Issue>,
}

impl Check {
    fn refuse(&mut self, message: String) {
        if self.issues.len() < MOST_ISSUES {
            self.issues.push(Issue {
                path: self.path.clone(),
                message,
            });
        }
    }

    fn value(&mut self, shape: &Shape, value: &mut Value) {
        let shape = shape.plain();
        match (shape, &mut *value) {
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
                        self.refuse(format!("must be from {} to {}, got {number}", i32::MIN, i32::MAX));
                    }
                    None => self.mismatch(shape, value),
                }
            }
            (Shape::List(shape), Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.at(PathSegment::Index(index as u32), |check| check.value(shape, item));
                }
            }
            (Shape::Record(fields), Value::Object(object)) => self.fields(fields, object),
            (Shape::Tagged(kinds), Value::Object(object)) => {
                let kind = object.get("kind").and_then(Value::as_str);
                match kinds.iter().find(|(name, _)| Some(*name) == kind) {
                    Some((_, fields)) => self.fields(fields, object),
                    None => self.at(PathSegment::Field("kind".into()), |check| {
                        let names: Vec<_> = kinds.iter().map(|(name, _)| format!("{name:?}")).collect();
                        check.refuse(format!("must be one of {}", names.join("|")));
                    }),
                }
            }
            _ => self.mismatch(shape, value),
        }
    }

    fn fields(&mut self, fields: &[Field], object: &mut Map<String, Value>) {
        for field in fields {
            let segment = PathSegment::Field(field.name.into());
            match object.get_mut(field.name) {
                Some(item) => self.at(segment, |check| check.value(&field.shape, item)),
                None if field.optional => {}
                None => self.at(segment, |check| {
                    check.refuse(format!("is required: {}", field.shape.noun()));
                }),
            }
        }
    }

    fn at(&mut self, segment: PathSegment, check: impl FnOnce(&mut Self)) {
        self.path.push(segment);
        check(self);
        self.path.pop();
    }

    fn mismatch(&mut self, shape: &Shape, value: &Value) {
        let got = match (shape, value) {
            (Shape::Choice(_) | Shape::Date, Value::String(_)) => "another text".to_owned(),
            // A number is no secret.
            (Shape::Integer | Shape::Position, Value::Number(number)) => number.to_string(),
            _ => kind(value).to_owned(),
        };
        self.refuse(format!("must be {}, got {got}", shape.noun()));
    }
}

/// The number, if it has no fraction. (Beyond 53 bits it may be rounded: it is out of bounds anyway.)
fn whole(number: &Number) -> Option<f64> {
    number.as_f64().filter(|number| number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(shape: Shape, input: Value) -> String {
        shape.check(Some(input)).unwrap_err().message
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
        assert_eq!(
            SEARCH.check(Some(json!({"query": "", "limit": 5.0}))).unwrap()["limit"],
            json!(5)
        );
    }

    #[test]
    fn a_number_beyond_32_bits_is_refused_as_it_is_or_beyond_the_end_of_a_list() {
        for beyond in [json!(99_999_999_999_i64), json!(-1e300)] {
            let message = refusal(SEARCH, json!({"query": "", "limit": beyond}));
            assert!(message.ends_with(&format!("got {beyond}")), "{message}");
        }
        assert_eq!(
            Shape::Position.check(Some(json!(1e300))).unwrap(),
            json!(i32::MAX)
        );
        assert_eq!(
            Shape::Position.check(Some(json!(-5e12))).unwrap(),
            json!(i32::MIN)
        );
    }

    #[test]
    fn types_are_never_coerced() {
        for (input, got) in [
            (json!(2.5), "2.5"),
            (json!("5"), "a text"),
            (json!(null), "null"),
            (json!(true), "true or false"),
        ] {
            assert_eq!(
                refusal(SEARCH, json!({"query": "", "limit": input})),
                format!("Input validation failed: limit must be a whole number, got {got}")
            );
        }
    }

    #[test]
    fn every_broken_field_is_named_at_once() {
        let error = SEARCH.check(Some(json!({"limit": []}))).unwrap_err();
        assert_eq!(error.issues.len(), 2);
        assert_eq!(error.issues[0].path, [PathSegment::Field("query".into())]);
        assert_eq!(error.issues[1].path, [PathSegment::Field("limit".into())]);
    }

    #[test]
    fn a_query_string_is_read_by_the_shape() {
        let read = |pairs: &[(&str, &str)]| {
            SEARCH.read_query(
                pairs
                    .iter()
                    .map(|(key, value)| ((*key).into(), (*value).into()))
                    .collect(),
            )
        };
        assert_eq!(
            read(&[("query", "5"), ("limit", "5")]).unwrap(),
            Some(json!({"query": "5", "limit": 5}))
        );
        for limit in ["", "0x10", "1e1", "+5", "5.0", "a"] {
            assert!(read(&[("limit", limit)]).is_err(), "{limit:?}");
        }
        assert!(read(&[("query", "a"), ("query", "a")]).is_err());
    }

    #[test]
    fn one_of_two_is_told_by_what_it_is() {
        const NAME: Shape = Shape::Either(&Shape::Text, &ID);
        assert!(NAME.check(Some(json!("a"))).is_ok() && NAME.check(Some(json!({"id": "a"}))).is_ok());
        assert_eq!(
            refusal(NAME, json!(5)),
            "Input validation failed: input must be a text or an object, got a number"
        );
        assert_eq!(
            refusal(NAME, json!({})),
            "Input validation failed: id is required: a text"
        );
        assert_eq!(NAME.describe(), "text|{id: text}");
    }

    #[test]
    fn dates_are_found_where_they_are() {
        const LIST: Shape = Shape::List(&Shape::Record(&[required("at", Shape::Nullable(&Shape::Date))]));
        let mut found = Vec::new();
        LIST.each_date(
            &json!([{"at": null}, {"at": "2026-01-31T12:00:00.000Z"}]),
            &mut Vec::new(),
            &mut |path| found.push(path.join(".")),
        );
        assert_eq!(found, ["1.at"]);
    }

    #[test]
    fn a_name_and_a_bound_are_told_and_not_held() {
        const NAME: Shape = Shape::Named("Name", &Shape::Bounded(&Shape::Text, Bound::Length(1, 3)));
        const NAMES: Shape = Shape::Bounded(&Shape::List(&NAME), Bound::Count(0, 2));
        assert_eq!(NAMES.describe(), "[text 1..3] ..2");
        assert!(NAMES.check(Some(json!(["", "abcdef", "c"]))).is_ok());
        assert_eq!(
            refusal(NAMES, json!([5])),
            "Input validation failed: [0] must be a text, got a number"
        );
    }

    #[test]
    fn a_missing_input_is_named_as_a_whole() {
        assert_eq!(
            SEARCH.check(None).unwrap_err().message,
            "Input validation failed: input is required: an object"
        );
        assert!(Shape::Optional(&SEARCH).check(None).is_ok());
        assert!(Shape::Nothing.check(Some(json!(5))).is_ok());
    }
}
