//! Who may do what: the check of a caller.

use portico_rules::permissions::{Permission, sees_all_apps};
use portico_rules::procedures::Access;
use portico_rules::refusal::Refusal;

use crate::bindings::storage::Viewer;
use crate::bindings::types::{Caller, Error};

/// A caller who may call the procedure.
#[derive(Debug)]
pub struct Authorised<'a> {
    id: Option<&'a str>,
    any_user: bool,
}

impl Authorised<'_> {
    /// The caller's own id.
    pub fn id(&self) -> Result<&str, Error> {
        self.id.ok_or_else(sign_in_first)
    }

    /// Whether this is the caller's own user.
    pub fn is(&self, user_id: &str) -> bool {
        self.id == Some(user_id)
    }

    /// Refuses another user than the caller's own, whether it exists or not, unless the caller has the
    /// permission.
    pub fn require_own_user_or_permission(&self, user_id: &str) -> Result<(), Error> {
        if self.any_user || self.is(user_id) {
            Ok(())
        } else {
            Err(Refusal::NotYourUser.into())
        }
    }
}

/// Whose view of the apps this caller has.
pub fn viewer(caller: &Caller) -> Viewer {
    match &caller.user {
        None => Viewer::Anonymous,
        Some(user) if sees_all_apps(&user.permissions) => Viewer::Everything,
        Some(user) => Viewer::User(user.id.clone()),
    }
}

/// Refuses a caller without this permission.
pub fn require(caller: &Caller, permission: Permission) -> Result<(), Error> {
    check(caller, Access::Holds(permission)).map(drop)
}

/// Refuses a caller whom this access does not allow.
pub fn check(caller: &Caller, access: Access) -> Result<Authorised<'_>, Error> {
    let Some(user) = &caller.user else {
        return match access {
            Access::Public | Access::Onboarding => Ok(Authorised {
                id: None,
                any_user: false,
            }),
            Access::Protected | Access::OwnUserOr(_) | Access::Holds(_) => Err(sign_in_first()),
        };
    };
    let any_user = match access {
        Access::Public | Access::Onboarding | Access::Protected => false,
        Access::OwnUserOr(permission) => permission.is_given_by(&user.permissions),
        Access::Holds(permission) if permission.is_given_by(&user.permissions) => true,
        Access::Holds(permission) => {
            let permission = permission.name().into();
            return Err(Refusal::NeedsPermission { permission }.into());
        }
    };
    Ok(Authorised {
        id: Some(&user.id),
        any_user,
    })
}

fn sign_in_first() -> Error {
    Refusal::SignInFirst.into()
}
