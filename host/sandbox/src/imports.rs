//! What the component may reach: storage, icons, the log, the time and random bytes.
//!
//! Each function passes its arguments on and its result back. A refusal by storage is a result that the component sees.
//! A handle that the component does not hold, or a number beyond a limit, ends its call.

use std::{sync::Arc, time::Instant};

use tokio::time::{sleep, timeout_at};
use tracing::{debug, error, info, warn};
use wasmtime::{bail, component::Resource, ensure};

use crate::{
    bindings::{
        portico::dashboard::{icons, log, storage},
        wasi::{clocks::wall_clock, random::random},
    },
    limits::{AbortReason, Writing},
    state::State,
    transaction::OpenTransaction,
};
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, User};
use portico_storage::Transaction;
use storage::{
    Access, Account, AccountKey, AppFilter, Error, ListedUser, NewUser, Profile, ProviderSubject, Slice,
    StoredApp, UserFilter, Viewer,
};

type ImportResult<T> = wasmtime::Result<Result<T, Error>>;
type Handle = Resource<OpenTransaction>;

impl State {
    fn transaction(&mut self, handle: &Handle) -> wasmtime::Result<&mut dyn Transaction> {
        Ok(&mut *self.table.get_mut(handle)?.0)
    }

    fn end(&mut self, handle: Handle) -> wasmtime::Result<OpenTransaction> {
        self.budget.writing = Writing::No;
        Ok(self.table.delete(handle)?)
    }

    /// Converts a result of storage to the contract's types, and counts it if it is a collision.
    fn convert<T, U: From<T>>(&mut self, answer: portico_storage::Result<T>) -> ImportResult<U> {
        if matches!(answer, Err(portico_storage::Error::Retry)) {
            self.budget.collisions.count_collision();
        }
        Ok(answer.map(U::from).map_err(Error::from))
    }

    /// Waits if the previous transaction of the call collided. No transaction is open meanwhile: a call inside a
    /// transaction of the host does not wait, and is not tried again. The call keeps its permits.
    async fn wait_after_collision(&mut self) {
        if !Arc::ptr_eq(&self.storage, &self.imports.storage) {
            return;
        }
        let random = &self.imports.random;
        let share = || {
            let mut bytes = [0; 4];
            random.fill(&mut bytes);
            f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
        };
        if let Some(wait) = self.budget.collisions.next_wait(share) {
            // Boxed to keep the common future small.
            Box::pin(self.budget.meter.clone().wait(sleep(wait))).await;
        }
    }

    /// Refuses a list that is longer than the contract allows.
    fn check_entries<T>(&self, list: &[T]) -> wasmtime::Result<()> {
        ensure!(list.len() <= self.limits.entries, AbortReason::LongList);
        Ok(())
    }
}

/// Calls a function of a transaction and converts its result.
macro_rules! ask {
    ($state:ident, $this:ident.$function:ident($($argument:expr),*)) => {{
        let meter = $state.budget.meter.clone();
        let answer = meter.wait($state.transaction(&$this)?.$function($($argument),*)).await;
        $state.convert(answer)
    }};
}

/// The same for a function that may take long. It stops when the call has to end.
macro_rules! ask_until_the_end {
    ($state:ident, $this:ident.$function:ident($($argument:expr),*)) => {{
        let (end, meter) = ($state.budget.end(), $state.budget.meter.clone());
        let answer = until(end, meter.wait($state.transaction(&$this)?.$function($($argument),*))).await?;
        $state.convert(answer)
    }};
}

/// Waits until the call has to end. Then it drops the wait, so that storage stops the statement.
async fn until<T>(
    (end, reason): (Instant, AbortReason),
    wait: impl Future<Output = T>,
) -> wasmtime::Result<T> {
    timeout_at(end.into(), wait).await.map_err(|_| reason.into())
}

impl storage::Host for State {
    async fn begin(&mut self, access: Access, context: String) -> ImportResult<Handle> {
        ensure!(*context == *self.context.request_id, AbortReason::OtherContext);
        // It could wait for itself, or take connections that others wait for.
        ensure!(self.table.is_empty(), AbortReason::SecondTransaction);
        self.wait_after_collision().await;
        let meter = self.budget.meter.clone();
        let transaction = meter.wait(self.storage.begin(access.into(), &self.context)).await;
        let transaction = match self.convert(transaction)? {
            Ok(transaction) => transaction,
            Err(error) => return Ok(Err(error)),
        };
        if access == Access::Write {
            self.budget.writing = Writing::Waiting;
        }
        Ok(Ok(self.table.push(OpenTransaction(transaction))?))
    }
}

