//! The parameters of statements.

/// A parameter of a statement. It has a type even where it is NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(Option<String>),
    /// A whole number.
    Number(Option<i64>),
    /// A truth value.
    Bool(Option<bool>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list of texts, for `[among …]`.
    Texts(Vec<String>),
    /// A text to find inside others, for `[contains …]`.
    Contained(String),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Texts.
    Text,
    /// Whole numbers of 64 bits.
    Number,
    /// Truth values.
    Bool,
}

impl Value {
    /// Whether a database can hold it: PostgreSQL has no text with U+0000, and SQLite's `json_each` cuts it there.
    pub(crate) fn is_storable(&self) -> bool {
        let is_storable = |text: &String| !text.contains('\0');
        match self {
            Self::Text(text) => text.as_ref().is_none_or(is_storable),
            Self::Contained(text) => is_storable(text),
            Self::Texts(texts) => texts.iter().all(is_storable),
            Self::Number(_) | Self::Bool(_) | Self::Bytes(_) => true,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(Some(text.clone()))
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(Some(number.into()))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(Some(truth))
    }
}

impl From<Option<bool>> for Value {
    fn from(truth: Option<bool>) -> Self {
        Self::Bool(truth)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}
