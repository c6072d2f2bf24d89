//! Groups in memory, and the order in which they are listed.

use super::boards::named;
use super::state::{GroupRow, State, insert};
use crate::dashboard_records::{Group, Named};
use crate::records::Result;
use portico_model::Id;

impl State {
    pub fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        if self.groups.values().any(|group| group.name_key == name_key) {
            return Ok(false);
        }
        insert(&mut self.groups, id, GroupRow::new(name, name_key))?;
        Ok(true)
    }

    pub fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> bool {
        let mut others = self.groups.iter().filter(|(other, _)| *other != id);
        if others.any(|(_, group)| group.name_key == name_key) {
            return false;
        }
        let Some(group) = self.groups.get_mut(id) else {
            return false;
        };
        group.name = name.to_owned();
        group.name_key = name_key.to_owned();
        true
    }

    /// All groups with their members, both by name.
    pub fn list_groups(&self) -> Vec<Group> {
        let users = &self.users;
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|(id, group)| (&group.name_key, *id));
        let shown = groups.into_iter().map(|(id, group)| {
            let mut members: Vec<_> = group.members.iter().filter_map(|id| users.get(id)).collect();
            members.sort_by_key(|row| (&row.name_key, &row.user.id));
            Group {
                id: id.clone(),
                name: group.name.clone(),
                permissions: group.permissions.iter().cloned().collect(),
                members: members
                    .into_iter()
                    .map(|row| named(&row.user.id, &row.user.name))
                    .collect(),
            }
        });
        shown.collect()
    }

    pub fn find_group(&self, name_key: &str) -> Option<Id> {
        let mut groups = self.groups.iter();
        let found = groups.find(|(_, group)| group.name_key == name_key);
        found.map(|(id, _)| id.clone())
    }

    /// The id and the name-key of each group.
    pub fn list_group_keys(&self) -> Vec<(Id, String)> {
        let groups = self.groups.iter();
        groups
            .map(|(id, group)| (id.clone(), group.name_key.clone()))
            .collect()
    }

    /// The groups of which a user is a member.
    pub fn list_memberships(&self, user_id: &str) -> Vec<Id> {
        let groups = self.groups.iter();
        let theirs = groups.filter(|(_, group)| group.members.contains(user_id));
        theirs.map(|(id, _)| id.clone()).collect()
    }

    /// The groups that have at least one of these permissions, by name.
    pub fn groups_with(&self, permissions: &[String]) -> Vec<Named> {
        let groups = self.groups.iter();
        let mut found: Vec<_> = groups
            .filter(|(_, group)| permissions.iter().any(|held| group.permissions.contains(held)))
            .collect();
        found.sort_by_key(|(id, group)| (&group.name_key, *id));
        let found = found.into_iter();
        found.map(|(id, group)| named(id, &group.name)).collect()
    }

    pub fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> bool {
        let Some(group) = self.groups.get_mut(id) else {
            return false;
        };
        group.permissions = permissions.iter().cloned().collect();
        true
    }

    pub fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> bool {
        let group = self.groups.get_mut(group_id);
        group.is_some_and(|group| group.members.remove(user_id))
    }
}
