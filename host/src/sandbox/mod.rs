//! The sandbox: where the component runs, and all that it can reach.
//!
//! Invariants:
//! - Every call gets a fresh instance, which ends with the call: nothing of one caller's call is
//!   visible in another caller's.
//! - Memory, tables, handles, processor time, log lines and the size of what crosses the boundary
//!   are limited ([`Limits`]). A call that goes beyond ends alone, with an error; its transaction
//!   rolls back, because it is dropped with the instance.
//! - The processor time that counts is the component's own: the clock stands while a call waits
//!   for its turn, for storage or for an icon.

pub mod bindings;
mod engine;
mod imports;
pub mod inspect;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use wasmtime::{
    Engine, Store, StoreLimits, StoreLimitsBuilder, UpdateDeadline,
    component::{Component, HasSelf, Linker, ResourceTable},
};

pub use self::bindings::exports::portico::dashboard::procedures::{Access, Kind, Procedure as Described};
use self::bindings::{Plugin, PluginPre};
use crate::{
    error::{Code, Error},
    icons::Icons,
    model,
    secrets::Random,
    storage::{CallContext, Storage},
    time::Clock,
};

/// One tick of the clock that counts a call's processor time.
const TICK: Duration = Duration::from_millis(10);

/// How far a call may go.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Linear memory of one instance, in bytes.
    pub memory: usize,
    /// Processor time of one call.
    pub time: Duration,
    /// Calls that run at once; more wait.
    pub instances: u32,
    /// How long a call waits for its turn before it is refused.
    pub wait: Duration,
    /// What may cross from the component to the host in one call of an import or an answer, in bytes.
    pub transfer: usize,
    /// Log messages of one call; the rest is dropped.
    pub log_messages: u32,
    /// Entries of each table of one instance.
    pub table_elements: usize,
    /// Handles (transactions) that one call may hold at once.
    pub handles: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            time: Duration::from_secs(5),
            instances: 128,
            wait: Duration::from_secs(10),
            transfer: 256 << 20,
            log_messages: 32,
            table_elements: 20_000,
            handles: 16,
        }
    }
}

/// What the component gets from its host.
#[derive(Clone)]
pub struct Imports {
    /// Where users and apps live.
    pub storage: Arc<dyn Storage>,
    /// Where icons are looked up.
    pub icons: Arc<dyn Icons>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub random: Arc<dyn Random>,
}

/// A component, ready to be called.
pub struct Sandbox {
    engine: Engine,
    plugin: PluginPre<State>,
    imports: Imports,
    limits: Limits,
    turns: Arc<Semaphore>,
}

/// What one instance has of its host.
pub struct State {
    imports: Imports,
    context: CallContext,
    table: ResourceTable,
    store_limits: StoreLimits,
    ticks_left: u32,
    log_messages_left: u32,
}

/// Why a call was stopped: it used up its processor time.
#[derive(Debug)]
struct OutOfTime;

impl std::fmt::Display for OutOfTime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the call used up its processor time")
    }
}

impl std::error::Error for OutOfTime {}

impl Sandbox {
    /// Compiles a component, or takes it from the cache of compiled ones.
    ///
    /// Fails if the bytes are no component, or if it wants or offers something else than the
    /// contract says: in words, before anything of it is compiled.
    pub fn new(
        component: &[u8],
        cache: Option<PathBuf>,
        limits: Limits,
        imports: Imports,
    ) -> anyhow::Result<Self> {
        // The one inside fits (a test holds it), and looking takes milliseconds of every start.
        if component != crate::COMPONENT {
            inspect::check(component)?;
        }
        let engine = engine::new(&limits, cache)?;
        let component = Component::new(&engine, component)
            .map_err(anyhow::Error::from)
            .context("it cannot be compiled: is the file whole?")?;
        let mut linker = Linker::new(&engine);
        Plugin::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        // What is left here is what the look at its type did not see.
        let fits = |error| anyhow::Error::from(error).context("it does not fit this host");
        let plugin = linker.instantiate_pre(&component).map_err(fits)?;
        let plugin = PluginPre::new(plugin).map_err(fits)?;
        engine::keep_time(&engine);
        let turns = Arc::new(Semaphore::new(limits.instances as usize));
        Ok(Self {
            engine,
            plugin,
            imports,
            limits,
            turns,
        })
    }

