//! The groups of a user, as a provider states them.

use std::collections::{BTreeMap, HashSet};

use portico_model::error::Error;
use portico_rules::refusal::Refusal;
use portico_sandbox::Sandbox;
use portico_storage::{ADMIN, CallContext, DashboardTransaction, driver::ADMIN_GROUP};
use tracing::{info, warn};

use super::{
    group_rules::{GroupRules, is_name_of_group},
    vouched::Groups,
};
use crate::{accounts::admin_exists, sign_in::WaysIn};

/// The most bytes of all names together.
const MOST_BYTES: usize = 1 << 20;
/// The longest name of a group, in bytes: 64 characters. No group has a longer name.
const LONGEST: usize = 64 * 4;
/// The names of which one instance of the component computes the keys.
const CHUNK: usize = 1000;

/// The most groups that one sign-in makes, and the most groups there may be afterwards.
const MOST_MADE: usize = 100;
const MOST_GROUPS: usize = 1000;

/// The groups that a provider states.
#[derive(Default)]
pub(super) struct Stated {
    /// Their names here, by name-key.
    groups: BTreeMap<String, String>,
    /// Whether one of them means administrator.
    is_administrator: bool,
}

/// The groups that the provider states; `None` if memberships stay as they are. `SERVICE_UNAVAILABLE` if there are more
/// names than are matched.
pub(super) async fn read(
    sandbox: &Sandbox,
    context: &CallContext,
    groups: Groups,
    rules: &GroupRules,
) -> Result<Option<Stated>, Error> {
    let stated = match groups {
        Groups::Own => return Ok(None),
        Groups::Unknown(why) => {
            warn!(
                request = &*context.request_id,
                "the provider did not state a user's groups, so their memberships stay as they are: {why}"
            );
            return Ok(None);
        }
        Groups::Stated(names) => bounded(names)?,
    };
    let meant = rules.apply(stated);
    let mut stated = Stated {
        is_administrator: meant.is_administrator,
        ..Stated::default()
    };
    for names in possible(meant.names).chunks(CHUNK) {
        let keys = sandbox.name_keys(context.clone(), names).await?;
        let counted = keys.into_iter().zip(names);
        for (key, name) in counted.filter(|(key, name)| rules.counts(name, key)) {
            stated.groups.entry(key).or_insert_with(|| name.clone());
        }
    }
    Ok(Some(stated))
}

fn bounded(names: Vec<String>) -> Result<Vec<String>, Error> {
    if names.iter().map(String::len).sum::<usize>() > MOST_BYTES {
        let cause = anyhow::anyhow!("the names of the user's groups are longer than 1 MiB together");
        return Err(Error {
            cause: Some(cause),
            ..Refusal::ProviderGroups.into()
        });
    }
    Ok(names)
}

/// The names that groups may have, each once.
fn possible(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = names.into_iter().map(|name| name.trim().to_owned());
    let names = names.filter(|name| !name.is_empty() && name.len() <= LONGEST);
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Makes the stated groups that do not exist, without permissions, as far as there is room for them. Returns their ids.
pub(super) async fn make_missing(
    transaction: &mut dyn DashboardTransaction,
    stated: &Stated,
    rules: &GroupRules,
    new_id: impl Fn() -> String + Send,
    request: &str,
) -> Result<Vec<String>, Error> {
    let mut made = Vec::new();
    if stated.groups.is_empty() {
        return Ok(made);
    }
    let existing = transaction.list_group_keys().await?;
    let room = MOST_GROUPS.saturating_sub(existing.len()).min(MOST_MADE);
    let existing: HashSet<String> = existing.into_iter().map(|(_, key)| key).collect();
    // The group of the first administrator may be given `admin` later, so it is not made for a provider's name.
    let may_be_made =
        |key: &str, name: &str| key != ADMIN_GROUP && is_name_of_group(name) && rules.makes(name);
    let missing = stated
        .groups
        .iter()
        .filter(|(key, name)| !existing.contains(*key) && may_be_made(key, name));
    let mut left_out = 0;
    for (key, name) in missing {
        if made.len() == room {
            left_out += 1;
            continue;
        }
        let id = new_id();
        if transaction.insert_group(&id, name, key).await? {
            made.push(id);
        }
    }
    if left_out > 0 {
        warn!(
            request,
            "{left_out} groups of the provider are not made: a sign-in makes at most {MOST_MADE} groups, and none \
             beyond {MOST_GROUPS} in all"
        );
    }
    Ok(made)
}

/// Memberships that a sign-in changed, by the ids of the groups.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// Whether the user has `admin` now, if that has changed.
    admin: Option<bool>,
}

