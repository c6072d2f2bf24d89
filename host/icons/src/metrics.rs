//! What the icons count, for the whole process.

use portico_metrics::{Counter, Family};

use crate::{error::IconError, picture::Picture};

/// Pictures that were asked for, by where they came from, or why there is none.
pub static PICTURES: Family<&str, Counter> = Family::new(10, Counter::new);

/// Counts a picture that was asked for, and returns it.
pub(crate) fn count(found: Result<Picture, IconError>, source: &'static str) -> Result<Picture, IconError> {
    let outcome = match &found {
        Ok(_) => source,
        Err(IconError::NoPicture(_)) => "no-picture",
        Err(IconError::NotAllowed(_)) => "not-allowed",
        Err(IconError::TimedOut(_)) => "timed-out",
        Err(IconError::Silent) => "silent",
        Err(IconError::Busy) => "busy",
    };
    PICTURES.record(&outcome, Counter::increment);
    found
}
