//! Sign-in with a password that a directory checks.

use std::sync::atomic::AtomicBool;

use portico_model::{Provider, error::Error};
use portico_rules::rule::Rule;
use portico_sandbox::SignedIn;

use super::{
    credentials::{Credentials, Progress, SignInSettings},
    password::begin_attempt,
};
use crate::{
    external::{self, Login, SignIn},
    procedures::Call,
    sessions::IssuedSession,
};

pub(super) async fn sign_in(
    call: &Call,
    credentials: &Credentials,
    settings: &SignInSettings,
    progress: &Progress,
) -> Result<(SignedIn, IssuedSession), Error> {
    let (resources, identity) = (&*call.resources, &*call.identity);
    let Some(ldap) = &settings.providers.ldap else {
        return Err(Error::invalid_field("provider", Rule::NotEnabledProvider));
    };
    // Checked before anything is sent to the directory.
    resources.require_users(&call.request_id).await?;
    let (attempt, name_key) = begin_attempt(
        resources,
        Provider::Ldap,
        &credentials.username,
        identity.address,
        &call.request_id,
    )
    .await?;
    let context = identity.context(call.request_id.clone());
    let account = resources
        .find_account_by_key(Provider::Ldap, &name_key, &context)
        .await?;
    if let Some(account) = account {
        progress.user_id.get_or_init(|| account.id);
    }
    let is_open = AtomicBool::new(false);
    let result = async {
        let login = Login {
            resources,
            address: identity.address,
            request_id: &call.request_id,
            username: credentials.username.trim(),
            name_key: &name_key,
            password: &credentials.password,
            is_open: &is_open,
        };
        let external = ldap.authenticate(&login).await?;
        let sign_in = SignIn {
            resources,
            times: Some(&settings.times),
            sender: identity,
            request_id: &call.request_id,
            invitation: None,
        };
        external::sign_in(&sign_in, external).await
    };
    let result = result.await;
    // An attempt without a response from the directory counts as failed. Otherwise its response time would tell an
    // attacker about the password without being counted.
    if is_open.into_inner() {
        drop(attempt);
    } else {
        attempt.settle(&result).await;
    }
    result
}
