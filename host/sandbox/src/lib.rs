//! The sandbox: where the component runs, and all that it can reach.
//!
//! Invariants:
//! - Nothing of one caller's call is visible in another caller's: an instance serves one call, or
//!   the calls of one signed-in user (`warm.rs`).
//! - Memory, tables, transactions, time, calls of the host, log lines and the size of what crosses
//!   the boundary are limited ([`Limits`]). A call that goes beyond ends alone, with an error; its
//!   transaction rolls back, because it is dropped with the instance.
//! - Memory is bounded over all calls, too: large ones wait for each other (`memory.rs`).
//! - The processor time that counts is the component's own: that clock stands while a call waits
//!   for its turn, for storage or for an icon. Another one runs from its beginning to its end.

pub mod bindings;
mod collisions;
mod compiled;
mod engine;
mod exports;
mod hashing;
pub mod icons;
mod imports;
pub mod inspect;
mod limits;
mod memory;
mod prepared;
mod records;
mod warm;

use std::{
    fs::File,
    io::{self, Read as _},
    mem::take,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::bail;
use async_trait::async_trait;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use wasmtime::{
    CallHook, ResourceLimiter, ResourceLimiterAsync, Store, StoreLimits, StoreLimitsBuilder, UpdateDeadline,
    component::{ComponentNamedList, Lift, Lower, ResourceTable},
};

pub use self::bindings::exports::portico::dashboard::{
    procedures::{Access, Kind, Procedure as Described},
    sign_in::{Identity as ExternalIdentity, Linking, SignedIn},
};
pub use self::limits::Limits;
use self::{
    bindings::{
        Plugin,
        exports::portico::dashboard::{apps, users},
    },
    exports::{ExportIndices, Exports},
    hashing::Hashing,
    icons::Icons,
    limits::{Budget, Stop, Writing, trapped},
    memory::{Memory, Share},
    prepared::Prepared,
    warm::{Warm, WarmInstances},
};
use portico_model::{
    self as model,
    error::{Code, Collided, Error},
    time::Clock,
};
use portico_storage::{CallContext, Storage, secrets::Random};

/// The component that this host was built with, as a file of WebAssembly.
pub static COMPONENT: &[u8] = include_bytes!(env!("PORTICO_COMPONENT_FILE"));

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
    prepared: Arc<Prepared>,
    hashing: Arc<Hashing>,
    imports: Arc<Imports>,
    limits: Arc<Limits>,
    cache: Option<PathBuf>,
    turns: Arc<Semaphore>,
    memory: Arc<Memory>,
    warm: Arc<WarmInstances>,
}

/// What one instance has of its host.
pub struct State {
    imports: Arc<Imports>,
    /// Where its transactions are: the imports' storage, or one of theirs.
    storage: Arc<dyn Storage>,
    context: CallContext,
    table: ResourceTable,
    counts: StoreLimits,
    budget: Budget,
    share: Share,
    /// Whether more may cross to the host than before.
    has_grown: bool,
    limits: Arc<Limits>,
}

/// Decides whether an instance may grow.
#[async_trait]
impl ResourceLimiterAsync for State {
    async fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // It may have had its turn in this very call of the host, whose answer needs the memory.
        self.look_for_the_turn();
        if !self.share.fits(desired) {
            self.context.snapshot.let_go();
        }
        let may_wait = !matches!(self.budget.writing, Writing::Since(_));
        self.share.fit(desired, may_wait).await?;
        self.has_grown = true;
        Ok(true)
    }

    async fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.counts.table_growing(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        self.counts.instances()
    }

    fn tables(&self) -> usize {
        self.counts.tables()
    }

    fn memories(&self) -> usize {
        self.counts.memories()
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.counts.table_grow_failed(error)
    }
}

/// A component that is compiled and fits this host.
pub struct Compiled {
    prepared: Prepared,
    limits: Limits,
    cache: Option<PathBuf>,
}

