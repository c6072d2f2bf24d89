//! Groups, the only source of permissions.
//!
//! Invariant: no change of groups takes `admin` from the last administrator.

use portico_rules::names;
use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_storage::{Constraint, DashboardTransaction as _, Error as StorageError, Transaction as _};

use super::{Result, if_referred, input, name_taken, not_found};
use crate::bindings::people::Group;
use crate::environment;
use crate::executor::now;
use crate::transaction::{Failure, Transaction, answered, read, write};

pub fn list() -> Result<Vec<Group>> {
    let groups = read(|transaction| Ok(now(transaction.list_groups())?))?;
    let group = |group: portico_storage::Group| Group {
        id: group.id,
        name: group.name,
        permissions: group.permissions,
        members: group.members.into_iter().map(Into::into).collect(),
    };
    Ok(groups.into_iter().map(group).collect())
}

pub fn create(id: Option<String>, name: &str, permissions: Vec<String>) -> Result<String> {
    let check = || {
        id.as_deref().map_or(Ok(()), input::given_id)?;
        Ok((input::label("name", name)?, input::permissions(permissions)?))
    };
    let (name, permissions) = answered(check())?;
    let id = id.unwrap_or_else(|| environment::ids().next());
    write(|transaction| {
        let created = now(transaction.insert_group(&id, &name, &names::key(&name)));
        require_free(created.map_err(if_taken)?)?;
        now(transaction.set_group_permissions(&id, &permissions))?;
        Ok(id.clone())
    })
}

/// The id of a group is no constraint of the contract, so it comes by the name that the database gives it.
fn if_taken(error: StorageError) -> Failure {
    match error {
        StorageError::Constraint(Constraint::Id) => name_taken(UniqueName::GroupId),
        StorageError::Constraint(Constraint::Other(name)) if is_id_of_group(&name) => {
            name_taken(UniqueName::GroupId)
        }
        error => error.into(),
    }
}

fn is_id_of_group(constraint: &str) -> bool {
    ["user_group.id", "user_group_pkey"]
        .iter()
        .any(|name| constraint.ends_with(name))
}

fn require_free(free: bool) -> std::result::Result<(), Failure> {
    match free {
        true => Ok(()),
        false => Err(name_taken(UniqueName::Group)),
    }
}

fn require_found(found: bool, what: Missing) -> std::result::Result<(), Failure> {
    match found {
        true => Ok(()),
        false => Err(not_found(what)),
    }
}

pub fn rename(id: &str, name: &str) -> Result<()> {
    let name = answered(input::label("name", name))?;
    write(|transaction| {
        let key = names::key(&name);
        let holder = now(transaction.find_group(&key))?;
        require_free(holder.is_none_or(|holder| holder == id))?;
        require_found(now(transaction.update_group(id, &name, &key))?, Missing::Group)
    })
}

pub fn set_permissions(id: &str, permissions: Vec<String>) -> Result<()> {
    let permissions = answered(input::permissions(permissions))?;
    keeping_an_administrator(|transaction| {
        let found = now(transaction.set_group_permissions(id, &permissions))?;
        require_found(found, Missing::Group)
    })
}

pub fn add_member(group_id: &str, user_id: &str) -> Result<()> {
    write(|transaction| {
        let added = now(transaction.add_to_group(user_id, group_id));
        require_found(
            added.map_err(|error| if_referred(error, not_found(Missing::User)))?,
            Missing::Group,
        )
    })
}

pub fn remove_member(group_id: &str, user_id: &str) -> Result<()> {
    keeping_an_administrator(|transaction| {
        now(transaction.remove_from_group(user_id, group_id))?;
        Ok(())
    })
}

pub fn delete(id: &str) -> Result<()> {
    keeping_an_administrator(|transaction| {
        now(transaction.delete_group(id))?;
        Ok(())
    })
}

/// Runs work that may take permissions away. Where there was an administrator, one is left.
fn keeping_an_administrator(
    work: impl Fn(&mut Transaction) -> std::result::Result<(), Failure>,
) -> Result<()> {
    // No user has this id, so every administrator counts as another one.
    let no_user = "";
    write(|transaction| {
        let existed = now(transaction.has_another_admin(no_user))?;
        work(transaction)?;
        if existed && !now(transaction.has_another_admin(no_user))? {
            return Err(Refusal::LastAdminLoses.into());
        }
        Ok(())
    })
}
