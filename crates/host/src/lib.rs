//! Runs a policy module as Kubewarden's policy server runs it: compiled once, a fresh instance for every call, through
//! waPC in wasmtime. It does not offer WASI, which the policy server does: a module here has no clock, no files and no randomness.
//!
//! It judges nothing and knows no policy: bytes go into a function of the module, bytes come out. A module may ask its host
//! for objects of the cluster where the caller gives it something that answers ([`HostCalls`]); otherwise it is granted
//! nothing.

mod calls;
mod engine;
pub mod kubernetes;
mod module;

pub use calls::{HostCalls, NothingGranted};

pub use engine::{CannotRun, Host, Limits, Memory};
pub use module::{CannotCall, CannotLoad, Fault, Module, sha256};
