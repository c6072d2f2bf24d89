//! Permissions, and which permission implies which.

use alloc::string::String;

/// A permission that a group may have. Its members hold it.
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
    /// Making boards.
    BoardCreate,
    /// Viewing any board.
    BoardViewAll,
    /// Changing the name and the items of any board.
    BoardModifyAll,
    /// Sharing and deleting any board, and deciding which boards everyone may view.
    BoardFullAll,
}

impl Permission {
    pub const ALL: [Self; 8] = [
        Self::Admin,
        Self::AppCreate,
        Self::AppModifyAll,
        Self::AppFullAll,
        Self::BoardCreate,
        Self::BoardViewAll,
        Self::BoardModifyAll,
        Self::BoardFullAll,
    ];

    /// Their names, as stored.
    pub const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = Self::ALL[index].name();
            index += 1;
        }
        names
    };

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.name() == name)
    }

    /// Its name, as stored.
    pub const fn name(self) -> &'static str {
        self.given_by()[0]
    }

    /// The permissions, as stored, that give this one: itself first, then those that imply it.
    pub const fn given_by(self) -> &'static [&'static str] {
        match self {
            Self::Admin => &["admin"],
            Self::AppCreate => &["app-create", "app-modify-all", "app-full-all", "admin"],
            Self::AppModifyAll => &["app-modify-all", "app-full-all", "admin"],
            Self::AppFullAll => &["app-full-all", "admin"],
            Self::BoardCreate => &["board-create", "board-full-all", "admin"],
            Self::BoardViewAll => &["board-view-all", "board-modify-all", "board-full-all", "admin"],
            Self::BoardModifyAll => &["board-modify-all", "board-full-all", "admin"],
            Self::BoardFullAll => &["board-full-all", "admin"],
        }
    }

    /// Whether someone who holds these permissions, as stored, has this one.
    pub fn is_given_by(self, held: &[String]) -> bool {
        held.iter().any(|held| self.given_by().contains(&held.as_str()))
    }
}

/// Whether someone who holds these permissions, as stored, sees every app, also where others see only the apps on boards
/// that they may view.
pub fn sees_all_apps(held: &[String]) -> bool {
    Permission::AppCreate.is_given_by(held) || Permission::BoardViewAll.is_given_by(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_a_permission_is_given_by_what_gives_that() {
        for permission in Permission::ALL {
            assert_eq!(Permission::named(permission.name()), Some(permission));
            for giver in permission.given_by() {
                let giver = Permission::named(giver).unwrap();
                for held in giver.given_by() {
                    assert!(
                        permission.is_given_by(&[String::from(*held)]),
                        "{held}: {permission:?}"
                    );
                }
            }
            let others = ["", "Admin", "other"].map(String::from);
            assert!(!permission.is_given_by(&others));
        }
    }
}
