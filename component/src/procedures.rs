//! The table of procedures: what a host learns from `describe` and what every procedure
//! authorises by is one and the same row.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::Plugin;
use crate::access::Access::{self, Holds, Onboarding, OwnUserOr, Protected, Public};
use crate::access::Permission::{Admin, AppCreate, AppFullAll, AppModifyAll};
use crate::bindings::exports::portico::dashboard::procedures as contract;
use contract::Kind::{self, Mutation, Query};

/// Every procedure, in the order of the interfaces `users` and `apps`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Procedure {
    UserGetAll,
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

/// What is known of a procedure without calling it. See `wit/procedures.wit`.
pub struct Row {
    procedure: Procedure,
    name: &'static str,
    kind: Kind,
    /// Who may call it.
    pub access: Access,
    hashes: bool,
}

const TABLE: [Row; 26] = [
    row(Procedure::UserGetAll, "user.getAll", Query, Holds(Admin)),
    row(Procedure::UserSelectable, "user.selectable", Query, Protected),
    row(Procedure::UserSearch, "user.search", Query, Holds(Admin)),
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
    row(Procedure::UserDelete, "user.delete", Mutation, OwnUserOr(Admin)),
    row(Procedure::AppAll, "app.all", Query, Protected),
    row(Procedure::AppGetPaginated, "app.getPaginated", Query, Protected),
    row(Procedure::AppSearch, "app.search", Query, Protected),
    row(Procedure::AppSelectable, "app.selectable", Query, Protected),
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

// Each procedure has its row, in its place.
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
        hashes: false,
    }
}

impl Row {
    const fn hashing(mut self) -> Self {
        self.hashes = true;
        self
    }
}

impl Procedure {
    /// The procedure's row in the table.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl contract::Guest for Plugin {
    fn describe() -> Vec<contract::Procedure> {
        let describe = |row: &Row| contract::Procedure {
            name: row.name.to_string(),
            kind: row.kind,
            access: row.access.into(),
            hashes: row.hashes,
        };
        TABLE.iter().map(describe).collect()
    }
}
