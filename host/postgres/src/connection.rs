//! One connection: its settings, and the statements that are prepared on it.
//!
//! Invariant: no wait for a response is endless. A connection on which no response arrives in time is closed, and what
//! waits on it ends as on every lost connection.
//!
//! Messages are sent in the order in which their futures are first polled, and their responses come in that order.
//! [`Connection::send`] polls once, so that what follows need not wait for the response.

use std::collections::HashMap;
use std::future::{Future, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Statement};

use super::failure::Unreached;
use super::limits::Limits;
use super::target::Target;
use super::versions::{ServerProcess, Version, check};

/// How long a transaction may be open without a statement. The host ends calls earlier.
const IDLE_TIME: Duration = Duration::from_secs(60);

pub(super) struct Connection {
    client: Arc<Client>,
    statements: Mutex<HashMap<String, Statement>>,
    /// What was sent before the statement that is in progress.
    before: Mutex<Vec<Sent>>,
    /// The task that moves its messages.
    messages: AbortHandle,
    /// Where it leads; `None` if that was not checked.
    place: Option<ServerProcess>,
    /// Whether another server has taken the place of its own.
    is_left: AtomicBool,
    /// How long a response may take.
    answer_limit: Duration,
}

impl Connection {
    /// Connects to a database that hosts of this version may work on. A task of the runtime moves its messages
    /// until the connection is dropped.
    pub async fn open(target: &Target) -> Result<Self, Unreached> {
        let mut connection = Self::connect(target).await?;
        let sql = format!("{}; {}", settings(&target.limits), check());
        let sent = Instant::now();
        let checked = in_time(target, connection.client.simple_query(&sql)).await?;
        let unfit = |why| Err(Unreached::Unfit(why));
        let (Some(version), Some(place)) = (Version::of(&checked), ServerProcess::of(&checked)) else {
            return unfit("it has no version".into());
        };
        if let Some(why) = version.refusal() {
            return unfit(why);
        }
        // With another number, it would not take the same locks as the hosts that started later.
        if target
            .installation
            .get()
            .is_some_and(|known| *known != place.installation)
        {
            return unfit(
                "it is not the one that was there when this host started: start the host again".into(),
            );
        }
        target.clock.measure(place.time, sent);
        connection.place = Some(place);
        Ok(connection)
    }

    /// The same, whatever the version of the database is.
    pub async fn open_unchecked(target: &Target) -> Result<Self, Unreached> {
        let connection = Self::connect(target).await?;
        in_time(target, connection.client.batch_execute(&settings(&target.limits))).await?;
        Ok(connection)
    }

