//! The interface `storage` of the contract.

use std::cell::{Cell, RefCell, RefMut};

use portico_storage::{AppFilter, Transaction as _, Viewer};

use crate::ReadyStorage;
use crate::bindings::storage::{
    self, Access, Account, AccountKey, Error, Guest, GuestTransaction, ListedUser, NewUser, Profile,
    ProviderSubject, Slice, StoredApp, UserFilter,
};
use crate::bindings::surroundings::{self, VisibleApps};
use crate::bindings::types::{App, ColorScheme, Context, HomeBoards, Id, SearchPreferences, Timestamp, User};
use crate::executor::now;
use crate::note::Note;
use crate::transaction::{Transaction, open};

type Result<T> = std::result::Result<T, Error>;

/// The most apps that a view may name.
const MOST_VISIBLE: usize = 10_000;

impl Guest for ReadyStorage {
    type Transaction = StorageTransaction;

    fn begin(access: Access, context: Context) -> Result<storage::Transaction> {
        let note = Note::read(&context).ok_or_else(|| {
            Error::Unavailable("the context of the call is not one of portico:sql/people".into())
        })?;
        let transaction = open(access.into(), &note.context())?;
        Ok(storage::Transaction::new(StorageTransaction {
            inner: RefCell::new(transaction),
            failed: Cell::new(false),
        }))
    }
}

/// One transaction of the contract.
pub struct StorageTransaction {
    inner: RefCell<Transaction>,
    /// Whether the dashboard's own part of it has failed. (`portico-sql` knows of its part.)
    failed: Cell<bool>,
}

impl StorageTransaction {
    /// Nothing here calls back, so it is never borrowed twice.
    fn inner(&self) -> RefMut<'_, Transaction> {
        self.inner.borrow_mut()
    }

    /// What the dashboard answered. A transaction in which it failed cannot be committed.
    fn surroundings<T>(&self, answered: std::result::Result<T, String>) -> Result<T> {
        answered.map_err(|reason| {
            self.failed.set(true);
            Error::Unavailable(format!("the surroundings: {reason}"))
        })
    }

    /// Refuses a reference to something of the dashboard's that is not there.
    fn require(&self, there: std::result::Result<bool, String>) -> Result<()> {
        if self.surroundings(there)? {
            return Ok(());
        }
        self.failed.set(true);
        Err(Error::Constraint(storage::Constraint::Reference))
    }

    /// The apps that a viewer sees; `None` is all of them.
    fn visible(&self, viewer: storage::Viewer) -> Result<Option<Vec<Id>>> {
        let user = match &viewer {
            storage::Viewer::Everything => return Ok(None),
            storage::Viewer::Anonymous => None,
            storage::Viewer::User(id) => Some(&id[..]),
        };
        let ids = match self.surroundings(surroundings::visible_apps_of(user))? {
            VisibleApps::All => return Ok(None),
            VisibleApps::Only(ids) => ids,
        };
        let many = ids.len() > MOST_VISIBLE;
        let refusal = || format!("visible-apps-of: at most {MOST_VISIBLE} apps, got {}", ids.len());
        self.surroundings(if many { Err(refusal()) } else { Ok(()) })?;
        Ok(Some(ids))
    }
}

/// Every name contains it.
fn contained(text: Option<String>) -> String {
    text.unwrap_or_default()
}

/// What storage returned, in the contract's types.
fn answer<T, U: From<T>>(answered: portico_storage::Result<T>) -> Result<U> {
    answered.map(U::from).map_err(Error::from)
}

fn answer_list<T, U: From<T>>(answered: portico_storage::Result<Vec<T>>) -> Result<Vec<U>> {
    let list = answered.map_err(Error::from)?;
    Ok(list.into_iter().map(U::from).collect())
}

fn answer_option<T, U: From<T>>(answered: portico_storage::Result<Option<T>>) -> Result<Option<U>> {
    Ok(answered.map_err(Error::from)?.map(U::from))
}

impl GuestTransaction for StorageTransaction {
    fn commit(this: storage::Transaction) -> Result<()> {
        let Self { inner, failed } = this.into_inner();
        if failed.into_inner() {
            return answer(Err(portico_storage::driver::failed_before()));
        }
        answer(now(Box::new(inner.into_inner()).commit()))
    }

    fn has_users(&self) -> Result<bool> {
        answer(now(self.inner().has_users()))
    }

    fn get_user(&self, id: Id) -> Result<Option<User>> {
        answer_option(now(self.inner().get_user(&id)))
    }

    fn get_account(&self, key: AccountKey) -> Result<Option<Account>> {
        answer_option(now(self.inner().get_account(&key.into())))
    }

    fn list_users(&self, filter: UserFilter, slice: Slice, with_images: bool) -> Result<Vec<ListedUser>> {
        answer_list(now(self.inner().list_users(
            &filter.into(),
            slice.into(),
            with_images,
        )))
    }

    fn count_users(&self, filter: UserFilter) -> Result<u32> {
        answer(now(self.inner().count_users(&filter.into())))
    }

    fn insert_user(&self, user: NewUser) -> Result<()> {
        answer(now(self.inner().insert_user(&user.into())))
    }

    fn insert_identity(&self, user_id: Id, subject: ProviderSubject) -> Result<()> {
        answer(now(self.inner().insert_identity(&user_id, &subject.into())))
    }