impl Compiled {
    /// Compiles a component, or takes it from the folder of compiled ones.
    ///
    /// Fails if the bytes are no component, or if it wants or offers something else than the
    /// contract says: in words, before anything of it is compiled.
    pub fn new(component: &[u8], cache: Option<PathBuf>, limits: Limits) -> anyhow::Result<Self> {
        if component.len() > limits.file {
            inspect::check_kind(component)?;
            bail!(
                "the file has more than {} bytes, too many for a component: is it the right one?",
                limits.file
            );
        }
        // The one inside fits (a test holds it), and looking takes milliseconds of every start.
        if !std::ptr::eq(component, COMPONENT) {
            inspect::check(component)?;
        }
        let engine = engine::new(&limits)?;
        let component = compiled::load(&engine, component, cache.as_deref())?;
        // What is left here is what the look at its type did not see.
        let prepared = Prepared::new(engine, component)?;
        Ok(Self {
            prepared,
            limits,
            cache,
        })
    }
}

impl Sandbox {
    /// Compiles a component, or takes it from the folder of compiled ones; fails like
    /// [`Compiled::new`].
    pub fn new(
        component: &[u8],
        cache: Option<PathBuf>,
        limits: Limits,
        imports: Imports,
    ) -> anyhow::Result<Self> {
        Self::of(Compiled::new(component, cache, limits)?, imports)
    }

    /// Runs a component that is compiled already. Fails where no thread can be started.
    pub fn of(component: Compiled, imports: Imports) -> anyhow::Result<Self> {
        let Compiled {
            prepared,
            limits,
            cache,
        } = component;
        let prepared = Arc::new(prepared);
        let hashing = Arc::new(Hashing::new(prepared.clone(), &limits));
        let warm = Arc::new(WarmInstances::new(&limits));
        let tidied = (Arc::downgrade(&hashing), Arc::downgrade(&warm));
        engine::keep_time(&prepared.engine, move || {
            if let (Some(hashing), Some(warm)) = (tidied.0.upgrade(), tidied.1.upgrade()) {
                hashing.sweep();
                warm.sweep();
            }
        })?;
        let turns = Arc::new(Semaphore::new(limits.instances as usize));
        Ok(Self {
            prepared,
            hashing,
            imports: Arc::new(imports),
            cache,
            warm,
            memory: Memory::new(&limits),
            limits: Arc::new(limits),
            turns,
        })
    }

    /// Another component beside this one, with the same imports and limits: the calls of both have
    /// turns and memory in common.
    pub fn another(&self, component: &[u8]) -> anyhow::Result<Self> {
        let (limits, imports) = ((*self.limits).clone(), (*self.imports).clone());
        let other = Self::new(component, self.cache.clone(), limits, imports)?;
        Ok(Self {
            turns: self.turns.clone(),
            memory: self.memory.clone(),
            ..other
        })
    }

    /// A fresh instance for one call, when its turn has come.
    pub async fn enter(&self, context: CallContext) -> Result<Instance, Error> {
        let turn = self.turn(&context).await?;
        self.enter_within(turn, context, self.imports.storage.clone())
            .await
    }

    /// A fresh instance for one call that hashes a password.
    pub async fn enter_to_hash(&self, context: CallContext) -> Result<Instance, Error> {
        let turn = self.turn(&context).await?;
        self.enter_to_hash_with(turn, context).await
    }

    /// The same with a turn that was waited for before. Not inside a transaction: a place to hash
    /// may have to be waited for, too.
    pub async fn enter_to_hash_with(&self, turn: Permit, context: CallContext) -> Result<Instance, Error> {
        let (place, prepared) = self.hashing.enter().await?;
        let storage = self.imports.storage.clone();
        let instance = Box::pin(self.instantiate(&prepared, turn, context, storage)).await?;
        Ok(Instance {
            _place: Some(place),
            ..instance
        })
    }

