//! Signs in a user for whom an external provider vouches.

use std::{mem, sync::Arc};

use portico_model::{
    Provider,
    error::{Code, Error, issue_text},
};
use portico_rules::refusal::Refusal;
use portico_sandbox::{CallPermit, SignedIn};
use portico_storage::{
    Access, AccountKey, AuditedCall, CallContext, DashboardTransaction, ProviderName, ProviderSubject, Slice,
    UserFilter, nested::Enclosing,
};
use tracing::warn;

use super::{
    groups::{self, Stated},
    invitation::Invitation,
    vouched::{Admission, External, Groups, Linking, SignUp, Vouched, unusable_account},
};
use crate::{
    identity::Identity,
    resources::Resources,
    second_factor::{MissingStep, Step, Taken, take},
    sessions::{self, IssuedSession, SessionTimes},
};

/// Why the component refuses a person without a rule that they break.
const DISABLED: &str = "the user is disabled here";

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
    /// The invite by whose link they came.
    pub invitation: Option<&'a Invitation>,
}

/// A user, and how their sign-in ends.
type Done = (SignedIn, Begun);

/// A person who signs in, and what is needed to make them a user.
struct Person {
    external: External,
    /// The groups that the provider states; `None` if memberships stay.
    stated: Option<Stated>,
    /// The name-key of their name; empty if everyone may sign up.
    name_key: String,
    /// The context of the call, with its row of the audit log.
    context: CallContext,
    audited: Option<Arc<AuditedCall>>,
}

/// Who is let in.
#[derive(Clone, Copy)]
enum Door<'a> {
    Everyone,
    /// People who have a user.
    Known,
    /// People who have none, with an invite that is taken.
    Invited(&'a Invitation),
}

/// Creates or updates the user, sets their groups, and begins a session: all of it or nothing. `FORBIDDEN` while no
/// user exists, and if the provider's account breaks a rule for users.
pub async fn sign_in(sign_in: &SignIn<'_>, external: External) -> Result<(SignedIn, IssuedSession), Error> {
    match sign_in_with(sign_in, external, None).await? {
        Entered::Session(user, issued) => Ok((user, issued)),
        Entered::Missing(..) => Err(no_session()),
    }
}

/// How a sign-in with a password that a provider has accepted ends.
pub(crate) enum Entered {
    Session(SignedIn, IssuedSession),
    /// The user is stored as the provider describes them, and needs a second factor.
    Missing(SignedIn, MissingStep),
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
    match begun {
        Begun::Session(issued) => Ok(Entered::Session(user, issued)),
        Begun::Missing(missing) => Ok(Entered::Missing(user, missing)),
        Begun::Nothing { .. } => Err(no_session()),
    }
}

fn no_session() -> Error {
    Error::internal(anyhow::anyhow!("a sign-in began no session"))
}

/// A session, or the second factor that is missing for it, or neither, because none is to begin.
enum Begun {
    Session(IssuedSession),
    Missing(MissingStep),
    Nothing { memberships: Vec<String> },
}

/// The same for a user for whom a proxy vouches with each request: no session begins. Returns also the ids of their groups.
pub(super) async fn take_up(
    sign_in: &SignIn<'_>,
    external: External,
) -> Result<(SignedIn, Vec<String>), Error> {
    let (user, begun) = sign_in.resources.in_time(sign_in.run(external, None)).await?;
    match begun {
        Begun::Nothing { memberships } => Ok((user, memberships)),
        Begun::Session(_) | Begun::Missing(_) => Err(no_session()),
    }
}

/// The id of the user who is this person, by the subject; `None` if no user is.
pub async fn find_user(
    resources: &Resources,
    identity: &Vouched,
    request_id: &str,
) -> Result<Option<String>, Error> {
    let context = Identity::anonymous().context(request_id);
    let mut transaction = resources.storage.begin(Access::Lookup, &context).await?;
    let key = AccountKey::Subject(subject_of(identity));
    let account = transaction.get_account(&key).await?;
    Ok(account.map(|account| account.id))
}

