//! Signs in a user for whom an external provider vouches.

use std::mem;

use portico_model::{
    Provider,
    error::{Code, Error, issue_text},
};
use portico_sandbox::{CallPermit, SignedIn};
use portico_storage::{
    Access, AccountKey, CallContext, ProviderName, ProviderSubject, Slice, UserFilter, nested::Enclosing,
};
use tracing::warn;

use super::{
    groups,
    vouched::{Admission, External, Groups, Vouched, unusable_account},
};
use crate::{
    identity::Identity,
    resources::Resources,
    second_factor::{Lacking, Step, Taken, take},
    sessions::{self, IssuedSession, SessionTimes},
};

/// More characters of a name than any user's has.
const LONGEST_NAME: usize = 1024;

/// The request of a user who signs in.
pub struct SignIn<'a> {
    /// The resources of the service that they sign in to.
    pub resources: &'a Resources,
    /// How long their session lasts; `None` if none begins.
    pub times: Option<&'a SessionTimes>,
    /// The sender of the request before the sign-in.
    pub sender: &'a Identity,
    /// The request's id, as the log has it.
    pub request_id: &'a str,
}

/// Creates or updates the user, sets their groups, and begins a session: all of it or nothing. `FORBIDDEN` while no
/// user exists, and if the provider's account breaks a rule for users.
pub async fn sign_in(sign_in: &SignIn<'_>, external: External) -> Result<(SignedIn, IssuedSession), Error> {
    match sign_in_with(sign_in, external, None).await? {
        Entered::Session(user, issued) => Ok((user, issued)),
        Entered::Lacking(..) => Err(no_session()),
    }
}

/// How a sign-in with a password that a provider has accepted ends.
pub(crate) enum Entered {
    Session(SignedIn, IssuedSession),
    /// The user is stored as the provider describes them, and needs a second factor.
    Lacking(SignedIn, Lacking),
}

/// The same for a provider that vouches for a password only: with the second factor of the user.
pub(crate) async fn sign_in_with_factor(
    sign_in: &SignIn<'_>,
    external: External,
    step: &Step,
) -> Result<Entered, Error> {
    sign_in_with(sign_in, external, Some(step)).await
}

async fn sign_in_with(
    sign_in: &SignIn<'_>,
    external: External,
    step: Option<&Step>,
) -> Result<Entered, Error> {
    let (user, begun) = sign_in.resources.in_time(sign_in.run(external, step)).await?;
    Ok(match begun.ok_or_else(no_session)? {
        Begun::Session(issued) => Entered::Session(user, issued),
        Begun::Lacking(lacking) => Entered::Lacking(user, lacking),
    })
}

fn no_session() -> Error {
    Error::internal(anyhow::anyhow!("a sign-in began no session"))
}

/// A session, or the second factor that lacks for it.
enum Begun {
    Session(IssuedSession),
    Lacking(Lacking),
}

/// The same for a user for whom a proxy vouches with each request: no session begins.
pub(super) async fn take_up(sign_in: &SignIn<'_>, external: External) -> Result<SignedIn, Error> {
    let (user, _) = sign_in.resources.in_time(sign_in.run(external, None)).await?;
    Ok(user)
}