    /// A fresh instance for one call, when its turn has come.
    pub async fn enter(&self, context: CallContext) -> Result<Instance, Error> {
        let turn = self.turn().await?;
        self.enter_within(turn, context, self.imports.storage.clone())
            .await
    }

    /// Waits for a turn. Whoever opens a transaction around calls takes it before: among those who
    /// have a turn may be some who wait for that transaction to end.
    pub async fn turn(&self) -> Result<Turn, Error> {
        let turn = timeout(self.limits.wait, self.turns.clone().acquire_owned())
            .await
            .map_err(|_| {
                Error::new(
                    Code::ServiceUnavailable,
                    "Too many calls at once; try again in a moment",
                )
            })?
            .map_err(Error::internal)?;
        Ok(Turn(turn))
    }

    /// A fresh instance for one call, whose transactions are those of this storage.
    pub async fn enter_within(
        &self,
        turn: Turn,
        context: CallContext,
        storage: Arc<dyn Storage>,
    ) -> Result<Instance, Error> {
        let mut table = ResourceTable::new();
        table.set_max_capacity(self.limits.handles);
        let state = State {
            imports: Imports {
                storage,
                ..self.imports.clone()
            },
            context,
            table,
            store_limits: StoreLimitsBuilder::new()
                .memory_size(self.limits.memory)
                .table_elements(self.limits.table_elements)
                .memories(1)
                .tables(engine::TABLES as usize)
                .instances(engine::CORE_INSTANCES as usize)
                .trap_on_grow_failure(true)
                .build(),
            ticks_left: (self.limits.time.as_millis() / TICK.as_millis()) as u32,
            log_messages_left: self.limits.log_messages,
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.store_limits);
        store.set_hostcall_fuel(self.limits.transfer);
        // A tick is only seen while the component runs, so waiting costs one tick at most.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            let state = store.data_mut();
            state.ticks_left = state.ticks_left.checked_sub(1).ok_or(OutOfTime)?;
            Ok(UpdateDeadline::Yield(1))
        });
        let plugin = self.plugin.instantiate_async(&mut store).await.map_err(trapped)?;
        Ok(Instance { store, plugin, turn })
    }

    /// The procedures that the component offers.
    pub async fn describe(&self, context: CallContext) -> Result<Vec<Described>, Error> {
        let mut instance = self.enter(context).await?;
        let (plugin, store) = instance.parts();
        plugin
            .portico_dashboard_procedures()
            .call_describe(store)
            .await
            .map_err(trapped)
    }

    /// The name-keys of these names, by the component's rule.
    pub async fn name_keys(&self, context: CallContext, names: &[String]) -> Result<Vec<String>, Error> {
        let mut instance = self.enter(context).await?;
        let (plugin, store) = instance.parts();
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

/// A place among the calls that run at once.
pub struct Turn(#[expect(dead_code, reason = "given back when it is dropped")] OwnedSemaphorePermit);

/// The component, for one call.
pub struct Instance {
    store: Store<State>,
    plugin: Plugin,
    turn: Turn,
}

impl Instance {
    /// The exports, and the store that their functions are called with.
    pub fn parts(&mut self) -> (&Plugin, &mut Store<State>) {
        (&self.plugin, &mut self.store)
    }

    /// Ends the instance. Its turn may be taken for another call of the same caller.
    pub fn leave(self) -> Turn {
        self.turn
    }
}

/// The answer of a call: its value, its refusal, or why it never came to an end.
pub fn answer<T>(answer: wasmtime::Result<Result<T, model::Error>>) -> Result<T, Error> {
    Ok(answer.map_err(trapped)??)
}

fn trapped(error: wasmtime::Error) -> Error {
    if error.downcast_ref::<OutOfTime>().is_some() {
        return Error::new(
            Code::Timeout,
            "The call took more processor time than it may have",
        );
    }
    Error::internal(anyhow::Error::from(error).context("the component failed"))
}
