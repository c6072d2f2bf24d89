//! The service: the one way in which a procedure is called, whatever the transport.
//!
//! Order of checks: authentication, permission (and whether onboarding is open), input; then the
//! procedure's own.

use std::{
    net::IpAddr,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use portico_model::{
    Provider,
    error::{Code, Collided, Error},
    time::Clock,
};
use portico_sandbox::{Access, Sandbox};
use portico_storage::{
    self as storage, Account, AccountKey, AuditedCall, CallContext, DashboardStorage, SharedSnapshot,
    Storage, WithoutDashboard, secrets::Secrets,
};
use serde_json::Value;
use tokio::{task::spawn_blocking, time::timeout};
use tracing::{debug, error, warn};

pub use crate::run_blocking::{WaitedTurn, hash};
use crate::{
    audit::{Audit, AuditSettings},
    fair_semaphore::FairSemaphore,
    identity::{self, Identity},
    procedures::{Call, Output, Procedure, Table},
    run_blocking::{run_long, too_long, wait_for},
    shape::Shape,
    throttle::{Source, Throttle},
};

/// All that a transport needs to answer requests. It stays as it is: [`HotSwap`](crate::hot_swap::HotSwap)
/// exchanges the whole of it.
pub struct Service {
    /// Everything that is kept.
    pub storage: Arc<dyn DashboardStorage>,
    /// Where the component runs.
    pub sandbox: Sandbox,
    /// Every procedure.
    pub table: Arc<Table>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What makes keys, tokens and ids.
    pub secrets: Secrets,
    /// How long one call may take, waiting included.
    pub call_time: Duration,
    /// How often somebody may try.
    pub throttle: Throttle,
    /// What was done and refused.
    pub audit: Arc<Audit>,
    hashing: Arc<FairSemaphore<Option<Source>>>,
    long: Arc<FairSemaphore<Option<Source>>>,
}

impl Service {
    /// Reads the component's procedures; fails if they are not those that this host knows.
    pub async fn new(
        storage: Arc<dyn DashboardStorage>,
        sandbox: Sandbox,
        clock: Arc<dyn Clock>,
        secrets: Secrets,
        call_time: Duration,
        throttle: Throttle,
    ) -> anyhow::Result<Arc<Self>> {
        let audit = Audit::new(storage.clone(), clock.clone(), AuditSettings::default());
        Self::with_audit(storage, sandbox, clock, secrets, call_time, throttle, audit).await
    }

    /// The same, with an audit log of other settings.
    pub async fn with_audit(
        storage: Arc<dyn DashboardStorage>,
        sandbox: Sandbox,
        clock: Arc<dyn Clock>,
        secrets: Secrets,
        call_time: Duration,
        throttle: Throttle,
        audit: Arc<Audit>,
    ) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&sandbox).await?.with_dashboard();
        Ok(Self::of(
            storage, sandbox, table, clock, secrets, call_time, throttle, audit,
        ))
    }

    /// The same for a dashboard that has sessions and boards of its own: only the component's
    /// procedures. It records nothing: who calls and what comes of it is that dashboard's to keep.
    pub async fn without_dashboard(
        storage: Arc<dyn Storage>,
        sandbox: Sandbox,
        clock: Arc<dyn Clock>,
        secrets: Secrets,
        call_time: Duration,
        throttle: Throttle,
    ) -> anyhow::Result<Arc<Self>> {
        let table = table_of(&sandbox).await?;
        let storage: Arc<dyn DashboardStorage> = Arc::new(WithoutDashboard(storage));
        let audit = Audit::new(storage.clone(), clock.clone(), AuditSettings::off());
        Ok(Self::of(
            storage, sandbox, table, clock, secrets, call_time, throttle, audit,
        ))
    }

    #[expect(clippy::too_many_arguments, reason = "all that there is to it")]
    fn of(
        storage: Arc<dyn DashboardStorage>,
        sandbox: Sandbox,
        table: Table,
        clock: Arc<dyn Clock>,
        secrets: Secrets,
        call_time: Duration,
        throttle: Throttle,
        audit: Arc<Audit>,
    ) -> Arc<Self> {
        let cores = sandbox.limits().hashing as usize;
        Arc::new(Self {
            storage,
            sandbox,
            table: Arc::new(table),
            clock,
            secrets,
            call_time,
            throttle,
            audit,
            hashing: FairSemaphore::new(cores),
            long: FairSemaphore::new(cores),
        })
    }

    /// The same service with another component, if it offers the same procedures. What calls have
    /// in common (turns, counts of tries) they have in common with the calls of this one.
    pub(crate) async fn with_component(self: &Arc<Self>, component: Vec<u8>) -> anyhow::Result<Arc<Self>> {
        let this = self.clone();
        // Compiling takes seconds of processor time.
        let sandbox = spawn_blocking(move || this.sandbox.another(&component)).await??;
        let table = table_of(&sandbox).await?;
        self.table.check_same(&table)?;
        Ok(Arc::new(Self {
            storage: self.storage.clone(),
            sandbox,
            table: self.table.clone(),
            clock: self.clock.clone(),
            secrets: self.secrets.clone(),
            call_time: self.call_time,
            throttle: self.throttle.clone(),
            audit: self.audit.clone(),
            hashing: self.hashing.clone(),
            long: self.long.clone(),
        }))
    }

    /// Refuses a call as far as its input need not be known for it, and records that.
    pub async fn authorise(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
    ) -> Result<(), Error> {
        let allowed = self.check_access(procedure, identity, request_id).await;
        allowed.map_err(|error| {
            self.audit.refuse(procedure, identity, request_id, &error);
            report(error, &procedure.name, request_id)
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

    /// Whether there is any user.
    pub async fn has_users(&self, request_id: &str) -> Result<bool, Error> {
        let context = Identity::anonymous().context(request_id);
        let mut transaction = self.storage.begin(storage::Access::Read, &context).await?;
        Ok(transaction.has_users().await?)
    }

    /// What signing in needs to know of a user, by the name that they go by at this provider.
    pub async fn find_account(
        &self,
        provider: Provider,
        name: &str,
        context: &CallContext,
    ) -> Result<Option<Account>, Error> {
        let key = self.sandbox.name_key(context.clone(), name.trim()).await?;
        self.find_account_by_key(provider, &key, context).await
    }

    /// The same, by the name-key.
    pub async fn find_account_by_key(
        &self,
        provider: Provider,
        name_key: &str,
        context: &CallContext,
    ) -> Result<Option<Account>, Error> {
        let key = AccountKey::Name((provider, name_key.to_owned()));
        let mut transaction = self.storage.begin(storage::Access::Read, context).await?;
        Ok(transaction.find_account(&key).await?)
    }

    /// Calls a procedure. An input that could not be read is refused only after its caller.
    pub async fn call(
        self: &Arc<Self>,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        input: Result<Option<Value>, Error>,
    ) -> Result<Output, Error> {
        let (none, identity) = (SharedSnapshot::default(), Arc::new(identity.clone()));
        self.call_within(&none, procedure, &identity, request_id, input)
            .await
    }

    /// The same within the snapshot of its request, if the procedure [just reads](Procedure::just_reads).
    pub async fn call_within(
        self: &Arc<Self>,
        snapshot: &SharedSnapshot,
        procedure: &Procedure,
        identity: &Arc<Identity>,
        request_id: &str,
        input: Result<Option<Value>, Error>,
    ) -> Result<Output, Error> {
        let audited = self.audit.call(procedure, identity, request_id, &input);
        // Pinned in its place: as a value it would be copied, and kept, at each of the steps around it.
        let running = pin!(async {
            self.check_access(procedure, identity, request_id).await?;
            let input = match procedure.input {
                // What is not needed is not read: it cannot be wrong either.
                Shape::Nothing => Value::Null,
                shape => shape.check(input?)?,
            };
            let mut call = self.to_run(procedure, identity.clone(), request_id, input, audited.clone());
            if procedure.just_reads() {
                call.snapshot = snapshot.clone();
            }
            self.run(procedure, call, procedure.run).await
        });
        let answer = self.bound(procedure, request_id, running).await;
        let audited = audited.as_deref();
        self.audit.end(procedure, identity, request_id, audited, &answer);
        answer
    }

    /// Calls a procedure by what runs it, which has its input already.
    pub async fn call_with<T, F>(
        self: &Arc<Self>,
        procedure: &str,
        identity: &Identity,
        request_id: &str,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let procedure = self
            .table
            .find(procedure)
            .ok_or_else(|| Error::not_found("Procedure"))?;
        let audited = self.audit.call(procedure, identity, request_id, &Ok(None));
        let running = pin!(async {
            self.check_access(procedure, identity, request_id).await?;
            let call = self.to_run(
                procedure,
                Arc::new(identity.clone()),
                request_id,
                Value::Null,
                audited.clone(),
            );
            self.run(procedure, call, run).await
        });
        let answer = self.bound(procedure, request_id, running).await;
        let audited = audited.as_deref();
        self.audit.end(procedure, identity, request_id, audited, &answer);
        answer
    }

    /// Gives a call up that takes longer than it may.
    pub async fn in_time<T>(&self, running: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        timeout(self.call_time, running).await.map_err(|_| too_long())?
    }

    async fn bound<T>(
        &self,
        procedure: &Procedure,
        request_id: &str,
        running: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let started = Instant::now();
        let answer = self.in_time(running).await;
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
        // What is rare is not to make every call larger.
        let in_turn = async {
            if procedure.long {
                let turn = self.turn_for_long(call.identity.address).await?;
                return self.run_apart(turn, procedure, call, run).await;
            }
            let address = call.identity.address;
            let hashing = async {
                let turn = self.turn_to_hash(address).await?;
                self.run_apart(turn, procedure, call, run).await
            };
            if !procedure.is_throttled() {
                return hashing.await;
            }
            let attempt = self.throttle.begin(None, address)?;
            let output = hashing.await;
            attempt.settle(&output);
            output
        };
        Box::pin(in_turn).await
    }

    async fn run_apart<T, F>(
        &self,
        turn: WaitedTurn,
        procedure: &Procedure,
        mut call: Call,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        // Waiting for it may have taken seconds: whoever lost their key or a permission has lost it.
        let now = self.clock.now();
        let renewed = identity::renew(&*self.storage, &call.identity, &call.request_id, now).await?;
        call.identity = Arc::new(renewed);
        self.check_access(procedure, &call.identity, &call.request_id)
            .await?;
        if procedure.hashes {
            hash(turn, run(call)).await
        } else {
            run_long(turn, run(call)).await
        }
    }

    fn to_run(
        self: &Arc<Self>,
        procedure: &Procedure,
        identity: Arc<Identity>,
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
            service: self.clone(),
            identity,
            request_id: request_id.into(),
            input,
            audited,
            snapshot: SharedSnapshot::default(),
        }
    }

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

/// The procedures of a component; fails if they are not those that this host knows.
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

/// Tells the log what really happened, and the client no more than it may know.
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
        // Reported twice where it passes two who report.
        Code::ServiceUnavailable if !error.message.contains(request_id) => {
            error.message = format!("{} (request {request_id})", error.message);
        }
        _ => {}
    }
    error
}
