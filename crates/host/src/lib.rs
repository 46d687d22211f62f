//! Runs a policy module as Kubewarden's policy server runs it: compiled once, a fresh instance for every call, through
//! waPC in wasmtime. Of what the policy server offers it leaves out WASI: nothing here has a clock, a file or randomness.
//!
//! It judges nothing and knows no policy: bytes go into a function of the module, bytes come out. A module may ask its
//! host for nothing.

mod engine;
mod module;

pub use engine::{CannotRun, Host, Limits, Memory};
pub use module::{CannotCall, CannotLoad, Fault, Module};
