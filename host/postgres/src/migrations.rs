//! Brings a database to the version that this binary knows.
//!
//! `portico_version` has the version of a database. A released migration never changes: a later change is a new one at
//! the end. One host at a time migrates, under an advisory lock; others that start meanwhile wait for it and find
//! nothing to do. `versions.rs` says which hosts may work on the result.

use anyhow::{Context, bail, ensure};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::health::{Away, is_away};
use super::locks::LOCK;
use super::versions::{FIRST, NEWEST, ServerProcess, Version, check, end_older};

const MIGRATIONS: [Migration; NEWEST + 1 - FIRST] = [
    Migration {
        sql: include_str!("migrations/0006_schema.sql"),
        oldest: 6,
    },
    // An older host would take the right to change a board from those whom it is shared with, and show every board to
    // those who may make boards.
    Migration {
        sql: include_str!("migrations/0007_rights.sql"),
        oldest: 7,
    },
    // An older host writes rows without groups.
    Migration {
        sql: include_str!("migrations/0008_audit_groups.sql"),
        oldest: 7,
    },
    // For an older host, every key may do what its user may do.
    Migration {
        sql: include_str!("migrations/0009_key_limits.sql"),
        oldest: 9,
    },
    // An older host shows the looks that it knows.
    Migration {
        sql: include_str!("migrations/0010_looks.sql"),
        oldest: 9,
    },
    // An older host leaves out the groups of an invite, which an administrator can give later.
    Migration {
        sql: include_str!("migrations/0011_invites_and_sessions.sql"),
        oldest: 9,
    },
    // An older host would take sections, sizes and notes from the boards that it saves.
    Migration {
        sql: include_str!("migrations/0012_sections.sql"),
        oldest: 12,
    },
    // An older host would show every app to everyone.
    Migration {
        sql: include_str!("migrations/0013_app_visibility.sql"),
        oldest: 13,
    },
    // An older host has no gate, and leaves what is set of apps for it as it is.
    Migration {
        sql: include_str!("migrations/0014_gate.sql"),
        oldest: 13,
    },
    // An older host would let people in by their password alone.
    Migration {
        sql: include_str!("migrations/0015_second_factor.sql"),
        oldest: 15,
    },
    // An older host would remove the pictures that only boards use.
    Migration {
        sql: include_str!("migrations/0016_home_boards.sql"),
        oldest: 16,
    },
    // An older host shows no start board and checks nothing in private networks by itself.
    Migration {
        sql: include_str!("migrations/0017_site_settings.sql"),
        oldest: 16,
    },
];

#[derive(Clone, Copy)]
struct Migration {
    sql: &'static str,
    /// The oldest version whose hosts may work on the database afterwards.
    oldest: usize,
}

/// A table that every version has. If it exists without a version, it belongs to another program.
const TABLES: [&str; 5] = ["app", "user_account", "board", "session", "audit"];

/// PostgreSQL 13 is the first in which the owner of a database may add `pg_trgm`.
const OLDEST_SERVER: i32 = 130_000;

/// Statements after the lock see what another host has migrated meanwhile, whatever the database's default isolation
/// is.
pub(super) const BEGIN_MIGRATING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// How long a host waits while another one migrates.
pub(super) const PATIENCE: &str = "SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0";

/// Runs the missing migrations. Refuses the database of another program, or one that hosts of this version may
/// not work on.
pub(super) async fn run(client: &Client) -> anyhow::Result<()> {
    check_server(client).await?;
    let found = version(client).await?;
    if found.version >= NEWEST {
        if found.version > NEWEST {
            tracing::warn!(
                "the database is of version {found}, and this portico of version {NEWEST}: it works alongside newer \
                 hosts"
            );
        }
        return Ok(());
    }
    run_missing(client, &MIGRATIONS).await
}

/// Runs those of these migrations that a database still lacks, in a transaction.
async fn run_missing(client: &Client, migrations: &[Migration]) -> anyhow::Result<()> {
    client
        .batch_execute(&format!("{BEGIN_MIGRATING}; {PATIENCE}"))
        .await?;
    let migrated = migrate_through(client, migrations).await;
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    migrated.and(ended.context("the migration could not be committed"))
}

/// Runs the missing migrations in the transaction that is open. The lock is held until its end.
pub(super) async fn migrate(client: &Client) -> anyhow::Result<()> {
    migrate_through(client, &MIGRATIONS).await
}

