//! How wasmtime is set up.

use std::{io, thread};

use tracing::warn;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::limits::{Limits, TICK};

/// A core instance for the component itself, one for each of its adapters, and one to spare.
pub(crate) const CORE_INSTANCES: u32 = 4;
/// The tables of the component and of its adapters.
pub(crate) const TABLES: u32 = 2;

/// The engine of most calls: with a pool of instances, or without one if the machine has no memory for it.
pub(crate) fn new(limits: &Limits) -> anyhow::Result<Engine> {
    // Calls that hash run here too, if they have no pool of their own.
    let instances = limits.ordinary_calls() + limits.hashing + limits.warm;
    match with_pool(pool(limits, instances, 192 << 10)) {
        Ok(engine) => Ok(engine),
        Err(error) => {
            warn!(%error, "no room for a pool of instances (is address space limited?); calls will be slower");
            let mut config = config();
            config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
            Ok(Engine::new(&config)?)
        }
    }
}

/// The engine of calls that hash: few instances, whose places keep as much memory as one hash needs.
pub(crate) fn for_hashing(limits: &Limits) -> anyhow::Result<Engine> {
    let mut pool = pool(limits, limits.hashing, 24 << 20);
    // Nearly every page was written to, so finding out which ones takes longer than clearing all of them.
    pool.pagemap_scan(Enabled::No);
    Ok(with_pool(pool)?)
}

fn with_pool(pool: PoolingAllocationConfig) -> wasmtime::Result<Engine> {
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// The settings that compiled code depends on: the same for every engine.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    // The contract has no async functions. Calls cost half as much without support for them.
    config.concurrency_support(false);
    config.gc_support(false);
    config.epoch_interruption(true);
    // A backtrace of the host's own frames for each trap is slow and useless.
    config.wasm_backtrace_details(wasmtime::WasmBacktraceDetails::Disable);
    config
}

/// `resident` bytes of each instance's memory are cleared by hand, which is cheaper than having the kernel
/// do it: that interrupts every core.
fn pool(limits: &Limits, instances: u32, resident: usize) -> PoolingAllocationConfig {
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
        .linear_memory_keep_resident(resident)
        .table_keep_resident(64 << 10)
        .max_unused_warm_slots(instances.min(16))
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Starts a thread that advances the engine's epoch every tick and calls `tidy_up` every second, until the
/// engine is dropped. Fails if no thread can be started.
pub(crate) fn keep_time(engine: &Engine, tidy_up: impl Fn() + Send + 'static) -> io::Result<()> {
    const TICKS_OF_A_SECOND: u32 = 100;
    let engine = engine.weak();
    let thread = thread::Builder::new().name("portico-ticks".into());
    let started = thread.spawn(move || {
        let mut ticks = 0;
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            ticks += 1;
            if ticks % TICKS_OF_A_SECOND == 0 {
                tidy_up();
            }
            thread::sleep(TICK);
        }
    });
    started.map(drop)
}
