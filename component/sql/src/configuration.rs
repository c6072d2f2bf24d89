//! What the dashboard decides, read once and checked.

use std::sync::OnceLock;

use portico_model::Timestamp;
use portico_sql::{Dialect, Texts};
use portico_storage::hash_secret;

use crate::bindings::database;

/// How long a prefix may be: with the longest name after it, PostgreSQL does not cut it.
const LONGEST_PREFIX: usize = 20;
const MINUTE: u64 = 60_000;
const YEAR: u64 = 366 * 24 * 60 * MINUTE;

/// What the dashboard decides.
pub struct Configuration {
    pub dialect: Dialect,
    /// What the names of all tables begin with. Instances are short-lived, so it is never freed.
    pub prefix: &'static str,
    /// The statements as the database takes them.
    pub texts: Texts,
    pub sessions: SessionTimes,
}

/// How long sessions last, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionTimes {
    pub idle: u64,
    pub most: u64,
}

impl SessionTimes {
    /// When a session that begins now ends at the latest.
    pub fn ends_at(self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.most).min(portico_model::time::LATEST)
    }

    /// When a session that is used now expires, unless it is used again.
    pub fn expires_at(self, now: Timestamp, ends_at: Timestamp) -> Timestamp {
        now.saturating_add(self.idle).min(ends_at)
    }
}

/// The configuration, or why it is refused.
pub fn get() -> Result<&'static Configuration, &'static str> {
    static READ: OnceLock<Result<Configuration, String>> = OnceLock::new();
    let read = READ.get_or_init(|| check(database::get_configuration()));
    read.as_ref().map_err(String::as_str)
}

fn check(given: database::Configuration) -> Result<Configuration, String> {
    let database::Configuration {
        dialect,
        prefix,
        session_idle,
        session_most,
    } = given;
    let dialect = match dialect {
        database::Dialect::Sqlite => Dialect::SqliteOfDashboard,
        database::Dialect::Postgresql => Dialect::PostgresOfDashboard,
    };
    check_prefix(dialect, &prefix)?;
    let sessions = SessionTimes {
        idle: session_idle,
        most: session_most,
    };
    check_sessions(sessions)?;
    let prefix = prefix.leak();
    Ok(Configuration {
        dialect,
        prefix,
        texts: Texts::new(dialect, prefix),
        sessions,
    })
}

/// SQLite makes no table whose name begins with this.
const RESERVED_BY_SQLITE: &str = "sqlite_";

fn check_prefix(dialect: Dialect, prefix: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    if dialect.is_sqlite() && prefix.starts_with(RESERVED_BY_SQLITE) {
        return Err(format!(
            "configuration.prefix must not begin with {RESERVED_BY_SQLITE}, which SQLite keeps for itself"
        ));
    }
    if (1..=LONGEST_PREFIX).contains(&prefix.len()) && prefix.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(format!(
        "configuration.prefix must have 1 to {LONGEST_PREFIX} characters, each a to z or _"
    ))
}

fn check_sessions(SessionTimes { idle, most }: SessionTimes) -> Result<(), String> {
    if !(MINUTE..=YEAR).contains(&most) {
        return Err(format!(
            "configuration.session-most must be {MINUTE} to {YEAR} milliseconds, got {most}"
        ));
    }
    if !(MINUTE..=most).contains(&idle) {
        return Err(format!(
            "configuration.session-idle must be {MINUTE} to session-most ({most}), got {idle}"
        ));
    }
    Ok(())
}

impl Configuration {
    /// The statements that begin a transaction that reads.
    pub fn begin_reading(&self) -> Vec<String> {
        vec![String::from(match self.dialect.is_sqlite() {
            true => "BEGIN",
            false => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })]
    }

    /// The statements that begin a transaction that writes, with this lock.
    pub fn begin_writing(&self, lock: portico_sql::Lock) -> Vec<String> {
        match self.dialect.is_sqlite() {
            // SQLite forgets foreign keys with the connection, and some drivers turn them off. Without them a user's sessions
            // would outlive the user.
            true => vec!["PRAGMA foreign_keys = ON".into(), "BEGIN IMMEDIATE".into()],
            false => vec![
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE".into(),
                self.take(lock),
            ],
        }
    }

    /// The statement with which a transaction of PostgreSQL takes the writers' lock. The first half of its name is not that
    /// of Portico's own driver; the second is that of the prefix. So two dashboards in one database do not wait for each
    /// other.
    pub fn take(&self, lock: portico_sql::Lock) -> String {
        const LOCK: i32 = 0x5072_7464;
        let hash = hash_secret(self.prefix);
        let installation = i32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
        let function = match lock {
            portico_sql::Lock::Alongside => "pg_advisory_xact_lock_shared",
            portico_sql::Lock::Alone => "pg_advisory_xact_lock",
        };
        format!("SELECT {function}({LOCK}, {installation})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQLITE: Dialect = Dialect::SqliteOfDashboard;
    const POSTGRES: Dialect = Dialect::PostgresOfDashboard;

    #[test]
    fn a_prefix_has_1_to_20_characters_from_a_to_z_and_the_underscore() {
        for prefix in ["a", "_", "portico_", "abcdefghijklmnopqrst"] {
            for dialect in [SQLITE, POSTGRES] {
                assert_eq!(check_prefix(dialect, prefix), Ok(()), "{prefix}");
            }
        }
        for prefix in [
            "",
            "abcdefghijklmnopqrstu",
            "A",
            "a1",
            "a-",
            "a b",
            "a.",
            "a\"",
            "a;",
            "ä",
            "a\0",
            "a\n",
            "$1",
            "~",
            "[",
        ] {
            for dialect in [SQLITE, POSTGRES] {
                assert!(check_prefix(dialect, prefix).is_err(), "{prefix}");
            }
        }
    }

    #[test]
    fn a_prefix_is_not_the_one_that_sqlite_keeps_for_itself() {
        let refusal = check_prefix(SQLITE, "sqlite_").expect_err("SQLite refuses such tables");
        assert!(refusal.contains("must not begin with sqlite_"), "{refusal}");
        assert_eq!(check_prefix(SQLITE, "sqlite"), Ok(()));
        assert_eq!(check_prefix(POSTGRES, "sqlite_"), Ok(()));
    }

    #[test]
    fn sessions_last_a_minute_to_a_year_and_no_longer_unused_than_used() {
        let check = |idle, most| check_sessions(SessionTimes { idle, most });
        for (idle, most) in [(MINUTE, MINUTE), (MINUTE, YEAR), (YEAR, YEAR)] {
            assert_eq!(check(idle, most), Ok(()));
        }
        for (idle, most) in [
            (0, MINUTE),
            (MINUTE - 1, YEAR),
            (MINUTE + 1, MINUTE),
            (MINUTE, YEAR + 1),
            (MINUTE, u64::MAX),
        ] {
            assert!(check(idle, most).is_err(), "{idle} {most}");
        }
    }
}
