//! Names that apps may take for those of their own administrators.

use std::str::FromStr;

use portico_rules::{bounds, names};
use portico_storage::{ADMIN, GateVisitor};
use unicode_normalization::UnicodeNormalization as _;

/// The names with which only administrators pass. People with a password of this dashboard choose their names themselves, and an
/// app lets whom it knows by a name into the account of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedNames(Vec<String>);

impl ReservedNames {
    /// Whether this visitor has one of them and is not an administrator.
    pub(super) fn keep_out(&self, visitor: &GateVisitor) -> bool {
        let key = key(&visitor.name);
        self.0.contains(&key) && !visitor.permissions.iter().any(|held| held == ADMIN)
    }
}

/// The key of a name as apps may read it: some (those of Django) take compatible characters, such as wide letters, for the same.
fn key(name: &str) -> String {
    names::key(&name.nfkc().collect::<String>())
}

/// The names that most apps give to their first account.
impl Default for ReservedNames {
    fn default() -> Self {
        Self(["admin", "administrator", "root"].map(String::from).to_vec())
    }
}

/// Reads names with commas between them; none in an empty text.
impl FromStr for ReservedNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let keys = names.map(|name| {
            let is_name = bounds::EXTERNAL_NAME.contains(&name.chars().count());
            is_name
                .then(|| key(name))
                .ok_or_else(|| format!("{name:?} must be a username"))
        });
        Ok(Self(keys.collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(name: &str, permissions: &[&str]) -> GateVisitor {
        GateVisitor {
            session_id: "s".into(),
            user_id: "u".into(),
            name: name.into(),
            email: None,
            is_name_shared: false,
            groups: Vec::new(),
            permissions: permissions.iter().map(|&held| held.into()).collect(),
            expires_at: 0,
            ends_at: 0,
        }
    }

    #[test]
    fn only_administrators_have_a_reserved_name() {
        let default = ReservedNames::default();
        for name in [
            "admin",
            "ADMIN",
            "root",
            "administrator",
            "\u{ff41}dmin",
            "\u{ff32}oot",
        ] {
            assert!(default.keep_out(&visitor(name, &["app-create"])), "{name}");
            assert!(
                !default.keep_out(&visitor(name, &["app-create", "admin"])),
                "{name}"
            );
        }
        for name in ["ada", "admin2", "admi", ""] {
            assert!(!default.keep_out(&visitor(name, &[])), "{name}");
        }
        let own: ReservedNames = " Jellyfin,, ZO\u{eb} ".parse().unwrap();
        for (name, is_kept_out) in [
            ("jellyfin", true),
            ("zoe\u{308}", true),
            ("admin", false),
            ("", false),
        ] {
            assert_eq!(own.keep_out(&visitor(name, &[])), is_kept_out, "{name}");
        }
        assert_eq!(" ".parse(), Ok(ReservedNames(Vec::new())));
        assert!("x".repeat(256).parse::<ReservedNames>().is_err());
    }
}
