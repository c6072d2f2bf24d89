//! Who may do what: permissions, which permission implies which, and the check of a caller.

use alloc::format;
use alloc::string::ToString;

use crate::bindings::exports::portico::dashboard::procedures as contract;
use crate::bindings::storage::Viewer;
use crate::bindings::types::{Caller, Error, UserCaller};
use crate::error;

/// A permission that a caller may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permission {
    /// Everything.
    Admin,
    /// Creating apps.
    AppCreate,
    /// Changing any app.
    AppModifyAll,
    /// Deleting any app.
    AppFullAll,
}

/// The permissions, as stored, that show every board.
const SEE_ALL_BOARDS: [&str; 3] = ["board-view-all", "board-modify-all", "board-full-all"];

impl Permission {
    /// The permissions, as stored, that give this one: itself first, then those that imply it.
    pub const fn given_by(self) -> &'static [&'static str] {
        match self {
            Self::Admin => &["admin"],
            Self::AppCreate => &["app-create", "app-modify-all", "app-full-all", "admin"],
            Self::AppModifyAll => &["app-modify-all", "app-full-all", "admin"],
            Self::AppFullAll => &["app-full-all", "admin"],
        }
    }

    fn held_by(self, caller: &UserCaller) -> bool {
        caller
            .permissions
            .iter()
            .any(|held| self.given_by().contains(&held.as_str()))
    }
}

/// Who may call a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Anyone.
    Public,
    /// Anyone, while no user exists: the procedure checks that.
    Onboarding,
    /// Any signed-in caller.
    Protected,
    /// A signed-in caller on their own user; with this permission, on any user.
    OwnUserOr(Permission),
    /// A signed-in caller with this permission.
    Holds(Permission),
}

impl From<Access> for contract::Access {
    fn from(access: Access) -> Self {
        let names = |permission: Permission| permission.given_by().iter().map(ToString::to_string).collect();
        match access {
            Access::Public => Self::Public,
            Access::Onboarding => Self::Onboarding,
            Access::Protected => Self::Protected,
            Access::OwnUserOr(permission) => Self::OwnUserOr(names(permission)),
            Access::Holds(permission) => Self::OneOf(names(permission)),
        }
    }
}

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
            Err(error::forbidden("This is only allowed for your own user"))
        }
    }
}

/// Whose view of the apps this caller has.
pub fn viewer(caller: &Caller) -> Viewer {
    match &caller.user {
        None => Viewer::Anonymous,
        Some(user) if sees_all_apps(user) => Viewer::Everything,
        Some(user) => Viewer::User(user.id.clone()),
    }
}

fn sees_all_apps(user: &UserCaller) -> bool {
    let mut held = user.permissions.iter();
    Permission::AppCreate.held_by(user) || held.any(|held| SEE_ALL_BOARDS.contains(&held.as_str()))
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
        Access::OwnUserOr(permission) => permission.held_by(user),
        Access::Holds(permission) if permission.held_by(user) => true,
        Access::Holds(permission) => {
            let needed = permission.given_by()[0];
            return Err(error::forbidden(&format!("This needs the permission {needed}")));
        }
    };
    Ok(Authorised {
        id: Some(&user.id),
        any_user,
    })
}

fn sign_in_first() -> Error {
    error::unauthorized("Sign in first")
}
