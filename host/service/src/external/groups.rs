//! The groups of a user, as a provider states them.

use std::collections::HashSet;

use portico_model::error::Error;
use portico_rules::refusal::Refusal;
use portico_sandbox::Sandbox;
use portico_storage::{ADMIN, CallContext, DashboardTransaction};
use tracing::{info, warn};

use super::vouched::Groups;
use crate::accounts::admin_exists;

/// The most bytes of all names together.
const MOST_BYTES: usize = 1 << 20;
/// The longest name of a group, in bytes: 64 characters. No group has a longer name.
const LONGEST: usize = 64 * 4;
/// The names of which one instance of the component computes the keys.
const CHUNK: usize = 1000;

/// The name-keys of the groups that the provider states; `None` if memberships stay as they are. `SERVICE_UNAVAILABLE`
/// if there are more names than are matched.
pub(super) async fn stated_keys(
    sandbox: &Sandbox,
    context: &CallContext,
    groups: Groups,
) -> Result<Option<HashSet<String>>, Error> {
    let names = match groups {
        Groups::Own => return Ok(None),
        Groups::Unknown(why) => {
            warn!(
                request = &*context.request_id,
                "the provider did not state a user's groups, so their memberships stay as they are: {why}"
            );
            return Ok(None);
        }
        Groups::Stated(names) => possible(names)?,
    };
    let mut keys = HashSet::new();
    for names in names.chunks(CHUNK) {
        keys.extend(sandbox.name_keys(context.clone(), names).await?);
    }
    Ok(Some(keys))
}

/// The names that groups may have, each once.
fn possible(names: Vec<String>) -> Result<Vec<String>, Error> {
    if names.iter().map(String::len).sum::<usize>() > MOST_BYTES {
        let cause = anyhow::anyhow!("the names of the user's groups are longer than 1 MiB together");
        return Err(Error {
            cause: Some(cause),
            ..Refusal::ProviderGroups.into()
        });
    }
    let mut seen = HashSet::new();
    let names = names.into_iter().map(|name| name.trim().to_owned());
    let names = names.filter(|name| !name.is_empty() && name.len() <= LONGEST);
    Ok(names.filter(|name| seen.insert(name.clone())).collect())
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

/// Makes a user a member of the groups with these name-keys, and of no other group. Ignores names that no group
/// has. The last administrator keeps `admin`.
pub(super) async fn replace(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    name_keys: &HashSet<String>,
) -> Result<Changes, Error> {
    let mut stated = HashSet::new();
    if !name_keys.is_empty() {
        let groups = transaction.list_group_keys().await?.into_iter();
        stated.extend(groups.filter_map(|(id, key)| name_keys.contains(&key).then_some(id)));
    }
    let present = transaction.list_memberships(user_id).await?;
    let mut added: Vec<_> = stated
        .iter()
        .filter(|id| !present.contains(id))
        .cloned()
        .collect();
    added.sort();
    let removed: Vec<_> = present.into_iter().filter(|id| !stated.contains(id)).collect();
    if added.is_empty() && removed.is_empty() {
        return Ok(Changes::default());
    }
    let was_admin = is_admin(transaction, user_id).await?;
    for group in &added {
        transaction.add_to_group(user_id, group).await?;
    }
    let had_administrator = admin_exists(transaction).await?;
    let mut changes = Changes {
        added,
        ..Changes::default()
    };
    for group in removed {
        transaction.remove_from_group(user_id, &group).await?;
        if had_administrator && !admin_exists(transaction).await? {
            transaction.add_to_group(user_id, &group).await?;
            warn!(
                user = user_id,
                group,
                "the provider's groups would take admin from the last administrator: the membership stays"
            );
        } else {
            changes.removed.push(group);
        }
    }
    let is_admin = is_admin(transaction, user_id).await?;
    changes.admin = (is_admin != was_admin).then_some(is_admin);
    Ok(changes)
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
        assert_eq!(possible(names).unwrap(), ["a", "b"]);
        assert_eq!(possible(vec!["x".repeat(257)]).unwrap(), [""; 0]);
        let distinct = |count: usize| (0..count).map(|number| format!("{number:016}")).collect();
        assert_eq!(possible(distinct(MOST_BYTES / 16)).unwrap().len(), 65_536);
        let refused = possible(distinct(MOST_BYTES / 16 + 1)).unwrap_err();
        assert_eq!(refused.code, Code::ServiceUnavailable);
    }
}
