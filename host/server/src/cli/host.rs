//! The service on a data directory: opened by every command that works on data.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use portico_model::time::SystemClock;
use portico_sandbox::{Compiled, Imports, Limits, Sandbox, icons::NoIcons};
use portico_server::{
    data_dir::DataDir,
    icons::{IconSettings, IconSources},
};
use portico_service::{
    audit::AuditSettings,
    second_factor::SecondFactorPolicy,
    service::{Service, ServiceParts},
    sign_in::PasswordSignIn,
    throttle::Throttle,
};
use portico_storage::{
    MemoryRecords, SharedRecords,
    memory::MemoryStorage,
    secrets::{Secrets, SystemRandom},
};
use tokio::try_join;

use super::{
    compile::COMPILER,
    component::{self, ComponentFile},
    database::Database,
    front::Switch,
    passwords::policy,
    second_factor,
    settings::Settings,
    starting::patiently,
};

/// How long a call may take, including waiting.
const CALL_TIME: Duration = Duration::from_secs(30);

/// A service on a data directory, which stays locked as long as this value lives.
pub struct Host {
    pub service: Arc<Service>,
    pub database: Database,
    /// The records that the hosts on the database share.
    pub shared: Arc<dyn SharedRecords>,
    pub data: DataDir,
    /// The file of the component, unless it is the built-in one.
    pub file: Option<ComponentFile>,
}

impl Host {
    /// Opens the data directory and starts the component.
    pub async fn open(settings: &Settings) -> anyhow::Result<Self> {
        let open =
            async |data: &DataDir| patiently("the database to answer", Database::open(settings, data)).await;
        Self::open_with(settings, open).await
    }

    /// The same, with the database that this opens.
    pub async fn open_with(
        settings: &Settings,
        database: impl AsyncFnOnce(&DataDir) -> anyhow::Result<Database>,
    ) -> anyhow::Result<Self> {
        Database::check(settings)?;
        let component = read_component(settings)?;
        let file = settings.component.clone().zip(component.as_deref());
        let file = file.map(|(path, bytes)| ComponentFile::new(path, bytes));
        let data = DataDir::open(&settings.data())?;
        let cache = std::path::absolute(settings.cache.clone().unwrap_or_else(|| data.cache()))?;
        let of_file = |error: anyhow::Error| match &settings.component {
            Some(file) => error.context(format!("cannot run the component {}", file.display())),
            None => error,
        };
        let compiling = Compiled::start(COMPILER, component, Some(cache), Limits::default());
        // The database is opened meanwhile, which takes equally long. If that fails, the compilation is given up.
        let (compiled, database) = try_join!(async { compiling.await.map_err(of_file) }, database(&data),)?;
        let (storage, shared, clock) = (database.storage(), database.shared(), database.clock());
        // Hosts on PostgreSQL have the indexes there.
        let folder = matches!(database, Database::Sqlite(_)).then(|| data.icons());
        let icons = IconSources::new(settings.icons.clone(), shared.clone(), folder);
        let imports = Imports {
            storage: storage.clone(),
            icons: Arc::new(icons),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        };
        let throttle = match settings.http.sign_in_throttle {
            Some(Switch::Off) => Throttle::off(),
            Some(Switch::On) | None => Throttle::new(shared.clone()),
        };
        let service = async {
            let sandbox = Sandbox::of(compiled, imports)?;
            let parts = ServiceParts {
                storage,
                shared: shared.clone(),
                sandbox,
                clock,
                secrets: Secrets::new(Arc::new(SystemRandom)),
                call_time: CALL_TIME,
                throttle,
                passwords: policy(settings.http.password_sign_in),
                second_factor: second_factor::policy(settings.http.second_factor),
                passkeys: second_factor::passkeys(settings.http.public_url.as_ref()),
                audit: settings.audit.audit(),
                reachability: settings.ping.checker(settings.http.public_url.as_ref())?,
            };
            Service::new(parts).await
        };
        let service = service.await.map_err(of_file)?;
        Ok(Self {
            service,
            database,
            shared,
            data,
            file,
        })
    }
}

/// A service without data, to ask a component for its procedures: that of this file, or the built-in one.
pub async fn without_data(
    component: Option<Vec<u8>>,
    cache: Option<PathBuf>,
) -> anyhow::Result<Arc<Service>> {
    let default_icon = IconSettings::default().default_icon;
    in_memory(component, cache, default_icon).await
}

/// A service on an empty dashboard in memory, with the same component and default icon as a host: to find out what the
/// host would accept.
pub async fn trial(settings: &Settings, host: &Host) -> anyhow::Result<Arc<Service>> {
    let component = read_component(settings)?;
    let cache = std::path::absolute(settings.cache.clone().unwrap_or_else(|| host.data.cache()))?;
    in_memory(component, Some(cache), settings.icons.default_icon.clone()).await
}

/// The file of the component, unless the built-in one is used.
fn read_component(settings: &Settings) -> anyhow::Result<Option<Vec<u8>>> {
    let read = |file: &PathBuf| {
        component::read(file).with_context(|| format!("cannot read the component {}", file.display()))
    };
    settings.component.as_ref().map(read).transpose()
}

async fn in_memory(
    component: Option<Vec<u8>>,
    cache: Option<PathBuf>,
    default_icon: String,
) -> anyhow::Result<Arc<Service>> {
    let storage = Arc::new(MemoryStorage::new());
    let imports = Imports {
        storage: storage.clone(),
        icons: Arc::new(NoIcons::new(default_icon)),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let compiled = Compiled::start(COMPILER, component, cache, Limits::default()).await?;
    let sandbox = Sandbox::of(compiled, imports)?;
    let shared = Arc::new(MemoryRecords::new(Arc::new(SystemClock)));
    let parts = ServiceParts {
        storage,
        shared,
        sandbox,
        clock: Arc::new(SystemClock),
        secrets: Secrets::new(Arc::new(SystemRandom)),
        call_time: CALL_TIME,
        throttle: Throttle::off(),
        passwords: PasswordSignIn::On,
        second_factor: SecondFactorPolicy::Optional,
        passkeys: None,
        audit: AuditSettings::default(),
        reachability: None,
    };
    Service::new(parts).await
}
