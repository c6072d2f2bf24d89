//! The functions of the contract, each with its faults.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use portico_model::{App, ColorScheme, HomeBoards, Provider, SearchPreferences, Timestamp, User};
use portico_storage::*;

use super::{Fault, FaultyTransaction, is_uuid};

impl FaultyTransaction {
    async fn has_user(&mut self, id: &str) -> Result<bool> {
        Ok(self.ask().await?.get_user(id).await?.is_some())
    }

    fn add_version(&self, user_id: &str) {
        *self
            .versions
            .lock()
            .unwrap()
            .entry(user_id.to_owned())
            .or_default() += 1;
    }

    /// The result of an insertion.
    fn inserted(&self, answer: Result<()>) -> Result<()> {
        match answer {
            Err(Error::Constraint(Constraint::Id)) if self.is(Fault::DuplicateIdIsUnavailable) => {
                Err(Error::Unavailable("UNIQUE constraint failed".into()))
            }
            other => other,
        }
    }
}

#[async_trait]
impl Transaction for FaultyTransaction {
    async fn commit(mut self: Box<Self>) -> Result<()> {
        if self.refused || (self.is(Fault::EmptyCommitFails) && !self.called) {
            return Err(Error::Unavailable("there is no transaction".into()));
        }
        let committed = match self.inner.take() {
            // Counted first: the next transaction reads the count as soon as it can begin.
            Some(inner) => {
                self.commits.fetch_add(usize::from(self.writes), Ordering::SeqCst);
                inner.commit().await
            }
            None => Ok(()),
        };
        match committed {
            Err(_) if self.is(Fault::CommitAfterFailureSucceeds) => Ok(()),
            other => other,
        }
    }