    async fn connect(target: &Target) -> Result<Self, Unreached> {
        let (client, messages) = target.servers.connect().await?;
        let messages = tokio::spawn(async move {
            if let Err(error) = messages.await {
                tracing::debug!("a connection to the database ended: {error}");
            }
        });
        Ok(Self {
            client: Arc::new(client),
            statements: Mutex::default(),
            before: Mutex::default(),
            messages: messages.abort_handle(),
            place: None,
            is_left: AtomicBool::default(),
            answer_limit: target.limits.answer,
        })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is known to be lost.
    pub fn is_closed(&self) -> bool {
        self.is_left.load(Ordering::Relaxed) || self.client.is_closed()
    }

    /// Closes it if it leads to another server than `newer`. What waits on it ends immediately.
    pub fn leave_unless_with(&self, newer: &Self) {
        if let (Some(place), Some(newer)) = (&self.place, &newer.place)
            && place.server != newer.server
        {
            self.is_left.store(true, Ordering::Relaxed);
            self.messages.abort();
        }
    }

    /// The statement, prepared when it is first requested. For parameters beyond these types, the server infers the
    /// type.
    pub async fn prepared(&self, sql: &str, types: &[Type]) -> Result<Statement, Error> {
        if let Some(statement) = self.statements().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.wait_for(self.client.prepare_typed(sql, types)).await?;
        self.statements().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Waits for a response on this connection. First reads the responses to what was sent earlier, because a
    /// connection stops at a response that nothing reads.
    pub async fn wait_for<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        if let Some(answer) = self.answer_in_time(answer.as_mut()).await {
            return answer;
        }
        // Without a connection, the wait ends now.
        self.messages.abort();
        answer.await
    }

    /// Sends a COMMIT and waits for its response; `None` if that takes too long. Then the connection stays open, with
    /// the COMMIT in progress.
    pub async fn commit(&self) -> Option<Result<(), Error>> {
        let mut committing = self.send("COMMIT");
        self.answer_in_time(committing.as_mut()).await
    }

    /// The error of a COMMIT without a response in time: its outcome is not known.
    pub fn no_answer(&self) -> String {
        format!("no answer within {} seconds", self.answer_limit.as_secs())
    }

    /// Waits for a response, as [`Connection::answer`] does; `None` if it takes too long.
    async fn answer_in_time<T>(&self, mut answer: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
        let answered = poll_fn(|context| {
            for sent in &mut *self.before() {
                sent.poll(context);
            }
            answer.as_mut().poll(context)
        });
        timeout(self.answer_limit, answered).await.ok()
    }

    /// The process of the server that works for it, if that is known.
    pub fn process(&self) -> Option<i32> {
        self.place.as_ref().map(|place| place.process)
    }

    /// Sends statements without parameters. Their response must be awaited, or given up, before that of others.
    pub fn send(&self, sql: impl Into<String>) -> Acknowledgement {
        let (client, sql) = (self.client.clone(), sql.into());
        let mut answer: Acknowledgement = Box::pin(async move { client.batch_execute(&sql).await });
        match (&mut answer).now_or_never() {
            Some(answered) => Box::pin(ready(answered)),
            None => answer,
        }
    }

    /// Sends statements without parameters, before others whose responses are awaited.
    pub fn send_before(&self, sql: impl Into<String>) {
        let sent = Sent::Waiting(self.send(sql));
        self.before().push(sent);
    }

    /// The responses to what was sent earlier.
    pub async fn take_answers(&self) -> Vec<Result<(), Error>> {
        let waiting = poll_fn(|context| {
            let mut before = self.before();
            before.iter_mut().for_each(|sent| sent.poll(context));
            match before.iter().all(|sent| matches!(sent, Sent::Answered(_))) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        self.wait_for(waiting).await;
        let sent = std::mem::take(&mut *self.before()).into_iter();
        sent.filter_map(|sent| match sent {
            Sent::Answered(answer) => Some(answer),
            Sent::Waiting(_) => None,
        })
        .collect()
    }

    /// Gives up the responses to what was sent earlier.
    pub fn give_up_answers(&self) {
        self.before().clear();
    }

    fn before(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<String, Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the first response on a new connection as long as for the connection itself.
async fn in_time<T>(target: &Target, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Unreached> {
    let answered = timeout(target.connect_limit, answer).await;
    let answered = answered.map_err(|_| Unreached::TimedOut(target.connect_limit))?;
    answered.map_err(Unreached::Refused)
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Without this, the task would wait for responses that are still to come.
        self.messages.abort();
    }
}

/// The response to statements without parameters.
pub(super) type Acknowledgement = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// What was sent and may not have a response yet.
enum Sent {
    Waiting(Acknowledgement),
    Answered(Result<(), Error>),
}

impl Sent {
    fn poll(&mut self, context: &mut Context<'_>) {
        if let Self::Waiting(answer) = self
            && let Poll::Ready(answered) = answer.as_mut().poll(context)
        {
            *self = Self::Answered(answered);
        }
    }
}

/// What applies to all statements of a connection. Write transactions have a shorter time limit of their own. JIT is
/// off, because compiling a query takes longer than these statements. A commit that is acknowledged is durable,
/// whatever the default of the database or of the role says.
fn settings(limits: &Limits) -> String {
    format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {};
        SET client_min_messages = error; SET jit = off;
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off'",
        limits.read.as_millis(),
        limits.wait.as_millis(),
        IDLE_TIME.as_millis(),
    )
}