    fn set_profile(&self, id: Id, profile: Profile) -> Result<bool> {
        answer(now(self.inner().set_profile(&id, &profile.into())))
    }

    fn set_image(&self, id: Id, image: Option<String>) -> Result<bool> {
        answer(now(self.inner().set_image(&id, image.as_deref())))
    }

    fn set_home_boards(&self, id: Id, boards: HomeBoards) -> Result<bool> {
        for board_id in [&boards.home_board_id, &boards.mobile_home_board_id]
            .into_iter()
            .flatten()
        {
            self.require(surroundings::can_view_board(&id, board_id))?;
        }
        answer(now(self.inner().set_home_boards(&id, &boards.into())))
    }

    fn set_search_preferences(&self, id: Id, preferences: SearchPreferences) -> Result<bool> {
        if let Some(engine_id) = &preferences.default_search_engine_id {
            self.require(surroundings::has_search_engine(engine_id))?;
        }
        answer(now(self.inner().set_search_preferences(&id, &preferences.into())))
    }

    fn set_color_scheme(&self, id: Id, color_scheme: ColorScheme) -> Result<bool> {
        answer(now(self.inner().set_color_scheme(&id, color_scheme.into())))
    }

    fn set_ping_icons_enabled(&self, id: Id, enabled: bool) -> Result<bool> {
        answer(now(self.inner().set_ping_icons_enabled(&id, enabled)))
    }

    fn set_first_day_of_week(&self, id: Id, day: u8) -> Result<bool> {
        answer(now(self.inner().set_first_day_of_week(&id, day)))
    }

    fn set_disabled(&self, id: Id, disabled: bool) -> Result<bool> {
        answer(now(self.inner().set_disabled(&id, disabled)))
    }

    fn set_password_if(&self, id: Id, old: Option<String>, new: String) -> Result<bool> {
        answer(now(self.inner().set_password_if(&id, old.as_deref(), &new)))
    }

    fn rehash_password_if(&self, id: Id, old: String, new: String) -> Result<bool> {
        answer(now(self.inner().rehash_password_if(&id, &old, &new)))
    }

    fn delete_user(&self, id: Id) -> Result<bool> {
        answer(now(self.inner().delete_user(&id)))
    }

    fn has_another_admin(&self, except: Id) -> Result<bool> {
        answer(now(self.inner().has_another_admin(&except)))
    }

    fn grant_admin(&self, id: Id) -> Result<()> {
        answer(now(self.inner().grant_admin(&id)))
    }

    fn add_to_group(&self, user_id: Id, group_id: Id) -> Result<bool> {
        answer(now(self.inner().add_to_group(&user_id, &group_id)))
    }

    fn has_invite(&self, id: Id, token: String, moment: Timestamp) -> Result<bool> {
        answer(now(self.inner().has_invite(&id, &token, moment)))
    }

    fn take_invite(&self, id: Id, token: String, moment: Timestamp) -> Result<bool> {
        answer(now(self.inner().take_invite(&id, &token, moment)))
    }

    fn can_view_board(&self, user_id: Id, board_id: Id) -> Result<bool> {
        self.surroundings(surroundings::can_view_board(&user_id, &board_id))
    }

    fn has_search_engine(&self, id: Id) -> Result<bool> {
        self.surroundings(surroundings::has_search_engine(&id))
    }

    fn get_app(&self, id: Id, viewer: storage::Viewer) -> Result<Option<App>> {
        match self.visible(viewer)? {
            Some(ids) if !ids.contains(&id) => Ok(None),
            _ => answer_option(now(self.inner().get_app(&id, &Viewer::Everything))),
        }
    }

    fn get_apps(&self, mut ids: Vec<Id>, viewer: storage::Viewer) -> Result<Vec<App>> {
        if let Some(visible) = self.visible(viewer)? {
            let visible: std::collections::HashSet<_> = visible.into_iter().collect();
            ids.retain(|id| visible.contains(id));
        }
        answer_list(now(self.inner().get_apps(&ids, &Viewer::Everything)))
    }

    fn list_apps(&self, filter: storage::AppFilter, slice: Slice) -> Result<Vec<App>> {
        let text = filter.name_contains;
        match self.visible(filter.viewer)? {
            None => {
                let filter = AppFilter {
                    name_contains: text,
                    ..AppFilter::EVERYTHING
                };
                answer_list(now(self.inner().list_apps(&filter, slice.into())))
            }
            Some(ids) => answer_list(now(self.inner().list_apps_among(
                &ids,
                &contained(text),
                slice.into(),
            ))),
        }
    }

    fn count_apps(&self, filter: storage::AppFilter) -> Result<u32> {
        let text = filter.name_contains;
        match self.visible(filter.viewer)? {
            None => {
                let filter = AppFilter {
                    name_contains: text,
                    ..AppFilter::EVERYTHING
                };
                answer(now(self.inner().count_apps(&filter)))
            }
            Some(ids) => answer(now(self.inner().count_apps_among(&ids, &contained(text)))),
        }
    }

    fn insert_apps(&self, apps: Vec<StoredApp>) -> Result<()> {
        let apps: Vec<_> = apps.into_iter().map(Into::into).collect();
        answer(now(self.inner().insert_apps(&apps)))
    }

    fn update_app(&self, app: StoredApp) -> Result<bool> {
        answer(now(self.inner().update_app(&app.into())))
    }

    fn delete_app(&self, id: Id) -> Result<bool> {
        answer(now(self.inner().delete_app(&id)))
    }
}
