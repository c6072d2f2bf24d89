//! The sandbox: a component that is ready to be called, and the limits on its calls.

use std::{path::PathBuf, sync::Arc, thread, time::Instant};

use anyhow::bail;
use portico_model::error::{Code, Error};
use portico_storage::{CallContext, Storage};
use tokio::{
    sync::{Semaphore, oneshot},
    time::timeout,
};

use crate::{
    bindings::exports::portico::dashboard::procedures::Procedure as Described,
    compiled,
    compiler::Compiler,
    component::{ComponentVersion, Wasm},
    engine,
    hashing::Hashing,
    icons::Icons,
    inspect,
    instance::{CallPermit, Instance},
    limits::{Limits, show_metrics, trapped},
    memory::Memory,
    metrics,
    prepared::Prepared,
    state::{Imports, State},
    warm::WarmInstances,
};

/// A component that is compiled and fits this host.
pub struct Compiled {
    prepared: Prepared,
    version: ComponentVersion,
    limits: Limits,
    cache: Option<PathBuf>,
    compiler: Compiler,
}

impl Compiled {
    /// Compiles a component, or takes it from the folder of compiled ones. Blocks until that is done.
    ///
    /// Fails if the bytes are not a component, or if it imports or exports anything other than the contract says. The
    /// error explains that before anything of it is compiled.
    pub fn new<'a>(
        component: impl Into<Wasm<'a>>,
        cache: Option<PathBuf>,
        limits: Limits,
    ) -> anyhow::Result<Self> {
        Self::by(Compiler::Here, component.into(), cache, limits, &|| false)
    }

    /// The same on another thread; without a file, of the component inside. A file is compiled by this compiler, and
    /// refused after [`Limits::compile_time`]. If the future is dropped, the compilation is given up.
    pub async fn start(
        compiler: Compiler,
        file: Option<Vec<u8>>,
        cache: Option<PathBuf>,
        limits: Limits,
    ) -> anyhow::Result<Self> {
        let time = file.is_some().then_some(limits.compile_time);
        let (sender, compiled) = oneshot::channel();
        let thread = thread::Builder::new().name("portico-compile".into());
        thread.spawn(move || {
            let component = file.as_deref().map_or(Wasm::Included, Wasm::Bytes);
            let compiled = Self::by(compiler, component, cache, limits, &|| sender.is_closed());
            // This fails if nobody waits for it any more.
            let _ = sender.send(compiled);
        })?;
        let Some(time) = time else {
            return compiled.await?;
        };
        let too_long = || {
            let seconds = time.as_secs();
            anyhow::anyhow!(
                "compiling it takes longer than {seconds} s, so it is refused: is it the right file?"
            )
        };
        timeout(time, compiled).await.map_err(|_| too_long())??
    }

    fn by(
        compiler: Compiler,
        component: Wasm<'_>,
        cache: Option<PathBuf>,
        limits: Limits,
        is_unwanted: &dyn Fn() -> bool,
    ) -> anyhow::Result<Self> {
        let limits = limits.settled();
        let version = match component {
            // It fits, as a test shows, and checking it takes milliseconds of every start.
            Wasm::Included => ComponentVersion::included(),
            Wasm::Bytes(bytes) if bytes.len() > limits.file => {
                inspect::check_kind(bytes)?;
                bail!(
                    "the file has more than {} bytes, too many for a component: is it the right one?",
                    limits.file
                );
            }
            Wasm::Bytes(bytes) => ComponentVersion {
                contract: inspect::check(bytes)?,
                sha256: inspect::sha256(bytes),
            },
        };
        let engine = engine::new(&limits)?;
        let compile = || compiler.run(&engine, component, is_unwanted);
        let component = compiled::load(&engine, component, cache.as_deref(), compile)?;
        // Fails if its imports have other types; those of its exports are compared when they are looked up.
        let prepared = Prepared::new(engine, component)?;
        Ok(Self {
            prepared,
            version,
            limits,
            cache,
            compiler,
        })
    }
}

/// A component, ready to be called.
pub struct Sandbox {
    prepared: Arc<Prepared>,
    version: ComponentVersion,
    hashing: Arc<Hashing>,
    imports: Arc<Imports>,
    limits: Arc<Limits>,
    cache: Option<PathBuf>,
    compiler: Compiler,
    /// For calls that do not hash.
    permits: Arc<Semaphore>,
    memory: Arc<Memory>,
    warm: Arc<WarmInstances>,
}

