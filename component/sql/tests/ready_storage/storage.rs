//! The ready storage as an implementation of `portico-storage`, for the storage kit. Each transaction has an instance of its
//! own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};
use portico_storage::{
    self as ours, Access, Account, AccountKey, AppFilter, CallContext, Error, ListedUser, NewUser, Profile,
    ProviderSubject, Result, Slice, Storage, StoredApp, Transaction, UserFilter, Viewer,
};
use tokio::task::block_in_place;
use wasmtime::Store;
use wasmtime::component::{HasSelf, Linker, ResourceAny};

use crate::bindings::alone::exports::portico::dashboard::storage as contract;
use crate::bindings::alone::{ReadyStorage, ReadyStoragePre};
use crate::host::{Dashboard, ENGINE, State, component};

/// The component over a dashboard's database.
#[derive(Clone)]
pub struct Ready {
    pre: Arc<ReadyStoragePre<State>>,
    pub dashboard: Dashboard,
    /// The kit's names of sessions, and the sessions' ids.
    pub sessions: Arc<Mutex<HashMap<String, String>>>,
}

impl Ready {
    pub fn new(dashboard: Dashboard) -> Self {
        let mut linker = Linker::new(&ENGINE);
        ReadyStorage::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state).expect("every import");
        let pre = linker
            .instantiate_pre(&component("portico-sql.wasm"))
            .expect("all that it imports");
        let ready = Self {
            pre: Arc::new(ReadyStoragePre::new(pre).expect("all that it exports")),
            dashboard,
            sessions: Arc::default(),
        };
        let (world, mut store) = ready.instance();
        world
            .portico_sql_people()
            .call_migrate(&mut store)
            .unwrap()
            .expect("tables");
        ready
    }

    /// A fresh instance.
    pub fn instance(&self) -> (ReadyStorage, Store<State>) {
        let mut store = Store::new(&ENGINE, self.dashboard.state());
        let world = self.pre.instantiate(&mut store).expect("an instance");
        (world, store)
    }

    /// The note about a call, which `wit/people.wit` describes.
    fn note(&self, context: &CallContext) -> String {
        let user_id = context.user_id.as_deref().unwrap_or_default();
        let session = context.session_id().unwrap_or_default();
        let session = self
            .sessions
            .lock()
            .unwrap()
            .get(&session)
            .cloned()
            .unwrap_or(session);
        match session.is_empty() && user_id.is_empty() {
            true => String::new(),
            false => format!("{session}\n\n{user_id}"),
        }
    }
}

#[async_trait]
impl Storage for Ready {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let note = self.note(context);
        block_in_place(|| {
            let (world, mut store) = self.instance();
            let access = match access {
                Access::Lookup => contract::Access::Lookup,
                Access::Read => contract::Access::Read,
                Access::Write => contract::Access::Write,
            };
            let begun = world
                .portico_dashboard_storage()
                .call_begin(&mut store, access, &note);
            let handle = Some(answer(begun)?);
            let begun: Box<dyn Transaction> = Box::new(OpenTransaction { world, store, handle });
            Ok(begun)
        })
    }
}

struct OpenTransaction {
    world: ReadyStorage,
    store: Store<State>,
    handle: Option<ResourceAny>,
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            block_in_place(|| handle.resource_drop(&mut self.store)).expect("a handle");
        }
    }
}

fn answer<T>(answered: wasmtime::Result<std::result::Result<T, contract::Error>>) -> Result<T> {
    let answered = answered.map_err(|trap| Error::Unavailable(format!("it trapped: {trap:#}")))?;
    answered.map_err(|error| match error {
        contract::Error::Retry => Error::Retry,
        contract::Error::Constraint(constraint) => Error::Constraint(match constraint {
            contract::Constraint::UserName => ours::Constraint::UserName,
            contract::Constraint::Identity => ours::Constraint::Identity,
            contract::Constraint::Reference => ours::Constraint::Reference,
            contract::Constraint::Id => ours::Constraint::Id,
            contract::Constraint::Other(text) => ours::Constraint::Other(text),
        }),
        contract::Error::TooLarge => Error::TooLarge,
        contract::Error::Unavailable(text) => Error::Unavailable(text),
        contract::Error::Other(text) => Error::Other(text),
    })
}

/// Calls a function of the component's transaction.
macro_rules! ask {
    ($this:ident.$function:ident($($argument:expr),*)) => {{
        let OpenTransaction { world, store, handle } = $this;
        let handle = handle.expect("it is open");
        let storage = world.portico_dashboard_storage();
        answer(block_in_place(|| storage.transaction().$function(store, handle, $($argument),*)))
    }};
}

#[async_trait]
impl Transaction for OpenTransaction {
    async fn commit(mut self: Box<Self>) -> Result<()> {
        let handle = self.handle.take().expect("it is open");
        let this = &mut *self;
        let storage = this.world.portico_dashboard_storage();
        answer(block_in_place(|| {
            storage.transaction().call_commit(&mut this.store, handle)
        }))
    }

