//! Signs in a user for whom an external provider vouches.

use portico_model::error::{Code, Error, issue_text};
use portico_sandbox::{CallPermit, SignedIn};
use portico_storage::{Access, CallContext, nested::Enclosing};
use tracing::warn;

use super::{
    groups,
    vouched::{External, unusable_account},
};
use crate::{
    identity::Identity,
    resources::Resources,
    sessions::{self, IssuedSession, SessionTimes},
};

/// The request of a user who signs in.
pub struct SignIn<'a> {
    /// The resources of the service that they sign in to.
    pub resources: &'a Resources,
    /// How long their session lasts.
    pub times: &'a SessionTimes,
    /// The sender of the request before the sign-in.
    pub sender: &'a Identity,
    /// The request's id, as the log has it.
    pub request_id: &'a str,
}

/// Creates or updates the user, sets their groups, and begins a session: all of it or nothing. `FORBIDDEN` while no
/// user exists, and if the provider's account breaks a rule for users.
pub async fn sign_in(sign_in: &SignIn<'_>, external: External) -> Result<(SignedIn, IssuedSession), Error> {
    sign_in.resources.in_time(sign_in.run(external)).await
}

impl SignIn<'_> {
    async fn run(&self, mut external: External) -> Result<(SignedIn, IssuedSession), Error> {
        let resources = self.resources;
        let audited =
            resources
                .audit
                .sign_in(external.identity.provider, self.sender.address, self.request_id);
        let context = Identity::anonymous().context(self.request_id).audited(audited);
        let name_keys = match external.groups.take() {
            Some(names) => {
                let names = groups::possible(names);
                Some(resources.sandbox.name_keys(context.clone(), &names).await?)
            }
            None => None,
        };

        // The permit comes before the transaction, because calls that hold one may wait for that transaction to end.
        let mut permit = resources.sandbox.acquire_permit().await?;
        permit.stop_waiting();
        let now = resources.clock.now();
        let transaction = resources.storage.begin_dashboard(Access::Write, &context).await?;
        let enclosing = Enclosing::new(transaction);
        let user = self
            .put_user(permit, context.clone(), &enclosing, &external)
            .await?;
        let mut transaction = enclosing.transaction().await;
        if let Some(name_keys) = name_keys {
            groups::replace(&mut *transaction, &user.id, &name_keys).await?;
        }
        let secrets = &resources.secrets;
        let issued =
            sessions::begin(secrets, self.times, &mut *transaction, &user.id, self.sender, now).await?;
        drop(transaction);
        context.signed_in(&issued.session);
        enclosing.commit().await?;
        Ok((user, issued))
    }

    async fn put_user(
        &self,
        permit: CallPermit,
        context: CallContext,
        enclosing: &Enclosing,
        external: &External,
    ) -> Result<SignedIn, Error> {
        let sandbox = &self.resources.sandbox;
        let mut instance = sandbox.enter_within(permit, context, enclosing.storage()).await?;
        let (plugin, store) = instance.parts()?;
        let context = self.request_id.to_owned();
        let sign_in = plugin.portico_dashboard_sign_in();
        let answer = sign_in.call_external(store, &context, &external.identity, external.linking);
        let answer = answer.await;
        instance.read_result(answer).map_err(|error| self.refused(error))
    }

    /// Logs why the component refuses the provider's account, and returns an error without the reason: it is not the
    /// user's fault, and must not tell them whether another user has their name.
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
        unusable_account()
    }
}
