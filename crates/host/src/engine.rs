//! What modules run in: one wasmtime engine, and what a call may use of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[cfg(debug_assertions)]
use wasmtime::{Cache, CacheConfig};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};
use wasmtime_provider::EpochDeadlines;

/// How often the engine looks at its deadlines. The running time of a call is counted in these ticks.
///
/// Deadlines are epochs and not fuel: the provider of waPC makes the store of each call itself and sets no fuel, and
/// epochs cost a call less. They measure time, so a call that meets its deadline may succeed another time. The module has
/// a step budget of its own, far below any deadline: with it, the same request has the same answer on every machine.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Of [`TICK`].
const TICKS_PER_SECOND: u64 = 100;

/// Bytes of memory that the pool keeps for an instance between two calls.
const KEPT: usize = 4 << 20;

/// What one call of a module may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Linear memory. A module that asks for more does not get it, and traps.
    pub memory: Memory,
    /// Seconds after which a call is interrupted. Kubewarden uses two. More are safer on a busy machine, where the limit is
    /// only for calls that never end by themselves.
    pub seconds: u64,
}

/// How much linear memory a call may use.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// As much as wasm can address, which is what the policy server's own settings come to.
    Unlimited,
    /// So many bytes for each of so many instances.
    AtMost { bytes: usize, instances: u32 },
}

/// The folder in which a debug build keeps what it compiled, if this variable of the environment names one.
#[cfg(debug_assertions)]
const COMPILED: &str = "PLACEMENT_GUARD_COMPILED";

/// A debug build compiles a module for half a minute, and each test is a process of its own: they share what one of them
/// compiled. Release builds never read compiled code from a file, because nothing could tell whether it is the module's.
#[cfg(debug_assertions)]
fn keep_compiled_modules(config: &mut Config) -> wasmtime::Result<()> {
    if let Some(folder) = std::env::var_os(COMPILED) {
        let mut kept = CacheConfig::new();
        kept.with_directory(folder);
        config.cache(Some(Cache::new(kept)?));
    }
    Ok(())
}

/// Where modules are compiled and run.
#[derive(Clone)]
pub struct Host {
    pub(crate) engine: Engine,
    pub(crate) deadlines: EpochDeadlines,
    pub(crate) ticks: Arc<AtomicU64>,
}

/// Why this machine cannot run modules.
#[derive(Debug, thiserror::Error)]
#[error("wasmtime cannot run here: {0:#}")]
pub struct CannotRun(wasmtime::Error);

impl Host {
    /// A host whose calls stay within `limits`.
    ///
    /// # Errors
    /// When wasmtime does not support this machine, or the machine grants it no address space.
    pub fn new(limits: Limits) -> Result<Self, CannotRun> {
        let mut config = Config::new();
        config.epoch_interruption(true);
        if let Memory::AtMost { bytes, instances } = limits.memory {
            let mut pool = PoolingAllocationConfig::default();
            pool.total_core_instances(instances).total_memories(instances).total_tables(instances);
            pool.max_memory_size(bytes);
            if PoolingAllocationConfig::is_pagemap_scan_available() {
                // Where the kernel can say which pages a call wrote, they are cleared and kept: returning them and faulting
                // them in again takes a small call as long as everything else.
                pool.pagemap_scan(Enabled::Yes).linear_memory_keep_resident(KEPT).table_keep_resident(KEPT);
            }
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        #[cfg(debug_assertions)]
        keep_compiled_modules(&mut config).map_err(CannotRun)?;
        let engine = Engine::new(&config).map_err(CannotRun)?;
        let ticking = engine.weak();
        let ticks = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&ticks);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(TICK);
                match ticking.upgrade() {
                    Some(engine) => {
                        engine.increment_epoch();
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                    None => return,
                }
            }
        });
        let deadline = limits.seconds.saturating_mul(TICKS_PER_SECOND);
        let deadlines = EpochDeadlines { wapc_init: deadline, wapc_func: deadline };
        Ok(Host { engine, deadlines, ticks })
    }
}
