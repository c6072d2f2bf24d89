//! Which hosts may work on a database: those of its own version, and older ones down to `oldest`.
//!
//! Each migration says which is the oldest version that can still work on the database afterwards, so that hosts of
//! both versions run alongside each other during an upgrade, or the older ones refuse and say why.
//!
//! Invariants:
//! - A connection is used only after its version was read ([`check`]).
//! - A host works only on the installation on which it started, not on another one that takes its name: its locks have
//!   the number of its own installation.
//! - A migration after which older hosts cannot work begins when their connections have ended. They get no new ones
//!   before it is committed, because it locks the table `portico_version` exclusively.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anyhow::bail;
use portico_model::Timestamp;
use portico_storage::driver::made_earlier;
use tokio::time::sleep;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::clock::NOW;

/// The version of an empty database after the first migration. Earlier versions are not upgraded.
pub(super) const FIRST: usize = 6;

/// The version that this binary knows.
pub(super) const NEWEST: usize = 17;

/// The statement that reads the version; the earliest had no column `oldest`. It also reads where the connection leads
/// ([`ServerProcess`]), and the time there.
pub(super) fn check() -> String {
    format!(
        "SELECT version, coalesce((to_jsonb(portico_version) ->> 'oldest')::integer, 1), portico_version.tableoid,
            pg_backend_pid(), pg_postmaster_start_time(), {NOW}
        FROM portico_version"
    )
}

/// The interval at which a migration checks whether the connections of older hosts have ended, and how many times.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
const MOST_LOOKS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// The version of its tables; 0 if it has none.
    pub version: usize,
    /// The oldest version whose hosts may work on it.
    pub oldest: usize,
}

impl Version {
    /// What [`check`] returns, at the end of these messages; `None` if it is not there.
    pub fn of(messages: &[SimpleQueryMessage]) -> Option<Self> {
        Some(Self {
            version: value(messages, 0)?,
            oldest: value(messages, 1)?,
        })
    }

    /// Why a host of this binary's version may not work on the database.
    pub fn refusal(self) -> Option<String> {
        let Self { version, oldest } = self;
        if (1..FIRST).contains(&version) {
            return Some(made_earlier(version));
        }
        if version < NEWEST {
            return Some(format!(
                "it is of version {version}, and this portico needs version {NEWEST}: start it again to migrate \
                 the database"
            ));
        }
        (oldest > NEWEST).then(|| {
            format!(
                "it is of version {version}, and this portico knows versions up to {NEWEST} (only {oldest} and \
                 later work on it): run the newer portico that wrote it, or restore a dump from before the upgrade into \
                 another database"
            )
        })
    }
}

/// Where a connection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerProcess {
    /// The number of the version table. It distinguishes installations, even from an earlier one of the same name.
    pub installation: i32,
    /// The process of the server that works for the connection.
    pub process: i32,
    /// When the server was started. It distinguishes servers, also a primary from the one before it.
    pub server: String,
    /// The time at the server, in milliseconds.
    pub time: Timestamp,
}

impl ServerProcess {
    /// What [`check`] returns, at the end of these messages; `None` if it is not there.
    pub fn of(messages: &[SimpleQueryMessage]) -> Option<Self> {
        // Numbers of objects are unsigned; locks take signed ones.
        let installation: u32 = value(messages, 2)?;
        Some(Self {
            installation: installation.cast_signed(),
            process: value(messages, 3)?,
            server: value(messages, 4)?,
            time: value(messages, 5)?,
        })
    }
}

/// What is in a column of the last row.
pub(super) fn value<T: FromStr>(messages: &[SimpleQueryMessage], column: usize) -> Option<T> {
    let row = messages.iter().rev().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })?;
    row.try_get(column).ok().flatten()?.parse().ok()
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.version)
    }
}

/// The name of this binary's connections at the server, after the name in the URL if it has one.
pub(super) fn application_name(name: Option<&str>) -> String {
    // PostgreSQL cuts names after 63 bytes.
    let name: String = name.unwrap_or_default().chars().take(12).collect();
    format!("{name} portico/{NEWEST}").trim_start().to_owned()
}

/// Closes the connections of hosts that are older than this, and waits until they have ended. Those of other roles
/// stay.
pub(super) async fn end_older(client: &Client, oldest: usize) -> anyhow::Result<()> {
    // No such host gets past its check meanwhile.
    client
        .batch_execute("LOCK TABLE portico_version IN ACCESS EXCLUSIVE MODE")
        .await?;
    let older = "
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user
            AND substring(application_name FROM '(?:^| )portico/([0-9]{1,9})$')::bigint < $1";
    let rows = client.query(older, &[&i64::try_from(oldest)?]).await?;
    let pids = rows.iter().map(|row| row.try_get(0));
    let pids = pids.collect::<Result<Vec<i32>, Error>>()?;
    if pids.is_empty() {
        return Ok(());
    }
    tracing::warn!(
        connections = pids.len(),
        "ending the connections of hosts that are older than version {oldest} of the database"
    );
    for _ in 0..MOST_LOOKS {
        // Within a transaction, the view keeps showing what it showed first, unless that is cleared.
        client.execute("SELECT pg_stat_clear_snapshot()", &[]).await?;
        let left = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = ANY ($1)";
        let left: i64 = client.query_one(left, &[&pids]).await?.try_get(0)?;
        if left == 0 {
            return Ok(());
        }
        sleep(LOOK_INTERVAL).await;
    }
    bail!("the connections of older hosts do not end: stop those hosts first");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_works_on_its_own_version_and_on_later_ones_that_let_it() {
        let refusal = |version, oldest| Version { version, oldest }.refusal();
        assert_eq!(refusal(NEWEST, 1), None);
        assert_eq!(refusal(NEWEST + 3, NEWEST), None);
        let newer = refusal(NEWEST + 3, NEWEST + 1).unwrap();
        assert!(newer.contains(&format!("version {}", NEWEST + 3)), "{newer}");
        assert!(newer.contains(&format!("versions up to {NEWEST}")), "{newer}");
        assert_eq!(refusal(FIRST - 1, 1), Some(made_earlier(FIRST - 1)));
    }

    #[test]
    fn a_connection_says_whose_it_is() {
        assert_eq!(application_name(None), format!("portico/{NEWEST}"));
        let named = application_name(Some("dashboard"));
        assert_eq!(named, format!("dashboard portico/{NEWEST}"));
        assert!(application_name(Some(&"ä".repeat(99))).len() <= 63);
    }
}