    async fn has_users(&mut self) -> Result<bool> {
        self.ask().await?.has_users().await
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        let hidden = self.is_hidden(id);
        let user = self.ask().await?.get_user(id).await?;
        Ok(user.filter(|_| !hidden))
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        let account = self.ask().await?.get_account(key).await?;
        let mut account = account.filter(|account| !self.is_hidden(&account.id));
        if let Some(account) = &mut account {
            let versions = self.versions.lock().unwrap();
            account.password_version += versions.get(&account.id).copied().unwrap_or_default();
            if self.is(Fault::VersionShared) && account.password_version > 0 {
                account.password_version = versions.get("").copied().unwrap_or_default();
            }
        }
        Ok(account)
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        let (mut filter, mut slice) = (filter.clone(), slice);
        match self.fault {
            Fault::ProviderIgnored => filter.provider = None,
            Fault::DisabledFilterIgnored => filter.disabled = None,
            Fault::UserOffsetIgnored => slice.offset = 0,
            Fault::TooManyUsersAreCut if with_images => slice.limit = slice.limit.or(Some(100)),
            _ => {}
        }
        let contains = filter.name_contains.as_deref().unwrap_or_default();
        if self.is(Fault::Wildcards) && contains.contains('_') {
            filter.name_contains = None;
        }
        let with_images = with_images || self.is(Fault::ImagesUnasked);
        let mut users = self.ask().await?.list_users(&filter, slice, with_images).await?;
        users.retain(|user| !self.is_hidden(&user.id));
        Ok(users)
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        let mut filter = filter.clone();
        match self.fault {
            Fault::DisabledCountIgnored => filter.disabled = None,
            Fault::CountIgnoresSearch => filter.name_contains = None,
            _ => {}
        }
        self.ask().await?.count_users(&filter).await
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        self.check_id(&user.user.id)?;
        if self.is(Fault::NamesUniqueAcrossProviders) {
            for provider in [Provider::Credentials, Provider::Oidc, Provider::Ldap] {
                let key = AccountKey::Name(ProviderName {
                    provider,
                    name_key: user.name_key.clone(),
                });
                if self.ask().await?.get_account(&key).await?.is_some() {
                    return Err(Error::Constraint(Constraint::UserName));
                }
            }
        }
        let inserted = self.ask_to_write().await?.insert_user(user).await;
        self.inserted(inserted)
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        let refused = self.ask_to_write().await?.insert_identity(user_id, subject).await;
        match refused {
            Err(Error::Constraint(Constraint::Reference)) if self.is(Fault::ReferenceIsUnavailable) => {
                Err(Error::Unavailable("FOREIGN KEY constraint failed".into()))
            }
            other => other,
        }
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        let set = self.ask_to_write().await?.set_profile(id, profile).await?;
        Ok(set || self.is(Fault::MissingUserIsSet))
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        if self.is(Fault::ImageNeverRemoved) && image.is_none() {
            return self.has_user(id).await;
        }
        self.ask_to_write().await?.set_image(id, image).await
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        let mut boards = boards.clone();
        if self.is(Fault::MobileBoardForgotten)
            && let Some(user) = self.ask().await?.get_user(id).await?
        {
            boards.mobile_home_board_id = user.mobile_home_board_id;
        }
        self.ask_to_write().await?.set_home_boards(id, &boards).await
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        let mut preferences = preferences.clone();
        if self.is(Fault::NewTabForgotten) {
            preferences.open_in_new_tab = true;
        }
        self.ask_to_write()
            .await?
            .set_search_preferences(id, &preferences)
            .await
    }

    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool> {
        if self.is(Fault::ColorSchemeForgotten) {
            return self.has_user(id).await;
        }
        self.ask_to_write()
            .await?
            .set_color_scheme(id, color_scheme)
            .await
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        if self.is(Fault::PingIconsForgotten) {
            return self.has_user(id).await;
        }
        self.ask_to_write()
            .await?
            .set_ping_icons_enabled(id, enabled)
            .await
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        if self.is(Fault::FirstDayForgotten) {
            return self.has_user(id).await;
        }
        self.ask_to_write().await?.set_first_day_of_week(id, day).await
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        match self.fault {
            Fault::DisablingForgotten => self.has_user(id).await,
            Fault::SessionsSurviveDisabling => {
                let inner = self.ask().await?;
                let sessions = inner.list_sessions(id).await?;
                let set = inner.set_disabled(id, disabled).await?;
                restore_sessions(inner, sessions).await?;
                Ok(set)
            }
            Fault::KeysSurviveDisabling => {
                let inner = self.ask().await?;
                let keys = keys_of(inner, id).await?;
                let set = inner.set_disabled(id, disabled).await?;
                restore_keys(inner, keys).await?;
                Ok(set)
            }
            _ => self.ask_to_write().await?.set_disabled(id, disabled).await,
        }
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        if self.is(Fault::OldPasswordNotCompared) {
            let key = AccountKey::Id(id.to_owned());
            let account = self.ask().await?.get_account(&key).await?;
            let kept = account.and_then(|account| account.password_hash);
            return self
                .ask_to_write()
                .await?
                .set_password_if(id, kept.as_deref(), new)
                .await;
        }
        match old {
            Some(_) if self.is(Fault::SessionsSurvivePassword) => {
                let inner = self.ask().await?;
                let sessions = inner.list_sessions(id).await?;
                let replaced = inner.set_password_if(id, old, new).await?;
                restore_sessions(inner, sessions).await?;
                Ok(replaced)
            }
            Some(old) if self.is(Fault::VersionNeverGrows) => {
                let kept = match &self.context.authentication {
                    Authentication::Session(id) => Some(id.clone()),
                    _ => None,
                };
                let is_own = self.context.user_id.as_deref() == Some(id);
                let inner = self.ask().await?;
                let replaced = inner.rehash_password_if(id, old, new).await?;
                if replaced {
                    if !is_own {
                        for key in keys_of(inner, id).await? {
                            inner.delete_key(&key.0.id).await?;
                        }
                    }
                    for session in inner.list_sessions(id).await? {
                        if Some(&session.id) != kept.as_ref() {
                            inner.delete_session(&session.id).await?;
                        }
                    }
                }
                Ok(replaced)
            }
            Some(_) if self.is(Fault::KeysSurviveReset) => {
                let inner = self.ask().await?;
                let keys = keys_of(inner, id).await?;
                let replaced = inner.set_password_if(id, old, new).await?;
                restore_keys(inner, keys).await?;
                Ok(replaced)
            }
            _ => {
                let replaced = self.ask_to_write().await?.set_password_if(id, old, new).await?;
                if replaced && self.is(Fault::VersionShared) {
                    self.add_version("");
                }
                Ok(replaced)
            }
        }
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        match self.is(Fault::RehashEndsSessions) {
            true => self.ask().await?.set_password_if(id, Some(old), new).await,
            false => {
                let replaced = self
                    .ask_to_write()
                    .await?
                    .rehash_password_if(id, old, new)
                    .await?;
                if replaced && self.is(Fault::VersionGrowsWithRehash) {
                    self.add_version(id);
                }
                Ok(replaced)
            }
        }
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        if !self.is(Fault::UserLeavesEverythingBehind) {
            return self.ask_to_write().await?.delete_user(id).await;
        }
        let there = self.ask().await?.get_user(id).await?.is_some() && !self.is_hidden(id);
        if there {
            let profile = Profile {
                name: format!("deleted {id}"),
                name_key: format!("deleted {id}"),
                email: None,
                email_verified: None,
            };
            self.ask().await?.set_profile(id, &profile).await?;
            self.hidden.lock().unwrap().insert(id.to_owned());
        }
        Ok(there)
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        let except = match self.fault {
            Fault::OneselfIsAnotherAdmin => "",
            _ => except,
        };
        if self.is(Fault::DisabledAdminCounts) {
            let groups = self.ask().await?.list_groups().await?;
            let mut members = groups
                .iter()
                .filter(|group| group.permissions.iter().any(|held| held == ADMIN))
                .flat_map(|group| &group.members);
            return Ok(members.any(|member| member.id != except));
        }
        self.ask().await?.has_another_admin(except).await
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        self.ask_to_write().await?.grant_admin(id).await
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        if self.is(Fault::MemberTwiceIsFalse) {
            let groups = self.ask().await?.list_groups().await?;
            let mut members = groups
                .iter()
                .filter(|group| group.id == group_id)
                .flat_map(|group| &group.members);
            if members.any(|member| member.id == user_id) {
                return Ok(false);
            }
        }
        self.ask_to_write().await?.add_to_group(user_id, group_id).await
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        let now = match self.fault {
            Fault::InviteGoodAtItsEnd => now.saturating_sub(1),
            _ => now,
        };
        self.ask().await?.has_invite(id, token, now).await
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        match self.is(Fault::InviteTakenTwice) {
            true => self.ask().await?.has_invite(id, token, now).await,
            false => self.ask_to_write().await?.take_invite(id, token, now).await,
        }
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        self.ask().await?.can_view_board(user_id, board_id).await
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.ask().await?.has_search_engine(id).await
    }

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        let id = match self.fault {
            Fault::IdsAreTrimmed => id.trim(),
            _ => id,
        };
        let viewer = match self.fault {
            Fault::ViewIgnoredByGet => Viewer::Everything,
            _ => self.viewer(viewer).await?,
        };
        let hidden = self.is_hidden(id);
        let app = self.ask().await?.get_app(id, &viewer).await?;
        let apps = app.into_iter().filter(|_| !hidden).collect();
        Ok(self.without_public(apps, &viewer).await?.pop())
    }

    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        let viewer = match self.fault {
            Fault::ViewIgnoredByGetMany => Viewer::Everything,
            _ => self.viewer(viewer).await?,
        };
        let mut apps = self.ask().await?.get_apps(ids, &viewer).await?;
        apps.retain(|app| !self.is_hidden(&app.id));
        self.without_public(apps, &viewer).await
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        let mut apps = match self.fault {
            Fault::ViewIgnoredByList | Fault::PageBeforeView => {
                let viewer = Viewer::Everything;
                let name_contains = filter.name_contains.clone();
                self.apps(&AppFilter {
                    viewer,
                    name_contains,
                })
                .await?
            }
            _ => self.apps(filter).await?,
        };
        let offset = match self.fault {
            Fault::OffsetIgnored => 0,
            _ => slice.offset as usize,
        };
        let limit = match self.fault {
            Fault::NoLimitIsTen => slice.limit.map_or(10, |limit| limit as usize),
            _ => slice.limit.map_or(usize::MAX, |limit| limit as usize),
        };
        apps = apps.into_iter().skip(offset).take(limit).collect();
        if self.is(Fault::PageBeforeView) {
            let seen = self.apps(filter).await?;
            apps.retain(|app| seen.contains(app));
        }
        Ok(apps)
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        let mut filter = filter.clone();
        if self.is(Fault::ViewIgnoredByCount) {
            filter.viewer = Viewer::Everything;
        }
        Ok(self.apps(&filter).await?.len() as u32)
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        for app in apps {
            self.check_id(&app.app.id)?;
        }
        let mut apps = apps.to_vec();
        match self.fault {
            Fault::UnheldIdIgnored => apps.retain(|app| is_uuid(&app.app.id)),
            Fault::DuplicateIdReplaces => {
                let mut new = Vec::new();
                for app in apps {
                    let is_new = |other: &StoredApp| other.app.id != app.app.id;
                    if !self.ask_to_write().await?.update_app(&app).await? && new.iter().all(is_new) {
                        new.push(app);
                    }
                }
                apps = new;
            }
            _ => {}
        }
        let inserted = self.ask_to_write().await?.insert_apps(&apps).await;
        self.inserted(inserted)
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.ask_to_write().await?.update_app(app).await
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        if !self.is(Fault::AppStaysOnBoards) {
            return self.ask_to_write().await?.delete_app(id).await;
        }
        let app = self.ask().await?.get_app(id, &Viewer::Everything).await?;
        let there = app.is_some();
        Ok(there && self.hidden.lock().unwrap().insert(id.to_owned()))
    }
}