    /// An instance for one call of a signed-in user: one that has served this user before, or a
    /// fresh one, which may be kept for the user's next call.
    pub async fn enter_for(&self, user: &str, context: CallContext) -> Result<Instance, Error> {
        let turn = self.turn(&context).await?;
        let storage = self.imports.storage.clone();
        let Some(warm) = self.warm.take(user) else {
            let fresh = self.enter_within(turn, context, storage).await?;
            return Ok(Instance {
                keep: Some((user.into(), self.warm.clone())),
                ..fresh
            });
        };
        let Warm {
            user,
            mut store,
            exports,
            calls,
        } = warm;
        let state = store.data_mut();
        state.context = context;
        state.budget = Budget::new(&self.limits);
        store.set_epoch_deadline(1);
        Ok(Instance {
            store,
            exports,
            export_indices: self.prepared.export_indices.clone(),
            permit: turn.permit,
            _place: None,
            calls: calls + 1,
            ended_well: false,
            keep: Some((user, self.warm.clone())),
        })
    }

    /// Waits for a turn. Whoever opens a transaction around calls takes it before: among those who
    /// have a turn may be some who wait for that transaction to end.
    pub async fn turn(&self, context: &CallContext) -> Result<Permit, Error> {
        let permit = match self.turns.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                context.snapshot.let_go();
                let waited = timeout(self.limits.wait, self.turns.clone().acquire_owned()).await;
                let too_many = "Too many calls at once; try again in a moment";
                let permit = waited.map_err(|_| Error::new(Code::ServiceUnavailable, too_many))?;
                permit.map_err(Error::internal)?
            }
        };
        Ok(Permit {
            permit,
            share: self.memory.share(),
        })
    }

    /// A fresh instance for one call, whose transactions are those of this storage.
    pub async fn enter_within(
        &self,
        turn: Permit,
        context: CallContext,
        storage: Arc<dyn Storage>,
    ) -> Result<Instance, Error> {
        // What is large only for fresh instances is not to make every call larger.
        Box::pin(self.instantiate(&self.prepared, turn, context, storage)).await
    }

    async fn instantiate(
        &self,
        prepared: &Prepared,
        turn: Permit,
        context: CallContext,
        storage: Arc<dyn Storage>,
    ) -> Result<Instance, Error> {
        let Permit { permit, share } = turn;
        let transfer = share.transfer();
        let state = State {
            imports: self.imports.clone(),
            storage,
            context,
            table: ResourceTable::new(),
            counts: StoreLimitsBuilder::new()
                .table_elements(self.limits.table_elements)
                .memories(1)
                .tables(engine::TABLES as usize)
                .instances(engine::CORE_INSTANCES as usize)
                .trap_on_grow_failure(true)
                .build(),
            budget: Budget::new(&self.limits),
            share,
            has_grown: false,
            limits: self.limits.clone(),
        };
        let mut store = Store::new(&prepared.engine, state);
        store.limiter_async(|state| state);
        store.call_hook(|mut store, hook| {
            match hook {
                CallHook::CallingHost => store.data_mut().budget.count_host_call()?,
                CallHook::ReturningFromHost => store.data_mut().look_for_the_turn(),
                _ => {}
            }
            if hook.entering_host() && take(&mut store.data_mut().has_grown) {
                let transfer = store.data().share.transfer();
                store.set_hostcall_fuel(transfer);
            }
            Ok(())
        });
        store.set_hostcall_fuel(transfer);
        // A tick is only seen while the component runs, so waiting costs one tick at most.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            store.data_mut().budget.count_tick()?;
            Ok(UpdateDeadline::Yield(1))
        });
        let instance = prepared.instances.instantiate_async(&mut store).await;
        Ok(Instance {
            store,
            exports: Exports::new(instance.map_err(trapped)?),
            export_indices: prepared.export_indices.clone(),
            permit,
            _place: None,
            calls: 1,
            ended_well: false,
            keep: None,
        })
    }

    /// How far a call may go.
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

