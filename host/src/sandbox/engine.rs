//! How wasmtime is set up.

use std::{path::PathBuf, sync::Arc, thread};

use anyhow::Context as _;
use tracing::warn;
use wasmtime::{
    Cache, CacheConfig, Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
};

use super::{
    limits::{Limits, TICK},
    warm::WarmInstances,
};

/// A core instance for the component itself, one for each of its adapters, and one to spare.
pub(super) const CORE_INSTANCES: u32 = 4;
/// The tables of the component and of its adapters.
pub(super) const TABLES: u32 = 2;

/// An engine with instances from a pool; without a pool where the machine has no room for one.
pub(super) fn new(limits: &Limits, cache: Option<PathBuf>) -> anyhow::Result<Engine> {
    let mut config = Config::new();
    // The contract has no async functions. Without support for them a call costs half.
    config.concurrency_support(false);
    config.gc_support(false);
    config.epoch_interruption(true);
    // A backtrace of the host's own frames for each trap is slow and says nothing.
    config.wasm_backtrace_details(wasmtime::WasmBacktraceDetails::Disable);
    if let Some(directory) = cache {
        config.cache(Some(open_cache(directory)?));
    }
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    match Engine::new(&config) {
        Ok(engine) => Ok(engine),
        Err(error) => {
            warn!(%error, "no room for a pool of instances (is address space limited?); calls will be slower");
            config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
            Ok(Engine::new(&config)?)
        }
    }
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let instances = limits.instances + limits.warm;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances * CORE_INSTANCES)
        .total_memories(instances)
        .total_tables(instances * TABLES)
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(1)
        .max_tables_per_component(TABLES)
        .max_memory_size(limits.memory)
        .table_elements(limits.table_elements)
        // Resetting memory by hand is cheaper than asking the kernel to, which stops every core.
        .linear_memory_keep_resident(192 << 10)
        .table_keep_resident(64 << 10)
        .max_unused_warm_slots(16)
        .pagemap_scan(Enabled::Auto);
    pool
}

fn open_cache(directory: PathBuf) -> anyhow::Result<Cache> {
    let mut config = CacheConfig::new();
    config.with_directory(&directory);
    Cache::new(config).map_err(anyhow::Error::from).with_context(|| {
        format!(
            "cannot use {} to keep the compiled component",
            directory.display()
        )
    })
}

/// Counts the engine's time in ticks, as long as the engine is there, and ends warm instances that
/// nobody needs any more.
pub(super) fn keep_time(engine: &Engine, warm: &Arc<WarmInstances>) {
    const TICKS_OF_A_SWEEP: u32 = 100;
    let (engine, warm) = (engine.weak(), Arc::downgrade(warm));
    thread::spawn(move || {
        let mut ticks = 0;
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            ticks += 1;
            if ticks % TICKS_OF_A_SWEEP == 0
                && let Some(warm) = warm.upgrade()
            {
                warm.sweep();
            }
            thread::sleep(TICK);
        }
    });
}