impl SignIn<'_> {
    /// No session begins without times.
    async fn run(&self, mut external: External, step: Option<&Step>) -> Result<Done, Error> {
        let resources = self.resources;
        let audited =
            resources
                .audit
                .sign_in(external.identity.provider, self.sender.address, self.request_id);
        let context = Identity::anonymous()
            .context(self.request_id)
            .audited(audited.clone());
        self.admit(&external).await?;
        let groups = mem::replace(&mut external.groups, Groups::Own);
        let sandbox = &resources.sandbox;
        let stated = groups::read(sandbox, &context, groups, &external.group_rules).await?;
        let is_open = external.sign_up == SignUp::On && self.invitation.is_none();
        let mut name_key = String::new();
        if !is_open {
            // No user has a name that is longer than this.
            let name: String = external.identity.name.trim().chars().take(LONGEST_NAME).collect();
            name_key = sandbox.name_key(context.clone(), &name).await?;
        }
        let person = Person {
            external,
            stated,
            name_key,
            context,
            audited,
        };
        let door = if is_open { Door::Everyone } else { Door::Known };
        if let Some(done) = self.enter(&person, door, step).await? {
            return Ok(done);
        }
        match (person.external.sign_up, self.invitation) {
            (SignUp::On | SignUp::ByInvite, Some(invitation)) => {
                if let Some(done) = self.enter(&person, Door::Invited(invitation), step).await? {
                    return Ok(done);
                }
                // Another request has made them a user meanwhile, so they need no invite.
                let done = self.enter(&person, Door::Known, step).await?;
                done.ok_or_else(|| self.deny(&person.external.identity, "their user is gone again"))
            }
            (SignUp::ByInvite, None) => {
                self.deny(
                    &person.external.identity,
                    "no user is theirs, and they came without an invite",
                );
                Err(Refusal::InviteNeeded.into())
            }
            (SignUp::On | SignUp::Off, _) => {
                Err(self.deny(&person.external.identity, "no user is theirs, and sign-up is off"))
            }
        }
    }

    /// One try, in one transaction. `None`, with nothing committed, if the door is not this person's.
    async fn enter(
        &self,
        person: &Person,
        door: Door<'_>,
        step: Option<&Step>,
    ) -> Result<Option<Done>, Error> {
        let resources = self.resources;
        let (context, external) = (&person.context, &person.external);
        // The permit comes before the transaction, because calls that hold one may wait for that transaction to end.
        let mut permit = resources.sandbox.acquire_permit().await?;
        permit.stop_waiting();
        let now = resources.clock.now();
        let transaction = resources.storage.begin_dashboard(Access::Write, context).await?;
        let enclosing = Enclosing::new(transaction);
        let mut identity = external.identity.clone();
        if external.is_partial {
            keep_what_is_unknown(&mut identity, external.states_verification, &enclosing).await?;
        }
        let mut known = Vec::new();
        if !matches!(door, Door::Everyone) {
            known = self.known_users(&identity, &enclosing, &person.name_key).await?;
        }
        if let Door::Invited(invitation) = door {
            let mut transaction = enclosing.transaction().await;
            let Invitation { id, token } = invitation;
            if !transaction.take_held_invite(id, token, now).await? {
                self.deny(&identity, "their invite is used, deleted or has expired");
                return Err(Refusal::InvalidInvite.into());
            }
        }
        let user = self
            .put_user(permit, context.clone(), &enclosing, &identity, external.linking)
            .await?;
        let is_known = known.contains(&user.id);
        let is_let_in = match door {
            Door::Everyone => true,
            Door::Known => is_known,
            Door::Invited(_) => !is_known,
        };
        if !is_let_in {
            return Ok(None);
        }
        let mut transaction = enclosing.transaction().await;
        let mut changes = groups::Changes::default();
        if let Some(stated) = &person.stated {
            let rules = &*external.group_rules;
            if rules.makes_groups {
                let new_id = || resources.new_id();
                let made = groups::make_missing(&mut *transaction, stated, rules, new_id, self.request_id);
                let made = made.await?;
                for id in &made {
                    self.record_group(&mut *transaction, external, id).await?;
                }
            }
            let rules = (rules, resources.ways_in.get());
            changes = groups::replace(&mut *transaction, &user.id, stated, rules, self.request_id).await?;
            if matches!(door, Door::Invited(_)) {
                // Also the groups of the invite that are stated, which they joined before.
                changes.added = transaction.list_memberships(&user.id).await?;
            }
        }
        if let Some(audited) = &person.audited {
            audited.changed_groups(&changes.added, &changes.removed);
        }
        let begun = if let Some(times) = self.times {
            let taken = match step {
                Some(step) => take(resources, &mut *transaction, &user.id, step, now).await?,
                None => Taken::NotNeeded,
            };
            match taken {
                Taken::Passed(_) | Taken::NotNeeded => {
                    let secrets = &resources.secrets;
                    let issued =
                        sessions::begin(secrets, times, &mut *transaction, &user.id, self.sender, now);
                    let issued = issued.await?;
                    context.signed_in(&issued.session);
                    Begun::Session(issued)
                }
                Taken::Missing(missing) => {
                    if let Some(audited) = &person.audited {
                        audited.refused(&user.id, Code::Unauthorized.name());
                    }
                    Begun::Missing(missing)
                }
            }
        } else {
            if let Some(audited) = &person.audited {
                audited.vouched(&user.id);
            }
            let memberships = transaction.list_memberships(&user.id).await?;
            Begun::Nothing { memberships }
        };
        drop(transaction);
        enclosing.commit().await?;
        changes.log(&user.id, self.request_id);
        Ok(Some((user, begun)))
    }

    /// Writes the row of a group that the sign-in has made.
    async fn record_group(
        &self,
        transaction: &mut dyn DashboardTransaction,
        external: &External,
        id: &str,
    ) -> Result<(), Error> {
        let provider = external.identity.provider;
        let audit = &self.resources.audit;
        if let Some(row) = audit.made_group(provider, self.sender.address, self.request_id, id) {
            transaction.insert_audit(&row).await?;
        }
        Ok(())
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
        identity: &Vouched,
        linking: Linking,
    ) -> Result<SignedIn, Error> {
        let sandbox = &self.resources.sandbox;
        let mut instance = sandbox.enter_within(permit, context, enclosing.storage()).await?;
        let (plugin, store) = instance.parts()?;
        let context = self.request_id.to_owned();
        let sign_in = plugin.portico_dashboard_sign_in();
        let answer = sign_in.call_external(store, &context, identity, linking);
        let answer = answer.await;
        instance
            .read_result(answer)
            .map_err(|error| self.refused(error, identity))
    }

    /// Logs why the component refuses the provider's account, and returns an error without the reason: it is not the
    /// user's fault, and must not tell them whether another user has their name. A user who is disabled is refused like one
    /// for whom the provider does not vouch.
    fn refused(&self, error: Error, identity: &Vouched) -> Error {
        let issues: Vec<_> = error.issues.iter().map(issue_text).collect();
        let (rules, refusal) = match error.code {
            Code::Unauthorized if identity.provider == Provider::Oidc => {
                (DISABLED.to_owned(), Refusal::SignInNotConfirmed.into())
            }
            Code::Unauthorized => (DISABLED.to_owned(), error),
            Code::BadRequest | Code::Conflict if issues.is_empty() => (error.message, unusable_account()),
            Code::BadRequest | Code::Conflict => (issues.join("; "), unusable_account()),
            _ => return error,
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
        refusal
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

/// Gives a known person the email, its verification and the picture that they have here, where the provider could not be
/// asked for them.
async fn keep_what_is_unknown(
    identity: &mut Vouched,
    states_verification: bool,
    enclosing: &Enclosing,
) -> Result<(), Error> {
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
    } else if !states_verification && identity.email == user.email {
        identity.email_verified = user.email_verified.is_some();
    }
    identity.image = identity.image.take().or(user.image);
    Ok(())
}
