//! Why there is no picture.

use std::{fmt, sync::Arc, time::Duration};

/// Why there is no picture for an icon's URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IconError {
    /// What is wrong with the URL, with its host, or with the host's response.
    NoPicture(Arc<str>),
    /// Nothing is fetched from there unless the operator allows it.
    NotAllowed(Arc<str>),
    /// Its host did not answer within this time.
    TimedOut(Duration),
    /// Other icons of its host took too long a short while ago; this one can be requested again.
    Silent,
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
        match self {
            Self::NoPicture(message) | Self::NotAllowed(message) => formatter.write_str(message),
            Self::TimedOut(time) => write!(formatter, "it took longer than {} seconds", time.as_secs()),
            Self::Silent => formatter.write_str("its host did not answer a short while ago; try again soon"),
            Self::Busy => formatter.write_str("many icons are being fetched; try again soon"),
        }
    }
}

impl std::error::Error for IconError {}
