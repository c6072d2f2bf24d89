//! The functions of `wit/storage.wit`, in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::state::{GroupRow, State, insert};
use super::transaction::MemoryTransaction;
use crate::dashboard_records::{NewInvite, SecretHash, hash_secret};
use crate::driver::ADMIN_GROUP;
use crate::records::{
    ADMIN, Account, AccountKey, AppFilter, Constraint, Error, NewUser, Result, StoredApp, UserChange,
    UserFilter,
};
use crate::secrets;
use crate::storage::Transaction;
use portico_model::{App, Provider, Timestamp, User, UserSummary};

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

    async fn list_users(&mut self, filter: &UserFilter) -> Result<Vec<UserSummary>> {
        let contains = filter.name_contains.as_deref().unwrap_or_default();
        let mut rows: Vec<_> = self.state.users.values().collect();
        rows.retain(|row| {
            filter
                .provider
                .is_none_or(|provider| row.user.provider == provider)
        });
        rows.retain(|row| row.name_key.contains(contains));
        rows.retain(|row| filter.email.is_none() || row.user.email == filter.email);
        rows.sort_by_key(|row| (&row.name_key, &row.user.id));
        rows.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(rows.into_iter().map(|row| summary(&row.user)).collect())
    }

    async fn find_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        let users = &self.state.users;
        let found = match key {
            AccountKey::Id(id) => users.get(id),
            AccountKey::Name((provider, name_key)) => users
                .values()
                .find(|row| row.user.provider == *provider && row.name_key == *name_key),
            AccountKey::Subject(subject) => self.state.identities.get(subject).and_then(|id| users.get(id)),
        };
        Ok(found.map(|row| Account {
            id: row.user.id.clone(),
            name: row.user.name.clone(),
            provider: row.user.provider,
            password_hash: row.password_hash.clone(),
        }))
    }

    async fn insert_user(&mut self, new: &NewUser) -> Result<()> {
        self.insert(&new.user.id, |state| {
            let user = &new.user;
            state.check_user_name(&user.id, user.provider, &new.name_key)?;
            State::check_reference(&state.boards, &user.home_board_id)?;
            State::check_reference(&state.boards, &user.mobile_home_board_id)?;
            State::check_reference(&state.search_engines, &user.default_search_engine_id)?;
            insert(&mut state.users, &user.id, new.clone())
        })
    }

    async fn insert_identity(&mut self, user_id: &str, provider: Provider, subject: &str) -> Result<()> {
        self.change(|state| {
            let key = (provider, subject.to_owned());
            let mut identities = state.identities.iter();
            let has_one = identities.any(|((of, _), user)| *of == provider && user == user_id);
            if has_one || state.identities.contains_key(&key) {
                return Err(Error::Constraint(Constraint::Identity));
            }
            State::check_reference(&state.users, [&user_id.to_owned()])?;
            state.identities.insert(key, user_id.to_owned());
            Ok(())
        })
    }

    async fn update_user(&mut self, id: &str, change: &UserChange) -> Result<bool> {
        let changed = self.change(|state| {
            let Some(row) = state.users.get(id) else {
                return Ok(false);
            };
            match change {
                UserChange::Profile(profile) => {
                    state.check_user_name(id, row.user.provider, &profile.name_key)?;
                }
                UserChange::HomeBoards(boards) => {
                    State::check_reference(&state.boards, &boards.home_board_id)?;
                    State::check_reference(&state.boards, &boards.mobile_home_board_id)?;
                }
                UserChange::SearchPreferences(search) => {
                    State::check_reference(&state.search_engines, &search.default_search_engine_id)?;
                }
                _ => {}
            }
            if let Some(row) = state.users.get_mut(id) {
                apply(row, change);
            }
            Ok(true)
        })?;
        if changed {
            self.trail.changed(id);
        }
        Ok(changed)
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
                state.keys.retain(|_, (key, _)| key.user_id != id);
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

    async fn another_admin_exists(&mut self, except: &str) -> Result<bool> {
        let mut admins = self
            .state
            .groups
            .values()
            .filter(|group| group.permissions.contains(ADMIN));
        Ok(admins.any(|group| group.members.iter().any(|id| id != except)))
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
        Ok(is_valid(&self.state.invites, id, token, now))
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.change(|state| {
            let good = is_valid(&state.invites, id, token, now);
            if good {
                state.invites.remove(id);
            }
            Ok(good)
        })
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        Ok(self.state.can_view_board(user_id, board_id))
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        Ok(self.state.search_engines.contains_key(id))
    }

    async fn get_app(&mut self, id: &str) -> Result<Option<App>> {
        Ok(self.state.apps.get(id).map(|row| row.app.clone()))
    }

    async fn get_apps(&mut self, ids: &[String]) -> Result<Vec<App>> {
        let ids: BTreeSet<_> = ids.iter().collect();
        let rows = ids.into_iter().filter_map(|id| self.state.apps.get(id));
        Ok(rows.map(|row| row.app.clone()).collect())
    }

    async fn list_apps(&mut self, filter: &AppFilter) -> Result<Vec<App>> {
        let apps = self
            .state
            .apps_by_name(filter.name_contains.as_deref().unwrap_or_default());
        let offset = filter.offset as usize;
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        Ok(apps.into_iter().skip(offset).take(limit).cloned().collect())
    }

    async fn count_apps(&mut self, name_contains: &str) -> Result<u32> {
        Ok(u32::try_from(self.state.apps_by_name(name_contains).len()).unwrap_or(u32::MAX))
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

fn summary(user: &User) -> UserSummary {
    UserSummary {
        id: user.id.clone(),
        name: user.name.clone(),
        email: user.email.clone(),
        email_verified: user.email_verified,
        image: user.image.clone(),
    }
}

fn apply(row: &mut NewUser, change: &UserChange) {
    let user = &mut row.user;
    match change.clone() {
        UserChange::Profile(profile) => {
            user.name = profile.name;
            row.name_key = profile.name_key;
            user.email = profile.email;
            user.email_verified = profile.email_verified;
        }
        UserChange::Image(image) => user.image = image,
        UserChange::HomeBoards(boards) => {
            user.home_board_id = boards.home_board_id;
            user.mobile_home_board_id = boards.mobile_home_board_id;
        }
        UserChange::SearchPreferences(search) => {
            user.default_search_engine_id = search.default_search_engine_id;
            user.open_search_in_new_tab = search.open_in_new_tab;
        }
        UserChange::ColorScheme(color_scheme) => row.color_scheme = color_scheme,
        UserChange::PingIconsEnabled(enabled) => user.ping_icons_enabled = enabled,
        UserChange::FirstDayOfWeek(day) => user.first_day_of_week = day,
    }
}

fn is_valid(
    invites: &BTreeMap<String, (NewInvite, SecretHash)>,
    id: &str,
    token: &str,
    now: Timestamp,
) -> bool {
    let token = hash_secret(token);
    let invite = invites.get(id);
    invite.is_some_and(|(invite, kept)| secrets::same(kept, &token) && invite.expiration_date > now)
}
