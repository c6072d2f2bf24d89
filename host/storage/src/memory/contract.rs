//! The functions of `wit/storage.wit`, in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::state::{GroupRow, State, insert};
use super::transaction::{MemoryTransaction, is_too_large};
use crate::dashboard::DashboardTransaction as _;
use crate::dashboard_records::{NewInvite, SecretHash, hash_secret};
use crate::driver::ADMIN_GROUP;
use crate::records::{
    ADMIN, Account, AccountKey, AppFilter, Constraint, Error, ListedUser, NewUser, Profile, ProviderSubject,
    Result, Slice, StoredApp, UserFilter, Viewer,
};
use crate::secrets;
use crate::storage::Transaction;
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};

#[async_trait]
impl Transaction for MemoryTransaction {
    async fn commit(self: Box<Self>) -> Result<()> {
        self.finish()
    }

    async fn has_users(&mut self) -> Result<bool> {
        Ok(!self.state.users.is_empty())
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        Ok(self.state.users.get(id).map(|row| row.user.clone()))
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        let users = &self.state.users;
        let found = match key {
            AccountKey::Id(id) => users.get(id),
            AccountKey::Name(name) => users
                .values()
                .find(|row| row.user.provider == name.provider && row.name_key == name.name_key),
            AccountKey::Subject(subject) => self.state.identities.get(subject).and_then(|id| users.get(id)),
        };
        Ok(found.map(|row| Account {
            id: row.user.id.clone(),
            name: row.user.name.clone(),
            provider: row.user.provider,
            disabled: self.state.disabled.contains(&row.user.id),
            password_hash: row.password_hash.clone(),
            password_version: self.state.password_version(&row.user.id),
        }))
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        let mut rows: Vec<_> = self.state.matching_users(filter).collect();
        if slice == Slice::ALL && with_images && is_too_large(rows.iter().map(|row| &row.user)) {
            return self.refuse_too_large();
        }
        rows.sort_by_key(|row| (&row.name_key, &row.user.id));
        let users: Vec<_> = cut(rows, slice)
            .map(|row| ListedUser {
                id: row.user.id.clone(),
                name: row.user.name.clone(),
                email: row.user.email.clone(),
                email_verified: row.user.email_verified,
                provider: row.user.provider,
                disabled: self.state.disabled.contains(&row.user.id),
                image: row.user.image.clone().filter(|_| with_images),
            })
            .collect();
        self.check_size(&users)?;
        Ok(users)
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        Ok(count(self.state.matching_users(filter)))
    }