impl storage::HostTransaction for State {
    async fn commit(&mut self, this: Handle) -> ImportResult<()> {
        let OpenTransaction(transaction) = self.end(this)?;
        let committed = self.budget.meter.clone().wait(transaction.commit()).await;
        self.convert(committed)
    }

    async fn drop(&mut self, this: Handle) -> wasmtime::Result<()> {
        self.end(this)?;
        Ok(())
    }

    async fn has_users(&mut self, this: Handle) -> ImportResult<bool> {
        ask!(self, this.has_users())
    }

    async fn get_user(&mut self, this: Handle, id: String) -> ImportResult<Option<User>> {
        ask!(self, this.get_user(&id))
    }

    async fn get_account(&mut self, this: Handle, key: AccountKey) -> ImportResult<Option<Account>> {
        let found: Result<Option<portico_storage::Account>, _> = ask!(self, this.get_account(&key.into()))?;
        Ok(found.map(|account| account.map(Account::from)))
    }

    async fn list_users(
        &mut self,
        this: Handle,
        filter: UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> ImportResult<Vec<ListedUser>> {
        let listed: Result<Vec<portico_storage::ListedUser>, _> =
            ask_until_the_end!(self, this.list_users(&filter.into(), slice.into(), with_images))?;
        Ok(listed.map(|users| users.into_iter().map(ListedUser::from).collect()))
    }

    async fn count_users(&mut self, this: Handle, filter: UserFilter) -> ImportResult<u32> {
        ask_until_the_end!(self, this.count_users(&filter.into()))
    }

    async fn insert_user(&mut self, this: Handle, user: NewUser) -> ImportResult<()> {
        ask!(self, this.insert_user(&user.into()))
    }

    async fn insert_identity(
        &mut self,
        this: Handle,
        user_id: String,
        subject: ProviderSubject,
    ) -> ImportResult<()> {
        ask!(self, this.insert_identity(&user_id, &subject.into()))
    }

    async fn set_profile(&mut self, this: Handle, id: String, profile: Profile) -> ImportResult<bool> {
        ask!(self, this.set_profile(&id, &profile.into()))
    }

    async fn set_image(&mut self, this: Handle, id: String, image: Option<String>) -> ImportResult<bool> {
        ask!(self, this.set_image(&id, image.as_deref()))
    }

    async fn set_home_boards(&mut self, this: Handle, id: String, boards: HomeBoards) -> ImportResult<bool> {
        ask!(self, this.set_home_boards(&id, &boards))
    }

    async fn set_search_preferences(
        &mut self,
        this: Handle,
        id: String,
        preferences: SearchPreferences,
    ) -> ImportResult<bool> {
        ask!(self, this.set_search_preferences(&id, &preferences))
    }

    async fn set_color_scheme(
        &mut self,
        this: Handle,
        id: String,
        scheme: ColorScheme,
    ) -> ImportResult<bool> {
        ask!(self, this.set_color_scheme(&id, scheme))
    }

    async fn set_ping_icons_enabled(
        &mut self,
        this: Handle,
        id: String,
        enabled: bool,
    ) -> ImportResult<bool> {
        ask!(self, this.set_ping_icons_enabled(&id, enabled))
    }

    async fn set_first_day_of_week(&mut self, this: Handle, id: String, day: u8) -> ImportResult<bool> {
        ask!(self, this.set_first_day_of_week(&id, day))
    }

    async fn set_disabled(&mut self, this: Handle, id: String, disabled: bool) -> ImportResult<bool> {
        ask!(self, this.set_disabled(&id, disabled))
    }

    async fn set_password_if(
        &mut self,
        this: Handle,
        id: String,
        old: Option<String>,
        new: String,
    ) -> ImportResult<bool> {
        ask!(self, this.set_password_if(&id, old.as_deref(), &new))
    }

    async fn rehash_password_if(
        &mut self,
        this: Handle,
        id: String,
        old: String,
        new: String,
    ) -> ImportResult<bool> {
        ask!(self, this.rehash_password_if(&id, &old, &new))
    }

    async fn delete_user(&mut self, this: Handle, id: String) -> ImportResult<bool> {
        ask_until_the_end!(self, this.delete_user(&id))
    }

    async fn has_another_admin(&mut self, this: Handle, except: String) -> ImportResult<bool> {
        ask_until_the_end!(self, this.has_another_admin(&except))
    }

    async fn grant_admin(&mut self, this: Handle, id: String) -> ImportResult<()> {
        ask!(self, this.grant_admin(&id))
    }

    async fn add_to_group(&mut self, this: Handle, user_id: String, group_id: String) -> ImportResult<bool> {
        ask!(self, this.add_to_group(&user_id, &group_id))
    }

    async fn has_invite(&mut self, this: Handle, id: String, token: String, now: u64) -> ImportResult<bool> {
        ask!(self, this.has_invite(&id, &token, now))
    }

    async fn take_invite(&mut self, this: Handle, id: String, token: String, now: u64) -> ImportResult<bool> {
        ask!(self, this.take_invite(&id, &token, now))
    }

    async fn can_view_board(
        &mut self,
        this: Handle,
        user_id: String,
        board_id: String,
    ) -> ImportResult<bool> {
        ask_until_the_end!(self, this.can_view_board(&user_id, &board_id))
    }

    async fn has_search_engine(&mut self, this: Handle, id: String) -> ImportResult<bool> {
        ask!(self, this.has_search_engine(&id))
    }

    async fn get_app(&mut self, this: Handle, id: String, viewer: Viewer) -> ImportResult<Option<App>> {
        ask!(self, this.get_app(&id, &viewer.into()))
    }

    async fn get_apps(&mut self, this: Handle, ids: Vec<String>, viewer: Viewer) -> ImportResult<Vec<App>> {
        self.check_entries(&ids)?;
        ask_until_the_end!(self, this.get_apps(&ids, &viewer.into()))
    }

    async fn list_apps(&mut self, this: Handle, filter: AppFilter, slice: Slice) -> ImportResult<Vec<App>> {
        ask_until_the_end!(self, this.list_apps(&filter.into(), slice.into()))
    }

    async fn count_apps(&mut self, this: Handle, filter: AppFilter) -> ImportResult<u32> {
        ask_until_the_end!(self, this.count_apps(&filter.into()))
    }

    async fn insert_apps(&mut self, this: Handle, apps: Vec<StoredApp>) -> ImportResult<()> {
        self.check_entries(&apps)?;
        let apps: Vec<_> = apps.into_iter().map(Into::into).collect();
        ask_until_the_end!(self, this.insert_apps(&apps))
    }

    async fn update_app(&mut self, this: Handle, app: StoredApp) -> ImportResult<bool> {
        ask!(self, this.update_app(&app.into()))
    }

    async fn delete_app(&mut self, this: Handle, id: String) -> ImportResult<bool> {
        ask_until_the_end!(self, this.delete_app(&id))
    }
}

impl icons::Host for State {
    async fn find(&mut self, names: Vec<String>) -> wasmtime::Result<Vec<Option<String>>> {
        self.check_entries(&names)?;
        let longest = self.limits.icon_name;
        ensure!(
            names.iter().all(|name| name.len() <= longest),
            AbortReason::LongName
        );
        let (end, meter) = (self.budget.end(), self.budget.meter.clone());
        until(end, meter.wait(self.imports.icons.find(&names))).await
    }

