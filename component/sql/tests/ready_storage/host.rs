//! What a host gives to the component: a database, surroundings, the time, random bytes and a log.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use portico_storage::secrets::{Random, SystemRandom};
use wasmtime::component::{Component, Resource, ResourceTable};
use wasmtime::{Config, Engine};

use crate::bindings::composed::portico::dashboard::icons;
use crate::bindings::database::{self, Configuration, Dialect, Error, Row, Value};
use crate::bindings::surroundings::{self, VisibleApps};
use crate::bindings::{log, random, wall_clock};

/// A dashboard's database, over its own driver.
pub trait Database: Send + Sync {
    fn dialect(&self) -> Dialect;
    /// A connection on which these statements have run.
    fn begin(&self, opening: &[String]) -> Result<Box<dyn Connection>, Error>;
}

/// A connection. When it is dropped, an open transaction is rolled back.
pub trait Connection: Send {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error>;
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error>;
    fn commit(self: Box<Self>) -> Result<(), Error>;
}

/// What stands behind a handle of the component.
pub struct OpenTransaction(Box<dyn Connection>);

/// Boards and search engines of the dashboard.
pub trait Surroundings: Send + Sync {
    fn can_view_board(&self, user_id: &str, board_id: &str) -> Result<bool, String>;
    fn has_search_engine(&self, id: &str) -> Result<bool, String>;
    fn visible_apps_of(&self, user_id: Option<&str>) -> Result<VisibleApps, String>;
}

/// The default: there are none.
pub struct NoSurroundings;

impl Surroundings for NoSurroundings {
    fn can_view_board(&self, _: &str, _: &str) -> Result<bool, String> {
        Ok(false)
    }

    fn has_search_engine(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }

    fn visible_apps_of(&self, _: Option<&str>) -> Result<VisibleApps, String> {
        Ok(VisibleApps::All)
    }
}

/// A dashboard, as every instance sees it.
#[derive(Clone)]
pub struct Dashboard {
    pub database: Arc<dyn Database>,
    pub surroundings: Arc<dyn Surroundings>,
    pub prefix: String,
    pub session_idle: u64,
    pub session_most: u64,
    /// Milliseconds since 1970.
    pub clock: Arc<AtomicU64>,
    pub counts: Arc<Counts>,
    pub log: Arc<Mutex<Vec<String>>>,
}

/// How often the component called the database.
#[derive(Default)]
pub struct Counts {
    pub look_ups: AtomicUsize,
    pub begins: AtomicUsize,
    pub statements: AtomicUsize,
}

impl Counts {
    fn count(counter: &AtomicUsize) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Look-ups, transactions, and statements of transactions since the last time.
    pub fn take(&self) -> [usize; 3] {
        [&self.look_ups, &self.begins, &self.statements].map(|counter| counter.swap(0, Ordering::Relaxed))
    }
}

/// The first moment of 2026.
pub const NEW_YEAR: u64 = 1_767_225_600_000;
pub const MINUTE: u64 = 60_000;

impl Dashboard {
    pub fn new(database: Arc<dyn Database>) -> Self {
        Self {
            database,
            surroundings: Arc::new(NoSurroundings),
            prefix: "portico_".into(),
            session_idle: 10 * MINUTE,
            session_most: 60 * MINUTE,
            clock: Arc::new(AtomicU64::new(NEW_YEAR)),
            counts: Arc::default(),
            log: Arc::default(),
        }
    }

    pub fn with_prefix(&self, prefix: &str) -> Self {
        let prefix = prefix.into();
        Self {
            prefix,
            ..self.clone()
        }
    }

    pub fn advance(&self, millis: u64) {
        self.clock.fetch_add(millis, Ordering::Relaxed);
    }

    pub fn state(&self) -> State {
        State {
            dashboard: self.clone(),
            table: ResourceTable::new(),
        }
    }
}

/// What an instance reaches.
pub struct State {
    dashboard: Dashboard,
    table: ResourceTable,
}

