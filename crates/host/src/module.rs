//! A compiled module, and calls to it.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest, Sha256};
use wapc::WapcHost;
use wasmtime_provider::{EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre};

use crate::engine::TICK;
use crate::{Host, HostCalls, NothingGranted};

/// A module compiled once. Every call runs in an instance of its own, as in the policy server: no state survives.
pub struct Module {
    compiled: wasmtime::Module,
    provider: WasmtimeEngineProviderPre,
    deadlines: EpochDeadlines,
    ticks: Arc<AtomicU64>,
    digest: String,
}

/// How `wasmtime-provider` words it when a call, or the start of an instance, met its deadline: waPC reports strings only.
const INTERRUPTED: &str = "interrupted, execution deadline exceeded";

/// The outcome of a call.
#[derive(Debug)]
pub struct Called {
    pub answer: Result<Vec<u8>, CannotCall>,
    /// Ticks of the engine, a hundredth of a second each, that passed during the call.
    pub ticks: u64,
}

/// Why a file cannot be used as a module.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {fault}; {}", fault.remedy())]
pub struct CannotLoad {
    /// The file, or another name for where the bytes come from.
    pub name: String,
    pub fault: Fault,
}

/// What is wrong with the bytes of a module.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("is not a WebAssembly module: {}", on_one_line(.0))]
    NotWasm(wasmtime::Error),
    #[error("is not a policy: {0}")]
    NotAPolicy(wasmtime_provider::errors::Error),
}

/// wasmtime prints some errors on several lines.
fn on_one_line(error: &wasmtime::Error) -> String {
    format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Fault {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Fault::Unreadable(_) => "`make module` builds one",
            Fault::NotWasm(_) => "give the file that `make module` wrote",
            Fault::NotAPolicy(_) => "a policy may import only waPC",
        }
    }
}

/// Why a call did not return an answer.
#[derive(Debug, thiserror::Error)]
pub enum CannotCall {
    /// It met its deadline.
    #[error("the module did not finish within its time limit")]
    Deadline,
    /// The module reported an error, or trapped.
    #[error("{0}")]
    Guest(String),
    /// It could not be started: it trapped on the way, or there was no room for an instance.
    #[error("{0}")]
    Host(String),
}

/// The digest of some bytes, as registries write it.
pub fn sha256(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl Host {
    /// Loads a module from a file.
    ///
    /// # Errors
    /// When the file does not exist, is not WebAssembly, or imports what waPC does not offer.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Module, CannotLoad> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes =
            std::fs::read(path).map_err(|error| CannotLoad { name: name.clone(), fault: Fault::Unreadable(error) })?;
        self.compile(&name, &bytes)
    }

    /// Compiles a module; error messages call it `name`.
    ///
    /// # Errors
    /// When the bytes are not WebAssembly, or import what waPC does not offer.
    pub fn compile(&self, name: &str, bytes: &[u8]) -> Result<Module, CannotLoad> {
        let cannot = |fault: Fault| CannotLoad { name: name.to_owned(), fault };
        let compiled =
            wasmtime::Module::from_binary(&self.engine, bytes).map_err(|error| cannot(Fault::NotWasm(error)))?;
        let provider = WasmtimeEngineProviderBuilder::new()
            .engine(self.engine.clone())
            .module(compiled.clone())
            .build_pre()
            .map_err(|error| cannot(Fault::NotAPolicy(error)))?;
        let (deadlines, ticks) = (self.deadlines, Arc::clone(&self.ticks));
        Ok(Module { compiled, provider, deadlines, ticks, digest: sha256(bytes) })
    }
}

impl Module {
    /// Calls a function of the module in a fresh instance. The module is granted nothing of its host.
    ///
    /// # Errors
    /// What waPC reports: the module's own error, or a trap.
    pub fn call(&self, function: &str, payload: &[u8]) -> Result<Vec<u8>, CannotCall> {
        self.call_with(function, payload, NothingGranted)
    }

    /// Like [`Module::call`], with something that answers what the module asks its host. The time that this takes counts
    /// against the time limit of the call, but nothing interrupts it: it must keep a limit of its own.
    ///
    /// # Errors
    /// What waPC reports: the module's own error, or a trap.
    pub fn call_with(
        &self,
        function: &str,
        payload: &[u8],
        calls: impl HostCalls + 'static,
    ) -> Result<Vec<u8>, CannotCall> {
        let broken = |error: String| CannotCall::Host(error);
        let provider = self.provider.rehydrate(Some(self.deadlines)).map_err(|error| broken(error.to_string()))?;
        let answer = move |_, binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
            calls.call(binding, namespace, operation, payload).map_err(Into::into)
        };
        let failed = |error: wapc::errors::Error| match error {
            error if error.to_string().ends_with(INTERRUPTED) => CannotCall::Deadline,
            wapc::errors::Error::GuestCallFailure(said) => CannotCall::Guest(said),
            other => broken(other.to_string()),
        };
        let host = WapcHost::new(Box::new(provider), Some(Box::new(answer))).map_err(failed)?;
        host.call(function, payload).map_err(failed)
    }

    /// Like [`Module::call_with`], and says how long it ran.
    pub fn call_counted(&self, function: &str, payload: &[u8], calls: impl HostCalls + 'static) -> Called {
        let before = self.ticks.load(Ordering::Relaxed);
        let answer = self.call_with(function, payload, calls);
        Called { answer, ticks: self.ticks.load(Ordering::Relaxed).saturating_sub(before) }
    }

    /// How long a call may take.
    pub fn time_limit(&self) -> Duration {
        TICK.saturating_mul(u32::try_from(self.deadlines.wapc_func).unwrap_or(u32::MAX))
    }

    /// The digest of the bytes that were compiled: `sha256:…`, as registries and `sha256sum` know a file.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The module as wasmtime sees it: its imports and exports.
    pub fn compiled(&self) -> &wasmtime::Module {
        &self.compiled
    }
}
