//! Invites and links for a new password, in memory.

use super::boards::named;
use super::state::{State, check_secret};
use crate::dashboard_records::{HeldInvite, Invite, PasswordLink, SecretHash};
use crate::records::{ADMIN, Result};
use crate::secrets;
use portico_model::{Id, Timestamp};

impl State {
    /// The invite with this token, also one that has expired.
    pub fn held_invite(&self, id: &str, token: &SecretHash) -> Option<HeldInvite> {
        let found = self.invites.get(id);
        let held = found.filter(|(_, kept)| secrets::same(kept, token));
        held.map(|(invite, _)| HeldInvite {
            expiration_date: invite.expiration_date,
            note: invite.note.clone(),
        })
    }

    /// All invites, those first that expire first.
    pub fn list_invites(&self) -> Vec<Invite> {
        let Self { users, groups, .. } = self;
        let mut invites: Vec<_> = self.invites.values().map(|(invite, _)| invite).collect();
        invites.sort_by_key(|invite| (invite.expiration_date, &invite.id));
        let creator = |id: &String| users.get(id).map(|row| named(id, &row.user.name));
        let group = |id: &String| groups.get(id).map(|row| named(id, &row.name));
        let shown = invites.into_iter().map(|invite| Invite {
            id: invite.id.clone(),
            expiration_date: invite.expiration_date,
            creator: invite.creator_id.as_ref().and_then(creator),
            note: invite.note.clone(),
            groups: invite.group_ids.iter().filter_map(group).collect(),
        });
        shown.collect()
    }

    /// Keeps the link of a user, in place of the one that they have.
    pub fn put_password_link(&mut self, link: &PasswordLink, token: &SecretHash) -> Result<()> {
        check_secret(self.password_links.values().map(|(_, kept, _)| kept), token)?;
        self.check_enabled(&link.user_id)?;
        Self::check_reference(&self.users, &link.creator_id)?;
        let version = self.password_version(&link.user_id);
        let row = (link.clone(), *token, version);
        self.password_links.insert(link.user_id.clone(), row);
        Ok(())
    }

    /// The user whose link has this token, if it is still good: not expired, the password not set since, and
    /// its creator still an administrator.
    pub fn find_password_link(&self, token: &SecretHash, now: Timestamp) -> Option<Id> {
        let mut links = self.password_links.iter();
        let is_administrator = |id: &Id| !self.disabled.contains(id) && self.permissions(id).contains(ADMIN);
        let found = links.find(|(user_id, (link, kept, version))| {
            kept == token
                && link.expires_at > now
                && *version == self.password_version(user_id)
                && link.creator_id.as_ref().is_none_or(is_administrator)
        });
        found.map(|(user_id, _)| user_id.clone())
    }
}
