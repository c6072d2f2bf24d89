//! Reads JSON from clients, and refuses an object with a repeated key.
//!
//! If a key has two values, some programs take the first and others the last, so a proxy could inspect one value while
//! the host uses the other. The cost is linear in the length of the text, because the keys of an object are hashed; the
//! depth is limited by `serde_json`.

use std::fmt;

use portico_model::{Issue, PathSegment, error::issue_text};
use portico_rules::rule::Rule;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, map::Entry};

/// The most characters of a key that an error repeats.
const LONGEST_KEY: usize = 64;

/// Why a text could not be read.
#[derive(Debug)]
pub enum Error {
    Syntax(serde_json::Error),
    Repeated(Issue),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(formatter),
            Self::Repeated(issue) => write!(formatter, "{}", issue_text(issue).escape_debug()),
        }
    }
}

impl std::error::Error for Error {}

pub fn read(text: &[u8]) -> Result<Value, Error> {
    let mut repeated = None;
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = Reader(&mut repeated).deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| match repeated {
        Some(mut path) => {
            path.reverse();
            Error::Repeated(Issue {
                path,
                message: Rule::KeyTwice.into(),
            })
        }
        None => Error::Syntax(error),
    })
}

/// Reads one value. The path of a repeated key is collected while the calls return, from its end to its beginning.
struct Reader<'a>(&'a mut Option<Vec<PathSegment>>);

impl Reader<'_> {
    fn passed(&mut self, step: impl FnOnce() -> PathSegment) {
        if let Some(path) = self.0 {
            path.push(step());
        }
    }
}

fn field(key: &str) -> PathSegment {
    PathSegment::Field(key.chars().take(LONGEST_KEY).collect())
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            match items.next_element_seed(Reader(self.0)) {
                Ok(Some(item)) => list.push(item),
                Ok(None) => return Ok(list.into()),
                Err(error) => {
                    let index = u32::try_from(list.len()).unwrap_or(u32::MAX);
                    self.passed(|| PathSegment::Index(index));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match object.entry(key) {
                Entry::Vacant(place) => match entries.next_value_seed(Reader(self.0)) {
                    Ok(value) => {
                        place.insert(value);
                    }
                    Err(error) => {
                        self.passed(|| field(place.key()));
                        return Err(error);
                    }
                },
                Entry::Occupied(first) => {
                    *self.0 = Some(vec![field(first.key())]);
                    return Err(de::Error::custom("a key appears more than once"));
                }
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_without_repeated_keys_is_read_as_serde_json_reads_it() {
        for text in [
            r#"{"b": [1, -1, 1.5, 18446744073709551615, 1e300], "a": {"b": null, "c": [{}, []]}}"#,
            r#" "a \u00e9 \n" "#,
            "true",
            "[[[[]]]]",
        ] {
            let same: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read(text.as_bytes()).unwrap(), same, "{text}");
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        for text in ["", "{", "1 2", "{\"a\":1,}", "\"\u{1}\"", "1e999", &deep(200)] {
            let same = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            let error = read(text.as_bytes()).unwrap_err();
            assert!(matches!(error, Error::Syntax(_)), "{text}");
            assert_eq!(error.to_string(), same, "{text}");
        }
        assert!(read(deep(100).as_bytes()).is_ok());
    }

    #[test]
    fn a_repeated_key_is_named_with_its_path() {
        for (text, place) in [
            (r#"{"a": 1, "a": 1}"#, "a"),
            (r#"{"a": 1, "\u0061": 2}"#, "a"),
            (r#"{"x": [0, {"a": {"b": 1, "c": 2, "b": null}}]}"#, "x[1].a.b"),
            (r#"[[{"": 1, "": 2}]]"#, "[0][0]."),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, format!("{place} appears more than once"), "{text}");
        }
        let long = "k".repeat(10_000);
        let error = read(format!(r#"{{"{long}": 1, "{long}": 2}}"#).as_bytes()).unwrap_err();
        assert!(error.to_string().len() < 100);
    }
}