impl Sandbox {
    /// Compiles a component, or takes it from the folder of compiled ones; fails like
    /// [`Compiled::new`].
    pub fn new<'a>(
        component: impl Into<Wasm<'a>>,
        cache: Option<PathBuf>,
        limits: Limits,
        imports: Imports,
    ) -> anyhow::Result<Self> {
        Self::of(Compiled::new(component, cache, limits)?, imports)
    }

    /// Runs a component that is already compiled. Fails if no thread can be started.
    pub fn of(component: Compiled, imports: Imports) -> anyhow::Result<Self> {
        let permits = Arc::new(Semaphore::new(component.limits.ordinary_calls() as usize));
        let memory = Memory::new(&component.limits);
        Self::assemble(component, Arc::new(imports), permits, memory)
    }

    fn assemble(
        component: Compiled,
        imports: Arc<Imports>,
        permits: Arc<Semaphore>,
        memory: Arc<Memory>,
    ) -> anyhow::Result<Self> {
        let Compiled {
            prepared,
            version,
            limits,
            cache,
            compiler,
        } = component;
        show_metrics();
        let prepared = Arc::new(prepared);
        let hashing = Arc::new(Hashing::new(prepared.clone(), &limits));
        let warm = Arc::new(WarmInstances::new(&limits));
        let swept = (Arc::downgrade(&hashing), Arc::downgrade(&warm));
        engine::keep_time(&prepared.engine, move || {
            if let (Some(hashing), Some(warm)) = (swept.0.upgrade(), swept.1.upgrade()) {
                hashing.sweep();
                warm.sweep();
            }
        })?;
        Ok(Self {
            prepared,
            version,
            hashing,
            imports,
            cache,
            compiler,
            permits,
            memory,
            limits: Arc::new(limits),
            warm,
        })
    }

    /// Where icons are looked up.
    pub fn icons(&self) -> &Arc<dyn Icons> {
        &self.imports.icons
    }

    /// Another component alongside this one, with the same imports, limits and compiler. The calls of both share
    /// permits and memory. Fails like [`Compiled::start`].
    pub async fn sibling(&self, file: Vec<u8>) -> anyhow::Result<Self> {
        let (cache, limits) = (self.cache.clone(), (*self.limits).clone());
        let component = Compiled::start(self.compiler, Some(file), cache, limits).await?;
        let (permits, memory) = (self.permits.clone(), self.memory.clone());
        Self::assemble(component, self.imports.clone(), permits, memory)
    }

    /// A fresh instance for one call; waits for a permit.
    pub async fn enter(&self, context: CallContext) -> Result<Instance, Error> {
        let permit = self.acquire_permit().await?;
        self.enter_within(permit, context, self.imports.storage.clone())
            .await
    }

    /// A fresh instance for one call that hashes a password. Does not wait: the caller has a permit to hash, of which
    /// there are [`Limits::hashing`]. One more call is an internal error.
    pub async fn enter_to_hash(&self, context: CallContext) -> Result<Instance, Error> {
        let (place, prepared) = self.hashing.enter()?;
        let permit = CallPermit {
            permit: place,
            share: self.memory.share_to_hash(),
        };
        let storage = self.imports.storage.clone();
        metrics::TO_HASH.increment();
        Box::pin(self.instantiate(&prepared, permit, context, storage)).await
    }

    /// An instance for one call of a signed-in user: the one that waits since this user's last call, or a fresh one,
    /// which may wait for the next call.
    pub async fn enter_for(&self, user: &str, context: CallContext) -> Result<Instance, Error> {
        let permit = self.acquire_permit().await?;
        let Some(warm) = self.warm.take(user) else {
            let storage = self.imports.storage.clone();
            let fresh = self.enter_within(permit, context, storage).await?;
            return Ok(fresh.kept_for(user, self.warm.clone()));
        };
        metrics::WARM.increment();
        let indices = self.prepared.export_indices.clone();
        Ok(Instance::again(
            warm,
            indices,
            permit.permit,
            context,
            self.warm.clone(),
        ))
    }

    /// Waits for a permit of a call that does not hash. Take it before you open a transaction around
    /// calls: other calls that hold a permit may wait for that transaction to end.
    pub async fn acquire_permit(&self) -> Result<CallPermit, Error> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let started = Instant::now();
                let waited = timeout(self.limits.wait, self.permits.clone().acquire_owned()).await;
                let permit = waited.map_err(|_| {
                    metrics::WAITS.refused.increment();
                    let too_many = "Too many calls at once; try again in a moment";
                    Error::new(Code::ServiceUnavailable, too_many)
                })?;
                metrics::WAITS.time.observe(started.elapsed());
                permit.map_err(Error::internal)?
            }
        };
        Ok(CallPermit {
            permit,
            share: self.memory.share(),
        })
    }

    /// A fresh instance for one call, whose transactions begin in this storage.
    pub async fn enter_within(
        &self,
        permit: CallPermit,
        context: CallContext,
        storage: Arc<dyn Storage>,
    ) -> Result<Instance, Error> {
        metrics::FRESH.increment();
        // Boxed to keep the future of a warm call small.
        Box::pin(self.instantiate(&self.prepared, permit, context, storage)).await
    }

    async fn instantiate(
        &self,
        prepared: &Prepared,
        permit: CallPermit,
        context: CallContext,
        storage: Arc<dyn Storage>,
    ) -> Result<Instance, Error> {
        let CallPermit { permit, share } = permit;
        let (imports, limits) = (self.imports.clone(), self.limits.clone());
        let state = State::new(imports, storage, context, share, limits);
        Instance::new(prepared, permit, state).await
    }

    /// Which component it is.
    pub fn version(&self) -> &ComponentVersion {
        &self.version
    }

    /// The limits on its calls.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The procedures that the component offers.
    pub async fn describe(&self, context: CallContext) -> Result<Vec<Described>, Error> {
        let mut instance = self.enter(context).await?;
        let (plugin, store) = instance.parts()?;
        plugin
            .portico_dashboard_procedures()
            .call_describe(store)
            .await
            .map_err(trapped)
    }

    /// The name-keys of these names, by the component's rule.
    pub async fn name_keys(&self, context: CallContext, names: &[String]) -> Result<Vec<String>, Error> {
        let mut instance = self.enter(context).await?;
        let (plugin, store) = instance.parts()?;
        plugin
            .portico_dashboard_names()
            .call_keys(store, names)
            .await
            .map_err(trapped)
    }

    /// The name-key of one name.
    pub async fn name_key(&self, context: CallContext, name: &str) -> Result<String, Error> {
        let keys = self.name_keys(context, &[name.to_owned()]).await?;
        keys.into_iter()
            .next()
            .ok_or_else(|| Error::internal(anyhow::anyhow!("`names.keys` gave no key")))
    }
}
