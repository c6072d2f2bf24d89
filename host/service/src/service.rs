//! The service: every transport calls procedures through it.
//!
//! Order of checks: authentication, access (and whether onboarding is open), input, and then the procedure's own
//! checks. Access is checked once, before the transport reads a body, and again only if the call starts more than a
//! second later.

use std::{
    ops::Deref,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use portico_model::{
    error::{Code, Collided, Error},
    time::Clock,
};
use portico_sandbox::{Access, Sandbox};
use portico_storage::{AuditedCall, DashboardStorage, SharedRecords, SharedSnapshot, secrets::Secrets};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tracing::{debug, error, warn};

pub use crate::run_blocking::WorkPermit;
use crate::{
    audit::{Audit, AuditSettings},
    fair_semaphore::FairSemaphore,
    identity::{self, Identity},
    lists::{Estimate, LONG_LIST, Lists},
    procedures::{
        Call, Output, Procedure,
        call::Run,
        row::{Recorded, Transports, Work},
    },
    resources::Resources,
    run_blocking::{run_long, run_low_priority},
    sender::{Sender, is_fresh},
    shape::Shape,
    table::Table,
    throttle::Throttle,
};

/// How many long lists are made at once, or as many as passwords are hashed, if that is more.
const LONG_LISTS: usize = 4;

/// The parts that a service is made of.
pub struct ServiceParts {
    /// The users, the apps, and the records of the dashboard side.
    pub storage: Arc<dyn DashboardStorage>,
    /// What the hosts on the storage must know of each other.
    pub shared: Arc<dyn SharedRecords>,
    /// Runs the component.
    pub sandbox: Sandbox,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Makes keys, tokens and ids.
    pub secrets: Secrets,
    /// The longest time of one call, waiting included.
    pub call_time: Duration,
    /// Limits how often a client may try to sign in.
    pub throttle: Throttle,
    /// How much the audit log records, and for how long.
    pub audit: AuditSettings,
}

/// Everything that a transport needs to answer requests. It never changes:
/// [`HotSwap`](crate::hot_swap::HotSwap) replaces the whole of it.
pub struct Service {
    /// What calls work with.
    resources: Arc<Resources>,
    /// Every procedure.
    pub table: Arc<Table>,
    /// How large lists are.
    pub lists: Arc<Lists>,
}

impl Service {
    /// What calls work with.
    pub fn resources(&self) -> &Arc<Resources> {
        &self.resources
    }
}

impl Deref for Service {
    type Target = Resources;

    fn deref(&self) -> &Resources {
        &self.resources
    }
}

/// A permitted call of a procedure: [`Service::authorise`] has checked its access.
pub struct Authorised {
    procedure: Arc<Procedure>,
    sender: Arc<Sender>,
    identity: Arc<Identity>,
    checked_at: Instant,
}

impl Authorised {
    /// The procedure that may be called.
    pub fn procedure(&self) -> &Arc<Procedure> {
        &self.procedure
    }
}

/// A call that is not prepared yet.
struct Request<'a> {
    procedure: &'a Procedure,
    /// How large the list may be that it answers; none if it answers no list, or if that is not known.
    estimate: Option<Estimate<'a>>,
    sender: Arc<Sender>,
    identity: Arc<Identity>,
    id: Arc<str>,
    /// When access was checked; none: not yet.
    checked_at: Option<Instant>,
    /// The row of the audit log that the call's transaction writes.
    audited: Option<Arc<AuditedCall>>,
    /// The snapshot that it may read in.
    snapshot: SharedSnapshot,
}

impl Request<'_> {
    /// What running it takes.
    fn work(&self) -> Work {
        match self.procedure.work() {
            Work::Light if self.estimate.is_some_and(|list| list.size() >= LONG_LIST) => Work::LongList,
            work => work,
        }
    }
}

