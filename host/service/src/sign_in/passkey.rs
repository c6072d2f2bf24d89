//! Sign-in with a passkey alone: it stands for password and second factor, because its authenticator has verified the
//! person.
//!
//! Invariants:
//! - Nothing that a client is told says whether a passkey, or its user, is known.
//! - Where its user could not sign in with a password, a passkey does not help. A directory is asked whether it still has them.

use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_passkeys::{Ceremony, Purpose};
use portico_rules::refusal::Refusal;
use portico_storage::{Access, AccountKey};

use super::{
    completion::{Completed, Completion},
    credentials::{Progress, SignInSettings},
    session::route,
};
use crate::{
    external::DirectoryUser,
    identity::Identity,
    procedures::{Call, Output, call::json, sign_in::PASSKEY_OPTIONS},
    second_factor::{
        Passkeys, Step, Ticket,
        passkeys::{ASSERTION, SentAssertion},
    },
    service::Service,
    shape::{records, required},
    throttle::{Source, ThrottledAccount},
};

records! {
    /// The input of a sign-in with a passkey alone.
    pub struct SentPasskey {
        credential: SentAssertion = required("credential", ASSERTION)
            .about("What `navigator.credentials.get` has given for the options, as its `toJSON` writes it."),
    }
}

/// Begins a sign-in with a passkey in the browser that has this secret. Returns the options, as JSON.
pub async fn begin_passkey_sign_in(
    service: &Service,
    sender: &Identity,
    browser: String,
    request_id: &str,
) -> Result<Output, Error> {
    service
        .call_with(route(service, PASSKEY_OPTIONS)?, sender, request_id, |call| {
            begin(call, browser)
        })
        .await
}

fn ceremony(browser: &str) -> Ceremony<'_> {
    Ceremony {
        purpose: Purpose::SignIn,
        holder: browser,
    }
}

async fn begin(call: Call, browser: String) -> Result<Output, Error> {
    let resources = &call.resources;
    let passkeys = Passkeys::of(resources)?;
    // An address that has guessed too often begins nothing. What it begins and does not end counts as failed: one address
    // could otherwise displace the challenges of all others.
    let attempt = resources.throttle.begin(None, call.identity.address).await?;
    let begun = passkeys.begin_proof(resources, ceremony(&browser), &[]).await;
    match &begun {
        Ok(_) => {
            attempt.leave();
        }
        Err(_) => attempt.settle(&begun).await,
    }
    json(&begun?)
}

pub(super) async fn sign_in(
    call: &Call,
    sent: SentPasskey,
    browser: &str,
    settings: &SignInSettings,
    progress: &Progress,
) -> Result<Completed, Error> {
    let (throttle, address) = (&call.resources.throttle, call.identity.address);
    let attempt = throttle.begin(None, address).await?;
    let signed_in = try_sign_in(call, sent, browser, settings, progress).await;
    if signed_in.is_ok() {
        // Nor does what began it count.
        let begun = throttle.resume(address.map(Source::from));
        begun.settle(&signed_in).await;
    }
    attempt.settle(&signed_in).await;
    signed_in
}

async fn try_sign_in(
    call: &Call,
    sent: SentPasskey,
    browser: &str,
    settings: &SignInSettings,
    progress: &Progress,
) -> Result<Completed, Error> {
    let resources = &*call.resources;
    let passkeys = Passkeys::of(resources)?;
    let proof = passkeys.read_proof(ceremony(browser), &sent.credential, &call.request_id);
    let proof = proof.await?;
    let proof = proof
        .filter(|proof| proof.names_user())
        .ok_or(Refusal::WrongPasskey)?;
    let context = Identity::anonymous().context(call.request_id.clone());
    let mut transaction = resources.storage.begin_dashboard(Access::Read, &context).await?;
    let factor = transaction.find_passkey(&proof.handle()).await?;
    let factor = factor.ok_or(Refusal::WrongPasskey)?;
    let key = AccountKey::Id(factor.user_id.clone());
    let account = transaction.get_account(&key).await?;
    let account = account.ok_or(Refusal::WrongPasskey)?;
    let subject = match account.provider {
        Provider::Ldap => transaction.get_subject(&account.id, Provider::Ldap).await?,
        Provider::Credentials | Provider::Oidc => None,
    };
    drop(transaction);
    progress.user_id.get_or_init(|| account.id.clone());
    progress.provider.get_or_init(|| account.provider);
    let may_sign_in = match account.provider {
        _ if account.disabled => false,
        Provider::Credentials => true,
        // Without the passkey a client learns nothing of the directory, not even that it is silent.
        Provider::Ldap => {
            passkeys.verify(&factor, &proof)?.is_some() && is_in_directory(call, settings, subject).await?
        }
        Provider::Oidc => false,
    };
    if !may_sign_in {
        return Err(Refusal::WrongPasskey.into());
    }
    let completion = Completion {
        resources,
        times: &settings.times,
        sender: &call.identity,
        request_id: &call.request_id,
    };
    let ticket = Ticket {
        account: ThrottledAccount::of_second_factor(&account.id),
        user_id: account.id,
        provider: account.provider,
        password_version: account.password_version,
        wrong: 0,
    };
    let completed = completion.run(ticket, Step::PasskeyAlone(proof), None);
    completed.await.map_err(|error| match error.code {
        // As for every other reason.
        Code::Unauthorized => Refusal::WrongPasskey.into(),
        _ => error,
    })
}

/// Whether the directory still has the user with this subject.
async fn is_in_directory(
    call: &Call,
    settings: &SignInSettings,
    subject: Option<String>,
) -> Result<bool, Error> {
    let (Some(ldap), Some(subject)) = (&settings.providers.ldap, subject) else {
        return Ok(false);
    };
    let user = DirectoryUser {
        subject: &subject,
        address: call.identity.address,
        request_id: &call.request_id,
    };
    ldap.still_has(&user).await
}