    async fn has_users(&mut self) -> Result<bool> {
        ask!(self.call_has_users())
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        ask!(self.call_get_user(&id.to_owned()))
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        let key = match key.clone() {
            AccountKey::Id(id) => contract::AccountKey::Id(id),
            AccountKey::Name(name) => contract::AccountKey::Name(contract::ProviderName {
                provider: name.provider,
                name_key: name.name_key,
            }),
            AccountKey::Subject(subject) => contract::AccountKey::Subject(of_subject(&subject)),
        };
        let account = ask!(self.call_get_account(&key))?;
        Ok(account.map(|account| Account {
            id: account.id,
            name: account.name,
            provider: account.provider,
            disabled: account.disabled,
            password_hash: account.password_hash,
            password_version: account.password_version,
        }))
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        let users = ask!(self.call_list_users(&of_filter(filter), of_slice(slice), with_images))?;
        let listed = |user: contract::ListedUser| ListedUser {
            id: user.id,
            name: user.name,
            email: user.email,
            email_verified: user.email_verified,
            provider: user.provider,
            disabled: user.disabled,
            image: user.image,
        };
        Ok(users.into_iter().map(listed).collect())
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        ask!(self.call_count_users(&of_filter(filter)))
    }

    async fn insert_user(&mut self, new: &NewUser) -> Result<()> {
        let new = contract::NewUser {
            user: new.user.clone(),
            name_key: new.name_key.clone(),
            color_scheme: new.color_scheme,
            password_hash: new.password_hash.clone(),
        };
        ask!(self.call_insert_user(&new))
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        ask!(self.call_insert_identity(&user_id.to_owned(), &of_subject(subject)))
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        let profile = contract::Profile {
            name: profile.name.clone(),
            name_key: profile.name_key.clone(),
            email: profile.email.clone(),
            email_verified: profile.email_verified,
        };
        ask!(self.call_set_profile(&id.to_owned(), &profile))
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        ask!(self.call_set_image(&id.to_owned(), image))
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        ask!(self.call_set_home_boards(&id.to_owned(), boards))
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        ask!(self.call_set_search_preferences(&id.to_owned(), preferences))
    }

    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool> {
        ask!(self.call_set_color_scheme(&id.to_owned(), color_scheme))
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        ask!(self.call_set_ping_icons_enabled(&id.to_owned(), enabled))
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        ask!(self.call_set_first_day_of_week(&id.to_owned(), day))
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        ask!(self.call_set_disabled(&id.to_owned(), disabled))
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        ask!(self.call_set_password_if(&id.to_owned(), old, new))
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        ask!(self.call_rehash_password_if(&id.to_owned(), old, new))
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        ask!(self.call_delete_user(&id.to_owned()))
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        ask!(self.call_has_another_admin(&except.to_owned()))
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        ask!(self.call_grant_admin(&id.to_owned()))
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        ask!(self.call_add_to_group(&user_id.to_owned(), &group_id.to_owned()))
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        ask!(self.call_has_invite(&id.to_owned(), token, now))
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        ask!(self.call_take_invite(&id.to_owned(), token, now))
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        ask!(self.call_can_view_board(&user_id.to_owned(), &board_id.to_owned()))
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        ask!(self.call_has_search_engine(&id.to_owned()))
    }

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        ask!(self.call_get_app(&id.to_owned(), &of_viewer(viewer)))
    }

    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        ask!(self.call_get_apps(ids, &of_viewer(viewer)))
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        ask!(self.call_list_apps(&of_app_filter(filter), of_slice(slice)))
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        ask!(self.call_count_apps(&of_app_filter(filter)))
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        let apps: Vec<_> = apps.iter().map(of_app).collect();
        ask!(self.call_insert_apps(&apps))
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        ask!(self.call_update_app(&of_app(app)))
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        ask!(self.call_delete_app(&id.to_owned()))
    }
}

fn of_subject(subject: &ProviderSubject) -> contract::ProviderSubject {
    contract::ProviderSubject {
        provider: subject.provider,
        subject: subject.subject.clone(),
    }
}

fn of_filter(filter: &UserFilter) -> contract::UserFilter {
    contract::UserFilter {
        provider: filter.provider,
        name_contains: filter.name_contains.clone(),
        email: filter.email.clone(),
        disabled: filter.disabled,
    }
}

fn of_slice(slice: Slice) -> contract::Slice {
    contract::Slice {
        offset: slice.offset,
        limit: slice.limit,
    }
}

fn of_viewer(viewer: &Viewer) -> contract::Viewer {
    match viewer {
        Viewer::Everything => contract::Viewer::Everything,
        Viewer::Anonymous => contract::Viewer::Anonymous,
        Viewer::User(id) => contract::Viewer::User(id.clone()),
    }
}

fn of_app_filter(filter: &AppFilter) -> contract::AppFilter {
    contract::AppFilter {
        viewer: of_viewer(&filter.viewer),
        name_contains: filter.name_contains.clone(),
    }
}

fn of_app(app: &StoredApp) -> contract::StoredApp {
    contract::StoredApp {
        app: app.app.clone(),
        name_key: app.name_key.clone(),
    }
}
