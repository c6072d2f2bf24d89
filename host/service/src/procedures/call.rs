//! One call of a procedure, and the answer that becomes JSON.

use std::{future::Future, io, pin::Pin, sync::Arc};

use portico_model::{Caller, error::Error};
use portico_rules::bounds;
use portico_sandbox::{Cost, Instance};
use portico_storage::{AuditedCall, CallContext};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    identity::{self, Identity},
    resources::Resources,
    shape::{Bound, Shape, Shaped, optional, records, required},
};

/// An answer, as JSON; `null` if the procedure has no output.
pub type Output = String;

type Running = Pin<Box<dyn Future<Output = Result<Output, Error>> + Send>>;

/// The function that runs a procedure.
pub(crate) type Run = fn(Call) -> Running;

pub struct Call {
    /// The resources of the service.
    pub resources: Arc<Resources>,
    pub identity: Arc<Identity>,
    /// The request's id, as the log has it.
    pub request_id: Arc<str>,
    /// The input, checked against the procedure's shape.
    pub input: Value,
    /// The longest answer of the component as JSON, in bytes.
    pub longest_answer: usize,
    /// The most that it may cost.
    pub cost: Cost,
    /// The row of the audit log that its transaction writes; `None` if nothing is recorded.
    pub audited: Option<Arc<AuditedCall>>,
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
    }

    /// The component's answer, as JSON.
    pub fn json<T: Serialize>(&self, value: &T) -> Result<Output, Error> {
        let mut output = Bounded::new(self.longest_answer);
        serde_json::to_writer(&mut output, value).map_err(Error::internal)?;
        output.text()
    }

    /// An instance of the component: a fresh one, or one that has only served this user. A call that hashes gets a
    /// fresh one, because it may sign a user in or create an account, and so serves more than one caller. The wait may
    /// have been long, so the component gets the caller as they are now.
    pub async fn enter(&mut self) -> Result<Instance, Error> {
        let sandbox = &self.resources.sandbox;
        let mut instance = match self.identity.user_id() {
            _ if self.cost == Cost::Hash => sandbox.enter_to_hash(self.context()).await,
            Some(user_id) => sandbox.enter_for(user_id, self.context()).await,
            _ => sandbox.enter(self.context()).await,
        }?;
        if self.renew_caller().await? {
            instance.act_for(self.context());
        }
        Ok(instance)
    }

    /// Looks the caller up again if the last look-up was more than a second ago: they may have lost the key, the
    /// session or a permission since. Returns whether it did.
    pub(crate) async fn renew_caller(&mut self) -> Result<bool, Error> {
        if self.identity.is_fresh() {
            return Ok(false);
        }
        let (storage, now) = (&*self.resources.storage, self.resources.clock.now());
        // Boxed to keep the common future small.
        let renewed = Box::pin(identity::renew(storage, &self.identity, &self.request_id, now)).await?;
        self.identity = Arc::new(renewed);
        Ok(true)
    }
}

records! {
    pub(crate) struct ById {
        id: String = required("id", Shape::Text).about("The record's id."),
    }
}
pub(crate) const ID: Shape = Shape::Named("Reference", &ById::SHAPE);

/// `{id}`: the id of the created record.
#[derive(Serialize)]
pub(crate) struct Created {
    pub id: String,
}

records! {
    pub(crate) struct Search {
        query: String = required("query", Shape::Text)
            .about("What the name contains, trimmed; an empty text fits every name."),
        limit: Option<u32> = optional("limit", LIMIT).about("How many to answer at most; 10 if absent."),
    }
}
pub(crate) const SEARCH: Shape = Shape::Named("Search", &Search::SHAPE);
const LIMIT: Shape = Shape::Bounded(&Shape::Integer, Bound::range(bounds::LIMIT));

/// A writer that accepts at most this many bytes.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Bounded {
    fn new(most: usize) -> Self {
        Self {
            // Most answers are shorter.
            bytes: Vec::with_capacity(512),
            most,
        }
    }

    fn text(self) -> Result<Output, Error> {
        String::from_utf8(self.bytes).map_err(Error::internal)
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
        if bytes.len() > self.most - self.bytes.len() {
            let most = self.most;
            return Err(io::Error::other(format!(
                "the component's answer is longer than {most} bytes"
            )));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<Output, Error> {
    let mut output = Bounded::new(usize::MAX);
    serde_json::to_writer(&mut output, value).map_err(Error::internal)?;
    output.text()
}