    async fn insert_user(&mut self, new: &NewUser) -> Result<()> {
        let invited_to = std::mem::take(&mut self.invited_to);
        self.insert(&new.user.id, |state| {
            let user = &new.user;
            state.check_user_name(&user.id, user.provider, &new.name_key)?;
            State::check_reference(&state.boards, &user.home_board_id)?;
            State::check_reference(&state.boards, &user.mobile_home_board_id)?;
            State::check_reference(&state.search_engines, &user.default_search_engine_id)?;
            insert(&mut state.users, &user.id, new.clone())?;
            for id in &invited_to {
                let group = state.groups.get_mut(id);
                let group = group.ok_or(Error::Constraint(Constraint::Reference))?;
                group.members.insert(user.id.clone());
            }
            Ok(())
        })?;
        self.trail.joined(&invited_to);
        Ok(())
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        self.change(|state| {
            let mut identities = state.identities.iter();
            let has_one = identities.any(|(of, user)| of.provider == subject.provider && user == user_id);
            if has_one || state.identities.contains_key(subject) {
                return Err(Error::Constraint(Constraint::Identity));
            }
            State::check_reference(&state.users, [&user_id.to_owned()])?;
            state.identities.insert(subject.clone(), user_id.to_owned());
            Ok(())
        })
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        self.set(id, |state, row| {
            state.check_user_name(id, row.user.provider, &profile.name_key)?;
            row.user.name = profile.name.clone();
            row.name_key = profile.name_key.clone();
            row.user.email = profile.email.clone();
            row.user.email_verified = profile.email_verified;
            Ok(())
        })
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        self.set(id, |_, row| {
            row.user.image = image.map(Into::into);
            Ok(())
        })
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        self.set(id, |state, row| {
            State::check_reference(&state.boards, &boards.home_board_id)?;
            State::check_reference(&state.boards, &boards.mobile_home_board_id)?;
            row.user.home_board_id = boards.home_board_id.clone();
            row.user.mobile_home_board_id = boards.mobile_home_board_id.clone();
            Ok(())
        })
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        self.set(id, |state, row| {
            State::check_reference(&state.search_engines, &preferences.default_search_engine_id)?;
            row.user.default_search_engine_id = preferences.default_search_engine_id.clone();
            row.user.open_search_in_new_tab = preferences.open_in_new_tab;
            Ok(())
        })
    }

    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool> {
        self.set(id, |_, row| {
            row.color_scheme = color_scheme;
            Ok(())
        })
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        self.set(id, |_, row| {
            row.user.ping_icons_enabled = enabled;
            Ok(())
        })
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        self.set(id, |_, row| {
            row.user.first_day_of_week = day;
            Ok(())
        })
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        let found = self.change(|state| {
            if !state.users.contains_key(id) {
                return Ok(false);
            }
            if disabled {
                state.disabled.insert(id.to_owned());
                state.sessions.retain(|_, (session, _)| session.user_id != id);
                state.keys.retain(|_, row| row.key.user_id != id);
                state.password_links.remove(id);
            } else {
                state.disabled.remove(id);
            }
            Ok(true)
        })?;
        if found {
            self.trail.changed(id);
        }
        Ok(found)
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let setter = self.setter.clone();
        let renewal = setter.renewal(id);
        let mut renewed = false;
        let replaced = self.change(|state| {
            let Some(row) = state.users.get_mut(id) else {
                return Ok(false);
            };
            if row.password_hash.as_deref() != old {
                return Ok(false);
            }
            row.password_hash = Some(new.to_owned());
            *state.password_versions.entry(id.to_owned()).or_default() += 1;
            state.sessions.retain(|session_id, (session, _)| {
                session.user_id != id || Some(session_id) == setter.session_id.as_ref()
            });
            if !setter.is(id) {
                state.keys.retain(|_, row| row.key.user_id != id);
            }
            if let Some((session_id, token)) = renewal
                && let Some((session, kept)) = state.sessions.get_mut(session_id)
                && session.user_id == id
            {
                *kept = token;
                renewed = true;
            }
            Ok(true)
        })?;
        if renewed {
            self.setter.renewed();
        }
        Ok(replaced)
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        self.change(|state| {
            let row = state.users.get_mut(id);
            let row = row.filter(|row| row.password_hash.as_deref() == Some(old));
            Ok(row.map(|row| row.password_hash = Some(new.to_owned())).is_some())
        })
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.remove_user(id)))
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        let state = &self.state;
        let groups = state.groups.values();
        let mut members = groups
            .filter(|group| group.permissions.contains(ADMIN))
            .flat_map(|group| &group.members);
        Ok(members.any(|id| id != except && !state.disabled.contains(id)))
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        let new_group_id = self.ids.next();
        self.change(|state| {
            State::check_reference(&state.users, [&id.to_owned()])?;
            let existing = state
                .groups
                .iter()
                .find(|(_, group)| group.name_key == ADMIN_GROUP);
            let group_id = existing.map_or(new_group_id, |(id, _)| id.clone());
            let group = state.groups.entry(group_id);
            let group = group.or_insert_with(|| GroupRow::new(ADMIN_GROUP, ADMIN_GROUP));
            group.permissions.insert(ADMIN.to_owned());
            group.members.insert(id.to_owned());
            Ok(())
        })
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.change(|state| {
            let Some(group) = state.groups.get_mut(group_id) else {
                return Ok(false);
            };
            State::check_reference(&state.users, [&user_id.to_owned()])?;
            group.members.insert(user_id.to_owned());
            Ok(true)
        })
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        Ok(is_valid(&self.state.invites, id, &hash_secret(token), now))
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.take_held_invite(id, &hash_secret(token), now).await
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        Ok(self.state.can_view_board(user_id, self.views_by_shares, board_id))
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        Ok(self.state.search_engines.contains_key(id))
    }

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        let row = self.state.apps.get(id);
        Ok(row
            .map(|row| row.app.clone())
            .filter(|app| self.sees(viewer, app)))
    }

    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        let ids: BTreeSet<_> = ids.iter().collect();
        let rows = ids.into_iter().filter_map(|id| self.state.apps.get(id));
        let apps: Vec<_> = rows
            .map(|row| row.app.clone())
            .filter(|app| self.sees(viewer, app))
            .collect();
        self.check_size(&apps)?;
        Ok(apps)
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        let mut rows: Vec<_> = self.matching_apps(filter).collect();
        if slice == Slice::ALL && is_too_large(rows.iter().map(|row| &row.app)) {
            return self.refuse_too_large();
        }
        rows.sort_by_key(|row| (&row.name_key, &row.app.id));
        let apps: Vec<_> = cut(rows, slice).map(|row| row.app.clone()).collect();
        self.check_size(&apps)?;
        Ok(apps)
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        Ok(count(self.matching_apps(filter)))
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        self.change(|state| {
            let mut apps = apps.iter();
            apps.try_for_each(|row| insert(&mut state.apps, &row.app.id, row.clone()))
        })?;
        apps.iter().for_each(|row| self.trail.created(&row.app.id));
        Ok(())
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.change(|state| {
            let row = state.apps.get_mut(&app.app.id);
            Ok(row.map(|row| *row = app.clone()).is_some())
        })
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.remove_app(id)))
    }
}

fn cut<T>(records: Vec<T>, slice: Slice) -> impl Iterator<Item = T> {
    let limit = slice.limit.map_or(usize::MAX, |limit| limit as usize);
    records.into_iter().skip(slice.offset as usize).take(limit)
}

fn count(records: impl Iterator) -> u32 {
    u32::try_from(records.count()).unwrap_or(u32::MAX)
}

pub(super) fn is_valid(
    invites: &BTreeMap<String, (NewInvite, SecretHash)>,
    id: &str,
    token: &SecretHash,
    now: Timestamp,
) -> bool {
    let invite = invites.get(id);
    invite.is_some_and(|(invite, kept)| secrets::same(kept, token) && invite.expiration_date > now)
}
