//! The table of procedures of users and apps. One row is both what a host learns from `describe` and what the procedure
//! uses to authorise.

use self::Access::{Holds, Onboarding, OwnUserOr, Protected, Public};
use self::Kind::{Mutation, Query};
use crate::permissions::Permission::{self, Admin, AppCreate, AppFullAll, AppModifyAll};

/// Who may call a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Anyone.
    Public,
    /// Anyone, while no user exists: the procedure checks that.
    Onboarding,
    /// Any signed-in caller.
    Protected,
    /// A signed-in caller, for their own user; with this permission, for any user.
    OwnUserOr(Permission),
    /// A signed-in caller with this permission.
    Holds(Permission),
}

/// Whether a procedure changes anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It reads.
    Query,
    /// It changes something.
    Mutation,
}

/// What a call takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Little, whatever is stored.
    Small,
    /// More, the more records there are, or the call has.
    Large,
    /// The hash of a password.
    Hash,
}

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

/// What is known about a procedure without calling it: see `wit/procedures.wit`.
pub struct Row {
    pub procedure: Procedure,
    /// The name by which clients call it.
    pub name: &'static str,
    pub kind: Kind,
    pub access: Access,
    /// What a call takes.
    pub cost: Cost,
}

/// All rows, in the order of [`Procedure`].
pub static TABLE: [Row; 28] = [
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
    row(Procedure::AppByIds, "app.byIds", Query, Public).large(),
    row(Procedure::AppCreate, "app.create", Mutation, Holds(AppCreate)),
    row(
        Procedure::AppCreateMany,
        "app.createMany",
        Mutation,
        Holds(AppCreate),
    )
    .large(),
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
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}
