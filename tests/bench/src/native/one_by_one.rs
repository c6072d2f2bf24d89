//! Writing without shared commits: one connection, and one SQLite transaction for each call.

use std::{
    cell::LazyCell,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use portico_storage::{AuditEntry, StoredApp};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

type Job = (StoredApp, AuditEntry, oneshot::Sender<rusqlite::Result<()>>);

/// A thread that writes one transaction after the other. This is the fastest way without shared commits:
/// there is no lock to wait for, and no gap between two transactions.
pub struct OneByOne(mpsc::Sender<Job>);

impl OneByOne {
    /// Writes to this database, which is opened on first use.
    pub fn new(database: PathBuf) -> Self {
        let (jobs, waiting) = mpsc::channel::<Job>();
        thread::spawn(move || {
            let connection = LazyCell::new(|| open(&database).expect("the database can be opened"));
            for (app, entry, done) in waiting {
                // An error means that the caller has stopped waiting.
                let _ = done.send(insert(&connection, &app, &entry));
            }
        });
        Self(jobs)
    }

    /// Inserts an app and its audit row. Returns when both are durable.
    pub async fn insert(&self, app: StoredApp, entry: AuditEntry) -> anyhow::Result<()> {
        let (done, waiting) = oneshot::channel();
        self.0.send((app, entry, done))?;
        Ok(waiting.await??)
    }
}

/// A connection with the same durability as the storage driver's.
fn open(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database)?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(connection)
}

fn insert(connection: &Connection, app: &StoredApp, entry: &AuditEntry) -> rusqlite::Result<()> {
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| connection.prepare_cached(sql)?.execute(values);
    run("BEGIN IMMEDIATE", &[])?;
    let inserted = insert_app(connection, app).and_then(|()| insert_entry(connection, entry));
    run(if inserted.is_ok() { "COMMIT" } else { "ROLLBACK" }, &[])?;
    inserted
}

fn insert_app(connection: &Connection, StoredApp { app, name_key }: &StoredApp) -> rusqlite::Result<()> {
    let sql = "
        INSERT INTO app (id, name, name_key, description, icon_url, href, ping_url)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = params![
        app.id,
        app.name,
        name_key,
        app.description,
        app.icon_url,
        app.href,
        app.ping_url
    ];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

fn insert_entry(connection: &Connection, entry: &AuditEntry) -> rusqlite::Result<()> {
    let sql = "
        INSERT INTO audit (time, actor_id, authentication, credential_id, address, request_id, procedure, target,
            created, outcome, times)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, 'OK', 1)";
    let values = params![
        entry.time as i64,
        entry.actor_id,
        entry.authentication,
        entry.credential_id,
        entry.address.map(|address| address.to_string()),
        entry.request_id,
        entry.procedure,
        entry.target,
    ];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}
