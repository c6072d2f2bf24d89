//! Changing a password.

use portico_rules::refusal::Refusal;
use portico_rules::rule::Rule;

use super::user::{require_credentials, require_storable, user_not_found};
use crate::bindings::storage::{Account, Transaction};
use crate::bindings::types::{Caller, Error, PasswordChange};
use crate::password::{self, Fit};
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, Failure, get_account};
use crate::validate::{self, Issues};

/// `user.changePassword`
pub fn change(caller: &Caller, change: &PasswordChange) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserChangePassword)?;
    let user_id = &change.user_id;
    // To change your own password you need the previous one, even as an administrator: a session left
    // open must not be enough. For another user's password it is ignored.
    let own = authorised.is(user_id);
    let previous = change.previous_password.as_deref().filter(|_| own);
    let mut issues = Issues::default();
    let password = issues.check("password", validate::password::password(&change.password));
    if own && previous.is_none() {
        issues.check("previousPassword", Err::<(), _>(Rule::PreviousPasswordNeeded));
    }
    issues.finish()?;
    authorised.require_own_user_or_permission(user_id)?;
    require_storable(user_id)?;

    let seen = transaction::lookup(&caller.context, |transaction| account(transaction, user_id))?;

    if let Some(previous) = previous
        && password::verify(previous, seen.password_hash.as_deref()) == Fit::No
    {
        return Err(Refusal::WrongPreviousPassword.into());
    }
    let new = password::hash(&password);

    transaction::write(&caller.context, |transaction| {
        let present = account(transaction, user_id)?;
        // The password that is replaced must be the one that was checked. Its hash may have changed meanwhile, because
        // a sign-in replaces an outdated hash. For another user's password nothing was checked.
        let is_checked = !own || present.password_version == seen.password_version;
        if is_checked && transaction.set_password_if(user_id, present.password_hash.as_deref(), &new)? {
            Ok(())
        } else {
            Err(Refusal::PasswordChanged.into())
        }
    })
}

fn account(transaction: &Transaction, user_id: &str) -> Result<Account, Failure> {
    let account = get_account(transaction, user_id)?.ok_or_else(user_not_found)?;
    require_credentials(account.provider)?;
    Ok(account)
}
