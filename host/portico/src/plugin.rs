//! Portico inside a dashboard that has sessions, boards and a database of its own.
//!
//! Calls take the same path as in the standalone service: one procedure table, the same checks, the same sandbox. What
//! Portico stores where it is the dashboard itself (keys, sessions, invites, groups, boards, search engines,
//! `state.apply`) is not part of it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use portico_model::{
    error::Error,
    time::{Clock, MonotonicClock, SystemClock},
};
use portico_sandbox::{
    self as sandbox, Imports, Limits, Sandbox, Wasm,
    icons::{DEFAULT_ICON, Icons, NoIcons},
};
use portico_service::{
    audit::AuditSettings,
    hot_swap::HotSwap,
    identity::Identity,
    request_id::new_request_id,
    second_factor::SecondFactorPolicy,
    service::{Service, ServiceParts, report},
    sign_in::PasswordSignIn,
    throttle::Throttle,
};
use portico_storage::{
    MemoryRecords, Storage, WithoutDashboard,
    secrets::{Random, Secrets, SystemRandom},
};

use crate::functions::{Apps, SignIn, Users};

/// The default time limit of one call, waiting included.
const CALL_TIME: Duration = Duration::from_secs(30);

/// The users and apps of a dashboard. Clones are the same plugin.
#[derive(Clone)]
pub struct Plugin(pub(crate) HotSwap);

impl Plugin {
    /// A plugin over this storage; everything else has a default.
    pub fn builder(storage: Arc<dyn Storage>) -> PluginBuilder {
        PluginBuilder {
            component: Component::Included,
            storage,
            icons: None,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            limits: Limits::default(),
            cache: None,
            call_time: CALL_TIME,
            throttle: None,
        }
    }

    /// `user.*` of the current component: ask again after [`exchange`](Self::exchange).
    pub fn users(&self) -> Users {
        Users(self.0.service())
    }

    /// `app.*` of the current component.
    pub fn apps(&self) -> Apps {
        Apps(self.0.service())
    }

    /// Authentication of users by the current component, for sessions of the dashboard's own.
    pub fn sign_in(&self) -> SignIn {
        SignIn(self.0.service())
    }

    /// The name-key of each name, by which names are compared: for records that the dashboard already has.
    pub async fn name_keys(&self, names: &[String]) -> Result<Vec<String>, Error> {
        let request_id = new_request_id();
        let context = Identity::anonymous().context(&*request_id);
        let service = self.0.service();
        let keys = service.in_time(service.sandbox.name_keys(context, names)).await;
        keys.map_err(|error| report(error, "names.keys", &request_id))
    }

    /// Replaces the component for later calls. Calls in progress end in the component in which they began.
    ///
    /// Fails, and changes nothing, if this host cannot run the component, or if its procedures differ from
    /// those that are served now.
    pub async fn exchange(&self, component: impl Into<Vec<u8>>) -> anyhow::Result<()> {
        self.0.exchange(component.into()).await
    }
}

enum Component {
    Included,
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// The parts of a [`Plugin`].
pub struct PluginBuilder {
    component: Component,
    storage: Arc<dyn Storage>,
    icons: Option<Arc<dyn Icons>>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    limits: Limits,
    cache: Option<PathBuf>,
    call_time: Duration,
    throttle: Option<Throttle>,
}

impl PluginBuilder {
    /// The component's bytes. Default: [`COMPONENT`](crate::COMPONENT), which this library includes.
    pub fn component(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.component = Component::Bytes(bytes.into());
        self
    }

    /// The component's file, which [`build`](Self::build) reads.
    pub fn component_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.component = Component::File(file.into());
        self
    }

    /// Finds icons for apps that are created without one. Default: every such app gets the standalone
    /// service's default icon.
    pub fn icons(mut self, icons: Arc<dyn Icons>) -> Self {
        self.icons = Some(icons);
        self
    }

    /// The time. Default: the machine's.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Random bytes, for ids and salts. Default: the operating system's.
    pub fn random(mut self, random: Arc<dyn Random>) -> Self {
        self.random = random;
        self
    }

    /// The limits of each call, and of all calls together. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A folder for the compiled component, created if it does not exist: with it, the next start takes milliseconds
    /// instead of seconds. No other user may be able to write to it. Default: none.
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// The time limit of one call, waiting included. Default: 30 seconds.
    pub fn call_time(mut self, call_time: Duration) -> Self {
        self.call_time = call_time;
        self
    }

    /// Limits attempts to sign in, by account and by address. Default: on, counted in memory. [`Throttle::new`] is for
    /// a dashboard that runs several hosts: it counts in records that they share. [`Throttle::off`] is for a dashboard
    /// that limits attempts itself.
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttle = Some(throttle);
        self
    }

    /// Compiles the component, or loads it from the cache, and asks it for its procedures.
    ///
    /// Fails if the file cannot be read, if this host cannot run the component (the error says what it
    /// imports, what this host offers, and what to do), or if the cache cannot be used.
    pub async fn build(self) -> anyhow::Result<Plugin> {
        let component = match self.component {
            Component::Included => None,
            Component::Bytes(bytes) => Some(bytes),
            Component::File(file) => {
                let bytes = sandbox::read_file(&file, &self.limits);
                Some(bytes.with_context(|| format!("cannot read the component {}", file.display()))?)
            }
        };
        let component = component.as_deref().map_or(Wasm::Included, Wasm::Bytes);
        let icons = self.icons.unwrap_or_else(|| Arc::new(NoIcons::new(DEFAULT_ICON)));
        let imports = Imports {
            storage: self.storage.clone(),
            icons,
            clock: self.clock.clone(),
            random: self.random.clone(),
        };
        let cache = self.cache.map(std::path::absolute).transpose()?;
        let sandbox = Sandbox::new(component, cache, self.limits, imports)?;
        let shared = Arc::new(MemoryRecords::new(Arc::new(MonotonicClock::default())));
        let throttle = self.throttle.unwrap_or_else(|| Throttle::new(shared.clone()));
        let parts = ServiceParts {
            storage: Arc::new(WithoutDashboard(self.storage)),
            shared,
            sandbox,
            clock: self.clock,
            secrets: Secrets::new(self.random),
            call_time: self.call_time,
            throttle,
            passwords: PasswordSignIn::On,
            second_factor: SecondFactorPolicy::Optional,
            passkeys: None,
            audit: AuditSettings::off(),
            reachability: None,
        };
        let service = Service::without_dashboard(parts).await?;
        Ok(Plugin(service.into()))
    }
}
