//! What an input does with a stored value that may be absent.

use serde::{Deserialize, Deserializer};

/// In JSON: absent, null, or a value. A field of this type needs `#[serde(default)]`.
#[derive(Default)]
pub(super) enum Change<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T> Change<T> {
    /// The value to set, if there is one.
    pub fn as_set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }
}