impl database::Host for State {
    fn get_configuration(&mut self) -> Configuration {
        Configuration {
            dialect: self.dashboard.database.dialect(),
            prefix: self.dashboard.prefix.clone(),
            session_idle: self.dashboard.session_idle,
            session_most: self.dashboard.session_most,
        }
    }

    fn look_up(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Row>, Error> {
        Counts::count(&self.dashboard.counts.look_ups);
        self.dashboard.database.begin(&[])?.query(&sql, &values)
    }

    fn begin(
        &mut self,
        _: database::Access,
        opening: Vec<String>,
    ) -> Result<Resource<OpenTransaction>, Error> {
        Counts::count(&self.dashboard.counts.begins);
        let connection = self.dashboard.database.begin(&opening)?;
        Ok(self
            .table
            .push(OpenTransaction(connection))
            .expect("room in the table"))
    }
}

impl State {
    fn connection(&mut self, this: &Resource<OpenTransaction>) -> &mut dyn Connection {
        Counts::count(&self.dashboard.counts.statements);
        &mut *self.table.get_mut(this).expect("a handle of the component").0
    }
}

impl database::HostTransaction for State {
    fn query(
        &mut self,
        this: Resource<OpenTransaction>,
        sql: String,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        self.connection(&this).query(&sql, &values)
    }

    fn execute(
        &mut self,
        this: Resource<OpenTransaction>,
        sql: String,
        values: Vec<Value>,
    ) -> Result<u64, Error> {
        self.connection(&this).execute(&sql, &values)
    }

    fn commit(&mut self, this: Resource<OpenTransaction>) -> Result<(), Error> {
        let OpenTransaction(connection) = self.table.delete(this).expect("a handle of the component");
        connection.commit()
    }

    fn drop(&mut self, this: Resource<OpenTransaction>) -> wasmtime::Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl surroundings::Host for State {
    fn can_view_board(&mut self, user_id: String, board_id: String) -> Result<bool, String> {
        self.dashboard.surroundings.can_view_board(&user_id, &board_id)
    }

    fn has_search_engine(&mut self, id: String) -> Result<bool, String> {
        self.dashboard.surroundings.has_search_engine(&id)
    }

    fn visible_apps_of(&mut self, user_id: Option<String>) -> Result<VisibleApps, String> {
        self.dashboard.surroundings.visible_apps_of(user_id.as_deref())
    }
}

impl log::Host for State {
    fn write(&mut self, _: log::Level, message: String) {
        self.dashboard.log.lock().unwrap().push(message);
    }
}

impl icons::Host for State {
    fn find(&mut self, names: Vec<String>) -> Vec<Option<String>> {
        names.iter().map(|_| None).collect()
    }

    fn default_icon(&mut self) -> String {
        "/icon.svg".into()
    }
}

impl wall_clock::Host for State {
    fn now(&mut self) -> wall_clock::Datetime {
        let millis = self.dashboard.clock.load(Ordering::Relaxed);
        wall_clock::Datetime {
            seconds: millis / 1000,
            nanoseconds: (millis % 1000) as u32 * 1_000_000,
        }
    }

    fn resolution(&mut self) -> wall_clock::Datetime {
        wall_clock::Datetime {
            seconds: 0,
            nanoseconds: 1_000_000,
        }
    }
}

impl random::Host for State {
    fn get_random_bytes(&mut self, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        SystemRandom.fill(&mut bytes);
        bytes
    }

    fn get_random_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        SystemRandom.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// Instances are made often, and live for one call.
pub static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut config = Config::new();
    config.concurrency_support(false);
    Engine::new(&config).expect("an engine")
});

/// A file that `make storage-component` has built.
pub fn component(name: &str) -> Component {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../dist")
        .join(name);
    let read = Component::from_file(&ENGINE, &path);
    read.unwrap_or_else(|error| panic!("{}: run make storage-component ({error:#})", path.display()))
}
