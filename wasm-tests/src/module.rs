//! The built module, and calls to it that insist on an answer.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use host::{CannotCall, CannotLoad, Host, HostCalls, Limits, Memory};
use serde_json::{Value, json};

use crate::{Response, SettingsVerdict};

/// Linear memory that a call may use. A module that asks for more is refused it, and traps.
pub const MEMORY_LIMIT: usize = 64 << 20;

/// Kubewarden interrupts a call after two ticks of a second. Here the deadline only ends what would never end by itself,
/// so that a busy machine fails no test.
const SECONDS: u64 = 30;

/// Instances that may exist at once: threads of a test binary, with room to spare.
const INSTANCES: u32 = 256;

/// A module of which every call must give an answer.
pub struct Module(host::Module);

impl Module {
    /// Where `make module` puts what it builds, unless the variable `PLACEMENT_GUARD_MODULE` names another file in `target/`.
    pub fn built_path() -> PathBuf {
        let name = std::env::var("PLACEMENT_GUARD_MODULE").unwrap_or_else(|_| String::from("placement-guard.wasm"));
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(name)
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
        static HOST: OnceLock<Host> = OnceLock::new();
        let memory = Memory::AtMost { bytes: MEMORY_LIMIT, instances: INSTANCES };
        HOST.get_or_init(|| host(memory)).load(path).map(Module)
    }

    /// A module in an engine with the policy server's own settings, which limit no memory: for benchmarks.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_as_policy_server(path: impl AsRef<Path>) -> Result<Self, CannotLoad> {
        static HOST: OnceLock<Host> = OnceLock::new();
        HOST.get_or_init(|| host(Memory::Unlimited)).load(path).map(Module)
    }

    /// Calls a function of the module in a fresh instance.
    ///
    /// # Errors
    /// What waPC reports: the module's own error, or a trap.
    pub fn call(&self, function: &str, payload: &[u8]) -> Result<Vec<u8>, CannotCall> {
        self.0.call(function, payload)
    }

    /// The same, with a host that answers what the module asks.
    ///
    /// # Errors
    /// As [`Module::call`].
    pub fn call_with(
        &self,
        function: &str,
        payload: &[u8],
        calls: impl HostCalls + 'static,
    ) -> Result<Vec<u8>, CannotCall> {
        self.0.call_with(function, payload, calls)
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
        self.0.compiled()
    }
}

fn host(memory: Memory) -> Host {
    Host::new(Limits { memory, seconds: SECONDS }).unwrap_or_else(|error| panic!("{error}"))
}