/// The API keys of a user, with the hashes of their secrets.
async fn keys_of(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
) -> Result<Vec<(ApiKey, SecretHash)>> {
    let mut found = Vec::new();
    for key in transaction.list_keys(Some(user_id)).await? {
        let by_id = CredentialKey::Key(key.id.clone());
        if let Some(credential) = transaction.find_credential(&by_id).await? {
            found.push((key, credential.secret));
        }
    }
    Ok(found)
}

/// Stores those of these sessions again that are gone.
async fn restore_sessions(transaction: &mut dyn DashboardTransaction, sessions: Vec<Session>) -> Result<()> {
    for session in sessions {
        let left = transaction.list_sessions(&session.user_id).await?;
        if left.iter().all(|other| other.id != session.id) {
            transaction
                .insert_session(&session, &hash_secret(&session.id))
                .await?;
        }
    }
    Ok(())
}

/// Stores those of these keys again that are gone.
async fn restore_keys(
    transaction: &mut dyn DashboardTransaction,
    keys: Vec<(ApiKey, SecretHash)>,
) -> Result<()> {
    for (key, secret) in keys {
        let by_id = CredentialKey::Key(key.id.clone());
        if transaction.find_credential(&by_id).await?.is_none() {
            transaction.insert_key(&key, &secret).await?;
        }
    }
    Ok(())
}
