//! API keys that were imported from Homarr, of which only the bcrypt hash is known.
//!
//! Invariants:
//! - The first use of such a key replaces the hash with the SHA-256 of its secret, in a transaction that finds the old
//!   hash unchanged. From then on the key is looked up like any other.
//! - One bcrypt hash is computed at a time, on the second runtime and with a permit to hash. It takes tens of
//!   milliseconds.
//! - A wrong secret counts as a failed attempt, both for the key and for the address, like a wrong password. After too
//!   many, the answer is 429 and nothing is hashed.
//! - If no such key has the id, the text is not hashed and waits for no hash.

use std::{net::IpAddr, time::Duration};

use http::HeaderMap;
use portico_model::{
    Timestamp,
    error::{Code, Error},
};
use portico_rules::bcrypt::Bcrypt;
use portico_rules::refusal::Refusal;
use portico_storage::{self as storage, CallContext, CredentialKey, hash_secret, secrets};
use tokio::time::timeout;
use tracing::warn;

use crate::{
    identity::{self, Identity, SentCredential, UsedCredential},
    resources::Resources,
    second_runtime,
    throttle::ThrottledAccount,
};

/// Shorter secrets can be guessed. Guesses at a key that has been used are not limited, because those that Homarr and Portico
/// make cannot be.
const EASY_TO_GUESS: usize = 20;

/// How long a first use waits for earlier ones.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The caller with these credentials, and their key or session, as [`identity::authenticate`] returns them. The first
/// use of an imported key waits for its hash.
pub async fn authenticate(
    resources: &Resources,
    sent: Option<SentCredential<'_>>,
    headers: &HeaderMap,
    context: &CallContext,
    address: Option<IpAddr>,
    now: Timestamp,
) -> Result<(Identity, Option<UsedCredential>), Error> {
    let storage = &*resources.storage;
    let (identity, used) = identity::authenticate(storage, sent, headers, context, now).await?;
    if used.is_none()
        && let Some((id, secret)) = sent.and_then(|sent| secrets::imported_key(sent.text))
        && Box::pin(adopt(resources, id, secret, context, address)).await?
    {
        return identity::authenticate(storage, sent, headers, context, now).await;
    }
    Ok((identity, used))
}

/// Checks the secret of an imported key that has not been used yet, and replaces its hash. Returns whether the key can
/// now be looked up by the SHA-256 of this secret.
async fn adopt(
    resources: &Resources,
    id: &str,
    secret: &str,
    context: &CallContext,
    address: Option<IpAddr>,
) -> Result<bool, Error> {
    if find(resources, id, context)
        .await?
        .is_none_or(|found| found.imported.is_none())
    {
        return Ok(false);
    }
    let turn = timeout(LONGEST_WAIT, resources.adopting.lock()).await;
    let _turn =
        turn.map_err(|_| Error::from(Refusal::TooManyKeysToCheck).retry_after(LONGEST_WAIT.as_secs()))?;
    // Another request with the same key may have replaced the hash already.
    let Some(found) = find(resources, id, context).await? else {
        return Ok(false);
    };
    let Some(imported) = found.imported else {
        return Ok(secrets::same(&found.secret, &hash_secret(secret)));
    };
    let attempt = resources
        .throttle
        .begin(Some(ThrottledAccount::of_key(id)), address)
        .await?;
    let checked = check(resources, secret, &imported, address).await;
    attempt.settle(&checked).await;
    match checked {
        Err(error) if error.code == Code::Unauthorized => return Ok(false),
        checked => checked?,
    }
    let mut transaction = resources
        .storage
        .begin_dashboard(storage::Access::Write, context)
        .await?;
    let adopted = transaction.adopt_key(id, &imported, &hash_secret(secret)).await?;
    transaction.commit().await?;
    if adopted && secret.len() < EASY_TO_GUESS {
        warn!(
            key = id,
            "an imported API key has a secret of {} characters, which can be guessed: create a new key",
            secret.len()
        );
    }
    Ok(adopted)
}

async fn find(
    resources: &Resources,
    id: &str,
    context: &CallContext,
) -> Result<Option<storage::Credential>, Error> {
    let storage = &resources.storage;
    let mut transaction = storage.begin_dashboard(storage::Access::Read, context).await?;
    Ok(transaction
        .find_credential(&CredentialKey::Key(id.to_owned()))
        .await?)
}

/// Computes the bcrypt hash.
async fn check(
    resources: &Resources,
    secret: &str,
    imported: &str,
    address: Option<IpAddr>,
) -> Result<(), Error> {
    let Some(expected) = Bcrypt::parse(imported) else {
        return Err(Error::unauthorized());
    };
    let permit = resources.acquire_hash_permit(address).await?;
    let secret = secret.to_owned();
    let is_right = second_runtime::run(permit, async move { Ok(expected.verify(&secret)) }).await?;
    if is_right {
        Ok(())
    } else {
        Err(Error::unauthorized())
    }
}
