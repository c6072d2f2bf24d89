//! Deleting and disabling users.

use portico_rules::refusal::Refusal;

use super::user::{require_found, require_storable, require_user};
use crate::bindings::types::{Caller, Error};
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, get_user};
use crate::validate::text;

/// `user.delete`
pub fn delete(caller: &Caller, user_id: &str) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserDelete)?;
    authorised.require_own_user_or_permission(user_id)?;
    if !text::is_storable(user_id) {
        return Ok(());
    }
    transaction::write(&caller.context, |transaction| {
        // A user who does not exist was not the last administrator.
        if get_user(transaction, user_id)?.is_some()
            && transaction.delete_user(user_id)?
            && !transaction.has_another_admin(user_id)?
        {
            return Err(Refusal::LastAdminDeleted.into());
        }
        Ok(())
    })
}

/// `user.setDisabled`
pub fn set_disabled(caller: &Caller, user_id: &str, disabled: bool) -> Result<(), Error> {
    authorise(caller, Procedure::UserSetDisabled)?;
    require_storable(user_id)?;
    transaction::write(&caller.context, |transaction| {
        require_user(transaction, user_id)?;
        require_found(transaction.set_disabled(user_id, disabled)?)?;
        if disabled && !transaction.has_another_admin(user_id)? {
            return Err(Refusal::LastAdminDisabled.into());
        }
        Ok(())
    })
}
