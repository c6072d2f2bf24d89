//! Who may do what: permissions, what implies what, and the first step of every procedure.

use alloc::format;
use alloc::string::ToString;

use crate::bindings::exports::portico::dashboard::procedures as contract;
use crate::bindings::types::{Caller, Error, UserCaller};
use crate::error;
use crate::procedures::Procedure;

/// What a caller may hold.
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

impl Permission {
    /// The permissions, as stored, that give this one: itself first, then whatever implies it.
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
    /// Anyone, only while no user exists: the procedure looks.
    Onboarding,
    /// Any signed-in caller.
    Protected,
    /// A signed-in caller on their own user; with this permission, on any.
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

    /// Refuses somebody else's user, whether it exists or not.
    pub fn require_own_user_or_permission(&self, user_id: &str) -> Result<(), Error> {
        if self.any_user || self.is(user_id) {
            Ok(())
        } else {
            Err(error::forbidden("This is only allowed for your own user"))
        }
    }
}

/// The first step of every procedure: authentication, then permission, as its row in the table
/// says. Whose user it is about comes after the input is validated:
/// [`Authorised::require_own_user_or_permission`].
pub fn authorise(caller: &Caller, procedure: Procedure) -> Result<Authorised<'_>, Error> {
    admit(caller, procedure.row().access)
}

/// The same for what is no procedure.
pub fn require(caller: &Caller, permission: Permission) -> Result<(), Error> {
    admit(caller, Access::Holds(permission)).map(drop)
}

fn admit(caller: &Caller, access: Access) -> Result<Authorised<'_>, Error> {
    let Caller::User(user) = caller else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::types::ErrorCode;

    fn user(permissions: &[&str]) -> Caller {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        Caller::User(UserCaller {
            id: "me".into(),
            permissions,
        })
    }

    fn refused(caller: &Caller, procedure: Procedure) -> Option<ErrorCode> {
        authorise(caller, procedure).err().map(|error| error.code)
    }

    #[test]
    fn permissions_imply_what_is_below_them() {
        use Procedure::{AppCreate, AppDelete, AppUpdate, UserGetAll};
        let procedures = [AppCreate, AppUpdate, AppDelete, UserGetAll];
        for (held, allowed) in [
            (&[][..], [false, false, false, false]),
            (&["app-create"], [true, false, false, false]),
            (&["app-modify-all"], [true, true, false, false]),
            (&["app-full-all"], [true, true, true, false]),
            (&["admin"], [true, true, true, true]),
            (&["Admin", "board-full-all", ""], [false, false, false, false]),
            (&["board-view-all", "app-create"], [true, false, false, false]),
        ] {
            let refusals = procedures.map(|procedure| refused(&user(held), procedure));
            let expected = allowed.map(|allowed| (!allowed).then_some(ErrorCode::Forbidden));
            assert_eq!(refusals, expected, "{held:?}");
        }
    }

    #[test]
    fn nobody_gets_in_only_where_it_is_public() {
        for procedure in [
            Procedure::AppById,
            Procedure::UserRegister,
            Procedure::UserInitUser,
        ] {
            assert_eq!(refused(&Caller::Anonymous, procedure), None, "{procedure:?}");
        }
        for procedure in [Procedure::AppAll, Procedure::UserGetById, Procedure::AppDelete] {
            let refusal = refused(&Caller::Anonymous, procedure);
            assert_eq!(refusal, Some(ErrorCode::Unauthorized), "{procedure:?}");
        }
    }

    #[test]
    fn somebody_elses_user_needs_the_permission() {
        let plain = user(&["app-full-all"]);
        let plain = authorise(&plain, Procedure::UserGetById).unwrap();
        assert!(plain.require_own_user_or_permission("me").is_ok());
        assert!(plain.require_own_user_or_permission("other").is_err());
        let admin = user(&["admin"]);
        let admin = authorise(&admin, Procedure::UserGetById).unwrap();
        assert!(admin.require_own_user_or_permission("other").is_ok());
        // A protected procedure is about the caller, also for an administrator.
        let admin = user(&["admin"]);
        let admin = authorise(&admin, Procedure::UserChangeColorScheme).unwrap();
        assert!(admin.require_own_user_or_permission("other").is_err());
    }

    #[test]
    fn nobody_owns_no_user() {
        let nobody = authorise(&Caller::Anonymous, Procedure::AppById).unwrap();
        assert!(!nobody.is(""));
        assert!(nobody.require_own_user_or_permission("").is_err());
        assert_eq!(nobody.id().unwrap_err().code, ErrorCode::Unauthorized);
    }
}
