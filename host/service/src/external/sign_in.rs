//! Signing in somebody whom a provider vouches for.

use portico_model::error::{Code, Error, issue_text};
use portico_sandbox::{Permit, SignedIn};
use portico_storage::{Access, CallContext, nested::Enclosing};
use tracing::warn;

use super::{External, groups};
use crate::{
    identity::Identity,
    service::Service,
    sessions::{self, Begun, SessionTimes},
};

/// Somebody who signs in, and from where.
pub struct SignIn<'a> {
    /// The service that they sign in to.
    pub service: &'a Service,
    /// How long the session lasts.
    pub times: &'a SessionTimes,
    /// Who sent the request, until now.
    pub sender: &'a Identity,
    /// The request, as the log names it.
    pub request_id: &'a str,
}

/// Makes the person a user or brings them up to date, puts them into their groups, and begins a session: all
/// of it or nothing. `FORBIDDEN` while no user exists, and where the provider's word breaks a rule of users.
pub async fn sign_in(sign_in: &SignIn<'_>, external: External) -> Result<(SignedIn, Begun), Error> {
    sign_in.service.in_time(sign_in.run(external)).await
}

impl SignIn<'_> {
    async fn run(&self, mut external: External) -> Result<(SignedIn, Begun), Error> {
        let service = self.service;
        let audited = service
            .audit
            .sign_in(external.identity.provider, self.sender.address, self.request_id);
        let context = Identity::anonymous().context(self.request_id).audited(audited);
        let name_keys = match external.groups.take() {
            Some(names) => {
                let names = groups::possible(names);
                Some(service.sandbox.name_keys(context.clone(), &names).await?)
            }
            None => None,
        };

        let mut turn = service.sandbox.turn(&context).await?;
        turn.stop_waiting();
        let now = service.clock.now();
        let transaction = service.storage.begin_dashboard(Access::Write, &context).await?;
        let enclosing = Enclosing::new(transaction);
        let user = self
            .put_user(turn, context.clone(), &enclosing, &external)
            .await?;
        let mut transaction = enclosing.transaction().await;
        if let Some(name_keys) = name_keys {
            groups::replace(&mut *transaction, &user.id, &name_keys).await?;
        }
        let begun =
            sessions::begin(service, self.times, &mut *transaction, &user.id, self.sender, now).await?;
        drop(transaction);
        context.signed_in(&begun.session);
        enclosing.commit().await?;
        Ok((user, begun))
    }

    async fn put_user(
        &self,
        turn: Permit,
        context: CallContext,
        enclosing: &Enclosing,
        external: &External,
    ) -> Result<SignedIn, Error> {
        let sandbox = &self.service.sandbox;
        let mut instance = sandbox.enter_within(turn, context, enclosing.storage()).await?;
        let (plugin, store) = instance.parts()?;
        let answer =
            plugin
                .portico_dashboard_sign_in()
                .call_external(store, &external.identity, external.linking);
        let answer = answer.await;
        instance.answer(answer).map_err(|error| self.refused(error))
    }

    /// What the component does not take of a provider is not the fault of whoever signs in, and
    /// whether a user has their name already is not for them to know.
    fn refused(&self, error: Error) -> Error {
        if !matches!(error.code, Code::BadRequest | Code::Conflict) {
            return error;
        }
        let issues: Vec<_> = error.issues.iter().map(issue_text).collect();
        let rules = if issues.is_empty() {
            error.message
        } else {
            issues.join("; ")
        };
        warn!(
            request = self.request_id,
            "a provider's user cannot sign in: {rules}"
        );
        let message =
            "The provider's account does not fit here; ask an administrator, who finds the reason in the log";
        Error::new(Code::Forbidden, message)
    }
}
