//! Sign-in with a password that the component checks.

use std::{net::IpAddr, sync::Arc};

use portico_model::{Provider, error::Error};
use portico_sandbox::SignedIn;
use portico_storage::{Access, CallContext};

use super::{
    completion::{Completed, Completion},
    credentials::{Credentials, Progress},
    policy::PasswordSignIn,
};
use crate::{
    identity::Identity,
    procedures::Call,
    resources::Resources,
    second_factor::{Step, Ticket},
    second_runtime,
    sessions::SessionTimes,
    throttle::{LoginAttempt, ThrottledAccount},
};

/// The characters of a name that its count in the throttle depends on: sixteen times the longest name that a user has.
/// Otherwise a client could make us fold a name of a megabyte with every request, uncounted.
const COUNTED_NAME: usize = 16 * 255;

/// A name and a password, as a client sent them.
pub struct Claim {
    /// The username, in any case.
    pub username: String,
    pub password: String,
    /// The client's address, if it is known.
    pub address: Option<IpAddr>,
    /// The request's id, as the log has it.
    pub request_id: Arc<str>,
}

/// Checks a name and a password: counts the attempt, waits for a permit to hash, and asks the component on the second
/// runtime. `before` gets the name-key, runs there first, and returns whether the user with this name may use a password.
/// If not, the password is checked as that of a name that no user has, so that it is the same work whether it is right.
///
/// A refusal settles the attempt. After a success the caller settles it, once the sign-in is complete.
pub async fn verify<F>(
    resources: &Arc<Resources>,
    claim: Claim,
    before: impl FnOnce(String) -> F,
) -> Result<(SignedIn, LoginAttempt), Error>
where
    F: Future<Output = Result<bool, Error>> + Send + 'static,
{
    let Claim {
        username,
        password,
        address,
        request_id,
    } = claim;
    let begun = begin_attempt(resources, Provider::Credentials, &username, address, &request_id);
    let (attempt, name_key) = begun.await?;
    let checked = async {
        let permit = resources.acquire_hash_permit(address).await?;
        let (resources, before) = (resources.clone(), before(name_key));
        let checking = async move {
            let username = if before.await? {
                username
            } else {
                resources.secrets.id(resources.clock.now())
            };
            let context = Identity::anonymous().context(request_id.clone());
            let mut instance = resources.sandbox.enter_to_hash(context).await?;
            let (plugin, store) = instance.parts()?;
            let sign_in = plugin.portico_dashboard_sign_in();
            let answer = sign_in
                .call_password(store, &request_id.to_string(), &username, &password)
                .await;
            instance.read_result(answer)
        };
        second_runtime::run(permit, checking).await
    };
    match checked.await {
        Ok(user) => Ok((user, attempt)),
        Err(error) => {
            attempt.refuse(&error).await;
            Err(error)
        }
    }
}

/// Begins an attempt to sign in to the account of this provider with this name. Also returns the name-key.
pub(super) async fn begin_attempt(
    resources: &Resources,
    provider: Provider,
    username: &str,
    address: Option<IpAddr>,
    request_id: &str,
) -> Result<(LoginAttempt, String), Error> {
    let context = Identity::anonymous().context(request_id);
    let name_key = resources
        .sandbox
        .name_key(context, beginning(username.trim()))
        .await?;
    let account = ThrottledAccount::new(provider, &name_key);
    let attempt = resources.throttle.begin(Some(account), address).await?;
    Ok((attempt, name_key))
}

/// The part of a name from which its name-key is made.
fn beginning(name: &str) -> &str {
    let end = name.char_indices().nth(COUNTED_NAME);
    end.map_or(name, |(end, _)| &name[..end])
}

pub(super) async fn sign_in(
    call: &Call,
    credentials: Credentials,
    times: &SessionTimes,
    progress: Arc<Progress>,
) -> Result<Completed, Error> {
    let resources = &call.resources;
    resources.passwords.check()?;
    let context = Identity::anonymous().context(call.request_id.clone());
    let claim = Claim {
        username: credentials.username,
        password: credentials.password,
        address: call.identity.address,
        request_id: call.request_id.clone(),
    };
    let mut account = None;
    let before = |name_key: String| {
        account = Some(ThrottledAccount::new(Provider::Credentials, &name_key));
        note_user(resources.clone(), context, name_key, progress)
    };
    let (user, attempt) = verify(resources, claim, before).await?;
    let completion = Completion {
        resources,
        times,
        sender: &call.identity,
        request_id: &call.request_id,
    };
    let ticket = Ticket {
        user_id: user.id,
        provider: Provider::Credentials,
        password_version: user.password_version,
        account: account.ok_or_else(Error::unauthorized)?,
        wrong: 0,
    };
    let result = completion.run(ticket, Step::of(credentials.code), None).await;
    attempt.settle(&result).await;
    result
}

/// Notes for the audit log whose password is checked. Returns whether they may sign in with one; looks for every name alike.
async fn note_user(
    resources: Arc<Resources>,
    context: CallContext,
    name_key: String,
    progress: Arc<Progress>,
) -> Result<bool, Error> {
    let account = resources.find_account_by_key(Provider::Credentials, &name_key, &context);
    let user_id = account.await?.map(|account| account.id).unwrap_or_default();
    let may_sign_in = match resources.passwords {
        PasswordSignIn::On => true,
        passwords => {
            let storage = &resources.storage;
            let mut transaction = storage.begin_dashboard(Access::Read, &context).await?;
            passwords.allows(&mut *transaction, &user_id).await?
        }
    };
    if !user_id.is_empty() {
        progress.user_id.get_or_init(|| user_id);
    }
    Ok(may_sign_in)
}
