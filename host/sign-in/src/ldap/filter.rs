//! Search filters with placeholders for input from users.

use anyhow::{bail, ensure};

/// A filter (RFC 4515) with placeholders: `(uid={username})`. Values are escaped, so they cannot change
/// the filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Placeholder(Placeholder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// `{username}`: the typed name; in the filter for groups, the name in the directory.
    Username,
    /// `{dn}`: the distinguished name of the user's entry.
    Dn,
}

impl Filter {
    /// Parses a filter with at least one of these placeholders and no others.
    pub fn new(text: &str, placeholders: &[Placeholder]) -> anyhow::Result<Self> {
        let names = placeholders
            .iter()
            .map(|placeholder| placeholder.name())
            .collect::<Vec<_>>();
        let names = names.join(" or ");
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let placeholder = placeholders.iter().find_map(|placeholder| {
                let name = placeholder.name().strip_prefix('{')?;
                Some((*placeholder, after.strip_prefix(name)?))
            });
            let Some((placeholder, after)) = placeholder else {
                bail!("{text:?} has a placeholder other than {names}");
            };
            parts.extend([Part::Text(before.into()), Part::Placeholder(placeholder)]);
            rest = after;
        }
        parts.push(Part::Text(rest.into()));
        let filter = Self(parts);
        ensure!(filter.0.len() > 1, "{text:?} lacks {names}");
        let example = filter.fill("x", "x");
        ensure!(
            example.starts_with('(') && ldap3::parse_filter(example).is_ok(),
            "{text:?} is not a filter in round brackets like (uid={{username}})"
        );
        Ok(filter)
    }

    /// The filter for these values.
    pub fn fill(&self, username: &str, dn: &str) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Placeholder(Placeholder::Username) => ldap3::ldap_escape(username).into_owned(),
            Part::Placeholder(Placeholder::Dn) => ldap3::ldap_escape(dn).into_owned(),
        };
        self.0.iter().map(part).collect()
    }

    /// The filter for whatever values: with `*` in their place.
    pub fn fill_with_any(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Placeholder(_) => "*".to_owned(),
        };
        self.0.iter().map(part).collect()
    }
}

impl Placeholder {
    fn name(self) -> &'static str {
        match self {
            Self::Username => "{username}",
            Self::Dn => "{dn}",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> anyhow::Result<Filter> {
        Filter::new(text, &[Placeholder::Username])
    }

    #[test]
    fn input_is_escaped() {
        let filter = user("(&(objectClass=person)(uid={username}))").unwrap();
        for (typed, value) in [
            ("alice", "alice"),
            ("*", "\\2a"),
            ("a*", "a\\2a"),
            ("alice)(uid=*", "alice\\29\\28uid=\\2a"),
            ("*)(|(objectClass=*", "\\2a\\29\\28|\\28objectClass=\\2a"),
            ("a\\2a", "a\\5c2a"),
            ("nul\0", "nul\\00"),
            ("uid=alice,ou=people", "uid=alice,ou=people"),
            ("{username}", "{username}"),
            ("{dn}", "{dn}"),
            ("Zoë & <Ünal>", "Zoë & <Ünal>"),
        ] {
            let filled = filter.fill(typed, "cn=other");
            assert_eq!(filled, format!("(&(objectClass=person)(uid={value}))"));
            assert!(ldap3::parse_filter(&filled).is_ok(), "{filled}");
        }
    }

    #[test]
    fn a_filter_for_any_name_is_one() {
        for (text, filled) in [
            ("(uid={username})", "(uid=*)"),
            (
                "(&(objectClass=person)(|(uid={username})(mail={username}@home.example)))",
                "(&(objectClass=person)(|(uid=*)(mail=*@home.example)))",
            ),
        ] {
            let any = user(text).unwrap().fill_with_any();
            assert_eq!(any, filled);
            assert!(ldap3::parse_filter(&any).is_ok(), "{any}");
        }
    }

    #[test]
    fn a_filter_for_groups_can_use_the_entry_or_the_name() {
        let filter = Filter::new(
            "(|(member={dn})(memberUid={username}))",
            &[Placeholder::Dn, Placeholder::Username],
        );
        let filled = filter.unwrap().fill("alice*", "cn=Alice (home),dc=example");
        assert_eq!(
            filled,
            "(|(member=cn=Alice \\28home\\29,dc=example)(memberUid=alice\\2a))"
        );
        let nested = Filter::new("(member:1.2.840.113556.1.4.1941:={dn})", &[Placeholder::Dn]);
        assert_eq!(
            nested.unwrap().fill("", "cn=a"),
            "(member:1.2.840.113556.1.4.1941:=cn=a)"
        );
    }

    #[test]
    fn an_invalid_filter_is_refused_at_start() {
        for (text, problem) in [
            ("", "lacks {username}"),
            ("(uid=alice)", "lacks {username}"),
            ("(uid={user})", "has a placeholder other than {username}"),
            ("(member={dn})", "has a placeholder other than {username}"),
            ("uid={username}", "is not a filter in round brackets"),
            ("((uid={username})", "is not a filter"),
            ("(uid={username}))", "is not a filter"),
            ("(&(uid={username})", "is not a filter"),
        ] {
            let error = user(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
