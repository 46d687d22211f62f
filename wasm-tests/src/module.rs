//! A compiled module, and calls to it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use wapc::WapcHost;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};
use wasmtime_provider::{EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre};

use crate::{Response, SettingsVerdict};

/// Linear memory that a call may use. A module that asks for more is refused it, and traps.
pub const MEMORY_LIMIT: usize = 64 << 20;

/// Kubewarden interrupts a call after two ticks of a second. Here the deadline only ends what would never end by itself,
/// so that a busy machine fails no test.
const DEADLINE: u64 = 30;
const TICK: Duration = Duration::from_secs(1);

/// Instances that may exist at once: threads of a test binary, with room to spare.
const INSTANCES: u32 = 256;

/// A module compiled once. Every call runs in an instance of its own, as in the policy server: no state survives.
pub struct Module {
    compiled: wasmtime::Module,
    provider: WasmtimeEngineProviderPre,
}

/// Why a file cannot be used as a module.
#[derive(Debug, thiserror::Error)]
pub enum CannotLoad {
    #[error("{}: {error}; `make module` builds it", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{}: {error:#}", path.display())]
    NotWasm { path: PathBuf, error: wasmtime::Error },
    #[error("{}: {error}; a policy imports nothing but waPC", path.display())]
    NotAPolicy { path: PathBuf, error: wasmtime_provider::errors::Error },
}

impl Module {
    /// Where `make module` puts what it builds.
    pub fn built_path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/placement-guard.wasm")
    }

    /// What `make module` built.
    ///
    /// # Errors
    /// When it has not been built.
    pub fn built() -> Result<Self, CannotLoad> {
        Self::load(Self::built_path())
    }

    /// A module whose calls may use [`MEMORY_LIMIT`] of memory, and not run for ever.
    ///
    /// # Errors
    /// When the file is not there, not WebAssembly, or imports what waPC does not offer.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CannotLoad> {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        let engine = ENGINE.get_or_init(|| {
            let mut pool = PoolingAllocationConfig::default();
            pool.total_core_instances(INSTANCES).total_memories(INSTANCES).total_tables(INSTANCES);
            pool.max_memory_size(MEMORY_LIMIT);
            let mut config = Config::new();
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
            engine(config)
        });
        Self::compile(path.as_ref(), engine)
    }

    /// A module in an engine with the policy server's own settings, which limit no memory: for benchmarks.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_as_policy_server(path: impl AsRef<Path>) -> Result<Self, CannotLoad> {
        static ENGINE: OnceLock<Engine> = OnceLock::new();
        Self::compile(path.as_ref(), ENGINE.get_or_init(|| engine(Config::new())))
    }

    fn compile(path: &Path, engine: &Engine) -> Result<Self, CannotLoad> {
        let owned = || path.to_path_buf();
        let bytes = std::fs::read(path).map_err(|error| CannotLoad::Unreadable { path: owned(), error })?;
        let compiled = wasmtime::Module::from_binary(engine, &bytes)
            .map_err(|error| CannotLoad::NotWasm { path: owned(), error })?;
        let provider = WasmtimeEngineProviderBuilder::new()
            .engine(engine.clone())
            .module(compiled.clone())
            .build_pre()
            .map_err(|error| CannotLoad::NotAPolicy { path: owned(), error })?;
        Ok(Self { compiled, provider })
    }

    /// Calls a function of the module in a fresh instance.
    ///
    /// # Errors
    /// What waPC reports: the module's own error, or a trap.
    pub fn call(&self, function: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let deadlines = EpochDeadlines { wapc_init: DEADLINE, wapc_func: DEADLINE };
        let provider = self.provider.rehydrate(Some(deadlines)).map_err(|error| error.to_string())?;
        let refuse = |_, binding: &str, namespace: &str, operation: &str, _: &[u8]| {
            Err(format!("the module asked its host for {binding}/{namespace}/{operation}, and may ask for nothing")
                .into())
        };
        let host = WapcHost::new(Box::new(provider), Some(Box::new(refuse))).map_err(|error| error.to_string())?;
        host.call(function, payload).map_err(|error| match error {
            wapc::errors::Error::GuestCallFailure(said) => said,
            other => other.to_string(),
        })
    }

    /// Has a request judged, and insists on an answer.
    pub fn validate(&self, settings: &Value, request: &Value) -> Response {
        let payload = json!({"settings": settings, "request": request}).to_string();
        self.respond(payload.as_bytes())
    }

    /// Calls `validate` with a payload as it is, and insists on an answer.
    pub fn respond(&self, payload: &[u8]) -> Response {
        self.insist("validate", payload)
    }

    /// Calls `validate_settings` with a payload as it is, and insists on an answer.
    pub fn validate_settings(&self, payload: &[u8]) -> SettingsVerdict {
        self.insist("validate_settings", payload)
    }

    fn insist<T: serde::de::DeserializeOwned>(&self, function: &str, payload: &[u8]) -> T {
        let shown = String::from_utf8_lossy(&payload[..payload.len().min(400)]);
        let answer = self
            .call(function, payload)
            .unwrap_or_else(|error| panic!("`{function}` failed on {} bytes `{shown}`: {error}", payload.len()));
        serde_json::from_slice(&answer).unwrap_or_else(|error| {
            panic!("`{function}` on `{shown}` answered `{}`: {error}", String::from_utf8_lossy(&answer))
        })
    }

    /// The module as wasmtime sees it: its imports and exports.
    pub fn compiled(&self) -> &wasmtime::Module {
        &self.compiled
    }
}

/// An engine whose calls are interrupted at the deadline.
fn engine(mut config: Config) -> Engine {
    config.epoch_interruption(true);
    let engine = Engine::new(&config).expect("this machine can run wasmtime");
    let ticking = engine.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(TICK);
            ticking.increment_epoch();
        }
    });
    engine
}
