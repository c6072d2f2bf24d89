//! A sandbox or a whole service in the process of the test. This is the one place in which tests make
//! them; each test names only the parts that it is about.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use portico_http::{
    self as http, GateSettings, HttpLimits, HttpSettings, ProxySignIn, PublicUrl, ReservedNames,
};
use portico_model::time::{Clock, SystemClock};
use portico_sandbox::icons::{Icons, NoIcons};
use portico_sandbox::{COMPONENT, Imports, Limits, Sandbox, Wasm};
use portico_service::audit::AuditSettings;
use portico_service::external::Providers;
use portico_service::hot_swap::HotSwap;
use portico_service::reachability::Reachability;
use portico_service::second_factor::{RelyingParty, SecondFactorPolicy, relying_party};
use portico_service::service::{Service, ServiceParts};
use portico_service::sign_in::PasswordSignIn;
use portico_service::throttle::Throttle;
use portico_storage::secrets::{Random, Secrets, SystemRandom};
use portico_storage::{DashboardStorage, MemoryRecords, Storage};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::{Anonymous, cache};

/// The icon of an app for which none is found.
const DEFAULT_ICON: &str = "/icon.svg";

/// A sandbox to be. Unless the test says otherwise it runs the component that ships, by the clock and
/// the random numbers of the machine, without icon sources and with the ordinary limits.
pub struct TestSandbox {
    imports: Imports,
    limits: Limits,
    cache: Option<PathBuf>,
}

impl TestSandbox {
    /// A sandbox over this storage.
    pub fn over(storage: Arc<dyn Storage>) -> Self {
        Self {
            imports: Imports {
                storage,
                icons: Arc::new(NoIcons::new(DEFAULT_ICON)),
                clock: Arc::new(SystemClock),
                random: Arc::new(SystemRandom),
            },
            limits: Limits::default(),
            cache: Some(cache()),
        }
    }

    /// With these icons.
    pub fn icons(mut self, icons: Arc<dyn Icons>) -> Self {
        self.imports.icons = icons;
        self
    }

    /// By this clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.imports.clock = clock;
        self
    }

    /// With these random bytes.
    pub fn random(mut self, random: Arc<dyn Random>) -> Self {
        self.imports.random = random;
        self
    }

    /// With these limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Compiles the component anew instead of taking it from the folder that all tests share.
    pub fn without_cache(mut self) -> Self {
        self.cache = None;
        self
    }

    /// The sandbox, with the component that ships.
    #[track_caller]
    pub fn build(self) -> Sandbox {
        self.build_with(COMPONENT).expect("the component that ships")
    }

    /// The sandbox, with this component. Fails if the component does not fit.
    pub fn build_with<'a>(self, component: impl Into<Wasm<'a>>) -> anyhow::Result<Sandbox> {
        Sandbox::new(component, self.cache, self.limits, self.imports)
    }
}

/// A service to be, with the component that ships. Unless the test says otherwise it goes by the clock
/// and the random numbers of the machine, does not throttle sign-ins and gives a call 60 seconds.
pub struct TestService {
    storage: Arc<dyn DashboardStorage>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    limits: Limits,
    call_time: Duration,
    throttle: Throttle,
    passwords: PasswordSignIn,
    second_factor: SecondFactorPolicy,
    passkeys: Option<RelyingParty>,
    audit: AuditSettings,
    reachability: Option<Arc<dyn Reachability>>,
    http: HttpSettings,
}

/// A service that listens on a port of this machine.
pub struct Listening {
    /// The service itself.
    pub service: Arc<Service>,
    /// An anonymous client.
    pub client: Anonymous,
    /// Where the service runs.
    pub runtime: Runtime,
}

impl TestService {
    /// A service over this storage.
    pub fn over(storage: Arc<dyn DashboardStorage>) -> Self {
        Self {
            storage,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            limits: Limits::default(),
            call_time: Duration::from_secs(60),
            throttle: Throttle::off(),
            passwords: PasswordSignIn::On,
            second_factor: SecondFactorPolicy::Optional,
            passkeys: None,
            audit: AuditSettings::default(),
            reachability: None,
            http: behind_proxy(),
        }
    }

    /// By this clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// With these random bytes.
    pub fn random(mut self, random: Arc<dyn Random>) -> Self {
        self.random = random;
        self
    }

