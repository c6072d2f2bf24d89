//! The service: every transport calls procedures through it.
//!
//! Order of checks: authentication, access (and whether onboarding is open), input, and then the procedure's own
//! checks. Access is checked once, before the transport reads a body, and again only if the call had to wait.

use std::{
    net::IpAddr,
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
use portico_storage::{
    AuditedCall, DashboardStorage, SharedSnapshot, Storage, WithoutDashboard, secrets::Secrets,
};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tracing::{debug, error, warn};

pub use crate::run_blocking::{WaitedTurn, hash};
use crate::{
    audit::{Audit, AuditSettings},
    fair_semaphore::FairSemaphore,
    identity::{self, Identity},
    procedures::{
        Call, Output, Procedure,
        call::Run,
        row::{Recorded, Transports},
    },
    resources::Resources,
    run_blocking::{run_long, wait_for},
    shape::Shape,
    table::Table,
    throttle::Throttle,
};

/// The parts that a service is made of.
pub struct ServiceParts<S: ?Sized = dyn DashboardStorage> {
    /// The users, the apps, and the records of the dashboard side.
    pub storage: Arc<S>,
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
}

impl Deref for Service {
    type Target = Resources;

    fn deref(&self) -> &Resources {
        &self.resources
    }
}

/// How long a check of access holds while its call waits: for its body, or for others. A call that waits longer is
/// checked again.
const CHECK_HOLDS: Duration = Duration::from_secs(1);

/// A permitted call of a procedure: [`Service::authorise`] has checked its access.
pub struct Authorised {
    procedure: Arc<Procedure>,
    identity: Arc<Identity>,
    checked_at: Instant,
}

impl Service {
    /// Reads the component's procedures; fails if they are not the ones that this host calls.
    pub async fn new(parts: ServiceParts) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&parts.sandbox).await?.with_dashboard();
        Ok(Self::of(parts, table))
    }

    /// The same for a dashboard that has sessions, boards and an audit log of its own: only the component's
    /// procedures.
    pub async fn without_dashboard(parts: ServiceParts<dyn Storage>) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&parts.sandbox).await?;
        let parts = ServiceParts {
            storage: Arc::new(WithoutDashboard(parts.storage)) as Arc<dyn DashboardStorage>,
            sandbox: parts.sandbox,
            clock: parts.clock,
            secrets: parts.secrets,
            call_time: parts.call_time,
            throttle: parts.throttle,
            audit: parts.audit,
        };
        Ok(Self::of(parts, table))
    }

    fn of(parts: ServiceParts, table: Table) -> Arc<Self> {
        let cores = parts.sandbox.limits().hashing as usize;
        let audit = Audit::new(parts.storage.clone(), parts.clock.clone(), parts.audit);
        let resources = Resources {
            storage: parts.storage,
            sandbox: parts.sandbox,
            clock: parts.clock,
            secrets: parts.secrets,
            audit,
            throttle: parts.throttle,
            call_time: parts.call_time,
            hashing: FairSemaphore::new(cores),
            long: FairSemaphore::new(cores),
        };
        Arc::new(Self {
            resources: Arc::new(resources),
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
        }))
    }

    /// Checks access, for which no input is needed. Records and logs a refusal.
    pub async fn authorise(
        &self,
        procedure: &Arc<Procedure>,
        identity: &Arc<Identity>,
        request_id: &str,
    ) -> Result<Authorised, Error> {
        let allowed = self.check_access(procedure, identity, request_id).await;
        allowed.map_err(|error| {
            self.audit.refuse(&procedure.action(identity, request_id), &error);
            report(error, &procedure.name, request_id)
        })?;
        Ok(Authorised {
            procedure: procedure.clone(),
            identity: identity.clone(),
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
        let identity = Arc::new(identity.clone());
        let audited = self.audited(procedure, &identity, request_id, &input);
        let running = pin!(async {
            self.check_access(procedure, &identity, request_id).await?;
            let call = self.prepare(procedure, &identity, request_id, input, audited.clone())?;
            self.run(procedure, call, run_of(procedure)?).await
        });
        let answer = self.bound(procedure, request_id, running).await;
        self.record(procedure, &identity, request_id, audited.as_deref(), &answer);
        answer
    }

    /// Makes an authorised call, within the snapshot of its request if the procedure
    /// [just reads](Procedure::just_reads).
    pub async fn call_within(
        &self,
        snapshot: &SharedSnapshot,
        authorised: &Authorised,
        request_id: &str,
        input: Result<Option<Value>, Error>,
    ) -> Result<Output, Error> {
        let Authorised {
            procedure, identity, ..
        } = authorised;
        let audited = self.audited(procedure, identity, request_id, &input);
        // Pinned here: passed on as a value, the future would be copied at each step around it.
        let running = pin!(async {
            let renewed = match authorised.checked_at.elapsed() {
                waited if waited < CHECK_HOLDS => None,
                // Boxed to keep the common future small.
                _ => Some(Box::pin(self.check_again(procedure, identity, request_id)).await?),
            };
            let identity = renewed.as_ref().unwrap_or(identity);
            let mut call = self.prepare(procedure, identity, request_id, input, audited.clone())?;
            if procedure.just_reads() {
                call.snapshot = snapshot.clone();
            }
            self.run(procedure, call, run_of(procedure)?).await
        });
        let answer = self.bound(procedure, request_id, running).await;
        self.record(procedure, identity, request_id, audited.as_deref(), &answer);
        answer
    }

    /// The procedure with this name that is reached at its route alone.
    pub(crate) fn find_route(&self, name: &str) -> Result<&Procedure, Error> {
        let procedure = self.table.routes().find(|procedure| procedure.name == name);
        procedure.ok_or_else(|| Error::not_found("Procedure"))
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
        let identity = Arc::new(identity.clone());
        let audited = self.audited(procedure, &identity, request_id, &Ok(None));
        let running = pin!(async {
            self.check_access(procedure, &identity, request_id).await?;
            let call = self.to_run(procedure, &identity, request_id, Value::Null, audited.clone());
            self.run(procedure, call, run).await
        });
        let answer = self.bound(procedure, request_id, running).await;
        self.record(procedure, &identity, request_id, audited.as_deref(), &answer);
        answer
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
    fn record<T>(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        audited: Option<&AuditedCall>,
        answer: &Result<T, Error>,
    ) {
        let is_recorded = match procedure.recorded {
            Recorded::Calls => true,
            Recorded::Changes => answer.is_err(),
            Recorded::None => false,
        };
        if is_recorded {
            let action = procedure.action(identity, request_id);
            self.audit.end(&action, audited, answer);
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

    async fn run<T, F>(
        &self,
        procedure: &Procedure,
        call: Call,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        if !procedure.hashes && !procedure.long {
            return run(call).await;
        }
        // Boxed to keep the common future small.
        let with_permit = async {
            if procedure.long {
                let permit = self.turn_for_long(call.identity.address).await?;
                return self.run_after_waiting(permit, procedure, call, run).await;
            }
            let address = call.identity.address;
            let hashing = async {
                let permit = self.turn_to_hash(address).await?;
                self.run_after_waiting(permit, procedure, call, run).await
            };
            if !procedure.throttled {
                return hashing.await;
            }
            let attempt = self.throttle.begin(None, address)?;
            let output = hashing.await;
            attempt.settle(&output);
            output
        };
        Box::pin(with_permit).await
    }

    /// Checks access again, and runs the call on a thread of its own.
    async fn run_after_waiting<T, F>(
        &self,
        permit: WaitedTurn,
        procedure: &Procedure,
        mut call: Call,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        call.identity = self
            .check_again(procedure, &call.identity, &call.request_id)
            .await?;
        if procedure.hashes {
            hash(permit, run(call)).await
        } else {
            run_long(permit, run(call)).await
        }
    }

    /// Looks the caller up again and checks access, after a wait: the caller may have lost their key or a
    /// permission.
    async fn check_again(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
    ) -> Result<Arc<Identity>, Error> {
        let now = self.clock.now();
        let renewed = identity::renew(&*self.storage, identity, request_id, now).await?;
        self.check_access(procedure, &renewed, request_id).await?;
        Ok(Arc::new(renewed))
    }

    /// Checks the input against the procedure's shape.
    fn prepare(
        &self,
        procedure: &Procedure,
        identity: &Arc<Identity>,
        request_id: &str,
        input: Result<Option<Value>, Error>,
        audited: Option<Arc<AuditedCall>>,
    ) -> Result<Call, Error> {
        let input = match procedure.input {
            // Ignore the input when none is expected.
            Shape::Nothing => Value::Null,
            shape => shape.check(input?)?,
        };
        Ok(self.to_run(procedure, identity, request_id, input, audited))
    }

    fn to_run(
        &self,
        procedure: &Procedure,
        identity: &Arc<Identity>,
        request_id: &str,
        input: Value,
        audited: Option<Arc<AuditedCall>>,
    ) -> Call {
        let limits = self.sandbox.limits();
        Call {
            longest_answer: if procedure.output.holds_list() {
                limits.transfer
            } else {
                limits.record
            },
            hashes: procedure.hashes,
            resources: self.resources.clone(),
            identity: identity.clone(),
            request_id: request_id.into(),
            input,
            audited,
            snapshot: SharedSnapshot::default(),
        }
    }
}

/// The function that runs a procedure call.
fn run_of(procedure: &Procedure) -> Result<Run, Error> {
    match procedure.transports {
        Transports::Calls(run) => Ok(run),
        Transports::Route => Err(Error::not_found("Procedure")),
    }
}

impl Resources {
    /// Waits for a permit to hash a password. There are [`Limits::hashing`](portico_sandbox::Limits::hashing)
    /// of them, given in rotation among addresses. A call that holds one does not wait for an instance,
    /// nor for the memory that a hash takes.
    pub async fn turn_to_hash(&self, address: Option<IpAddr>) -> Result<WaitedTurn, Error> {
        let too_many = "Too many passwords to hash at once; try again in a moment";
        wait_for(&self.hashing, address, too_many).await
    }

    /// Waits for a permit of a call that may take seconds: as many as hash, and beside them.
    pub async fn turn_for_long(&self, address: Option<IpAddr>) -> Result<WaitedTurn, Error> {
        let too_many = "Too many long calls at once; try again in a moment";
        wait_for(&self.long, address, too_many).await
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