impl Service {
    /// Reads the component's procedures; fails if they are not the ones that this host calls.
    pub async fn new(parts: ServiceParts) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&parts.sandbox).await?.with_dashboard();
        Ok(Self::of(parts, table))
    }

    /// The same for a dashboard that has sessions, boards and an audit log of its own: only the component's
    /// procedures. Its storage is [`WithoutDashboard`](portico_storage::WithoutDashboard).
    pub async fn without_dashboard(parts: ServiceParts) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&parts.sandbox).await?;
        Ok(Self::of(parts, table))
    }

    fn of(parts: ServiceParts, table: Table) -> Arc<Self> {
        let at_once = parts.sandbox.limits().hashing as usize;
        let audit = Audit::new(
            parts.storage.clone(),
            parts.shared,
            parts.clock.clone(),
            parts.audit,
        );
        let resources = Resources {
            storage: parts.storage,
            sandbox: parts.sandbox,
            clock: parts.clock,
            secrets: parts.secrets,
            audit,
            throttle: parts.throttle,
            call_time: parts.call_time,
            hashing: FairSemaphore::new(at_once),
            long: FairSemaphore::new(at_once),
            long_lists: FairSemaphore::new(at_once.max(LONG_LISTS)),
            adopting: Arc::default(),
        };
        Arc::new(Self {
            resources: Arc::new(resources),
            lists: Arc::new(Lists::new(&table)),
            table: Arc::new(table),
        })
    }

    /// The same service with another component, if that has the same procedures.
    pub(crate) async fn with_component(self: &Arc<Self>, component: Vec<u8>) -> anyhow::Result<Arc<Self>> {
        let this = self.clone();
        // Compiling takes seconds of processor time.
        let sandbox = spawn_blocking(move || this.sandbox.sibling(&component)).await??;
        let table = table_of(&sandbox).await?;
        self.table.check_same(&table)?;
        Ok(Arc::new(Self {
            resources: Arc::new(self.resources.with_sandbox(sandbox)),
            table: self.table.clone(),
            lists: self.lists.clone(),
        }))
    }

    /// Checks access, for which no input is needed. Records and logs a refusal.
    pub async fn authorise(
        &self,
        procedure: &Arc<Procedure>,
        sender: &Arc<Sender>,
        request_id: &str,
    ) -> Result<Authorised, Error> {
        let (identity, _) = sender.latest();
        let allowed = self.check_access(procedure, &identity, request_id).await;
        allowed.map_err(|error| {
            self.audit
                .refuse(&procedure.action(&identity, request_id), &error);
            report(error, &procedure.name, request_id)
        })?;
        Ok(Authorised {
            procedure: procedure.clone(),
            sender: sender.clone(),
            identity,
            checked_at: Instant::now(),
        })
    }

    async fn check_access(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
    ) -> Result<(), Error> {
        identity.check(&procedure.access, procedure.kind)?;
        if matches!(procedure.access, Access::Onboarding) && Box::pin(self.has_users(request_id)).await? {
            return Err(Error::new(Code::Forbidden, "Onboarding is over: a user exists"));
        }
        Ok(())
    }

    /// Calls a procedure. An unreadable input is refused only after its caller is authorised.
    pub async fn call(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        input: Result<Option<Value>, Error>,
    ) -> Result<Output, Error> {
        let run = run_of(procedure)?;
        let estimate = self.estimate(procedure, &input);
        let request = Request {
            estimate,
            ..self.request(procedure, identity, request_id, &input)
        };
        let answer = self.make(request, move || check_input(procedure, input), run);
        answer.await.inspect(|output| learn(estimate, output))
    }

    /// Makes an authorised call, within the snapshot of its request if the procedure is
    /// [read-only](Procedure::is_read_only).
    pub async fn call_within(
        &self,
        snapshot: &SharedSnapshot,
        authorised: &Authorised,
        request_id: &Arc<str>,
        input: Result<Option<Value>, Error>,
    ) -> Result<Output, Error> {
        let procedure = &*authorised.procedure;
        let run = run_of(procedure)?;
        let estimate = self.estimate(procedure, &input);
        let request = Request {
            procedure,
            estimate,
            sender: authorised.sender.clone(),
            identity: authorised.identity.clone(),
            id: request_id.clone(),
            checked_at: Some(authorised.checked_at),
            audited: self.audited(procedure, &authorised.identity, request_id, &input),
            snapshot: if procedure.is_read_only() {
                snapshot.clone()
            } else {
                SharedSnapshot::default()
            },
        };
        let answer = self.make(request, move || check_input(procedure, input), run);
        answer.await.inspect(|output| learn(estimate, output))
    }

    /// Runs a procedure with a function that already has the input.
    pub async fn call_with<T, F>(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let request = self.request(procedure, identity, request_id, &Ok(None));
        self.make(request, || Ok(Value::Null), run).await
    }

    /// A call whose access is not checked yet, and the size of whose answer is not known.
    fn request<'a>(
        &self,
        procedure: &'a Procedure,
        identity: &Identity,
        id: &str,
        input: &Result<Option<Value>, Error>,
    ) -> Request<'a> {
        let identity = Arc::new(identity.clone());
        Request {
            procedure,
            estimate: None,
            sender: Sender::new(identity.clone()),
            audited: self.audited(procedure, &identity, id, input),
            identity,
            id: id.into(),
            checked_at: None,
            snapshot: SharedSnapshot::default(),
        }
    }

    /// Makes a call: checks access unless that was done, reads the input, runs the procedure, and records how the
    /// call ended.
    async fn make<T, F>(
        &self,
        request: Request<'_>,
        input: impl FnOnce() -> Result<Value, Error>,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let procedure = request.procedure;
        // Pinned here: passed on as a value, the future would be copied at each step around it.
        let running = pin!(async {
            let checked_at = match request.checked_at {
                Some(checked_at) => checked_at,
                None => {
                    self.check_access(procedure, &request.identity, &request.id)
                        .await?;
                    Instant::now()
                }
            };
            let call = self.prepare(&request, checked_at, input()?);
            self.run(&request, call, run).await
        });
        let answer = self.bound(procedure, &request.id, running).await;
        self.record(&request, &answer);
        answer
    }

    fn estimate(&self, procedure: &Procedure, input: &Result<Option<Value>, Error>) -> Option<Estimate<'_>> {
        let input = input.as_ref().ok().and_then(Option::as_ref);
        self.lists.estimate(procedure, input)
    }

    /// The row of the audit log that the call's transaction writes.
    fn audited(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        input: &Result<Option<Value>, Error>,
    ) -> Option<Arc<AuditedCall>> {
        let is_recorded = procedure.recorded != Recorded::None;
        let action = procedure.action(identity, request_id);
        is_recorded.then(|| self.audit.call(&action, input)).flatten()
    }

    /// Records how a call ended.
    fn record<T>(&self, request: &Request<'_>, answer: &Result<T, Error>) {
        let procedure = request.procedure;
        let is_recorded = match procedure.recorded {
            Recorded::Calls => true,
            Recorded::Changes => answer.is_err(),
            Recorded::None => false,
        };
        if is_recorded {
            let action = procedure.action(&request.identity, &request.id);
            self.audit.end(&action, request.audited.as_deref(), answer);
        }
    }

    async fn bound<T>(
        &self,
        procedure: &Procedure,
        request_id: &str,
        running: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let started = Instant::now();
        let answer = match procedure.transports {
            Transports::Calls(_) => self.in_time(running).await,
            // Each step has a bound of its own, such as the directory's time limit.
            Transports::Route => running.await,
        };
        let outcome = answer.as_ref().map_or_else(|error| error.code.name(), |_| "OK");
        debug!(
            procedure = procedure.name,
            request = request_id,
            outcome,
            micros = started.elapsed().as_micros()
        );
        answer.map_err(|error| report(error, &procedure.name, request_id))
    }

    /// Counts the call if the throttle does so, waits for the permit that its work needs, and runs it.
    async fn run<T, F>(
        &self,
        request: &Request<'_>,
        call: Call,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let (procedure, work) = (request.procedure, request.work());
        // A route's function counts its own attempts, because it knows the account.
        let is_counted = procedure.throttled && matches!(procedure.transports, Transports::Calls(_));
        if work == Work::Light && !is_counted && is_fresh(call.checked_at) {
            return run(call).await;
        }
        // Boxed to keep the common future small.
        let counted = async {
            let address = call.identity.address;
            let attempt = match is_counted {
                true => Some(self.throttle.begin(None, address).await?),
                false => None,
            };
            let answer = self.run_with_permit(procedure, work, call, run).await;
            if let Some(attempt) = attempt {
                attempt.settle(&answer).await;
            }
            answer
        };
        Box::pin(counted).await
    }

    /// Waits for the permit that this work needs, checks access again if the last check is too old by
    /// then, and runs the call.
    async fn run_with_permit<T, F>(
        &self,
        procedure: &Procedure,
        work: Work,
        mut call: Call,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let address = call.identity.address;
        let permit = match work {
            Work::Light => None,
            Work::Hashing => Some(self.acquire_hash_permit(address).await?),
            Work::LongList => Some(self.acquire_list_permit(address, &call.snapshot).await?),
            Work::Long => Some(self.acquire_long_permit(address).await?),
        };
        self.check_again_if_late(procedure, &mut call).await?;
        match permit {
            None => run(call).await,
            Some(permit) if work == Work::Long => run_long(permit, run(call)).await,
            Some(permit) => run_low_priority(permit, run(call)).await,
        }
    }

    /// Checks access again if the call waited since the last check: the caller may have lost their key or a
    /// permission. Looks the caller up unless another call of the request has just done so.
    async fn check_again_if_late(&self, procedure: &Procedure, call: &mut Call) -> Result<(), Error> {
        if is_fresh(call.checked_at) {
            return Ok(());
        }
        let (latest, looked_up_at) = call.sender.latest();
        call.identity = if is_fresh(looked_up_at) {
            latest
        } else {
            let now = self.clock.now();
            let renewed = identity::renew(&*self.storage, &call.identity, &call.request_id, now).await?;
            let renewed = Arc::new(renewed);
            call.sender.renew(renewed.clone());
            renewed
        };
        self.check_access(procedure, &call.identity, &call.request_id)
            .await?;
        call.checked_at = Instant::now();
        Ok(())
    }

    fn prepare(&self, request: &Request<'_>, checked_at: Instant, input: Value) -> Call {
        let limits = self.sandbox.limits();
        Call {
            longest_answer: if request.procedure.holds_list {
                limits.transfer
            } else {
                limits.record
            },
            hashes: request.procedure.hashes,
            resources: self.resources.clone(),
            identity: request.identity.clone(),
            sender: request.sender.clone(),
            checked_at,
            request_id: request.id.clone(),
            input,
            audited: request.audited.clone(),
            snapshot: request.snapshot.clone(),
        }
    }
}

