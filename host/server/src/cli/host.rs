//! What every command that works on data starts with.

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use portico_model::time::{MonotonicClock, SystemClock};
use portico_sandbox::{self as sandbox, COMPONENT, Compiled, Imports, Limits, Sandbox, icons::NoIcons};
use portico_server::{
    data_dir::DataDir,
    icons::{IconSettings, IconSources},
};
use portico_service::{
    audit::AuditSettings,
    service::{Service, ServiceParts},
    throttle::Throttle,
};
use portico_sqlite::SqliteStorage;
use portico_storage::{
    DashboardStorage,
    memory::MemoryStorage,
    secrets::{Secrets, SystemRandom},
};

use super::{front::Switch, reload::ComponentFile, settings::Settings};

/// How long one call may take, waiting included.
const CALL_TIME: Duration = Duration::from_secs(30);

/// A service on a data directory, which is its own as long as it lives.
pub struct Host {
    pub service: Arc<Service>,
    pub storage: Arc<SqliteStorage>,
    pub data: DataDir,
    /// Where the component comes from, if it is not the one inside.
    pub file: Option<ComponentFile>,
}

impl Host {
    /// Opens the data directory and starts the component on it.
    pub async fn open(settings: &Settings) -> anyhow::Result<Self> {
        let component = match &settings.component {
            Some(file) => {
                let read =
                    read(file).with_context(|| format!("cannot read the component {}", file.display()))?;
                Cow::Owned(read)
            }
            None => Cow::Borrowed(COMPONENT),
        };
        let file = settings.component.clone();
        let file = file.map(|file| ComponentFile::new(file, &component));
        let data = DataDir::open(&settings.data())?;
        let cache = std::path::absolute(settings.cache.clone().unwrap_or_else(|| data.cache()))?;
        // Beside the database, which takes as long to open.
        let compiling = thread::Builder::new().name("portico-compile".into());
        let compiling = compiling.spawn(move || Compiled::new(&component, Some(cache), Limits::default()))?;
        let storage = Arc::new(SqliteStorage::open(&data.database())?);
        let clock = Arc::new(SystemClock);
        let imports = Imports {
            storage: storage.clone(),
            icons: Arc::new(IconSources::new(
                settings.icons.clone(),
                data.icons(),
                clock.clone(),
            )),
            clock,
            random: Arc::new(SystemRandom),
        };
        let throttle = match settings.http.sign_in_throttle {
            Some(Switch::Off) => Throttle::off(),
            Some(Switch::On) | None => Throttle::new(Arc::new(MonotonicClock::default())),
        };
        let service = async {
            let compiled = compiling.join();
            let compiled = compiled.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let sandbox = Sandbox::of(compiled, imports)?;
            service(storage.clone(), sandbox, throttle, settings.audit.audit()).await
        };
        let service = match &settings.component {
            Some(file) => service
                .await
                .with_context(|| format!("cannot run the component {}", file.display()))?,
            None => service.await?,
        };
        Ok(Self {
            service,
            storage,
            data,
            file,
        })
    }
}

/// A file that may be a component.
pub fn read(file: &Path) -> io::Result<Vec<u8>> {
    sandbox::read_file(file, &Limits::default())
}

/// A service that keeps nothing: enough to ask a component what procedures there are.
pub async fn without_data(component: &[u8], cache: Option<PathBuf>) -> anyhow::Result<Arc<Service>> {
    let storage = Arc::new(MemoryStorage::new());
    let imports = Imports {
        storage: storage.clone(),
        icons: Arc::new(NoIcons::new(IconSettings::default().default_icon)),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let sandbox = Sandbox::new(component, cache, Limits::default(), imports)?;
    service(storage, sandbox, Throttle::off(), AuditSettings::default()).await
}

async fn service(
    storage: Arc<dyn DashboardStorage>,
    sandbox: Sandbox,
    throttle: Throttle,
    audit: AuditSettings,
) -> anyhow::Result<Arc<Service>> {
    let parts = ServiceParts {
        storage,
        sandbox,
        clock: Arc::new(SystemClock),
        secrets: Secrets::new(Arc::new(SystemRandom)),
        call_time: CALL_TIME,
        throttle,
        audit,
    };
    Service::new(parts).await
}
