//! The driver for PostgreSQL.
//!
//! Invariants:
//! - Every transaction has a connection of its own from a bounded pool (`pool.rs`). The connection goes back only when
//!   it is clean (`session.rs`). BEGIN is sent with the first statement.
//! - Write transactions behave as if they ran one after the other: `locks.rs` says which of them run
//!   alongside others, and why that makes no difference.
//! - Every statement has a time limit, and stops when its call ends.
//! - No host works on a database that is not for its version (`versions.rs`).
//! - A COMMIT whose response is lost is an error that says so, and is not sent again.
//! - The schema holds references, uniqueness and cascades (`migrations/`). Only `health.rs` turns PostgreSQL's errors
//!   into storage's errors.

mod clock;
mod connection;
pub mod copying;
mod failure;
mod health;
mod limits;
mod locks;
pub mod metrics;
mod migrations;
mod pool;
mod pooler;
mod query;
mod recent;
mod servers;
mod session;
mod shared;
mod target;
mod tls;
mod transaction;
mod trigrams;
mod versions;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::time::timeout;

use portico_model::time::Clock;
use portico_sql::{Settings, SqlTransaction, Visibility};
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Error, Ids, Result, SharedRecords, Storage,
    Transaction,
};

use clock::{NOW, ServerClock};
use connection::Connection;
pub use limits::Limits;
use locks::WriteLock;
use pool::Pool;
use recent::Recent;
use shared::PostgresShared;
use target::Target;
use transaction::{PostgresTransaction, Resources};
use versions::value;

/// Storage in a database of PostgreSQL.
pub struct PostgresStorage {
    resources: Resources,
    settings: Settings,
    shared: PostgresShared,
    /// The connection for checks, so that they do not wait for a place in the pool.
    spare: Mutex<Option<Arc<Connection>>>,
}

impl PostgresStorage {
    /// Whether this text is the URL of a database of PostgreSQL.
    pub fn is_url(text: &str) -> bool {
        target::is_url(text)
    }

    /// Connects to the database of `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`, and brings its tables to
    /// the version that this binary knows. Errors name the database without the password.
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        Self::open_with(url, Limits::default()).await
    }

    /// The same, with other time limits.
    pub async fn open_with(url: &str, limits: Limits) -> anyhow::Result<Self> {
        let mut target = Target::parse(url)?;
        target.limits = limits;
        let shown = target.shown().to_owned();
        Self::open_target(target)
            .await
            .with_context(|| format!("cannot use the database {shown}"))
    }

    /// Whether it could not be opened only because the database is not there at the moment: it is worth trying again.
    pub fn is_away(error: &anyhow::Error) -> bool {
        error.chain().any(|cause| {
            let lost = cause.downcast_ref().is_some_and(health::is_away);
            lost || cause.is::<health::Away>()
        })
    }

    /// The records that the hosts on this database share.
    pub fn shared(&self) -> Arc<dyn SharedRecords> {
        Arc::new(self.shared.clone())
    }

    async fn open_target(target: Target) -> anyhow::Result<Self> {
        pooler::refuse_shared_sessions(&target).await?;
        let first = Connection::open_unchecked(&target).await;
        let first = first.map_err(|error| health::unopened(&error))?;
        migrations::run(first.client()).await?;
        measure(&first, &target.clock).await?;
        let installation = migrations::installation(first.client()).await?;
        let installation = *target.installation.get_or_init(|| installation);
        trigrams::ensure(first.client(), target.shown()).await;
        let lock = WriteLock {
            installation,
            limits: target.limits,
        };
        let pool = Arc::new(Pool::new(target));
        Ok(Self {
            shared: PostgresShared::new(pool.clone(), installation),
            resources: Resources { pool, lock },
            settings: Settings {
                ids: Ids::default(),
                visibility: Visibility::Stored(Some(Arc::new(Recent::default()))),
                has_password_links: true,
            },
            spare: Mutex::new(Some(Arc::new(first))),
        })
    }

    /// Takes the ids of the records that it creates from this source.
    pub fn with_ids(self, ids: Ids) -> Self {
        let settings = Settings { ids, ..self.settings };
        Self { settings, ..self }
    }

    /// Fixes who sees which app, whatever is stored: whether callers see only the apps on boards that they may view.
    pub fn with_apps_by_board(self, by_board: bool) -> Self {
        let settings = self.settings.with_apps_by_board(by_board);
        Self { settings, ..self }
    }

    /// The clock of the database's server: the time that all hosts on it share.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.resources.pool.target.clock.clone()
    }

    /// How many of its connections are idle, and how many are in use.
    pub fn connections(&self) -> (usize, usize) {
        self.resources.pool.counts()
    }

    /// The database, without the password.
    pub fn shown(&self) -> &str {
        self.resources.pool.target.shown()
    }

    fn transaction(
        &self,
        access: Access,
        defers: bool,
        context: &CallContext,
    ) -> Box<SqlTransaction<PostgresTransaction>> {
        let database = PostgresTransaction::new(access, defers, self.resources.clone());
        Box::new(SqlTransaction::new(
            database,
            access,
            context,
            self.settings.clone(),
        ))
    }

    /// Fails if the database does not respond, or accepts no writes.
    async fn try_spare(&self) -> Result<()> {
        let (pool, mut spare) = (&self.resources.pool, self.spare.lock().await);
        // Put back only after it has responded.
        let connection = match spare.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => {
                let opened = Connection::open(&pool.target).await;
                let opened = Arc::new(opened.map_err(|error| pool.health.unreached(&error))?);
                pool.leave_other_servers(&opened);
                opened
            }
        };
        let tried = measure(&connection, &pool.target.clock).await;
        if tried.map_err(|error| pool.health.unavailable(&error.to_string()))? {
            return Err(pool
                .health
                .unavailable("it takes no writes: it is a standby, or read-only"));
        }
        *spare = Some(connection);
        Ok(())
    }
}

/// Measures the server's clock. Returns whether the server only reads.
async fn measure(
    connection: &Connection,
    clock: &ServerClock,
) -> std::result::Result<bool, tokio_postgres::Error> {
    let sent = Instant::now();
    let sql = format!("SELECT current_setting('transaction_read_only'), {NOW}");
    let messages = connection.client().simple_query(&sql).await?;
    if let Some(time) = value(&messages, 1) {
        clock.measure(time, sent);
    }
    Ok(value(&messages, 0).is_some_and(|read_only: String| read_only == "on"))
}

#[async_trait]
impl Storage for PostgresStorage {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        Ok(self.transaction(access, true, context))
    }
}

#[async_trait]
impl DashboardStorage for PostgresStorage {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        Ok(self.transaction(access, false, context))
    }

    async fn check(&self) -> Result<()> {
        let limit = self.resources.pool.target.limits.check;
        let late = |_| Error::Unavailable(format!("no answer within {} seconds", limit.as_secs()));
        timeout(limit, self.try_spare()).await.map_err(late)?
    }
}
