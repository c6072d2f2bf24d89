//! One call of a procedure, and the answer that becomes JSON.

use std::{future::Future, io, pin::Pin, sync::Arc, time::Instant};

use portico_model::{
    Caller,
    error::{Code, Error},
};
use portico_sandbox::Instance;
use portico_storage::{AuditedCall, CallContext, SharedSnapshot, priority::give_way};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    identity::{self, Identity},
    resources::Resources,
    sender::{Sender, is_fresh},
};

/// An answer, as JSON; `null` where the procedure has no output.
pub type Output = String;

type Running = Pin<Box<dyn Future<Output = Result<Output, Error>> + Send>>;

/// The function that runs a procedure.
pub(crate) type Run = fn(Call) -> Running;

/// One call of a procedure.
pub struct Call {
    /// What it works with.
    pub resources: Arc<Resources>,
    /// The caller.
    pub identity: Arc<Identity>,
    /// The sender of the request, whom its calls share.
    pub(crate) sender: Arc<Sender>,
    /// When access was checked last.
    pub(crate) checked_at: Instant,
    /// The request's id, as the log has it.
    pub request_id: Arc<str>,
    /// The input, checked against the procedure's shape.
    pub input: Value,
    /// The longest answer of the component as JSON, in bytes.
    pub longest_answer: usize,
    /// Whether it may hash a password.
    pub hashes: bool,
    /// The row of the audit log that its transaction writes; none where nothing is recorded.
    pub audited: Option<Arc<AuditedCall>>,
    /// The snapshot that it shares with the other reads of its request.
    pub snapshot: SharedSnapshot,
}

impl Call {
    /// The input, as the type that the procedure takes.
    pub fn input<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        serde_json::from_value(self.input.take()).map_err(|error| {
            Error::internal(anyhow::Error::from(error).context("the shape of an input does not fit its type"))
        })
    }

    /// The caller, as the component sees them.
    pub fn caller(&self) -> Caller {
        Caller {
            user: self.identity.caller.clone(),
            context: (*self.request_id).into(),
        }
    }

    /// The context in which its transactions run.
    pub fn context(&self) -> CallContext {
        self.identity
            .context(self.request_id.clone())
            .audited(self.audited.clone())
            .within(self.snapshot.clone())
    }

    /// The component's answer, as JSON.
    pub fn json<T: Serialize>(&self, value: &T) -> Result<Output, Error> {
        let mut output = Bounded::new(self.longest_answer);
        serde_json::to_writer(&mut output, value).map_err(Error::internal)?;
        output.text()
    }

    /// An instance of the component: a fresh one, or one that has only served this user. A call that hashes
    /// gets a fresh one, because it may sign a user in or create an account, and so serves more than one caller.
    pub async fn enter(&self) -> Result<Instance, Error> {
        let sandbox = &self.resources.sandbox;
        let instance = match self.identity.user_id() {
            _ if self.hashes => sandbox.enter_to_hash(self.context()).await,
            Some(user_id) => sandbox.enter_for(user_id, self.context()).await,
            _ => sandbox.enter(self.context()).await,
        }?;
        if !is_fresh(self.checked_at) {
            // Boxed to keep the common future small.
            Box::pin(self.check_unchanged()).await?;
        }
        Ok(instance)
    }

    /// Refuses a call that waited for its instance if its caller has lost the key, the session or a permission
    /// meanwhile, or has gained one. The next attempt has the right answer.
    async fn check_unchanged(&self) -> Result<(), Error> {
        let (storage, now) = (&*self.resources.storage, self.resources.clock.now());
        let latest = identity::renew(storage, &self.identity, &self.request_id, now).await?;
        if latest.caller != self.identity.caller {
            let message = "Your access changed while the call waited; try again";
            return Err(Error::new(Code::ServiceUnavailable, message));
        }
        Ok(())
    }
}

/// `{id}`: the id of a record.
#[derive(Deserialize)]
pub(crate) struct ById {
    pub id: String,
}

/// `{id}`: the id of the created record.
#[derive(Serialize)]
pub(crate) struct Created {
    pub id: String,
}

/// `{query, limit?}`.
#[derive(Deserialize)]
pub(crate) struct Search {
    pub query: String,
    pub limit: Option<u32>,
}

/// After so many bytes of an answer the thread that makes it gives way if its priority is low: some tens of
/// microseconds.
const STRETCH: usize = 16 << 10;

/// Takes at most this many bytes.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
    /// The length up to which there is nothing to check.
    unchecked: usize,
}

impl Bounded {
    fn new(most: usize) -> Self {
        Self {
            // Most answers are shorter.
            bytes: Vec::with_capacity(512),
            most,
            unchecked: STRETCH.min(most),
        }
    }

    fn text(self) -> Result<Output, Error> {
        String::from_utf8(self.bytes).map_err(Error::internal)
    }

    /// To be called before so many bytes are added beyond the length up to which there is nothing to check.
    #[cold]
    #[inline(never)]
    fn check(&mut self, more: usize) -> io::Result<()> {
        let length = self.bytes.len() + more;
        if length > self.most {
            return Err(io::Error::other(format!(
                "the component's answer is longer than {} bytes",
                self.most
            )));
        }
        self.unchecked = length.saturating_add(STRETCH).min(self.most);
        give_way();
        Ok(())
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // The serializer writes JSON in many small pieces.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > self.unchecked - self.bytes.len() {
            self.check(bytes.len())?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Output, Error> {
    let mut output = Bounded::new(usize::MAX);
    // As a trait object: these answers are made less often, and the program stays smaller.
    let writer: &mut dyn io::Write = &mut output;
    serde_json::to_writer(writer, value).map_err(Error::internal)?;
    output.text()
}
