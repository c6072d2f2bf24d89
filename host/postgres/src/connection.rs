//! One connection: its settings, and the statements that are prepared on it.
//!
//! Messages are sent in the order in which their futures are first polled, and answered in that order.
//! [`Sent`] polls once, so that what follows need not wait for the answer.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use portico_storage::driver::WAIT_TIMEOUT;
use tokio::time::timeout;
use tokio_postgres::{Client, Error, Statement};

use super::target::Target;
use super::versions::{CHECK, Version};

/// How long one statement may take that only reads.
pub(super) const READ_TIME: Duration = Duration::from_secs(30);
/// How long one statement of a write transaction may take: half of the time that other writers wait.
pub(super) const WRITE_TIME: Duration = Duration::from_secs(5);
/// How long a transaction may be open without a statement. The host ends calls before that.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// A connection to the database.
pub(super) struct Connection {
    client: Arc<Client>,
    statements: Mutex<HashMap<String, Statement>>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum Unreached {
    Refused(Error),
    TimedOut(Duration),
    /// The database is not for hosts of this version, in words.
    Unfit(String),
}

impl Connection {
    /// Connects to a database that hosts of this version may work on. A task of the runtime moves its messages
    /// until the connection is dropped.
    pub async fn open(target: &Target) -> Result<Self, Unreached> {
        let opening = async {
            let connection = Self::connect(target).await?;
            let version = connection.client.simple_query(CHECK).await?;
            Ok((connection, Version::of(&version)))
        };
        let (connection, version) = in_time(target, opening).await?;
        let refusal = version.map_or_else(|| Some("it has no version".into()), Version::refusal);
        refusal.map_or(Ok(connection), |why| Err(Unreached::Unfit(why)))
    }

    /// The same, whatever the version of the database is.
    pub async fn open_unchecked(target: &Target) -> Result<Self, Unreached> {
        in_time(target, Self::connect(target)).await
    }

    async fn connect(target: &Target) -> Result<Self, Error> {
        let (client, messages) = target.config.connect(target.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = messages.await {
                tracing::debug!("a connection to the database ended: {error}");
            }
        });
        client.batch_execute(&settings()).await?;
        Ok(Self {
            client: Arc::new(client),
            statements: Mutex::default(),
        })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is known to be lost.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// The statement, prepared when it is first asked for.
    pub async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends statements without parameters.
    pub fn send(&self, sql: impl Into<String>) -> Sent {
        let (client, sql) = (self.client.clone(), sql.into());
        let mut answer: Answer = Box::pin(async move { client.batch_execute(&sql).await });
        match (&mut answer).now_or_never() {
            Some(answered) => Sent::Answered(answered),
            None => Sent::Waiting(answer),
        }
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<String, Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn in_time<T>(
    target: &Target,
    opening: impl Future<Output = Result<T, Error>>,
) -> Result<T, Unreached> {
    let opened = timeout(target.patience, opening).await;
    opened
        .map_err(|_| Unreached::TimedOut(target.patience))?
        .map_err(Unreached::Refused)
}

type Answer = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// What was sent and may not be answered yet.
pub(super) enum Sent {
    Waiting(Answer),
    Answered(Result<(), Error>),
}

impl Sent {
    /// Waits for the answer.
    pub async fn answer(self) -> Result<(), Error> {
        match self {
            Self::Waiting(answer) => answer.await,
            Self::Answered(answer) => answer,
        }
    }
}

/// What holds for all statements of a connection. Write transactions have a shorter limit of their own.
/// Compiling a query takes longer than these statements. A commit that is answered is durable, whatever
/// the default of the database or of the role says.
fn settings() -> String {
    format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {};
        SET client_min_messages = error; SET jit = off;
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off'",
        READ_TIME.as_millis(),
        WAIT_TIMEOUT.as_millis(),
        IDLE_TIME.as_millis(),
    )
}
