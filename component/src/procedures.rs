//! The table of procedures. One row is both what a host learns from `describe` and what the procedure
//! authorises by.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::access::Access::{self, Holds, Onboarding, OwnUserOr, Protected, Public};
use crate::access::Permission::{Admin, AppCreate, AppFullAll, AppModifyAll};
use crate::access::{self, Authorised};
use crate::bindings::exports::portico::dashboard::procedures as contract;
use crate::bindings::types::{Caller, Error};
use crate::plugin::Plugin;
use contract::Cost;
use contract::Kind::{self, Mutation, Query};

/// Every procedure, in the order of the interfaces `users` and `apps`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Procedure {
    UserGetAll,
    UserGetPaginated,
    UserSelectable,
    UserSearch,
    UserGetById,
    UserInitUser,
    UserRegister,
    UserCreate,
    UserSetProfileImage,
    UserEditProfile,
    UserChangePassword,
    UserChangeHomeBoards,
    UserChangeSearchPreferences,
    UserChangeColorScheme,
    UserChangePingIconsEnabled,
    UserChangeFirstDayOfWeek,
    UserSetDisabled,
    UserDelete,
    AppAll,
    AppGetPaginated,
    AppSearch,
    AppSelectable,
    AppById,
    AppByIds,
    AppCreate,
    AppCreateMany,
    AppUpdate,
    AppDelete,
}

/// What is known of a procedure without calling it: see `wit/procedures.wit`.
pub struct Row {
    procedure: Procedure,
    name: &'static str,
    kind: Kind,
    access: Access,
    cost: Cost,
}

const TABLE: [Row; 28] = [
    row(Procedure::UserGetAll, "user.getAll", Query, Holds(Admin)).large(),
    row(
        Procedure::UserGetPaginated,
        "user.getPaginated",
        Query,
        Holds(Admin),
    )
    .large(),
    row(Procedure::UserSelectable, "user.selectable", Query, Protected).large(),
    row(Procedure::UserSearch, "user.search", Query, Holds(Admin)).large(),
    row(Procedure::UserGetById, "user.getById", Query, OwnUserOr(Admin)),
    row(Procedure::UserInitUser, "user.initUser", Mutation, Onboarding).hashing(),
    row(Procedure::UserRegister, "user.register", Mutation, Public).hashing(),
    row(Procedure::UserCreate, "user.create", Mutation, Holds(Admin)).hashing(),
    row(
        Procedure::UserSetProfileImage,
        "user.setProfileImage",
        Mutation,
        OwnUserOr(Admin),
    ),
    row(
        Procedure::UserEditProfile,
        "user.editProfile",
        Mutation,
        OwnUserOr(Admin),
    ),
    row(
        Procedure::UserChangePassword,
        "user.changePassword",
        Mutation,
        OwnUserOr(Admin),
    )
    .hashing(),
    row(
        Procedure::UserChangeHomeBoards,
        "user.changeHomeBoards",
        Mutation,
        OwnUserOr(Admin),
    ),
    row(
        Procedure::UserChangeSearchPreferences,
        "user.changeSearchPreferences",
        Mutation,
        OwnUserOr(Admin),
    ),
    row(
        Procedure::UserChangeColorScheme,
        "user.changeColorScheme",
        Mutation,
        Protected,
    ),
    row(
        Procedure::UserChangePingIconsEnabled,
        "user.changePingIconsEnabled",
        Mutation,
        OwnUserOr(Admin),
    ),
    row(
        Procedure::UserChangeFirstDayOfWeek,
        "user.changeFirstDayOfWeek",
        Mutation,
        OwnUserOr(Admin),
    ),
    row(
        Procedure::UserSetDisabled,
        "user.setDisabled",
        Mutation,
        Holds(Admin),
    ),
    row(Procedure::UserDelete, "user.delete", Mutation, OwnUserOr(Admin)),
    row(Procedure::AppAll, "app.all", Query, Protected).large(),
    row(Procedure::AppGetPaginated, "app.getPaginated", Query, Protected).large(),
    row(Procedure::AppSearch, "app.search", Query, Protected).large(),
    row(Procedure::AppSelectable, "app.selectable", Query, Protected).large(),
    row(Procedure::AppById, "app.byId", Query, Public),
    row(Procedure::AppByIds, "app.byIds", Query, Public),
    row(Procedure::AppCreate, "app.create", Mutation, Holds(AppCreate)),
    row(
        Procedure::AppCreateMany,
        "app.createMany",
        Mutation,
        Holds(AppCreate),
    ),
    row(Procedure::AppUpdate, "app.update", Mutation, Holds(AppModifyAll)),
    row(Procedure::AppDelete, "app.delete", Mutation, Holds(AppFullAll)),
];

// Each procedure has its row, at its index.
const _: () = {
    let mut index = 0;
    while index < TABLE.len() {
        assert!(TABLE[index].procedure as usize == index);
        index += 1;
    }
    assert!(Procedure::AppDelete as usize + 1 == TABLE.len());
};

const fn row(procedure: Procedure, name: &'static str, kind: Kind, access: Access) -> Row {
    Row {
        procedure,
        name,
        kind,
        access,
        cost: Cost::Small,
    }
}

impl Row {
    const fn hashing(self) -> Self {
        Self {
            cost: Cost::Hash,
            ..self
        }
    }

    const fn large(self) -> Self {
        Self {
            cost: Cost::Large,
            ..self
        }
    }
}

impl Procedure {
    /// The procedure's row in the table.
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

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
            kind: row.kind,
            access: row.access.into(),
            cost: row.cost,
        };
        TABLE.iter().map(describe).collect()
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
