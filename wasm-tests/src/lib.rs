//! The built module as Kubewarden's policy server runs it, for tests, the demonstration and the benchmark.

pub mod demo;
mod fake_calls;
mod module;
mod response;
mod table;

pub use fake_calls::FakeCalls;
pub use module::{MEMORY_LIMIT, Module};
pub use response::{Response, SettingsVerdict};
