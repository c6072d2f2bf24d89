//! Permissions, and which permission implies which.

use alloc::{string::String, vec::Vec};

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

/// What an API key gives that has only these of its user's permissions: what both give, and what that implies.
pub fn shared(held: &[String], chosen: &[String]) -> Vec<String> {
    let both = |permission: &Permission| permission.is_given_by(held) && permission.is_given_by(chosen);
    let shared = Permission::ALL.into_iter().filter(both);
    let mut names: Vec<String> = shared.map(|permission| permission.name().into()).collect();
    names.sort();
    names
}

/// Whether someone who holds these permissions, as stored, sees every app, also where others see only the apps on boards
/// that they may view.
pub fn sees_all_apps(held: &[String]) -> bool {
    Permission::AppCreate.is_given_by(held) || Permission::BoardViewAll.is_given_by(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().copied().map(String::from).collect()
    }

    #[test]
    fn a_key_shares_what_its_user_and_the_choice_give_whichever_implies_it() {
        for (held, chosen, expected) in [
            (&["admin"][..], &["app-create"][..], &["app-create"][..]),
            (&["app-create"], &["admin"], &["app-create"]),
            (
                &["app-full-all"],
                &["app-modify-all"],
                &["app-create", "app-modify-all"],
            ),
            (
                &["app-modify-all"],
                &["app-full-all"],
                &["app-create", "app-modify-all"],
            ),
            (&["app-create"], &["board-create"], &[]),
            (&["admin"], &[], &[]),
            (&[], &["admin"], &[]),
            (
                &["board-full-all"],
                &["board-view-all", "app-create"],
                &["board-view-all"],
            ),
            (&["other"], &["other"], &[]),
        ] {
            assert_eq!(
                shared(&names(held), &names(chosen)),
                names(expected),
                "{held:?} and {chosen:?}"
            );
        }
        let all = names(&Permission::NAMES);
        assert_eq!(shared(&names(&["admin"]), &names(&["admin"])).len(), all.len());
        for permission in Permission::ALL {
            for chosen in Permission::ALL {
                let shared = shared(&names(&[permission.name()]), &names(&[chosen.name()]));
                for other in Permission::ALL {
                    let both = other.given_by().contains(&permission.name())
                        && other.given_by().contains(&chosen.name());
                    assert_eq!(
                        other.is_given_by(&shared),
                        both,
                        "{permission:?}, {chosen:?}: {other:?}"
                    );
                }
            }
        }
    }

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
