//! The service inside the test, over real connections, by clocks that the test sets.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use portico_http::{self as http, HttpSettings, TrustedProxies};
use portico_model::{ColorScheme, Provider, Timestamp, User, time::Clock};
use portico_sandbox::{COMPONENT, Imports, Limits, Sandbox, icons::NoIcons};
use portico_service::{
    audit::AuditSettings,
    identity::Identity,
    service::{Service, ServiceParts},
    throttle::Throttle,
};
use portico_storage::{
    Access, AccountKey, CallContext, DashboardStorage, DashboardTransaction, NewUser,
    memory::MemoryStorage,
    secrets::{Secrets, SystemRandom},
};
use portico_tests::{Anonymous, Answer, Client};
use serde_json::json;
use tokio::{net::TcpListener, runtime::Runtime};

/// 2026-01-01T00:00:00Z.
pub const NEW_YEAR: Timestamp = 1_767_225_600_000;
pub const SECOND: Timestamp = 1000;
pub const MINUTE: Timestamp = 60 * SECOND;
pub const DAY: Timestamp = 24 * 60 * MINUTE;

/// A clock that only moves when told to, and does something when it is asked for the time.
pub struct ManualClock {
    now: AtomicU64,
    asked: Mutex<Option<(u32, Work)>>,
}

type Work = Box<dyn FnOnce() + Send>;

impl ManualClock {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            now: AtomicU64::new(NEW_YEAR),
            asked: Mutex::default(),
        })
    }

    pub fn advance(&self, by: Timestamp) {
        self.now.fetch_add(by, Ordering::SeqCst);
    }

    pub fn set(&self, now: Timestamp) {
        self.now.store(now, Ordering::SeqCst);
    }

    /// Does this when somebody asks for the time so many times more.
    pub fn when_asked(&self, times: u32, work: impl FnOnce() + Send + 'static) {
        *self.asked.lock().unwrap() = Some((times, Box::new(work)));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let mut asked = self.asked.lock().unwrap();
        if let Some((times, _)) = asked.as_mut() {
            *times -= 1;
            if *times == 0
                && let Some((_, work)) = asked.take()
            {
                drop(asked);
                // The work waits for storage, which a thread of the service must not do.
                thread::spawn(work).join().unwrap();
            }
        }
        self.now.load(Ordering::SeqCst)
    }
}

/// A running service.
pub struct Host {
    pub storage: Arc<MemoryStorage>,
    pub service: Arc<Service>,
    /// What the service calls now.
    pub clock: Arc<ManualClock>,
    /// What the throttle calls now.
    pub tries: Arc<ManualClock>,
    /// Nobody.
    pub client: Anonymous,
    pub runtime: Runtime,
}

impl Host {
    /// Without limits to tries.
    pub fn start() -> Self {
        Self::with(|_| Throttle::off())
    }

    /// With limits to tries. `X-Forwarded-For` says where clients come from.
    pub fn throttled() -> Self {
        Self::with(|clock| Throttle::new(clock))
    }

    fn with(throttle: impl FnOnce(Arc<ManualClock>) -> Throttle) -> Self {
        let runtime = Runtime::new().unwrap();
        let storage = Arc::new(MemoryStorage::new());
        let (clock, tries) = (ManualClock::new(), ManualClock::new());
        let imports = Imports {
            storage: storage.clone(),
            icons: Arc::new(NoIcons::new("/icon.svg")),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        };
        let sandbox = Sandbox::new(COMPONENT, Some(cache()), Limits::default(), imports).unwrap();
        let secrets = Secrets::new(Arc::new(SystemRandom));
        let (call_time, throttle) = (Duration::from_secs(60), throttle(tries.clone()));
        let (service, address) = runtime.block_on(async {
            let parts: ServiceParts = ServiceParts {
                storage: storage.clone(),
                sandbox,
                clock: clock.clone(),
                secrets,
                call_time,
                throttle,
                audit: AuditSettings::default(),
            };
            let service = Service::new(parts).await.unwrap();
            (service.clone(), serve(service).await)
        });
        Self {
            storage,
            service,
            clock,
            tries,
            client: Anonymous::at(&address.to_string()),
            runtime,
        }
    }

    /// Works on storage as the dashboard itself, and commits.
    pub fn store<T>(&self, work: impl AsyncFnOnce(&mut dyn DashboardTransaction) -> T) -> T {
        self.runtime.block_on(write(&*self.storage, work))
    }

    /// Keeps a user with this hash.
    pub fn insert_user(&self, name: &str, provider: Provider, hash: Option<&str>) {
        let user = user(name, provider, hash);
        self.store(async |transaction| transaction.insert_user(&user).await.unwrap());
    }

    /// The hash that a user has.
    pub fn hash_of(&self, name: &str) -> String {
        let key = AccountKey::Name((Provider::Credentials, name.into()));
        let account = self.store(async |transaction| transaction.find_account(&key).await.unwrap());
        account.unwrap().password_hash.unwrap()
    }

    /// Tries to sign in from this address.
    pub fn sign_in_from(&self, address: &str, name: &str, password: &str) -> Answer {
        let body = json!({"username": name, "password": password}).to_string();
        let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
        self.client
            .send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()))
    }
}

async fn serve(service: Arc<Service>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let settings = HttpSettings {
        trusted_proxies: "127.0.0.1".parse::<TrustedProxies>().unwrap(),
        ..HttpSettings::default()
    };
    let limits = settings.limits.clone();
    let router = http::router(service, settings);
    tokio::spawn(async move { http::serve(listener, router, &limits, std::future::pending()).await });
    address
}

/// Works on storage, and commits.
pub async fn write<T>(
    storage: &dyn DashboardStorage,
    work: impl AsyncFnOnce(&mut dyn DashboardTransaction) -> T,
) -> T {
    let context: CallContext = Identity::operator().context("test");
    let mut transaction = storage.begin_dashboard(Access::Write, &context).await.unwrap();
    let answer = work(&mut *transaction).await;
    transaction.commit().await.unwrap();
    answer
}

/// A user whose id is the name.
pub fn user(name: &str, provider: Provider, hash: Option<&str>) -> NewUser {
    NewUser {
        user: User {
            id: name.into(),
            name: name.into(),
            email: None,
            email_verified: None,
            image: None,
            provider,
            home_board_id: None,
            mobile_home_board_id: None,
            first_day_of_week: 1,
            ping_icons_enabled: false,
            default_search_engine_id: None,
            open_search_in_new_tab: true,
        },
        name_key: name.into(),
        color_scheme: ColorScheme::Dark,
        password_hash: hash.map(Into::into),
    }
}

/// Where the compiled component is kept for all tests, each of which runs in a process of its own.
pub fn cache() -> std::path::PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().with_file_name("portico-test-cache")
}