async fn migrate_through(client: &Client, migrations: &[Migration]) -> anyhow::Result<()> {
    // The second half of the lock is that of no table.
    let tried = client.query_one("SELECT pg_try_advisory_xact_lock($1, 0)", &[&LOCK]);
    if !tried.await?.try_get::<_, bool>(0)? {
        tracing::info!("waiting for another host, which migrates the database: for at most ten minutes");
        client
            .execute("SELECT pg_advisory_xact_lock($1, 0)", &[&LOCK])
            .await?;
    }
    let Version {
        version: done,
        oldest,
    } = version(client).await?;
    let newest = FIRST + migrations.len() - 1;
    if done >= newest {
        return Ok(());
    }
    check_rights(client).await?;
    if done == 0 {
        for table in TABLES {
            ensure!(
                !exists(client, table).await?,
                "it has a table {table} that is not Portico's: give Portico a database of its own, or a schema \
                 that stands first in the search_path of its role"
            );
        }
        let version = "
            CREATE TABLE portico_version (version integer NOT NULL, oldest integer NOT NULL);
            INSERT INTO portico_version VALUES (0, 0)";
        client.batch_execute(version).await?;
    }
    let missing = &migrations[(done + 1).saturating_sub(FIRST)..];
    let new_oldest = missing.iter().map(|migration| migration.oldest).max();
    let new_oldest = new_oldest.unwrap_or_default().max(oldest);
    if done > 0 {
        tracing::info!(
            "bringing the tables from version {done} to {newest}: with a million records this may take half a minute"
        );
        if new_oldest > oldest {
            end_older(client, new_oldest).await?;
        }
    }
    for migration in missing {
        client.batch_execute(migration.sql).await?;
    }
    client
        .execute(
            "UPDATE portico_version SET version = $1, oldest = $2",
            &[&i32::try_from(newest)?, &i32::try_from(new_oldest)?],
        )
        .await?;
    Ok(())
}

/// The version of a database. Refuses one of an earlier build, and one of a newer binary with which this one cannot
/// work.
pub(super) async fn version(client: &Client) -> anyhow::Result<Version> {
    if !exists(client, "portico_version").await? {
        return Ok(Version {
            version: 0,
            oldest: 0,
        });
    }
    let messages = client.simple_query(&check()).await;
    let messages = messages.map_err(|error| explain(&error))?;
    let version = Version::of(&messages).context("its version cannot be read")?;
    match version.refusal() {
        Some(refusal) if !(FIRST..NEWEST).contains(&version.version) => bail!(refusal),
        _ => Ok(version),
    }
}

/// The number of the version table, which distinguishes installations in one database.
pub(super) async fn installation(client: &Client) -> anyhow::Result<i32> {
    let place = ServerProcess::of(&client.simple_query(&check()).await?);
    Ok(place.context("its version cannot be read")?.installation)
}

async fn exists(client: &Client, table: &str) -> anyhow::Result<bool> {
    // Without the other table, to_regclass may return what the session has cached: that there was no such table when
    // its transaction began. The session learns what others have done meanwhile when it opens a table.
    let sql = "SELECT to_regclass($1) IS NOT NULL FROM (SELECT 1 FROM pg_class LIMIT 1) AS opened";
    let row = client.query_one(sql, &[&table]).await?;
    Ok(row.try_get(0)?)
}

/// Refuses a server that is too old, and a database of another encoding than UTF-8.
pub(super) async fn check_server(client: &Client) -> anyhow::Result<()> {
    let sql = "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')";
    let row = client.query_one(sql, &[]).await?;
    let (version, encoding): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    ensure!(
        version >= OLDEST_SERVER,
        "its server is PostgreSQL {}: Portico needs 13 or later",
        version / 10_000
    );
    ensure!(
        encoding == "UTF8",
        "its encoding is {encoding}: create a database with ENCODING 'UTF8' TEMPLATE template0"
    );
    Ok(())
}

/// Refuses a role that may not create tables, with the SQL that an administrator can run.
async fn check_rights(client: &Client) -> anyhow::Result<()> {
    let sql = "
        SELECT quote_ident(current_user), quote_ident(current_database()), quote_ident(current_schema()),
            has_schema_privilege(current_schema(), 'CREATE')";
    let row = client.query_one(sql, &[]).await?;
    let (role, database): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    let (schema, may): (Option<String>, Option<bool>) = (row.try_get(2)?, row.try_get(3)?);
    match (schema, may) {
        (Some(_), Some(true)) => Ok(()),
        (Some(schema), _) => bail!(
            "the role {role} may not create tables in the schema {schema}. As an administrator of the database, \
             run: GRANT USAGE, CREATE ON SCHEMA {schema} TO {role};"
        ),
        (None, _) => bail!(
            "the role {role} has no schema to create tables in. As an administrator of the database, run: CREATE \
             SCHEMA portico AUTHORIZATION {role}; ALTER ROLE {role} IN DATABASE {database} SET search_path = portico;"
        ),
    }
}

fn explain(error: &Error) -> anyhow::Error {
    let message = error
        .as_db_error()
        .map_or_else(|| error.to_string(), |refusal| refusal.message().to_owned());
    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return anyhow::anyhow!(
            "{message}: the tables belong to another role. Connect as that role, or have it grant this one \
             SELECT, INSERT, UPDATE and DELETE on all of them"
        );
    }
    if is_away(error) {
        return Away(message).into();
    }
    anyhow::anyhow!(message)
}

#[cfg(test)]
mod tests;