impl Changes {
    /// Logs them: as a warning if they give or take `admin`.
    pub fn log(&self, user: &str, request: &str) {
        let (added, removed) = (self.added.join(" "), self.removed.join(" "));
        match self.admin {
            Some(true) => warn!(
                request,
                user, added, removed, "the provider's groups give a user admin"
            ),
            Some(false) => warn!(
                request,
                user, added, removed, "the provider's groups take admin from a user"
            ),
            None if self.added.is_empty() && self.removed.is_empty() => {}
            None => info!(
                request,
                user, added, removed, "the provider's groups change memberships"
            ),
        }
    }
}

/// Makes a user a member of the stated groups, and of no other group. Ignores names that no group has. The last
/// administrator keeps `admin`, and so does the last one who can sign in, where that is only by `ways_in`.
pub(super) async fn replace(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    stated: &Stated,
    (rules, ways_in): (&GroupRules, Option<&WaysIn>),
    request: &str,
) -> Result<Changes, Error> {
    let mut ids = HashSet::new();
    let mut without_group: BTreeMap<_, _> = stated.groups.iter().collect();
    if !stated.groups.is_empty() {
        for (id, key) in transaction.list_group_keys().await? {
            if without_group.remove(&key).is_some() {
                ids.insert(id);
            }
        }
    }
    if let Some(name) = without_group.into_values().find(|name| rules.is_mapped(name)) {
        warn!(
            request,
            "the map of groups names {name:?}, and there is no such group here: make it, or turn create-groups on"
        );
    }
    let present = transaction.list_memberships(user_id).await?;
    let was_admin = is_admin(transaction, user_id).await?;
    if stated.is_administrator {
        ids.insert(administrators(transaction, user_id).await?);
    }
    let mut added: Vec<_> = ids.iter().filter(|id| !present.contains(id)).cloned().collect();
    added.sort();
    let removed: Vec<_> = present.into_iter().filter(|id| !ids.contains(id)).collect();
    if added.is_empty() && removed.is_empty() {
        return Ok(Changes::default());
    }
    for group in &added {
        transaction.add_to_group(user_id, group).await?;
    }
    let had_administrator = admin_exists(transaction).await?;
    let mut changes = Changes {
        added,
        ..Changes::default()
    };
    let ways_in = ways_in.filter(|_| was_admin && !removed.is_empty());
    for group in removed {
        transaction.remove_from_group(user_id, &group).await?;
        let of_whom = if had_administrator && !admin_exists(transaction).await? {
            Some("the last administrator")
        } else if let Some(ways_in) = ways_in
            && !is_admin(transaction, user_id).await?
            && !ways_in.has_administrator(transaction).await?
        {
            Some("the last administrator who can sign in")
        } else {
            None
        };
        match of_whom {
            None => changes.removed.push(group),
            Some(whom) => {
                transaction.add_to_group(user_id, &group).await?;
                warn!(
                    user = user_id,
                    group, "the provider's groups would take admin from {whom}: the membership stays"
                );
            }
        }
    }
    let is_admin = is_admin(transaction, user_id).await?;
    changes.admin = (is_admin != was_admin).then_some(is_admin);
    if stated.is_administrator && !is_admin {
        warn!(
            request,
            user = user_id,
            "the provider's group of administrators does not give admin: the group {ADMIN_GROUP} here does not have the permission"
        );
    }
    Ok(changes)
}

/// The id of the group of administrators. If it is not there, it is made for this user, with the permission. One that is
/// there keeps its permissions, because it may have other members.
async fn administrators(transaction: &mut dyn DashboardTransaction, user_id: &str) -> Result<String, Error> {
    if let Some(id) = transaction.find_group(ADMIN_GROUP).await? {
        return Ok(id);
    }
    transaction.grant_admin(user_id).await?;
    let made = transaction.find_group(ADMIN_GROUP).await?;
    made.ok_or_else(|| Error::internal(anyhow::anyhow!("the group of administrators was not made")))
}

async fn is_admin(transaction: &mut dyn DashboardTransaction, user_id: &str) -> Result<bool, Error> {
    let user = transaction.get_session_user(user_id).await?;
    Ok(user.is_some_and(|user| user.permissions.iter().any(|held| held == ADMIN)))
}

#[cfg(test)]
mod tests {
    use portico_model::error::Code;

    use super::*;

    #[test]
    fn names_are_those_that_groups_may_have_and_at_most_a_mebibyte() {
        let names = ["a", " a ", "", " ", "b"].map(str::to_owned).to_vec();
        assert_eq!(possible(names), ["a", "b"]);
        assert_eq!(possible(vec!["x".repeat(257)]), [""; 0]);
        let distinct = |count: usize| (0..count).map(|number| format!("{number:016}")).collect();
        assert_eq!(
            possible(bounded(distinct(MOST_BYTES / 16)).unwrap()).len(),
            65_536
        );
        let refused = bounded(distinct(MOST_BYTES / 16 + 1)).unwrap_err();
        assert_eq!(refused.code, Code::ServiceUnavailable);
    }
}
