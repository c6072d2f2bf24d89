//! Time as the contract counts it (milliseconds) and as JSON shows it (RFC 3339, UTC).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serializer, de, ser::Error as _};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Timestamp = u64;

/// The last moment of the year 9999. JSON cannot show a later one.
pub const LATEST: Timestamp = 253_402_300_799_999;

/// A source of the time. Tests use one that they set themselves.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// By how many milliseconds the machine's own clock is ahead of this one.
    fn lead(&self) -> i64 {
        0
    }
}

/// The clock of the machine, which stops at [`LATEST`].
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| whole_milliseconds(elapsed).min(LATEST))
    }
}

/// The clock of the machine as it was when this clock was created, and the time since then. It never goes back,
/// even if the machine's clock is set.
pub struct MonotonicClock {
    began: Timestamp,
    since: Instant,
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self {
            began: SystemClock.now(),
            since: Instant::now(),
        }
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Timestamp {
        let elapsed = whole_milliseconds(self.since.elapsed());
        self.began.saturating_add(elapsed).min(LATEST)
    }
}

fn whole_milliseconds(span: Duration) -> Timestamp {
    Timestamp::try_from(span.as_millis()).unwrap_or(Timestamp::MAX)
}

/// Formats a moment as `2026-01-31T12:00:00.000Z`; `None` after the year 9999.
pub fn format(timestamp: Timestamp) -> Option<String> {
    let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(timestamp) * 1_000_000).ok()?;
    moment
        .format(format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        ))
        .ok()
}

/// Parses an RFC 3339 date with time, to the millisecond; `None` before 1970 or, in UTC, after 9999.
pub fn parse(text: &str) -> Option<Timestamp> {
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let timestamp = u64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000)).ok()?;
    // A moment that cannot be formatted must not be stored.
    format(timestamp).map(|_| timestamp)
}

/// Serializes a moment as [`format()`] writes it.
pub fn serialize<S: Serializer>(timestamp: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    let text = format(*timestamp).ok_or_else(|| S::Error::custom("a date beyond the year 9999"))?;
    serializer.serialize_str(&text)
}

/// Serializes an optional moment; `None` is null.
pub fn serialize_option<S: Serializer>(
    timestamp: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match timestamp {
        Some(timestamp) => serialize(timestamp, serializer),
        None => serializer.serialize_none(),
    }
}

/// Deserializes a moment that [`parse`] reads.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    moment(&String::deserialize(deserializer)?)
}

/// Deserializes an optional moment; null is `None`. The field needs `#[serde(default)]`.
pub fn deserialize_option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.as_deref().map(moment).transpose()
}

fn moment<E: de::Error>(text: &str) -> Result<Timestamp, E> {
    parse(text).ok_or_else(|| E::custom("not a date with time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_in_any_zone_and_shown_in_utc() {
        for (text, shown) in [
            ("2026-01-31T12:00:00.000Z", "2026-01-31T12:00:00.000Z"),
            ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(parse(text).and_then(format).as_deref(), Some(shown));
        }
    }

    #[test]
    fn a_text_that_is_no_date_or_out_of_range_is_refused() {
        for text in [
            "",
            "tomorrow",
            "2026-01-31",
            "2026-02-30T00:00:00Z",
            "1969-12-31T23:59:59.999Z",
            "9999-12-31T23:59:59-23:59",
            "+10000-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(format(u64::MAX), None);
        assert!(format(LATEST).is_some() && format(LATEST + 1).is_none());
    }
}
