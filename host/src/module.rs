//! A compiled module, and calls to it.

use std::path::{Path, PathBuf};

use wapc::WapcHost;
use wasmtime_provider::{EpochDeadlines, WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre};

use crate::Host;

/// A module compiled once. Every call runs in an instance of its own, as in the policy server: no state survives.
pub struct Module {
    compiled: wasmtime::Module,
    provider: WasmtimeEngineProviderPre,
    deadlines: EpochDeadlines,
}

/// Why bytes cannot be used as a module.
#[derive(Debug, thiserror::Error)]
pub enum CannotLoad {
    #[error("`{}`: cannot be read: {error}; `make module` builds one", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("`{name}`: is no WebAssembly module: {error:#}; give the file that `make module` wrote")]
    NotWasm { name: String, error: wasmtime::Error },
    #[error("`{name}`: {error}; a policy module imports nothing but waPC")]
    NotAPolicy { name: String, error: wasmtime_provider::errors::Error },
}

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CannotCall {
    /// The module itself reports an error, or asked its host for something.
    #[error("{0}")]
    Guest(String),
    /// A trap, a deadline, or no room for an instance.
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
        let bytes = std::fs::read(path).map_err(|error| CannotLoad::Unreadable { path: path.to_path_buf(), error })?;
        self.compile(&path.display().to_string(), &bytes)
    }

    /// Compiles a module; complaints call it `name`.
    ///
    /// # Errors
    /// When the bytes are not WebAssembly, or import what waPC does not offer.
    pub fn compile(&self, name: &str, bytes: &[u8]) -> Result<Module, CannotLoad> {
        let compiled = wasmtime::Module::from_binary(&self.engine, bytes)
            .map_err(|error| CannotLoad::NotWasm { name: name.to_owned(), error })?;
        let provider = WasmtimeEngineProviderBuilder::new()
            .engine(self.engine.clone())
            .module(compiled.clone())
            .build_pre()
            .map_err(|error| CannotLoad::NotAPolicy { name: name.to_owned(), error })?;
        Ok(Module { compiled, provider, deadlines: self.deadlines })
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
        let host =
            WapcHost::new(Box::new(provider), Some(Box::new(refuse))).map_err(|error| broken(error.to_string()))?;
        host.call(function, payload).map_err(|error| match error {
            wapc::errors::Error::GuestCallFailure(said) => CannotCall::Guest(said),
            other => broken(other.to_string()),
        })
    }

    /// The module as wasmtime sees it: its imports and exports.
    pub fn compiled(&self) -> &wasmtime::Module {
        &self.compiled
    }
}
