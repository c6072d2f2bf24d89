//! The end of a sign-in: the second factor, and the session.
//!
//! Invariants:
//! - One transaction checks that the user may still sign in, uses up their second factor, and begins the session. What has
//!   begun in two steps uses up its ticket before that is committed, so that a code is not lost without a session.
//! - A sign-in is refused if the password changes or the user is disabled meanwhile, also between the password and the second
//!   factor.

use std::sync::Arc;

use portico_model::{MissingFactor, Provider, error::Error};
use portico_rules::refusal::Refusal;
use portico_sandbox::SignedIn;
use portico_storage::{Access, AccountKey, AuditEntry, DONE};

use crate::{
    identity::Identity,
    procedures::sign_in::SET_UP,
    resources::Resources,
    second_factor::{MissingStep, Step, Taken, Ticket, take},
    sessions::{self, IssuedSession, SessionTimes},
    throttle::{LoginAttempt, ThrottledAccount},
};

/// A session that has begun.
pub struct Completed {
    /// Who signed in.
    pub user: SignedIn,
    pub issued: IssuedSession,
    /// The recovery codes of the second factor that was set up with it.
    pub recovery_codes: Vec<String>,
}

/// Who completes a sign-in, and how.
pub(super) struct Completion<'a> {
    pub resources: &'a Resources,
    pub times: &'a SessionTimes,
    pub sender: &'a Identity,
    pub request_id: &'a Arc<str>,
}

/// A session, or what is missing for it.
enum Begun {
    Session(Completed),
    Missing(MissingStep),
}

impl Completion<'_> {
    /// Completes a sign-in. `held` is the text of its ticket, if it has one already.
    pub async fn run(&self, ticket: Ticket, step: Step, held: Option<&str>) -> Result<Completed, Error> {
        let attempt = self.count(&ticket.user_id, &step).await?;
        let result = async {
            match self.begin(&ticket, &step, held).await? {
                Begun::Session(completed) => Ok(completed),
                Begun::Missing(missing) => Err(self.refuse(missing, ticket, held).await?),
            }
        };
        let result = result.await;
        if let Some(attempt) = attempt {
            attempt.settle(&result).await;
        }
        result
    }

    /// Counts a code or a passkey as an attempt for its user, whatever name they sign in with.
    pub async fn count(&self, user_id: &str, step: &Step) -> Result<Option<LoginAttempt>, Error> {
        if !matches!(step, Step::Code(_) | Step::Passkey(_)) {
            return Ok(None);
        }
        let account = ThrottledAccount::of_second_factor(user_id);
        let throttle = &self.resources.throttle;
        throttle.begin(Some(account), self.sender.address).await.map(Some)
    }

    /// The refusal of a sign-in for which this is missing. It has the ticket with which the client goes on.
    pub async fn refuse(
        &self,
        missing: MissingStep,
        ticket: Ticket,
        held: Option<&str>,
    ) -> Result<Error, Error> {
        let tickets = &self.resources.tickets;
        let text = match held {
            None => tickets.issue(&self.resources.secrets, &ticket).await?,
            Some(held) => {
                if missing.is_wrong() {
                    tickets.count_wrong(held).await?;
                }
                held.to_owned()
            }
        };
        let factor = MissingFactor {
            is_wrong: missing.is_wrong(),
            kinds: missing.kinds,
            ticket: text,
        };
        Ok(Error {
            missing_factor: Some(Box::new(factor)),
            ..missing.refusal.into()
        })
    }

    async fn begin(&self, ticket: &Ticket, step: &Step, held: Option<&str>) -> Result<Begun, Error> {
        let resources = self.resources;
        let now = resources.clock.now();
        let audited = resources
            .audit
            .sign_in(ticket.provider, self.sender.address, self.request_id);
        let context = Identity::anonymous().context(self.request_id.clone());
        let context = context.audited(audited);
        let mut transaction = resources.storage.begin_dashboard(Access::Write, &context).await?;
        // The password may have been changed, or the user deleted or disabled, since it was checked.
        let key = AccountKey::Id(ticket.user_id.clone());
        let account = transaction.get_account(&key).await?;
        let account = account
            .filter(|account| !account.disabled && account.password_version == ticket.password_version);
        let Some(account) = account else {
            if let Some(held) = held {
                // It does not come back with a user who is enabled again.
                resources.tickets.take(held).await?;
            }
            return Err(Refusal::UserChangedAtSignIn.into());
        };
        let is_own = ticket.provider == Provider::Credentials;
        if is_own && !resources.passwords.allows(&mut *transaction, &account.id).await? {
            // They have lost admin since it was checked.
            return Err(Refusal::WrongPassword.into());
        }
        let taken = take(resources, &mut *transaction, &account.id, step, now).await?;
        let recovery_codes = match taken {
            Taken::Passed(recovery_codes) => recovery_codes,
            // The factor was removed since the password was typed.
            Taken::NotNeeded if held.is_some() => return Err(Refusal::DeadTicket.into()),
            Taken::NotNeeded => Vec::new(),
            // Nothing is committed.
            Taken::Missing(missing) => return Ok(Begun::Missing(missing)),
        };
        let secrets = &resources.secrets;
        let begun = sessions::begin(
            secrets,
            self.times,
            &mut *transaction,
            &account.id,
            self.sender,
            now,
        );
        let issued = begun.await?;
        context.signed_in(&issued.session);
        if !recovery_codes.is_empty()
            && let Some(sign_in) = &context.audit
        {
            let set_up = AuditEntry {
                procedure: SET_UP.into(),
                ..sign_in.with_outcome(DONE)
            };
            transaction.insert_audit(&set_up).await?;
        }
        if let Some(held) = held {
            resources.tickets.take(held).await?;
        }
        transaction.commit().await?;
        Ok(Begun::Session(Completed {
            user: SignedIn {
                id: account.id,
                name: account.name,
                password_version: account.password_version,
            },
            issued,
            recovery_codes,
        }))
    }
}
