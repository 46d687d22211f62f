//! What modules run in: one wasmtime engine, and what a call may use of it.

use std::time::Duration;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};
use wasmtime_provider::EpochDeadlines;

/// How often the engine looks at its deadlines.
const TICK: Duration = Duration::from_secs(1);

/// What one call of a module may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Linear memory. A module that asks for more is refused it, and traps.
    pub memory: Memory,
    /// Seconds, after which a call is interrupted. Kubewarden takes two; where only what never ends by itself is to be
    /// ended, more are safer on a busy machine.
    pub seconds: u64,
}

/// How much linear memory a call may use.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// As much as wasm can address, which is what the policy server's own settings come to.
    Unlimited,
    /// So many bytes, in so many instances at once.
    AtMost { bytes: usize, instances: u32 },
}

/// Where modules are compiled and run.
#[derive(Clone)]
pub struct Host {
    pub(crate) engine: Engine,
    pub(crate) deadlines: EpochDeadlines,
}

/// Why this machine runs no modules.
#[derive(Debug, thiserror::Error)]
#[error("wasmtime cannot run here: {0:#}")]
pub struct CannotRun(wasmtime::Error);

impl Host {
    /// A host whose calls keep within `limits`.
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
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        let engine = Engine::new(&config).map_err(CannotRun)?;
        let ticking = engine.weak();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(TICK);
                match ticking.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        });
        let deadlines = EpochDeadlines { wapc_init: limits.seconds, wapc_func: limits.seconds };
        Ok(Host { engine, deadlines })
    }
}
