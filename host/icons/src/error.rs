//! Why there is no picture.

use std::{fmt, sync::Arc};

/// Why there is no picture for an icon's URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IconError {
    /// What is wrong with the URL, with its host, or with the host's response.
    NoPicture(Arc<str>),
    /// Too many icons are being fetched; this one can be requested again.
    Busy,
}

impl IconError {
    pub(crate) fn new(message: impl Into<Arc<str>>) -> Self {
        Self::NoPicture(message.into())
    }
}

impl fmt::Display for IconError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoPicture(message) => message,
            Self::Busy => "many icons are being fetched; try again soon",
        })
    }
}

impl std::error::Error for IconError {}
