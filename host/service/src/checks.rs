//! The checks of a call, in their order, and where it runs.

use std::sync::Arc;

use portico_model::error::Error;
use portico_rules::refusal::Refusal;
use portico_sandbox::{Access, Cost};
use portico_storage::AuditedCall;
use serde_json::Value;

use crate::{
    identity::Identity,
    procedures::{Call, Procedure},
    resources::Resources,
    second_runtime::{self, WorkPermit, compute},
    shape::Shape,
    throttle::LoginAttempt,
};

/// A call before its checks.
pub(crate) struct Request<'a> {
    pub procedure: &'a Procedure,
    pub identity: Arc<Identity>,
    pub id: Arc<str>,
    pub is_authorised: bool,
    /// The row of the audit log that the call's transaction writes.
    pub audited: Option<Arc<AuditedCall>>,
}

impl Resources {
    /// The checks of every call, in their order. What only the procedure knows comes after them: ownership, existence,
    /// uniqueness. The component checks access once more, for the caller as they are when the call gets its instance.
    pub(crate) async fn check_and_run<T, F>(
        self: &Arc<Self>,
        request: &Request<'_>,
        input: impl Future<Output = Result<Value, Error>>,
        run: impl FnOnce(Call) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let procedure = request.procedure;
        if !request.is_authorised {
            self.check_access(procedure, &request.identity, &request.id)
                .await?;
        }
        let mut call = self.prepare(request, input.await?);
        if procedure.cost == Cost::Small && !procedure.is_throttled() {
            self.check_again_if_late(procedure, &mut call).await?;
            return run(call).await;
        }
        // Boxed to keep the common future small.
        Box::pin(async {
            let attempt = self.count(procedure, &call.identity).await?;
            let answer = async {
                if procedure.cost == Cost::Small {
                    self.check_again_if_late(procedure, &mut call).await?;
                    return run(call).await;
                }
                let permit = self.acquire_permit(procedure, &call.identity).await?;
                self.check_again_if_late(procedure, &mut call).await?;
                second_runtime::run(permit, run(call)).await
            };
            let answer = answer.await;
            if let Some(attempt) = attempt {
                attempt.settle(&answer).await;
            }
            answer
        })
        .await
    }

    pub(crate) async fn check_access(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
    ) -> Result<(), Error> {
        identity.check(&procedure.access, procedure.kind)?;
        identity.check_limits(procedure.name)?;
        self.passwords.check_procedure(procedure.name, identity)?;
        if matches!(procedure.access, Access::Onboarding) && Box::pin(self.has_users(request_id)).await? {
            return Err(Refusal::OnboardingOver.into());
        }
        Ok(())
    }

    /// For a procedure that is not the component's: checks the caller again if they were looked up more than a second
    /// ago.
    async fn check_again_if_late(&self, procedure: &Procedure, call: &mut Call) -> Result<(), Error> {
        if !procedure.is_described() && call.renew_caller().await? {
            call.identity.check(&procedure.access, procedure.kind)?;
        }
        Ok(())
    }

    /// Counts a call as an attempt, or refuses it, if the throttle counts calls of this procedure.
    async fn count(&self, procedure: &Procedure, identity: &Identity) -> Result<Option<LoginAttempt>, Error> {
        if !procedure.is_throttled() {
            return Ok(None);
        }
        identity.check_opened()?;
        self.throttle.begin(None, identity.address).await.map(Some)
    }

    /// Waits for the permit that a call of this procedure needs on the second runtime.
    async fn acquire_permit(&self, procedure: &Procedure, identity: &Identity) -> Result<WorkPermit, Error> {
        match procedure.cost {
            Cost::Hash => self.acquire_hash_permit(identity.address).await,
            Cost::Large | Cost::Small => self.acquire_large_permit(identity.address).await,
        }
    }

    fn prepare(self: &Arc<Self>, request: &Request<'_>, input: Value) -> Call {
        let limits = self.sandbox.limits();
        Call {
            longest_answer: if request.procedure.output.holds_list() {
                limits.transfer
            } else {
                limits.record
            },
            cost: request.procedure.cost,
            resources: self.clone(),
            identity: request.identity.clone(),
            request_id: request.id.clone(),
            input,
            audited: request.audited.clone(),
        }
    }
}

/// Checks the input against the procedure's shape; one that may be large, on the second runtime.
pub(crate) async fn check_input(
    procedure: &Procedure,
    identity: &Identity,
    input: Result<Option<Value>, Error>,
) -> Result<Value, Error> {
    if matches!(procedure.input, Shape::Nothing) {
        // An input that is not expected is ignored.
        return Ok(Value::Null);
    }
    let (shape, input, is_described) = (procedure.input, input?, procedure.is_described());
    // The component checks its texts itself: a text that is only compared may have any character.
    let check = move || match is_described {
        true => shape.check(input),
        false => shape.check_storable(input),
    };
    match procedure.large_input {
        None => check(),
        // Boxed to keep the common future small.
        Some(_) => Box::pin(compute(identity.address, check)).await?,
    }
}
