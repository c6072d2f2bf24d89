//! Sign-in with a password that the component checks.

use std::sync::Arc;

use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_sandbox::SignedIn;
use portico_storage::{Access, AccountKey, CallContext};

use super::credentials::{Credentials, Progress};
use crate::{
    identity::Identity,
    procedures::Call,
    resources::Resources,
    service::hash,
    sessions::{self, IssuedSession, SessionTimes},
};

pub(super) async fn sign_in(
    call: &Call,
    credentials: Credentials,
    times: &SessionTimes,
    progress: Arc<Progress>,
) -> Result<(SignedIn, IssuedSession), Error> {
    let resources = &call.resources;
    let (attempt, name_key) = credentials.begin_attempt(call).await?;
    let context = Identity::anonymous().context(&call.request_id);
    let result = async {
        let permit = resources.acquire_hash_permit(call.identity.address).await?;
        let checking = check(
            resources.clone(),
            context.clone(),
            name_key,
            credentials,
            progress,
        );
        let checked = hash(permit, checking).await?;
        begin_session(resources, times, &call.identity, context, checked).await
    };
    let result = result.await;
    attempt.settle(&result);
    result
}

/// A user whose password was right.
struct CheckedPassword {
    user: SignedIn,
    /// The version of the password before the check; none if another user had the name by then.
    version: Option<u32>,
}

async fn check(
    resources: Arc<Resources>,
    context: CallContext,
    name_key: String,
    credentials: Credentials,
    progress: Arc<Progress>,
) -> Result<CheckedPassword, Error> {
    // Read before the check, to see afterwards whether the password was changed in between.
    let mut transaction = resources.storage.begin_dashboard(Access::Read, &context).await?;
    let key = AccountKey::Name((Provider::Credentials, name_key));
    let account = transaction.find_account(&key).await?;
    let account = account.map(|account| progress.user_id.get_or_init(|| account.id).clone());
    let id = account.unwrap_or_default();
    // Read for an unknown name as well, so that it takes the same time.
    let version = transaction.password_version(&id).await?;
    drop(transaction);

    let Credentials {
        username, password, ..
    } = &credentials;
    let mut instance = resources.sandbox.enter_to_hash(context).await?;
    let (plugin, store) = instance.parts()?;
    let sign_in = plugin.portico_dashboard_sign_in();
    let answer = sign_in.call_password(store, username, password).await;
    let user = instance.answer(answer)?;
    let version = version.filter(|_| user.id == id);
    Ok(CheckedPassword { user, version })
}

async fn begin_session(
    resources: &Resources,
    times: &SessionTimes,
    sender: &Identity,
    context: CallContext,
    checked: CheckedPassword,
) -> Result<(SignedIn, IssuedSession), Error> {
    let CheckedPassword { user, version } = checked;
    let now = resources.clock.now();
    let audited = resources
        .audit
        .sign_in(Provider::Credentials, sender.address, &context.request_id);
    let context = context.audited(audited);
    let mut transaction = resources.storage.begin_dashboard(Access::Write, &context).await?;
    // The password may have been changed, or the user deleted, since the check began.
    let present = transaction.password_version(&user.id).await?;
    if version.is_none() || version != present {
        return Err(Error::new(
            Code::Unauthorized,
            "The password was changed meanwhile; sign in again",
        ));
    }
    let secrets = &resources.secrets;
    let issued = sessions::begin(secrets, times, &mut *transaction, &user.id, sender, now).await?;
    context.signed_in(&issued.session);
    transaction.commit().await?;
    Ok((user, issued))
}
