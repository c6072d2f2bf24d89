//! The service: every transport calls procedures through it.

use std::{
    future::ready,
    ops::Deref,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use portico_model::{
    error::{Code, Collided, Error},
    time::Clock,
};
use portico_rules::refusal::{Missing, Refusal};
use portico_rules::sentences::Word;
use portico_sandbox::{Kind, Sandbox};
use portico_storage::{AuditedCall, DashboardStorage, SharedRecords, secrets::Secrets};
use serde_json::Value;
use tracing::{debug, error, warn};

pub use crate::second_runtime::{WorkPermit, compute};
use crate::{
    audit::{Audit, AuditSettings},
    checks::{Request, check_input},
    fair_semaphore::FairSemaphore,
    identity::Identity,
    metrics,
    procedures::{
        Call, Output, Procedure,
        call::Run,
        row::{Recorded, Transports},
    },
    reachability::Reachability,
    resources::Resources,
    second_factor::{Passkeys, RelyingParty, SecondFactorPolicy, Tickets},
    second_runtime,
    sign_in::PasswordSignIn,
    table::Table,
    throttle::Throttle,
};

/// The parts that a service is made of.
pub struct ServiceParts {
    /// The users, the apps, and the records of the dashboard side.
    pub storage: Arc<dyn DashboardStorage>,
    /// What the hosts on the storage share.
    pub shared: Arc<dyn SharedRecords>,
    pub sandbox: Sandbox,
    pub clock: Arc<dyn Clock>,
    /// Makes keys, tokens and ids.
    pub secrets: Secrets,
    /// The longest time of one call, waiting included.
    pub call_time: Duration,
    /// Limits how often a client may try to sign in.
    pub throttle: Throttle,
    /// Who may sign in with a password that Portico stores.
    pub passwords: PasswordSignIn,
    /// Who must have a second factor.
    pub second_factor: SecondFactorPolicy,
    /// The site whose passkeys people have; `None` if passkeys are off.
    pub passkeys: Option<RelyingParty>,
    /// How much the audit log records, and for how long.
    pub audit: AuditSettings,
    /// Checks whether apps can be reached; `None`: nothing does.
    pub reachability: Option<Arc<dyn Reachability>>,
}

/// Everything that a transport needs to answer requests. It never changes:
/// [`HotSwap`](crate::hot_swap::HotSwap) replaces the whole of it.
pub struct Service {
    /// What calls work with.
    resources: Arc<Resources>,
    pub table: Arc<Table>,
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
    identity: Arc<Identity>,
}

impl Authorised {
    /// The procedure that may be called.
    pub fn procedure(&self) -> &Arc<Procedure> {
        &self.procedure
    }
}

impl Service {
    /// Reads the component's procedures. Fails if they are not the ones that this host calls.
    pub async fn new(parts: ServiceParts) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&parts.sandbox).await?.with_dashboard();
        Self::of(parts, table)
    }

    /// The same for a dashboard that has sessions, boards and an audit log of its own: only the component's
    /// procedures. Its storage is [`WithoutDashboard`](portico_storage::WithoutDashboard).
    pub async fn without_dashboard(parts: ServiceParts) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&parts.sandbox).await?;
        Self::of(parts, table)
    }

    fn of(parts: ServiceParts, table: Table) -> anyhow::Result<Arc<Self>> {
        second_runtime::start().context("cannot start threads for long calls")?;
        let at_once = parts.sandbox.limits().hashing as usize;
        let tickets = Tickets::new(parts.shared.clone());
        let shared = parts.shared.clone();
        let passkeys = parts.passkeys.map(|party| Arc::new(Passkeys::new(party, shared)));
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
            passwords: parts.passwords,
            ways_in: Arc::default(),
            gate_hosts: Arc::default(),
            second_factor: parts.second_factor,
            tickets: Arc::new(tickets),
            passkeys,
            reachability: parts.reachability,
            call_time: parts.call_time,
            app_changes: Arc::default(),
            hashing: FairSemaphore::new(at_once),
            large: FairSemaphore::new(at_once),
            adopting: Arc::default(),
        };
        Ok(Arc::new(Self {
            resources: Arc::new(resources),
            table: Arc::new(table),
        }))
    }

    /// The same service with another component, if that has the same procedures.
    pub(crate) async fn with_component(self: &Arc<Self>, component: Vec<u8>) -> anyhow::Result<Arc<Self>> {
        let sandbox = self.sandbox.sibling(component).await?;
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
            metrics::called(procedure.name, error.code.name(), Duration::ZERO);
            report(error, procedure.name, request_id)
        })?;
        Ok(Authorised {
            procedure: procedure.clone(),
            identity: identity.clone(),
        })
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
        let request = self.request(procedure, identity, request_id, &input);
        self.make(request, check_input(procedure, identity, input), run)
            .await
    }

    /// Makes an authorised call. `finish` runs where the call runs, because its cost may grow with the output.
    pub async fn call_authorised<T: Send + 'static>(
        &self,
        authorised: &Authorised,
        request_id: &Arc<str>,
        input: Result<Option<Value>, Error>,
        finish: impl FnOnce(Output) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let procedure = &*authorised.procedure;
        let run = run_of(procedure)?;
        let request = Request {
            procedure,
            identity: authorised.identity.clone(),
            id: request_id.clone(),
            is_authorised: true,
            audited: self.audited(procedure, &authorised.identity, request_id, &input),
        };
        let run = move |call| {
            let running = run(call);
            async move { Ok(finish(running.await?)) }
        };
        self.make(request, check_input(procedure, &authorised.identity, input), run)
            .await
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
        self.make(request, ready(Ok(Value::Null)), run).await
    }

    /// A call whose access has not been checked yet.
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
            audited: self.audited(procedure, &identity, id, input),
            identity,
            id: id.into(),
            is_authorised: false,
        }
    }

    /// Makes a call within its time, and records how it ended.
    async fn make<T, F>(
        &self,
        request: Request<'_>,
        input: impl Future<Output = Result<Value, Error>>,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        // Pinned here, because a future that is passed on as a value would be copied at each enclosing step.
        let running = pin!(self.resources.check_and_run(&request, input, run));
        let answer = self.bound(request.procedure, &request.id, running).await;
        // Also after a failure: a call that took too long may have changed something.
        if changes_apps(request.procedure) {
            self.app_changes.fetch_add(1, Ordering::Release);
        }
        self.record(&request, &answer);
        let is_refused = answer.as_ref().is_err_and(|error| error.code != Code::Timeout);
        if changes_people(request.procedure) && !is_refused {
            Box::pin(self.warn_without_administrator(&request.id)).await;
        }
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
        let outcome = answer
            .as_ref()
            .map_or_else(|error| error.code.name(), |_| metrics::OK);
        let time = started.elapsed();
        metrics::called(procedure.name, outcome, time);
        debug!(
            procedure = procedure.name,
            request = request_id,
            outcome,
            micros = time.as_micros() as u64,
            "called"
        );
        answer.map_err(|error| report(error, procedure.name, request_id))
    }
}

