//! What one instance has of its host: the data of its store.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use portico_model::time::Clock;
use portico_storage::{CallContext, Storage, secrets::Random};
use wasmtime::{
    ResourceLimiter as _, ResourceLimiterAsync, StoreLimits, StoreLimitsBuilder, component::ResourceTable,
};

use crate::{
    engine,
    icons::Icons,
    limits::{Budget, Limits, Writing},
    memory::Share,
    transaction::OpenTransaction,
};

/// What the component gets from its host.
#[derive(Clone)]
pub struct Imports {
    /// Where users and apps are stored.
    pub storage: Arc<dyn Storage>,
    /// Where icons are looked up.
    pub icons: Arc<dyn Icons>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub random: Arc<dyn Random>,
}

/// What one instance has of its host.
pub struct State {
    pub(crate) imports: Arc<Imports>,
    /// Where its transactions begin: the storage of the imports, or a transaction of the caller's.
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) context: CallContext,
    pub(crate) table: ResourceTable,
    pub(crate) budget: Budget,
    pub(crate) share: Share,
    pub(crate) limits: Arc<Limits>,
    counts: StoreLimits,
}

impl State {
    /// The state of a new instance.
    pub(crate) fn new(
        imports: Arc<Imports>,
        storage: Arc<dyn Storage>,
        context: CallContext,
        share: Share,
        limits: Arc<Limits>,
    ) -> Self {
        Self {
            imports,
            storage,
            context,
            table: ResourceTable::new(),
            budget: Budget::new(&limits),
            share,
            counts: StoreLimitsBuilder::new()
                .table_elements(limits.table_elements)
                .memories(1)
                .tables(engine::TABLES as usize)
                .instances(engine::CORE_INSTANCES as usize)
                .trap_on_grow_failure(true)
                .build(),
            limits,
        }
    }

    /// Starts the clock of a write transaction that no longer waits for other writers.
    pub(crate) fn check_writing(&mut self) {
        if self.budget.writing != Writing::Waiting {
            return;
        }
        let mut open = self.table.iter_mut().filter_map(|entry| entry.downcast_ref());
        if open.any(|OpenTransaction(transaction)| !transaction.is_waiting_for_write_lock()) {
            self.budget.writing = Writing::Since(Instant::now());
        }
    }
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
        // The transaction may have stopped waiting in this very call of the host, whose result needs the memory.
        self.check_writing();
        let may_wait = !matches!(self.budget.writing, Writing::Since(_));
        let meter = self.budget.meter.clone();
        meter.wait(self.share.fit(desired, may_wait)).await?;
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