/// The whole file of a component; of one that is too long for a component, enough to see that.
pub fn read_file(file: &Path, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let longest = limits.file as u64;
    File::open(file)?.take(longest + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A place among the calls that run at once, and the memory that those who had it came to need.
pub struct Permit {
    permit: OwnedSemaphorePermit,
    share: Share,
}

impl Permit {
    /// From here on a call with it does not wait for memory: others wait for what its caller holds.
    pub fn stop_waiting(&mut self) {
        self.share.stop_waiting();
    }
}

/// The component, for one call.
pub struct Instance {
    store: Store<State>,
    exports: Exports,
    export_indices: Arc<ExportIndices>,
    permit: OwnedSemaphorePermit,
    /// Among those that hash. After the store, whose memory is in the same place.
    _place: Option<OwnedSemaphorePermit>,
    calls: u32,
    ended_well: bool,
    /// For whom it may be kept, and where.
    keep: Option<(String, Arc<WarmInstances>)>,
}

impl Instance {
    /// The exports, and the store that their functions are called with.
    pub fn parts(&mut self) -> Result<(&Plugin, &mut Store<State>), Error> {
        let found = self.exports.plugin(&self.export_indices, &mut self.store);
        Ok((found.map_err(trapped)?, &mut self.store))
    }

    /// Whether this is its first call, where every call enters anew.
    pub fn is_fresh(&self) -> bool {
        self.calls == 1
    }

    /// Calls one function, by its name in the bindings, without a look at any other.
    pub async fn call_once<Params, Answer>(&mut self, name: &str, params: Params) -> wasmtime::Result<Answer>
    where
        Params: ComponentNamedList + Lower,
        Answer: Lift + 'static,
        (Answer,): ComponentNamedList + Lift,
    {
        let function = self
            .exports
            .function(name, &self.export_indices, &mut self.store)?;
        let (answer,) = function.call_async(&mut self.store, params).await?;
        Ok(answer)
    }

    /// The exports of `users` alone, which takes less time.
    pub fn portico_dashboard_users(&mut self) -> Result<(&users::Guest, &mut Store<State>), Error> {
        let found = self.exports.users(&self.export_indices, &mut self.store);
        Ok((found.map_err(trapped)?, &mut self.store))
    }

    /// The exports of `apps` alone, which takes less time.
    pub fn portico_dashboard_apps(&mut self) -> Result<(&apps::Guest, &mut Store<State>), Error> {
        let found = self.exports.apps(&self.export_indices, &mut self.store);
        Ok((found.map_err(trapped)?, &mut self.store))
    }

    /// Ends the call. Its turn may be taken for another call of the same caller. An instance that
    /// is dropped instead, or whose call came to no answer, ends as well.
    pub fn leave(self) -> Permit {
        let permit = self.permit;
        let state = self.store.data();
        let is_clean = self.ended_well && state.table.is_empty() && state.share.is_small();
        let share = match self.keep {
            Some((user, instances)) if is_clean => {
                let share = state.share.another();
                instances.keep(Warm {
                    user,
                    store: self.store,
                    exports: self.exports,
                    calls: self.calls,
                });
                share
            }
            _ => self.store.into_data().share,
        };
        Permit { permit, share }
    }

    /// The answer of a call: its value, its refusal, or why it never came to an end.
    pub fn answer<T>(&mut self, answer: wasmtime::Result<Result<T, model::Error>>) -> Result<T, Error> {
        self.ended_well = false;
        let answer = answer.map_err(trapped)?;
        if let Err(refusal) = &answer
            && length(refusal) > self.store.data().limits.record
        {
            return Err(trapped(Stop::LongRefusal.into()));
        }
        self.ended_well = true;
        answer.map_err(|refusal| {
            let mut error = Error::from(refusal);
            if error.code == Code::ServiceUnavailable {
                let collisions = self.store.data().budget.collisions.at_the_end();
                error.cause = collisions.map(|count| Collided(count).into());
            }
            error
        })
    }
}

/// The bytes in the texts of a refusal.
fn length(refusal: &model::Error) -> usize {
    let segment = |segment: &model::PathSegment| match segment {
        model::PathSegment::Field(name) => name.len(),
        model::PathSegment::Index(_) => 0,
    };
    let issue = |issue: &model::Issue| issue.message.len() + issue.path.iter().map(segment).sum::<usize>();
    refusal.message.len() + refusal.issues.iter().map(issue).sum::<usize>()
}
