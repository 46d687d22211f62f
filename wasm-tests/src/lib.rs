//! Runs the built module as Kubewarden's policy server runs it: compiled once, a fresh instance for every call, through
//! waPC in wasmtime.

pub mod demo;
pub mod golden;
mod module;
mod response;
mod table;

pub use module::{CannotLoad, MEMORY_LIMIT, Module};
pub use response::{Response, SettingsVerdict};
