//! Names that apps may take for others: for those of their own administrators, or for those of other visitors.

use std::str::FromStr;

use portico_model::{Provider, error::Error};
use portico_rules::{bounds, names};
use portico_storage::{ADMIN, AccountKey, DashboardTransaction, GateVisitor, ProviderName};
use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class};

/// The names with which only administrators pass. People with a password of this dashboard choose their names themselves, and an
/// app lets whom it knows by a name into the account of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedNames(Vec<String>);

impl ReservedNames {
    /// Whether this visitor has one of them and is not an administrator.
    pub(super) fn keep_out(&self, visitor: &GateVisitor) -> bool {
        let fold = fold(&visitor.name);
        self.0.contains(&fold) && !visitor.permissions.iter().any(|held| held == ADMIN)
    }
}

/// A name as apps may read it: some (those of Django) take compatible characters, such as wide letters, for the same, and
/// some databases (MySQL) letters with accents or strokes and without.
fn fold(name: &str) -> String {
    let letters = name.nfkd().filter(|letter| !is_accent(*letter));
    let mut plain = String::with_capacity(name.len());
    for letter in letters {
        match letter {
            'ı' => plain.push('i'),
            'ø' | 'Ø' => plain.push('o'),
            'ł' | 'Ł' => plain.push('l'),
            'đ' | 'Đ' => plain.push('d'),
            'ħ' | 'Ħ' => plain.push('h'),
            'ŧ' | 'Ŧ' => plain.push('t'),
            'æ' | 'Æ' => plain.push_str("ae"),
            'œ' | 'Œ' => plain.push_str("oe"),
            other => plain.push(other),
        }
    }
    names::key(&plain)
}

/// Whether it stands on another letter and makes no other one of it. The vowels of Indian scripts, Thai and Lao do, by their
/// combining classes.
fn is_accent(letter: char) -> bool {
    !matches!(
        canonical_combining_class(letter),
        0 | 9 | 84 | 91 | 103 | 118 | 129..=132
    )
}

/// Whether another user has the visitor's name without its accents, so that an app whose database ignores accents could take the
/// one for the other. As with equal names, one of the directory's or an issuer's is not taken away by people who choose theirs
/// themselves, unless they are administrators.
pub(super) async fn shares_name_without_accents(
    transaction: &mut dyn DashboardTransaction,
    visitor: &GateVisitor,
) -> Result<bool, Error> {
    let name_key = fold(&visitor.name);
    if name_key == names::key(&visitor.name) {
        return Ok(false);
    }
    let own = AccountKey::Id(visitor.user_id.clone());
    let own = transaction.get_account(&own).await?;
    let is_chosen = own.is_none_or(|account| account.provider == Provider::Credentials);
    for provider in [Provider::Credentials, Provider::Oidc, Provider::Ldap] {
        let name_key = name_key.clone();
        let other = AccountKey::Name(ProviderName { provider, name_key });
        let Some(other) = transaction.get_account(&other).await? else {
            continue;
        };
        if is_chosen || provider != Provider::Credentials {
            return Ok(true);
        }
        let other = transaction.get_session_user(&other.id).await?;
        if other.is_some_and(|user| user.permissions.iter().any(|held| held == ADMIN)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Letters of Thai, Lao and Armenian that Unicode holds for compatible with two others, and that people write in either way.
const WRITTEN_AS_ONE: [char; 3] = ['\u{e33}', '\u{eb3}', '\u{587}'];

/// Whether a name has compatible characters, so that an app may take it for the name without them, which another user may have.
/// Accents do not count: many people have them in their names.
pub(super) fn has_compatible_letters(name: &str) -> bool {
    let letters = || name.chars().filter(|letter| !WRITTEN_AS_ONE.contains(letter));
    !letters().nfkc().eq(letters().nfc())
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
                .then(|| fold(name))
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
    fn a_name_of_compatible_characters_may_be_taken_for_another_and_one_with_accents_is_a_name() {
        for name in [
            "\u{ff41}da",
            "\u{1d41a}da",
            "\u{fb01}n",
            "ada\u{b2}",
            "\u{24d0}da",
            "\u{ff76}",
        ] {
            assert!(has_compatible_letters(name), "{name}");
        }
        let others = [
            "\u{e4}neas",
            "a\u{308}neas",
            "stra\u{df}e",
            "\u{e2a}\u{e33}\u{e23}\u{e32}\u{e0d}",
        ];
        for name in others
            .into_iter()
            .chain(["l\u{587}on", "\u{c5}sa", "\u{ac00}", "ada", ""])
        {
            assert!(!has_compatible_letters(name), "{name}");
        }
    }

    #[test]
    fn letters_with_accents_or_strokes_are_read_as_plain_ones_and_vowels_are_letters() {
        for (name, read) in [
            ("\u{e1}dmin", "admin"),
            ("r\u{f8}ot", "root"),
            ("adm\u{131}n", "admin"),
            ("\u{141}ukasz", "lukasz"),
            ("\u{e6}on", "aeon"),
            ("\u{30c}", ""),
        ] {
            assert_eq!(fold(name), read, "{name}");
        }
        for (name, other) in [
            ("\u{930}\u{93e}\u{92e}", "\u{930}\u{92e}"),
            ("\u{917}\u{941}\u{930}", "\u{917}\u{930}"),
            ("\u{e19}\u{e38}", "\u{e19}"),
            ("\u{e19}\u{e35}", "\u{e19}"),
        ] {
            assert_ne!(fold(name), fold(other), "{name}");
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
            "\u{e1}dmin",
            "a\u{301}dm\u{ed}n",
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
