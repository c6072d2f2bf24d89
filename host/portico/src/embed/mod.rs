//! Portico inside a dashboard that has users' sessions, boards and a database of its own.
//!
//! The dashboard implements [`Storage`] over its database, and gets a [`Plugin`]: typed functions to
//! call, and a router to mount, for which it says who sends each request ([`Authenticate`]). Both go
//! the way that the standalone service goes: one procedure table, the same checks, the same sandbox.
//!
//! What Portico keeps where it is the dashboard itself (keys, sessions, invites, groups, boards,
//! search engines, `state.apply`) is not there; nor are `/api/auth`, `/api/openapi` and `/api/docs`.

mod functions;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use axum::Router;
use portico_http as http;
use portico_model::time::MonotonicClock;
use portico_sandbox::{self as sandbox, Imports, Sandbox, icons::DEFAULT_ICON};
use portico_service::{
    audit::AuditSettings,
    hot_swap::HotSwap,
    service::{Service, ServiceParts},
};
use portico_storage::secrets::Secrets;

pub use self::functions::{Apps, SignIn, Users};
pub use portico_http::{HttpLimits, HttpSettings};
pub use portico_model::{
    error::{Code, Error},
    time::{Clock, SystemClock},
};
pub use portico_sandbox::{
    ExternalIdentity, Limits, Linking, SignedIn,
    icons::{Icons, NoIcons},
};
pub use portico_service::{
    identity::{Authenticate, Identity},
    throttle::Throttle,
};
pub use portico_storage::{
    Access, Account, AccountKey, AppFilter, Authentication, CallContext, Constraint, Error as StorageError,
    NewUser, Profile, Result as StorageResult, Storage, StoredApp, Transaction, UserChange, UserFilter,
    secrets::{Random, SystemRandom},
};

/// How long one call may take, waiting included, unless the builder says otherwise.
const CALL_TIME: Duration = Duration::from_secs(30);

/// The users and apps of a dashboard. Clones are the same plugin.
#[derive(Clone)]
pub struct Plugin(HotSwap);

impl Plugin {
    /// A plugin over this storage; everything else has a default.
    pub fn builder(storage: Arc<dyn Storage>) -> PluginBuilder {
        PluginBuilder {
            component: Component::Inside,
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

    /// `user.*`, of the component as it is now: ask again after [`exchange`](Self::exchange).
    pub fn users(&self) -> Users {
        Users(self.0.service())
    }

    /// `app.*`, of the component as it is now.
    pub fn apps(&self) -> Apps {
        Apps(self.0.service())
    }

    /// Finding out who somebody is, for sessions of the dashboard's own; of the component as it is now.
    pub fn sign_in(&self) -> SignIn {
        SignIn(self.0.service())
    }

    /// The name-key of each name, by the one rule in which names are compared: for records that
    /// the dashboard has already.
    pub async fn name_keys(&self, names: &[String]) -> Result<Vec<String>, Error> {
        let context = Identity::anonymous().context(&http::new_request_id());
        self.0.service().sandbox.name_keys(context, names).await
    }

    /// Procedure calls (`/api/trpc`), REST (`/api/users`, `/api/apps`) and health (`/api/health`), to
    /// merge with the dashboard's own router or to nest in it.
    ///
    /// Its layers (an id for each request, bounds, headers for safety) are around these routes only,
    /// and a path that is none of them is the dashboard's. Serve the whole with
    /// [`into_make_service_with_connect_info::<SocketAddr>`](Router::into_make_service_with_connect_info):
    /// tries to guess a password are counted by address, and without it not at all.
    ///
    /// Of the settings, `sessions` means nothing here, and of `public_url` only the host counts: while there
    /// is no user, a browser is answered only there, at `localhost` and at IP addresses, and only what pages
    /// of the same origin ask for. Nor do the limits that belong to sockets mean anything (`write_time`,
    /// `write_rate`, `receive_time` of a head, `connections`): the server that serves the router has its own.
    /// `unsent` holds batches back, but closes no connection.
    pub fn router<S>(&self, authenticate: Arc<dyn Authenticate>, settings: HttpSettings) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        http::embedded_router(self.0.clone(), settings, authenticate)
    }

    /// Exchanges the component between two calls; none is dropped. A call that runs ends in the one
    /// that it began in.
    ///
    /// Fails, and changes nothing, if this is no component that this host can run, or if its
    /// procedures differ from those that are served now.
    pub async fn exchange(&self, component: impl Into<Vec<u8>>) -> anyhow::Result<()> {
        self.0.exchange(component.into()).await
    }
}

enum Component {
    Inside,
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// What a [`Plugin`] is made of.
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
    /// The component's bytes. Default: [`COMPONENT`](portico_sandbox::COMPONENT), which this library carries.
    pub fn component(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.component = Component::Bytes(bytes.into());
        self
    }

    /// The component's file, which is read by [`build`](Self::build).
    pub fn component_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.component = Component::File(file.into());
        self
    }

    /// Where icons are looked up for apps that are created without one. Default: nowhere; such an
    /// app gets the standalone service's default icon.
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

    /// How far a call may go, and how many run at once. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A folder for compiled components, made if it is not there: the next start takes milliseconds
    /// instead of seconds. Nobody else may be able to write to it. Default: none.
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// How long one call may take, waiting included. Default: 30 seconds.
    pub fn call_time(mut self, call_time: Duration) -> Self {
        self.call_time = call_time;
        self
    }

    /// Who may try to guess a password, and how often. Default: [`Throttle::new`];
    /// [`Throttle::off`] for a dashboard that counts by itself.
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttle = Some(throttle);
        self
    }

    /// Compiles the component, or takes it from the cache, and asks it for its procedures.
    ///
    /// Fails if the file cannot be read, if it is no component that this host can run (the error
    /// says what it wants, what this host offers, and what to do), or if the cache cannot be used.
    pub async fn build(self) -> anyhow::Result<Plugin> {
        let component = match self.component {
            Component::Inside => portico_sandbox::COMPONENT.to_vec(),
            Component::Bytes(bytes) => bytes,
            Component::File(file) => sandbox::read_file(&file, &self.limits)
                .with_context(|| format!("cannot read the component {}", file.display()))?,
        };
        let icons = self.icons.unwrap_or_else(|| Arc::new(NoIcons::new(DEFAULT_ICON)));
        let imports = Imports {
            storage: self.storage.clone(),
            icons,
            clock: self.clock.clone(),
            random: self.random.clone(),
        };
        let cache = self.cache.map(std::path::absolute).transpose()?;
        let sandbox = Sandbox::new(&component, cache, self.limits, imports)?;
        let throttle = self
            .throttle
            .unwrap_or_else(|| Throttle::new(Arc::new(MonotonicClock::default())));
        let parts = ServiceParts {
            storage: self.storage,
            sandbox,
            clock: self.clock,
            secrets: Secrets::new(self.random),
            call_time: self.call_time,
            throttle,
            audit: AuditSettings::off(),
        };
        let service = Service::without_dashboard(parts).await?;
        Ok(Plugin(service.into()))
    }
}