/// Whether a procedure may change apps, or where they are.
fn changes_apps(procedure: &Procedure) -> bool {
    let areas = ["app.", "gate.", "state."];
    procedure.kind == Kind::Mutation && areas.iter().any(|area| procedure.name.starts_with(area))
}

/// Whether a procedure may take `admin` from someone.
fn changes_people(procedure: &Procedure) -> bool {
    let areas = ["user.", "group.", "state."];
    procedure.kind == Kind::Mutation && areas.iter().any(|area| procedure.name.starts_with(area))
}

/// The function that runs a procedure call.
fn run_of(procedure: &Procedure) -> Result<Run, Error> {
    match procedure.transports {
        Transports::Calls(run) => Ok(run),
        Transports::Route => Err(Error::not_found(Missing::Procedure)),
    }
}

/// The procedures of a component. Fails if they are not the ones that this host calls.
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

/// Logs the cause of an error, and returns the error for the client, which leaves the cause out.
pub fn report(mut error: Error, procedure: &str, request_id: &str) -> Error {
    let cause = error.cause.take();
    if let Some(cause) = &cause {
        let text = format!("{cause:#}");
        let code = error.code.name();
        if cause.is::<Collided>() {
            warn!(procedure, request = request_id, code, cause = text, "refused");
        } else {
            error!(procedure, request = request_id, code, cause = text, "failed");
        }
    } else if error.code == Code::Timeout {
        warn!(procedure, request = request_id, "{}", error.message);
    }
    match error.code {
        Code::InternalServerError => {
            error.message = Refusal::InternalOf {
                request: Word(request_id.to_string()),
            }
            .into();
        }
        // An error may be reported twice.
        Code::ServiceUnavailable if !error.message.contains(request_id) => {
            error.message = format!("{} (request {request_id})", error.message);
        }
        _ => {}
    }
    error
}
