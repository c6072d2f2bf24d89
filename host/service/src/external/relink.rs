//! Gives users the subjects that they have at an issuer after it has moved: `portico relink`.
//!
//! Invariants:
//! - A user gets the subject that they had, or the one that a map gives for it. Users are never found by name or email, which people
//!   may choose.
//! - All of it is one transaction. Nothing changes if a person would get a subject that another user has.
//! - With a map, only the users in it move: two issuers that number their users have the same subjects for different people.
//! - To and from a proxy only those in a map move: what a proxy calls a person is a name, not a subject of an issuer.

use std::collections::{BTreeMap, HashMap, HashSet};

use portico_model::{Provider, error::Error};
use portico_storage::{Access, Named, ProviderSubject};

use super::proxy;
use crate::{identity::Identity, resources::Resources};

/// The longest issuer and subject together, in characters, as the contract says.
const MAX_CHARS: usize = 1024;

/// Which issuer's users become users of which other issuer.
#[derive(Clone, Debug)]
pub struct Relinking {
    pub from: String,
    pub to: String,
    /// The subjects at `to`, by the subjects at `from`; `None`: they are the same.
    pub map: Option<BTreeMap<String, String>>,
}

/// A user who gets another subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    pub user: Named,
    /// The subject at the issuer that they leave.
    pub old: String,
    /// The subject at the issuer to which they go.
    pub new: String,
}

/// What a relinking does, or would do.
#[derive(Debug, Default)]
pub struct Subjects {
    pub moved: Vec<Move>,
    /// Those whose subject at the new issuer another user has, with that user: then nothing is changed.
    pub taken: Vec<(Move, Named)>,
    /// Users of the old issuer who are not in the map, with their subjects.
    pub kept: Vec<(Named, String)>,
    /// Subjects of the map that no user has.
    pub unknown: Vec<String>,
}

/// Moves the users, unless one of their subjects is taken or this is a dry run. Returns what it did, or would do.
pub async fn relink(
    resources: &Resources,
    relinking: &Relinking,
    is_dry_run: bool,
    request_id: &str,
) -> Result<Subjects, Error> {
    let operator = Identity::operator();
    let context = operator.context(request_id);
    let storage = &resources.storage;
    let mut transaction = storage.begin_dashboard(Access::Write, &context).await?;
    let subjects = plan(transaction.list_subjects(Provider::Oidc).await?, relinking);
    if is_dry_run || !subjects.taken.is_empty() || subjects.moved.is_empty() {
        return Ok(subjects);
    }
    for moved in &subjects.moved {
        let id = &moved.user.id;
        let subject = ProviderSubject {
            provider: Provider::Oidc,
            subject: at(&relinking.to, &moved.new),
        };
        transaction.replace_subject(id, &subject).await?;
        let audit = &resources.audit;
        if let Some(row) = audit.relinked(Provider::Oidc, &operator, request_id, id) {
            transaction.insert_audit(&row).await?;
        }
    }
    transaction.commit().await?;
    Ok(subjects)
}

impl Relinking {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> Result<(), String> {
        for (name, issuer) in [("--from", &self.from), ("--to", &self.to)] {
            if !is_issuer(issuer) {
                return Err(format!(
                    "{name} {issuer:?} must be the URL of an issuer as it is in oidc-issuer, like https://id.example, or {}",
                    proxy::ISSUER
                ));
            }
            if issuer == proxy::ISSUER && self.map.is_none() {
                return Err(format!(
                    "{name} {issuer} needs a map: what a proxy calls a person is a name, which an issuer may give to \
                     another person"
                ));
            }
        }
        if self.from == self.to {
            return Err("--from and --to are the same issuer".into());
        }
        let mut seen = HashSet::new();
        for (old, new) in self.map.iter().flatten() {
            if old.is_empty() || new.is_empty() || at(&self.to, new).chars().count() > MAX_CHARS {
                return Err(format!(
                    "the map gives {old:?} the subject {new:?}: a subject is not empty, and together with the issuer it \
                     has at most {MAX_CHARS} characters"
                ));
            }
            if !seen.insert(new) {
                return Err(format!("the map gives the subject {new:?} to two people"));
            }
        }
        Ok(())
    }
}

/// Whether subjects of that issuer may be stored: its URL, or the name that the proxy in front has.
fn is_issuer(issuer: &str) -> bool {
    let host = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| issuer.strip_prefix(scheme));
    let is_url = host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace));
    is_url || issuer == proxy::ISSUER
}

/// A subject, as it is stored.
fn at(issuer: &str, subject: &str) -> String {
    format!("{issuer} {subject}")
}

