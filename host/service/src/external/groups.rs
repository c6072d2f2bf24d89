//! The groups of a user, as a provider states them.

use portico_model::error::Error;
use portico_storage::DashboardTransaction;
use tracing::warn;

use crate::accounts::admin_exists;

/// The most groups of one user that are looked up.
const MOST: usize = 1000;
/// The longest name of a group, in bytes: 64 characters. No group has a longer name.
const LONGEST: usize = 64 * 4;

/// The names that groups may have.
pub(super) fn possible(names: Vec<String>) -> Vec<String> {
    let names = names.into_iter().map(|name| name.trim().to_owned());
    names
        .filter(|name| !name.is_empty() && name.len() <= LONGEST)
        .take(MOST)
        .collect()
}

/// Makes a user a member of the groups with these name-keys, and of no other group. Ignores names that no group
/// has. The last administrator keeps `admin`.
pub(super) async fn replace(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
    name_keys: &[String],
) -> Result<(), Error> {
    let mut stated = Vec::new();
    for name_key in name_keys {
        stated.extend(transaction.find_group(name_key).await?);
    }
    let present = transaction.list_memberships(user_id).await?;
    for group in stated.iter().filter(|group| !present.contains(group)) {
        transaction.add_to_group(user_id, group).await?;
    }
    let had_administrator = admin_exists(transaction).await?;
    for group in present.iter().filter(|group| !stated.contains(group)) {
        transaction.remove_from_group(user_id, group).await?;
        if had_administrator && !admin_exists(transaction).await? {
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
