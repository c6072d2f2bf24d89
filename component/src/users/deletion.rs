//! Deleting a user.

use crate::bindings::types::{Caller, Error};
use crate::procedures::{Procedure, authorise};
use crate::{error, transaction};

/// `user.delete`
pub fn delete(caller: &Caller, user_id: &str) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserDelete)?;
    caller.require_own_user_or_permission(user_id)?;
    transaction::write(|transaction| {
        // If no user was deleted, no administrator was.
        if transaction.delete_user(user_id)? && !transaction.another_admin_exists(user_id)? {
            return Err(error::conflict("The last administrator cannot be deleted").into());
        }
        Ok(())
    })
}