    async fn default_icon(&mut self) -> wasmtime::Result<String> {
        Ok(self.imports.icons.default_icon())
    }
}

impl log::Host for State {
    async fn write(&mut self, level: log::Level, mut message: String) -> wasmtime::Result<()> {
        ensure!(message.len() <= self.limits.record, AbortReason::LongMessage);
        let Some(left) = self.budget.log_messages.checked_sub(1) else {
            return Ok(());
        };
        self.budget.log_messages = left;
        let request = &self.context.request_id;
        if left == 0 {
            warn!(target: "portico::component", %request, "this call reached its limit of log messages; the rest is dropped");
        }
        message.truncate(message.floor_char_boundary(self.limits.log_message));
        match level {
            log::Level::Debug => debug!(target: "portico::component", %request, "{}", message.escape_debug()),
            log::Level::Info => info!(target: "portico::component", %request, "{}", message.escape_debug()),
            log::Level::Warn => warn!(target: "portico::component", %request, "{}", message.escape_debug()),
            log::Level::Error => error!(target: "portico::component", %request, "{}", message.escape_debug()),
        }
        Ok(())
    }
}

impl wall_clock::Host for State {
    async fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let now = self.imports.clock.now();
        Ok(wall_clock::Datetime {
            seconds: now / 1000,
            nanoseconds: (now % 1000) as u32 * 1_000_000,
        })
    }

    async fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime {
            seconds: 0,
            nanoseconds: 1_000_000,
        })
    }
}

impl random::Host for State {
    async fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        let most = self.limits.random_bytes;
        if len > most as u64 {
            bail!("{len} random bytes asked for; at most {most} at once");
        }
        let mut bytes = vec![0; len as usize];
        self.imports.random.fill(&mut bytes);
        Ok(bytes)
    }

    async fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        let mut bytes = [0; 8];
        self.imports.random.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }
}
