//! Setting up a second factor, with recovery codes if it is the first one, and removing it.

use portico_model::{FactorKind, Timestamp, error::Error};
use portico_rules::{refusal::Refusal, rule::Rule};
use portico_storage::{self as storage, Constraint, DashboardTransaction, MOST_SECOND_FACTORS, SecondFactor};

use super::{
    codes::{self, Typed},
    totp,
};
use crate::resources::Resources;

/// A factor that is to be set up, and whose proof was checked.
pub(crate) struct NewFactor {
    pub kind: FactorKind,
    pub name: Option<String>,
    pub handle: Option<String>,
    pub data: String,
    pub counter: Option<u64>,
}

/// Codes of an app by this secret, if this code is one of them now. The code is then used.
pub(crate) fn of_codes(secret: &str, code: &str, now: Timestamp) -> Result<NewFactor, Error> {
    if !totp::is_secret(secret) {
        return Err(Error::invalid_field("secret", Rule::NotSecretOfCodes));
    }
    let step = match Typed::read(code) {
        Some(Typed::OfApp(code)) => totp::step_of(secret, &code, now),
        _ => None,
    };
    let step = step.ok_or_else(|| Error::invalid_field("code", Rule::CodeNotOfSecret))?;
    Ok(NewFactor {
        kind: FactorKind::Totp,
        name: None,
        handle: None,
        data: secret.to_owned(),
        counter: Some(step),
    })
}

/// Stores a factor. Returns its id, and recovery codes if it is the user's first.
pub(crate) async fn add(
    resources: &Resources,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    new: &NewFactor,
    now: Timestamp,
) -> Result<(String, Vec<String>), Error> {
    let factor = SecondFactor {
        id: resources.new_id(),
        user_id: user_id.to_owned(),
        kind: new.kind,
        name: new.name.clone(),
        handle: new.handle.clone(),
        data: new.data.clone(),
        created_at: now,
        last_used_at: None,
        counter: new.counter,
    };
    let inserted = transaction.insert_second_factor(&factor).await;
    let inserted = inserted.map_err(|error| match error {
        storage::Error::Constraint(Constraint::Reference) => Error::unauthorized(),
        error => error.into(),
    });
    if !inserted? {
        return Err(Refusal::SecondFactorThere.into());
    }
    // No other transaction adds one meanwhile.
    let count = transaction.list_second_factors(user_id).await?.len();
    if count > MOST_SECOND_FACTORS {
        let most = MOST_SECOND_FACTORS;
        return Err(Refusal::TooManySecondFactors { most }.into());
    }
    let recovery_codes = match count {
        1 => renew_codes(resources, transaction, user_id).await?,
        _ => Vec::new(),
    };
    Ok((factor.id, recovery_codes))
}

/// The same for a user who has none. Another request may have added one since that was seen: then it is refused.
pub(super) async fn add_first(
    resources: &Resources,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    new: &NewFactor,
    now: Timestamp,
) -> Result<Vec<String>, Error> {
    let (_, recovery_codes) = add(resources, transaction, user_id, new, now).await?;
    match recovery_codes.is_empty() {
        true => Err(Refusal::SecondFactorThere.into()),
        false => Ok(recovery_codes),
    }
}

/// Replaces a user's recovery codes, and returns them, to show once.
pub(crate) async fn renew_codes(
    resources: &Resources,
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
) -> Result<Vec<String>, Error> {
    let made = codes::make(&resources.secrets);
    transaction
        .set_recovery_codes(user_id, &codes::hashes(&made))
        .await?;
    Ok(made)
}

/// Removes factors of a user, and with the last one the recovery codes. Ends the user's sessions but this one.
pub(crate) async fn remove(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    ids: &[String],
    kept_session: Option<&str>,
) -> Result<bool, Error> {
    let mut removed = false;
    for id in ids {
        removed |= transaction.delete_second_factor(user_id, id).await?;
    }
    if !removed {
        return Ok(false);
    }
    if transaction.list_second_factors(user_id).await?.is_empty() {
        transaction.set_recovery_codes(user_id, &[]).await?;
    }
    transaction.delete_other_sessions(user_id, kept_session).await?;
    Ok(true)
}
