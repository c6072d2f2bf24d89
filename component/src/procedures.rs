//! What callers may call, according to the table of procedures, and what hosts learn about it.

use alloc::string::ToString;
use alloc::vec::Vec;

use portico_rules::permissions::Permission;
use portico_rules::procedures::{Access, Cost, Kind, Row, TABLE};

use crate::Plugin;
use crate::access::{self, Authorised};
use crate::bindings::exports::portico::dashboard::procedures as contract;
use crate::bindings::types::{Caller, Error};

pub use portico_rules::procedures::Procedure;

/// The first step of every procedure: authentication, then permission, as its row in the table says.
/// Whether the caller may act on a certain user comes after the input is validated:
/// [`Authorised::require_own_user_or_permission`].
pub fn authorise(caller: &Caller, procedure: Procedure) -> Result<Authorised<'_>, Error> {
    access::check(caller, procedure.row().access)
}

impl contract::Guest for Plugin {
    fn describe() -> Vec<contract::Procedure> {
        let describe = |row: &Row| contract::Procedure {
            name: row.name.to_string(),
            kind: match row.kind {
                Kind::Query => contract::Kind::Query,
                Kind::Mutation => contract::Kind::Mutation,
            },
            access: row.access.into(),
            cost: match row.cost {
                Cost::Small => contract::Cost::Small,
                Cost::Large => contract::Cost::Large,
                Cost::Hash => contract::Cost::Hash,
            },
        };
        TABLE.iter().map(describe).collect()
    }
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

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::bindings::types::{ErrorCode, UserCaller};

    fn user(permissions: &[&str]) -> Caller {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        Caller {
            user: Some(UserCaller {
                id: "me".into(),
                permissions,
            }),
            context: String::new(),
        }
    }

    static ANONYMOUS: Caller = Caller {
        user: None,
        context: String::new(),
    };

    fn refused(caller: &Caller, procedure: Procedure) -> Option<ErrorCode> {
        authorise(caller, procedure).err().map(|error| error.code)
    }

    #[test]
    fn a_permission_implies_those_below_it() {
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
    fn an_anonymous_caller_may_call_public_procedures_only() {
        for procedure in [
            Procedure::AppById,
            Procedure::UserRegister,
            Procedure::UserInitUser,
        ] {
            assert_eq!(refused(&ANONYMOUS, procedure), None, "{procedure:?}");
        }
        for procedure in [Procedure::AppAll, Procedure::UserGetById, Procedure::AppDelete] {
            let refusal = refused(&ANONYMOUS, procedure);
            assert_eq!(refusal, Some(ErrorCode::Unauthorized), "{procedure:?}");
        }
    }

    #[test]
    fn another_user_needs_the_permission() {
        let plain = user(&["app-full-all"]);
        let plain = authorise(&plain, Procedure::UserGetById).unwrap();
        assert!(plain.require_own_user_or_permission("me").is_ok());
        assert!(plain.require_own_user_or_permission("other").is_err());
        let admin = user(&["admin"]);
        let admin = authorise(&admin, Procedure::UserGetById).unwrap();
        assert!(admin.require_own_user_or_permission("other").is_ok());
        // A protected procedure acts on the caller, even if that is an administrator.
        let admin = user(&["admin"]);
        let admin = authorise(&admin, Procedure::UserChangeColorScheme).unwrap();
        assert!(admin.require_own_user_or_permission("other").is_err());
    }

    #[test]
    fn an_anonymous_caller_owns_no_user() {
        let anonymous = authorise(&ANONYMOUS, Procedure::AppById).unwrap();
        assert!(!anonymous.is(""));
        assert!(anonymous.require_own_user_or_permission("").is_err());
        assert_eq!(anonymous.id().unwrap_err().code, ErrorCode::Unauthorized);
    }
}
