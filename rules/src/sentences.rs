//! Enums whose variants are English sentences with places: `sentences!`.
//!
//! The sentence is there once. It is written from it, and read back by it (`parse`): so a program that gets a sentence
//! knows which one it is, and what stands in its places, and can say it in another language. When two sentences could be
//! meant, the first one in the enum is.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// What stands in a place of a sentence.
pub trait Part: Sized {
    /// Reads it as it was written.
    fn read(text: &str) -> Option<Self>;
    /// Something to show, another for each number.
    fn sample(number: u8) -> Self;
}

/// Defines an enum of sentences: `Name { part: Type } = "sentence with {part}",`. Parts are listed in the order of their
/// places.
#[macro_export]
macro_rules! sentences {
    ($(#[$about:meta])* $kind:ident {
        $($name:ident $({ $($part:ident: $of:ty),* $(,)? })? = $sentence:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the sentences say it")]
        pub enum $kind {
            $(#[doc = concat!("`", $sentence, "`")] $name $({ $($part: $of),* })?,)*
        }

        impl $kind {
            /// The names of all.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// The name of this one.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name $({ $($part: _),* })? => stringify!($name),)*
                }
            }

            /// Reads a sentence back.
            #[allow(unused_mut, unused_variables, reason = "some sentences have no places")]
            pub fn parse(text: &str) -> Option<Self> {
                $({
                    let read = || {
                        let mut found = $crate::sentences::values($sentence, text)?.into_iter();
                        Some(Self::$name $({
                            $($part: <$of as $crate::sentences::Part>::read(found.next()?)?),*
                        })?)
                    };
                    if let Some(read) = read() {
                        return Some(read);
                    }
                })*
                None
            }

            /// One of each, with something in its places.
            #[allow(unused_mut, unused_variables, unused_assignments, reason = "some sentences have no places")]
            pub fn samples() -> impl Iterator<Item = Self> {
                [$({
                    let mut number = 0_u8;
                    let mut next = || {
                        number += 1;
                        number
                    };
                    Self::$name $({ $($part: <$of as $crate::sentences::Part>::sample(next())),* })?
                }),*].into_iter()
            }
        }

        impl core::fmt::Display for $kind {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $(Self::$name $({ $($part),* })? => write!(formatter, $sentence),)*
                }
            }
        }

        impl From<$kind> for $crate::sentences::Text {
            fn from(sentence: $kind) -> Self {
                $crate::sentences::written(&sentence)
            }
        }

        impl $crate::sentences::Part for $kind {
            fn read(text: &str) -> Option<Self> {
                Self::parse(text)
            }

            fn sample(number: u8) -> Self {
                let mut samples: $crate::sentences::List<_> = Self::samples().collect();
                let index = usize::from(number) % samples.len();
                samples.swap_remove(index)
            }
        }
    };
}

/// For the macro, in crates without std.
#[doc(hidden)]
pub type Text = String;
/// The same.
#[doc(hidden)]
pub type List<T> = Vec<T>;

/// The same.
#[doc(hidden)]
pub fn written(sentence: &impl fmt::Display) -> String {
    sentence.to_string()
}

/// What stands in the places of a sentence, if the text is one of this form.
#[doc(hidden)]
pub fn values<'a>(sentence: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let parts = parts(sentence);
    let (last, parts) = parts.split_last()?;
    let mut parts = parts.iter();
    let Some(first) = parts.next() else {
        return (text == last).then(Vec::new);
    };
    let mut rest = text.strip_prefix(first.as_str())?;
    let mut values = Vec::new();
    for part in parts {
        let (value, after) = rest.split_once(part.as_str())?;
        values.push(value);
        rest = after;
    }
    values.push(rest.strip_suffix(last.as_str())?);
    Some(values)
}

/// What stands around the places of a sentence.
fn parts(sentence: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut letters = sentence.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                part.push(letter);
            }
            '{' => {
                parts.push(core::mem::take(&mut part));
                letters.by_ref().find(|letter| *letter == '}');
            }
            other => part.push(other),
        }
    }
    parts.push(part);
    parts
}

macro_rules! numbers {
    ($($of:ty)*) => {
        $(impl Part for $of {
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn sample(number: u8) -> Self {
                70 + Self::from(number)
            }
        })*
    };
}

numbers!(usize u32 u64 i64);

/// Any text that is not empty.
impl Part for String {
    fn read(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn sample(number: u8) -> Self {
        format!("text{number}")
    }
}

/// A text without spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(pub String);

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Part for Word {
    fn read(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| text.into())
    }

    fn sample(number: u8) -> Self {
        Self(format!("word{number}"))
    }
}

/// A number as it was written: `2.5`, `-1e300`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numeral(pub String);

impl fmt::Display for Numeral {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Part for Numeral {
    fn read(text: &str) -> Option<Self> {
        let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        (is_number && text.parse::<f64>().is_ok()).then(|| Self(text.to_owned()))
    }

    fn sample(number: u8) -> Self {
        Self(format!("7{number}.5"))
    }
}

/// A character by its number: `U+202E`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePoint(pub char);

impl fmt::Display for CodePoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "U+{:04X}", u32::from(self.0))
    }
}

impl Part for CodePoint {
    fn read(text: &str) -> Option<Self> {
        let number = u32::from_str_radix(text.strip_prefix("U+")?, 16).ok()?;
        char::from_u32(number).map(Self)
    }

    fn sample(_: u8) -> Self {
        Self('\u{202e}')
    }
}

/// Seconds to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds(pub u64);

impl fmt::Display for Seconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(formatter, "{} second{plural}", self.0)
    }
}

impl Part for Seconds {
    fn read(text: &str) -> Option<Self> {
        let (number, unit) = text.split_once(' ')?;
        let is_unit = matches!(unit, "second" | "seconds");
        number.parse().ok().filter(|_| is_unit).map(Self)
    }

    fn sample(number: u8) -> Self {
        Self(u64::sample(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    sentences! {
        Said {
            Plain = "nothing to add",
            Between { least: usize, most: usize } = "from {least} to {most}, no more",
            Braced { name: String } = "write {{id}} for {name}",
            Quoted { by: Word, what: String } = "{by} said {what}",
        }
    }

    #[test]
    fn a_sentence_is_read_back_with_its_parts() {
        for (said, text) in [
            (Said::Plain, "nothing to add"),
            (Said::Between { least: 1, most: 20 }, "from 1 to 20, no more"),
            (Said::Braced { name: "a b".into() }, "write {id} for a b"),
            (
                Said::Quoted {
                    by: "ada".into(),
                    what: "from 1 to x, no more".into(),
                },
                "ada said from 1 to x, no more",
            ),
        ] {
            assert_eq!(said.to_string(), text);
            assert_eq!(Said::parse(text), Some(said));
        }
    }

    #[test]
    fn another_text_is_not_read() {
        for text in [
            "",
            "nothing to add.",
            "from 1 to 20",
            "from 1 to , no more",
            "from one to 20, no more",
            "write {id} for ",
            "ada l said x",
        ] {
            assert_eq!(Said::parse(text), None, "{text}");
        }
    }

    #[test]
    fn characters_and_seconds_are_read_as_they_are_written() {
        assert_eq!(CodePoint::read("U+202E"), Some(CodePoint('\u{202e}')));
        assert_eq!(CodePoint('\0').to_string(), "U+0000");
        assert_eq!(CodePoint::read("U+D800"), None);
        for seconds in [Seconds(1), Seconds(30)] {
            assert_eq!(Seconds::read(&seconds.to_string()), Some(seconds));
        }
    }
}
