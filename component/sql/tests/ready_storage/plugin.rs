//! The composed file, as a host runs it: an instance for each call.

use std::sync::Arc;

use portico_model::{Caller, Error, NewAccount};
use wasmtime::Store;
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::composed::exports::portico::sql::people::{Authenticated, NewSession};
use crate::bindings::composed::{ReadyPlugin, ReadyPluginPre};
use crate::host::{Dashboard, ENGINE, State, component};

/// The rules over the ready storage.
#[derive(Clone)]
pub struct Plugin {
    pre: Arc<ReadyPluginPre<State>>,
    pub dashboard: Dashboard,
}

/// Calls a function of an interface in a fresh instance.
macro_rules! call {
    ($plugin:expr, $interface:ident.$function:ident($($argument:expr),* $(,)?)) => {{
        let (world, mut store) = $plugin.instance();
        world.$interface().$function(&mut store, $($argument),*).expect("no trap")
    }};
}
pub(crate) use call;

pub const PASSWORD: &str = "correct horse";

impl Plugin {
    /// Without tables yet.
    pub fn without_tables(dashboard: Dashboard) -> Self {
        let mut linker = Linker::new(&ENGINE);
        ReadyPlugin::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state).expect("every import");
        let pre = linker
            .instantiate_pre(&component("portico-with-sql.wasm"))
            .expect("all that it imports");
        let pre = ReadyPluginPre::new(pre).expect("all that it exports");
        Self {
            pre: Arc::new(pre),
            dashboard,
        }
    }

    /// With tables.
    pub fn new(dashboard: Dashboard) -> Self {
        let plugin = Self::without_tables(dashboard);
        plugin.migrate().expect("tables");
        plugin
    }

    /// The same component on another dashboard.
    pub fn on(&self, dashboard: Dashboard) -> Self {
        let pre = self.pre.clone();
        Self { pre, dashboard }
    }

    pub fn instance(&self) -> (ReadyPlugin, Store<State>) {
        let mut store = Store::new(&ENGINE, self.dashboard.state());
        let world = self.pre.instantiate(&mut store).expect("an instance");
        (world, store)
    }

    pub fn migrate(&self) -> Result<(), Error> {
        call!(self, portico_sql_people.call_migrate())
    }

    /// The first user, an administrator. Returns the id.
    pub fn init(&self, name: &str) -> String {
        let created = call!(
            self,
            portico_dashboard_users.call_init_user(&anonymous(), &account(name))
        );
        created.expect("a user")
    }

    /// As a dashboard's sign-in does it.
    pub fn sign_in(&self, name: &str, password: &str) -> Result<NewSession, Error> {
        let signed_in = call!(
            self,
            portico_dashboard_sign_in.call_password(&String::new(), name, password)
        )?;
        call!(
            self,
            portico_sql_people.call_begin_session(&signed_in.id, signed_in.password_version)
        )
    }

    pub fn authenticate(&self, secret: &str) -> Option<Authenticated> {
        call!(self, portico_sql_people.call_authenticate(secret)).expect("no refusal")
    }
}

pub fn anonymous() -> Caller {
    Caller {
        user: None,
        context: String::new(),
    }
}

pub fn account(name: &str) -> NewAccount {
    NewAccount {
        username: name.into(),
        password: PASSWORD.into(),
        email: Some(format!("{name}@example.com")),
    }
}
