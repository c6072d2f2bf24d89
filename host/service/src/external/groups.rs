//! The groups that a provider says somebody is in.

use portico_model::error::Error;
use portico_storage::DashboardTransaction;
use tracing::warn;

/// The most groups of one person that are looked at; a name that is longer than a group's is no group's.
pub(super) const MOST: usize = 1000;
const LONGEST: usize = 64 * 4;

/// The names that may be those of groups.
pub(super) fn possible(names: Vec<String>) -> Vec<String> {
    let names = names.into_iter().map(|name| name.trim().to_owned());
    names
        .filter(|name| !name.is_empty() && name.len() <= LONGEST)
        .take(MOST)
        .collect()
}

/// Makes a user a member of the groups with these name-keys and of no other. Names that no group has do not
/// count. The last administrator stays one.
pub(super) async fn replace(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    name_keys: &[String],
) -> Result<(), Error> {
    let nobody = "";
    let mut wanted = Vec::new();
    for name_key in name_keys {
        wanted.extend(transaction.find_group(name_key).await?);
    }
    let present = transaction.list_memberships(user_id).await?;
    for group in wanted.iter().filter(|group| !present.contains(group)) {
        transaction.add_to_group(user_id, group).await?;
    }
    let there_was_one = transaction.another_admin_exists(nobody).await?;
    for group in present.iter().filter(|group| !wanted.contains(group)) {
        transaction.remove_from_group(user_id, group).await?;
        if there_was_one && !transaction.another_admin_exists(nobody).await? {
            transaction.add_to_group(user_id, group).await?;
            warn!(
                user = user_id,
                group,
                "the provider's groups would take admin from the last administrator: the membership stays"
            );
        }
    }
    Ok(())
}