    /// With these limits of the sandbox.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With this time for each call.
    pub fn call_time(mut self, call_time: Duration) -> Self {
        self.call_time = call_time;
        self
    }

    /// With these limits to sign-ins.
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttle = throttle;
        self
    }

    /// With these people signing in with a password.
    pub fn passwords(mut self, passwords: PasswordSignIn) -> Self {
        self.passwords = passwords;
        self
    }

    /// Where these people must have a second factor.
    pub fn second_factor(mut self, policy: SecondFactorPolicy) -> Self {
        self.second_factor = policy;
        self
    }

    /// With passkeys, for people who open it at this URL.
    pub fn passkeys(mut self, public_url: &str) -> Self {
        let url = public_url.parse().expect("a URL");
        self.passkeys = Some(relying_party(&url).expect("a site with passkeys"));
        self.http.public_url = Some(url);
        self
    }

    /// With a proxy on this machine, which signs people in at this URL.
    pub fn proxy_sign_in(mut self, proxy: ProxySignIn, public_url: PublicUrl) -> Self {
        self.http.proxy_sign_in = Some(proxy);
        self.http.public_url = Some(public_url);
        self
    }

    /// With a gate in front of the apps of this domain, which has no pages, and with this URL.
    pub fn gate(mut self, domain: &str, public_url: &str) -> Self {
        let domain = domain.parse().expect("a domain");
        self.http.gate = Some(GateSettings {
            domain,
            reserved_names: ReservedNames::default(),
            page: None,
        });
        self.http.public_url = Some(public_url.parse().expect("a URL"));
        self
    }

    /// With an audit log of these settings.
    pub fn audit(mut self, audit: AuditSettings) -> Self {
        self.audit = audit;
        self
    }

    /// With this checker of apps.
    pub fn reachability(mut self, checker: Arc<dyn Reachability>) -> Self {
        self.reachability = Some(checker);
        self
    }

    /// With these limits to what clients send and how fast.
    pub fn http_limits(mut self, limits: HttpLimits) -> Self {
        self.http.limits = limits;
        self
    }

    /// With these external identity providers.
    pub fn providers(mut self, providers: Providers) -> Self {
        self.http.providers = providers;
        self
    }

    /// Refusals are written to the audit log when a caller reads it, and not at a moment in between.
    pub fn audit_when_read(self) -> Self {
        self.audit(AuditSettings {
            window: Duration::from_secs(60 * 60),
            ..AuditSettings::default()
        })
    }

    /// The service.
    pub async fn build(self) -> Arc<Service> {
        let sandbox = TestSandbox::over(self.storage.clone())
            .clock(self.clock.clone())
            .random(self.random.clone())
            .limits(self.limits)
            .build();
        let parts: ServiceParts = ServiceParts {
            storage: self.storage,
            shared: Arc::new(MemoryRecords::new(self.clock.clone())),
            sandbox,
            clock: self.clock,
            secrets: Secrets::new(self.random),
            call_time: self.call_time,
            throttle: self.throttle,
            passwords: self.passwords,
            second_factor: self.second_factor,
            passkeys: self.passkeys,
            audit: self.audit,
            reachability: self.reachability,
        };
        Service::new(parts).await.expect("the service")
    }

    /// The service, as it listens.
    pub fn listen(self) -> Listening {
        let runtime = Runtime::new().expect("a runtime");
        let settings = self.http.clone();
        let (service, address) = runtime.block_on(async {
            let service = self.build().await;
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address").to_string();
            let limits = settings.limits.clone();
            let router = http::router(service.clone(), settings);
            tokio::spawn(async move { http::serve(listener, router, &limits, std::future::pending()).await });
            (service, address)
        });
        Listening {
            service,
            client: Anonymous::at(&address),
            runtime,
        }
    }
}

/// Everything under `/api`, without a network. `X-Forwarded-For` says where requests come from and
/// `X-Request-Id` which ids they have: this machine is a trusted proxy.
pub fn router(service: impl Into<HotSwap>) -> axum::Router {
    http::router(service, behind_proxy())
}

fn behind_proxy() -> HttpSettings {
    HttpSettings {
        trusted_proxies: "127.0.0.1".parse().expect("an address"),
        ..HttpSettings::default()
    }
}