impl SignIn<'_> {
    /// No session begins without times.
    async fn run(
        &self,
        mut external: External,
        step: Option<&Step>,
    ) -> Result<(SignedIn, Option<Begun>), Error> {
        let resources = self.resources;
        let audited =
            resources
                .audit
                .sign_in(external.identity.provider, self.sender.address, self.request_id);
        let context = Identity::anonymous()
            .context(self.request_id)
            .audited(audited.clone());
        self.admit(&external).await?;
        let stated = mem::replace(&mut external.groups, Groups::Own);
        let name_keys = groups::stated_keys(&resources.sandbox, &context, stated).await?;

        let mut name_key = String::new();
        if !external.may_sign_up {
            // No user has a name that is longer than this.
            let name: String = external.identity.name.trim().chars().take(LONGEST_NAME).collect();
            name_key = resources.sandbox.name_key(context.clone(), &name).await?;
        }
        // The permit comes before the transaction, because calls that hold one may wait for that transaction to end.
        let mut permit = resources.sandbox.acquire_permit().await?;
        permit.stop_waiting();
        let now = resources.clock.now();
        let transaction = resources.storage.begin_dashboard(Access::Write, &context).await?;
        let enclosing = Enclosing::new(transaction);
        if external.is_partial {
            keep_what_is_unknown(&mut external.identity, &enclosing).await?;
        }
        let known = match external.may_sign_up {
            true => None,
            false => Some(
                self.known_users(&external.identity, &enclosing, &name_key)
                    .await?,
            ),
        };
        let user = self
            .put_user(permit, context.clone(), &enclosing, &external)
            .await?;
        if known.is_some_and(|known| !known.contains(&user.id)) {
            // Nothing is committed.
            return Err(self.deny(&external.identity, "no user is theirs, and sign-up is off"));
        }
        let mut transaction = enclosing.transaction().await;
        let mut changes = groups::Changes::default();
        if let Some(name_keys) = name_keys {
            changes = groups::replace(&mut *transaction, &user.id, &name_keys).await?;
        }
        if let Some(audited) = &audited {
            audited.changed_groups(&changes.added, &changes.removed);
        }
        let mut begun = None;
        if let Some(times) = self.times {
            let taken = match step {
                Some(step) => take(resources, &mut *transaction, &user.id, step, now).await?,
                None => Taken::Passed(Vec::new()),
            };
            begun = Some(match taken {
                Taken::Passed(_) => {
                    let secrets = &resources.secrets;
                    let issued =
                        sessions::begin(secrets, times, &mut *transaction, &user.id, self.sender, now);
                    let issued = issued.await?;
                    context.signed_in(&issued.session);
                    Begun::Session(issued)
                }
                Taken::Lacking(lacking) => {
                    if let Some(audited) = &audited {
                        audited.refused(&user.id, Code::Unauthorized.name());
                    }
                    Begun::Lacking(lacking)
                }
            });
        } else if let Some(audited) = &audited {
            audited.vouched(&user.id);
        }
        drop(transaction);
        enclosing.commit().await?;
        changes.log(&user.id, self.request_id);
        Ok((user, begun))
    }

    /// Refuses an account that lacks what the settings require. If the provider says that it lacks it, the user's sessions
    /// end; keys stay.
    async fn admit(&self, external: &External) -> Result<(), Error> {
        let identity = &external.identity;
        match &external.admission {
            Admission::Granted => Ok(()),
            Admission::Unknown(why) => Err(self.deny(identity, why)),
            Admission::Denied(why) => {
                self.end_sessions(identity).await?;
                Err(self.deny(identity, why))
            }
        }
    }

    async fn end_sessions(&self, identity: &Vouched) -> Result<(), Error> {
        let context = Identity::anonymous().context(self.request_id);
        let storage = &self.resources.storage;
        let mut transaction = storage.begin_dashboard(Access::Write, &context).await?;
        let key = AccountKey::Subject(subject_of(identity));
        if let Some(account) = transaction.get_account(&key).await? {
            transaction.delete_other_sessions(&account.id, None).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// The ids of the users whom this person may be: the one with the subject, the one with the name, and those with the
    /// email. A new user has none of these ids.
    async fn known_users(
        &self,
        identity: &Vouched,
        enclosing: &Enclosing,
        name_key: &str,
    ) -> Result<Vec<String>, Error> {
        let mut transaction = enclosing.transaction().await;
        let name = AccountKey::Name(ProviderName {
            provider: identity.provider,
            name_key: name_key.to_owned(),
        });
        let mut known = Vec::new();
        for key in [AccountKey::Subject(subject_of(identity)), name] {
            known.extend(transaction.get_account(&key).await?.map(|account| account.id));
        }
        if identity.email.is_some() {
            let filter = UserFilter {
                provider: Some(Provider::Credentials),
                email: identity.email.clone(),
                ..UserFilter::default()
            };
            // Of two with the same email, neither is linked.
            let two = Slice {
                offset: 0,
                limit: Some(2),
            };
            let users = transaction.list_users(&filter, two, false).await?;
            known.extend(users.into_iter().map(|user| user.id));
        }
        Ok(known)
    }

    fn deny(&self, identity: &Vouched, why: &str) -> Error {
        let (name, subject) = (beginning(&identity.name), beginning(&identity.subject));
        warn!(
            request = self.request_id,
            provider = identity.provider.name(),
            name,
            subject,
            "a provider's user may not sign in: {why}"
        );
        unusable_account()
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
        let identity = &external.identity;
        instance
            .read_result(answer)
            .map_err(|error| self.refused(error, identity))
    }

    /// Logs why the component refuses the provider's account, and returns an error without the reason: it is not the
    /// user's fault, and must not tell them whether another user has their name.
    fn refused(&self, error: Error, identity: &Vouched) -> Error {
        if !matches!(error.code, Code::BadRequest | Code::Conflict) {
            return error;
        }
        let issues: Vec<_> = error.issues.iter().map(issue_text).collect();
        let rules = if issues.is_empty() {
            error.message
        } else {
            issues.join("; ")
        };
        // The provider vouches for both; they were not typed here.
        let (name, subject) = (beginning(&identity.name), beginning(&identity.subject));
        warn!(
            request = self.request_id,
            provider = identity.provider.name(),
            name,
            subject,
            "a provider's user cannot sign in: {rules}"
        );
        unusable_account()
    }
}

fn subject_of(identity: &Vouched) -> ProviderSubject {
    ProviderSubject {
        provider: identity.provider,
        subject: identity.subject.clone(),
    }
}

/// The beginning of a provider's text, escaped for the log.
fn beginning(text: &str) -> String {
    let beginning: String = text.chars().take(200).collect();
    beginning.escape_debug().to_string()
}

/// Gives a known person the email and the picture that they have here, where the provider could not be asked for them.
async fn keep_what_is_unknown(identity: &mut Vouched, enclosing: &Enclosing) -> Result<(), Error> {
    let subject = subject_of(identity);
    let mut transaction = enclosing.transaction().await;
    let Some(account) = transaction.get_account(&AccountKey::Subject(subject)).await? else {
        return Ok(());
    };
    let Some(user) = transaction.get_user(&account.id).await? else {
        return Ok(());
    };
    if identity.email.is_none() {
        identity.email = user.email;
        identity.email_verified = user.email_verified.is_some();
    }
    identity.image = identity.image.take().or(user.image);
    Ok(())
}