/// Checks the input against the procedure's shape.
fn check_input(procedure: &Procedure, input: Result<Option<Value>, Error>) -> Result<Value, Error> {
    match procedure.input {
        // Ignore the input when none is expected.
        Shape::Nothing => Ok(Value::Null),
        // The component checks its texts itself: what is only compared may have any character.
        shape if procedure.is_described => shape.check(input?),
        shape => shape.check_storable(input?),
    }
}

/// Notes the size of the list that a call answered.
fn learn(estimate: Option<Estimate<'_>>, output: &Output) {
    if let Some(estimate) = estimate {
        estimate.learn(output.len());
    }
}

/// The function that runs a procedure call.
fn run_of(procedure: &Procedure) -> Result<Run, Error> {
    match procedure.transports {
        Transports::Calls(run) => Ok(run),
        Transports::Route => Err(Error::not_found("Procedure")),
    }
}

/// The procedures of a component; fails if they are not the ones that this host calls.
async fn table_of(sandbox: &Sandbox) -> anyhow::Result<Table> {
    let context = Identity::operator().context("start");
    let described = match sandbox.describe(context).await {
        Ok(described) => described,
        Err(error) => {
            let message = error.message;
            return Err(error.cause.unwrap_or_else(|| anyhow::anyhow!(message)))
                .context("the component does not run");
        }
    };
    Table::new(described).context("component and host do not fit")
}

/// Logs the cause of an error, and gives the error for the client, which leaves the cause out.
pub fn report(mut error: Error, procedure: &str, request_id: &str) -> Error {
    let cause = error.cause.take();
    if let Some(cause) = &cause {
        let text = format!("{cause:#}");
        let code = error.code.name();
        if cause.is::<Collided>() {
            warn!(procedure, request = request_id, code, cause = text);
        } else {
            error!(procedure, request = request_id, code, cause = text);
        }
    } else if error.code == Code::Timeout {
        warn!(procedure, request = request_id, "{}", error.message);
    }
    match error.code {
        Code::InternalServerError => {
            error.message = format!("Internal server error (request {request_id})");
        }
        // An error may be reported twice.
        Code::ServiceUnavailable if !error.message.contains(request_id) => {
            error.message = format!("{} (request {request_id})", error.message);
        }
        _ => {}
    }
    error
}
