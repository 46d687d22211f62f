//! A compiled module, and calls to it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wapc::WapcHost;
use wasmtime_provider::{EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre};

use crate::Host;

/// A module compiled once. Every call runs in an instance of its own, as in the policy server: no state survives.
pub struct Module {
    compiled: wasmtime::Module,
    provider: WasmtimeEngineProviderPre,
    deadlines: EpochDeadlines,
    ticks: Arc<AtomicU64>,
}

/// How `wasmtime-provider` words it when a call, or the start of an instance, met its deadline: waPC has texts alone.
const INTERRUPTED: &str = "interrupted, execution deadline exceeded";

/// What a call came to.
#[derive(Debug)]
pub struct Called {
    pub answer: Result<Vec<u8>, CannotCall>,
    /// Ticks of the engine, of a hundredth of a second, that went by meanwhile.
    pub ticks: u64,
}

/// Why a file cannot be used as a module.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {fault}; {}", fault.remedy())]
pub struct CannotLoad {
    /// The file, or whatever else the bytes come from.
    pub name: String,
    pub fault: Fault,
}

/// What is wrong with the bytes of a module.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("is no WebAssembly module: {}", on_one_line(.0))]
    NotWasm(wasmtime::Error),
    #[error("is no policy: {0}")]
    NotAPolicy(wasmtime_provider::errors::Error),
}

/// wasmtime shows bytes one below the other.
fn on_one_line(error: &wasmtime::Error) -> String {
    format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Fault {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Fault::Unreadable(_) => "`make module` builds one",
            Fault::NotWasm(_) => "give the file that `make module` wrote",
            Fault::NotAPolicy(_) => "a policy imports nothing but waPC",
        }
    }
}

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CannotCall {
    /// It met its deadline.
    #[error("the module did not come to an end in the time that it is given")]
    Deadline,
    /// The module itself reports an error, trapped, or asked its host for something.
    #[error("{0}")]
    Guest(String),
    /// It could not be started: a trap on the way, or no room for an instance.
    #[error("{0}")]
    Host(String),
}

impl Host {
    /// Loads a module from a file.
    ///
    /// # Errors
    /// When the file is not there, not WebAssembly, or imports what waPC does not offer.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Module, CannotLoad> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes =
            std::fs::read(path).map_err(|error| CannotLoad { name: name.clone(), fault: Fault::Unreadable(error) })?;
        self.compile(&name, &bytes)
    }

    /// Compiles a module; complaints call it `name`.
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
        Ok(Module { compiled, provider, deadlines: self.deadlines, ticks: Arc::clone(&self.ticks) })
    }
}

impl Module {
    /// Calls a function of the module in a fresh instance.
    ///
    /// # Errors
    /// What waPC reports: the module's own error, or a trap.
    pub fn call(&self, function: &str, payload: &[u8]) -> Result<Vec<u8>, CannotCall> {
        let broken = |error: String| CannotCall::Host(error);
        let provider = self.provider.rehydrate(Some(self.deadlines)).map_err(|error| broken(error.to_string()))?;
        let refuse = |_, binding: &str, namespace: &str, operation: &str, _: &[u8]| {
            Err(format!("the module asked its host for {binding}/{namespace}/{operation}, and may ask for nothing")
                .into())
        };
        let failed = |error: wapc::errors::Error| match error {
            error if error.to_string().ends_with(INTERRUPTED) => CannotCall::Deadline,
            wapc::errors::Error::GuestCallFailure(said) => CannotCall::Guest(said),
            other => broken(other.to_string()),
        };
        let host = WapcHost::new(Box::new(provider), Some(Box::new(refuse))).map_err(failed)?;
        host.call(function, payload).map_err(failed)
    }

    /// As [`Module::call`], and says for how long it ran.
    pub fn call_counted(&self, function: &str, payload: &[u8]) -> Called {
        let before = self.ticks.load(Ordering::Relaxed);
        let answer = self.call(function, payload);
        Called { answer, ticks: self.ticks.load(Ordering::Relaxed).saturating_sub(before) }
    }

    /// The module as wasmtime sees it: its imports and exports.
    pub fn compiled(&self) -> &wasmtime::Module {
        &self.compiled
    }
}