fn plan(all: Vec<(Named, String)>, relinking: &Relinking) -> Subjects {
    let mut subjects = Subjects::default();
    let prefix = at(&relinking.from, "");
    let holders: HashMap<&str, &Named> = all.iter().map(|(user, subject)| (&**subject, user)).collect();
    let mut found = HashSet::new();
    for (user, subject) in &all {
        let Some(old) = subject.strip_prefix(&prefix) else {
            continue;
        };
        let new = match &relinking.map {
            None => old,
            Some(map) => match map.get(old) {
                Some(new) => new,
                None => {
                    subjects.kept.push((user.clone(), old.to_owned()));
                    continue;
                }
            },
        };
        found.insert(old);
        let moved = Move {
            user: user.clone(),
            old: old.to_owned(),
            new: new.to_owned(),
        };
        match holders.get(&*at(&relinking.to, new)) {
            Some(holder) => subjects.taken.push((moved, (*holder).clone())),
            None => subjects.moved.push(moved),
        }
    }
    let listed = relinking.map.iter().flat_map(BTreeMap::keys);
    let unknown = listed.filter(|old| !found.contains(old.as_str()));
    subjects.unknown = unknown.cloned().collect();
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "https://old.example";
    const NEW: &str = "https://new.example";

    fn user(id: &str, subject: &str) -> (Named, String) {
        let named = Named {
            id: id.into(),
            name: format!("name of {id}"),
        };
        (named, subject.into())
    }

    fn relinking(map: Option<&[(&str, &str)]>) -> Relinking {
        let own = |(old, new): &(&str, &str)| ((*old).to_owned(), (*new).to_owned());
        Relinking {
            from: OLD.into(),
            to: NEW.into(),
            map: map.map(|map| map.iter().map(own).collect()),
        }
    }

    fn moves(subjects: &Subjects) -> Vec<(&str, &str, &str)> {
        let moves = subjects.moved.iter();
        moves
            .map(|moved| (&*moved.user.id, &*moved.old, &*moved.new))
            .collect()
    }

    #[test]
    fn without_a_map_everyone_of_the_issuer_keeps_their_subject() {
        let all = vec![
            user("a", "https://old.example 1"),
            user("b", "https://old.example 2 3"),
            user("c", "https://old.example/ 4"),
            user("d", "https://other.example 5"),
            user("e", "proxy 6"),
        ];
        let subjects = plan(all, &relinking(None));
        assert_eq!(moves(&subjects), [("a", "1", "1"), ("b", "2 3", "2 3")]);
        assert!(subjects.taken.is_empty() && subjects.kept.is_empty() && subjects.unknown.is_empty());
    }

    #[test]
    fn with_a_map_only_those_in_it_move() {
        let all = vec![
            user("a", "https://old.example 1"),
            user("b", "https://old.example 2"),
            user("c", "https://new.example 1"),
        ];
        let subjects = plan(all, &relinking(Some(&[("1", "x"), ("3", "y")])));
        assert_eq!(moves(&subjects), [("a", "1", "x")]);
        assert_eq!(subjects.kept, [user("b", "2")]);
        assert_eq!(subjects.unknown, ["3"]);
    }

    #[test]
    fn a_subject_that_another_user_has_is_taken() {
        let all = vec![
            user("a", "https://old.example 1"),
            user("c", "https://new.example 1"),
        ];
        let subjects = plan(all, &relinking(None));
        assert!(subjects.moved.is_empty());
        let (taken, holder) = &subjects.taken[0];
        assert_eq!((&*taken.user.id, &*holder.id), ("a", "c"));
    }

    #[test]
    fn people_of_a_proxy_move_only_by_a_map() {
        let map = BTreeMap::from([("ada".to_owned(), "1".to_owned())]);
        let from_proxy = Relinking {
            from: "proxy".into(),
            to: NEW.into(),
            map: Some(map),
        };
        assert_eq!(from_proxy.check(), Ok(()));
        let subjects = plan(vec![user("a", "proxy ada"), user("b", "proxy bob")], &from_proxy);
        assert_eq!(moves(&subjects), [("a", "ada", "1")]);
        let to_proxy = Relinking {
            from: NEW.into(),
            to: "proxy".into(),
            map: Some(BTreeMap::from([("1".to_owned(), "ada".to_owned())])),
        };
        assert_eq!(to_proxy.check(), Ok(()));
        let subjects = plan(
            vec![user("a", "https://new.example 1"), user("b", "proxy ada")],
            &to_proxy,
        );
        assert!(subjects.moved.is_empty() && subjects.taken.len() == 1);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert_eq!(relinking(None).check(), Ok(()));
        assert_eq!(relinking(Some(&[("1", "2"), ("2", "1")])).check(), Ok(()));
        let long = "x".repeat(1024);
        for map in [
            &[("1", "x"), ("2", "x")][..],
            &[("", "x")],
            &[("1", "")],
            &[("1", &long)],
        ] {
            assert!(relinking(Some(map)).check().is_err(), "{map:?}");
        }
        for (from, to) in [
            (OLD, OLD),
            ("", NEW),
            (OLD, "https://new.example/ "),
            (OLD, "https://a b"),
            (OLD, "new.example"),
            (OLD, "https://"),
            // Without a map.
            ("proxy", NEW),
            (OLD, "proxy"),
        ] {
            let relinking = Relinking {
                from: from.into(),
                to: to.into(),
                map: None,
            };
            assert!(relinking.check().is_err(), "{from} {to}");
        }
    }
}
