//! Moments and expiry dates, as pages show them and as forms choose them.

use std::{fmt, time::SystemTime};

use time::{
    Date, Duration, OffsetDateTime, Time, UtcOffset, format_description::well_known::Rfc3339,
    macros::format_description,
};

use crate::{form::Form, texts::Language};

/// A moment as `<time>`. The script of the pages puts it into the reader's own time zone.
pub(crate) struct TimeElement {
    exact: String,
    shown: String,
}

impl TimeElement {
    /// `moment` is as the API writes it; a text that is not a moment is not shown.
    pub fn new(moment: &str, language: Language) -> Self {
        let Ok(moment) = OffsetDateTime::parse(moment, &Rfc3339) else {
            return Self {
                exact: String::new(),
                shown: String::new(),
            };
        };
        let moment = moment.to_offset(UtcOffset::UTC);
        let shown = match language {
            Language::English => moment.format(format_description!(
                "[day padding:none] [month repr:short] [year], [hour]:[minute] UTC"
            )),
            Language::German => moment.format(format_description!(
                "[day padding:none].[month padding:none].[year], [hour]:[minute] UTC"
            )),
        };
        Self {
            exact: moment.format(&Rfc3339).unwrap_or_default(),
            shown: shown.unwrap_or_default(),
        }
    }
}

impl fmt::Display for TimeElement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exact, shown } = self;
        write!(formatter, r#"<time datetime="{exact}">{shown}</time>"#)
    }
}

/// Both texts are formatted numbers and names of months.
impl askama::filters::HtmlSafe for TimeElement {}

/// The time of day in a time zone, or where the reader is. The script of the pages knows it; before that, it is in UTC.
pub(crate) struct Clock {
    zone: String,
    hour: String,
    day: String,
}

impl Clock {
    pub fn now(zone: Option<String>, language: Language) -> Self {
        let now = now().unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let hour = now.format(format_description!("[hour]:[minute] UTC"));
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "/_+-".contains(letter);
        Self {
            zone: zone
                .unwrap_or_default()
                .chars()
                .filter(|letter| is_safe(*letter))
                .collect(),
            hour: hour.unwrap_or_default(),
            day: day_of_week(now.date(), language),
        }
    }
}

/// A day without its year, such as Sat, 28 November.
fn day_of_week(date: Date, language: Language) -> String {
    const DAYS: [&str; 7] = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"];
    const MONTHS: &str = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember";
    let day = date.day();
    match language {
        Language::English => {
            let weekday = date.weekday().to_string();
            format!("{}, {day} {}", &weekday[..3], date.month())
        }
        Language::German => {
            let weekday = DAYS[usize::from(date.weekday().number_days_from_monday())];
            let months = MONTHS.split(' ').nth(usize::from(u8::from(date.month())) - 1);
            format!("{weekday}., {day}. {}", months.unwrap_or_default())
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { zone, hour, day } = self;
        write!(
            formatter,
            r#"<time class="hour" data-zone="{zone}">{hour}</time><span class="day">{day}</span>"#
        )?;
        if zone.is_empty() {
            return Ok(());
        }
        let place = zone.rsplit('/').next().unwrap_or_default().replace('_', " ");
        write!(formatter, r#"<span class="soft">{place}</span>"#)
    }
}

/// The zone has only letters, digits and a few signs.
impl askama::filters::HtmlSafe for Clock {}

/// When something ends, from the fields `until` (a day) and `lasts` of a form. The day takes precedence.
pub(crate) enum Expiry {
    At(String),
    Never,
    /// The day is over.
    Past,
    /// The day cannot be read, or it is after the year 9999.
    Unreadable,
}

impl Expiry {
    pub fn of(form: &Form) -> Self {
        if let Some(day) = form.optional("until") {
            return match day_start(day, 1) {
                Some(end) if is_past(&end) => Self::Past,
                Some(end) => Self::At(end),
                None => Self::Unreadable,
            };
        }
        Self::after(form, now())
    }

    fn after(form: &Form, now: Option<OffsetDateTime>) -> Self {
        let days = match form.text("lasts") {
            "day" => 1,
            "week" => 7,
            "month" => 30,
            "year" => 365,
            _ => return Self::Never,
        };
        let end = now.and_then(|now| now.checked_add(Duration::days(days)));
        end.and_then(written).map_or(Self::Unreadable, Self::At)
    }
}

/// When a day, or the day this many days later, begins in UTC, as the API reads it.
pub(crate) fn day_start(day: &str, days_later: i64) -> Option<String> {
    let day = Date::parse(day.trim(), format_description!("[year]-[month]-[day]")).ok()?;
    let day = day.checked_add(Duration::days(days_later))?;
    written(day.with_time(Time::MIDNIGHT).assume_utc())
}

/// Whether a moment, as the API writes it, is over.
pub(crate) fn is_past(moment: &str) -> bool {
    OffsetDateTime::parse(moment, &Rfc3339).is_ok_and(|moment| now().is_none_or(|now| moment <= now))
}

/// `None` after the year 9999.
fn now() -> Option<OffsetDateTime> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since_1970 = Duration::try_from(since_1970.unwrap_or_default()).ok()?;
    OffsetDateTime::UNIX_EPOCH.checked_add(since_1970)
}

fn written(moment: OffsetDateTime) -> Option<String> {
    let moment = moment.replace_nanosecond(0).ok()?;
    moment.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_in_the_readers_language() {
        let shown = |language| TimeElement::new("2026-11-03T09:05:07.123Z", language).to_string();
        assert_eq!(
            shown(Language::English),
            r#"<time datetime="2026-11-03T09:05:07.123Z">3 Nov 2026, 09:05 UTC</time>"#
        );
        assert_eq!(
            shown(Language::German),
            r#"<time datetime="2026-11-03T09:05:07.123Z">3.11.2026, 09:05 UTC</time>"#
        );
        let hostile = TimeElement::new("\"><script>", Language::English).to_string();
        assert_eq!(hostile, r#"<time datetime=""></time>"#);
    }

    #[test]
    fn a_day_of_the_week_is_said_in_the_readers_language() {
        let day = Date::from_calendar_date(2026, time::Month::March, 1).unwrap();
        assert_eq!(day_of_week(day, Language::English), "Sun, 1 March");
        assert_eq!(day_of_week(day, Language::German), "So., 1. März");
    }

    #[test]
    fn an_expiry_beyond_the_year_9999_cannot_be_read() {
        let form = Form::filled([("lasts", "year")]);
        let expiry = |now: &str| Expiry::after(&form, OffsetDateTime::parse(now, &Rfc3339).ok());
        assert!(
            matches!(expiry("2026-01-31T12:00:00.999Z"), Expiry::At(end) if end == "2027-01-31T12:00:00Z")
        );
        assert!(matches!(expiry("9999-12-31T00:00:00Z"), Expiry::Unreadable));
        assert!(matches!(Expiry::after(&form, None), Expiry::Unreadable));
    }

    #[test]
    fn a_day_ends_when_the_next_one_begins() {
        assert_eq!(
            day_start("2026-02-28", 0).as_deref(),
            Some("2026-02-28T00:00:00Z")
        );
        assert_eq!(
            day_start("2026-02-28", 1).as_deref(),
            Some("2026-03-01T00:00:00Z")
        );
        for broken in ["", "tomorrow", "2026-02-30", "9999-12-31"] {
            assert_eq!(day_start(broken, 1), None, "{broken}");
        }
    }
}
