//! Runs a policy module as Kubewarden's policy server runs it: compiled once, a fresh instance for every call, through
//! waPC in wasmtime. It does not offer WASI, which the policy server does: a module here has no clock, no files and no randomness.
//!
//! It judges nothing and knows no policy: bytes go into a function of the module, bytes come out. A module may not ask its
//! host for anything.

mod engine;
mod module;

pub use engine::{CannotRun, Host, Limits, Memory};
pub use module::{CannotCall, CannotLoad, Fault, Module, sha256};
