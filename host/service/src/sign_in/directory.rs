//! Sign-in with a password that a directory checks.

use std::sync::atomic::{AtomicBool, Ordering};

use portico_model::{Provider, error::Error};
use portico_rules::rule::Rule;

use super::{
    completion::{Completed, Completion},
    credentials::{Credentials, Progress, SignInSettings},
    password::begin_attempt,
};
use crate::{
    external::{self, Entered, External, Login, SignIn},
    procedures::Call,
    second_factor::{Step, Ticket},
    throttle::ThrottledAccount,
};

pub(super) async fn sign_in(
    call: &Call,
    credentials: &Credentials,
    settings: &SignInSettings,
    progress: &Progress,
) -> Result<Completed, Error> {
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
        let account = ThrottledAccount::new(Provider::Ldap, &name_key);
        complete(
            call,
            external,
            settings,
            account,
            Step::of(credentials.code.clone()),
            progress,
        )
        .await
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

/// Signs in a person whose password the directory has accepted, with the second factor of their user. What the directory says
/// of them is stored in any case.
async fn complete(
    call: &Call,
    external: External,
    settings: &SignInSettings,
    account: ThrottledAccount,
    step: Step,
    progress: &Progress,
) -> Result<Completed, Error> {
    let (resources, identity) = (&*call.resources, &*call.identity);
    let completion = Completion {
        resources,
        times: &settings.times,
        sender: identity,
        request_id: &call.request_id,
    };
    let attempt = match external::find_user(resources, &external.identity, &call.request_id).await? {
        Some(user_id) => completion.count(&user_id, &step).await?,
        // A new user has no second factor.
        None => None,
    };
    let sign_in = SignIn {
        resources,
        times: Some(&settings.times),
        sender: identity,
        request_id: &call.request_id,
        invitation: None,
    };
    let result = async {
        match external::sign_in_with_factor(&sign_in, external, &step).await? {
            Entered::Session(user, issued) => Ok(Completed {
                user,
                issued,
                recovery_codes: Vec::new(),
            }),
            Entered::Missing(user, missing) => {
                progress.is_recorded.store(true, Ordering::Relaxed);
                let ticket = Ticket {
                    user_id: user.id,
                    provider: Provider::Ldap,
                    password_version: user.password_version,
                    account,
                    wrong: 0,
                };
                Err(completion.refuse(missing, ticket, None).await?)
            }
        }
    };
    let result = result.await;
    if let Some(attempt) = attempt {
        attempt.settle(&result).await;
    }
    result
}
