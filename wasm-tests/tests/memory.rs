//! How much memory a request takes of its host.

use host::{CannotCall, Host, Limits, Memory};
use testkit::benchmark_cases::{HOST_NAMES, TYPICAL};
use wasm_tests::Module;

/// Memory that is asked for while a module runs costs as much as the evaluation (`src/heap.rs`).
#[test]
fn a_typical_update_needs_no_more_than_an_instance_has_from_the_start() {
    let built = Module::built().unwrap_or_else(|error| panic!("{error}"));
    let memory = built.compiled().get_export("memory").unwrap();
    let begins_with = usize::try_from(memory.unwrap_memory().minimum()).unwrap() << 16;
    let host = Host::new(Limits { memory: Memory::AtMost { bytes: begins_with, instances: 1 }, seconds: 30 }).unwrap();
    let module = host.load(Module::built_path()).unwrap_or_else(|error| panic!("{error}"));
    let answer = module.call("validate", &(TYPICAL.payload)()).unwrap();
    assert!(String::from_utf8_lossy(&answer).contains(TYPICAL.answer));
    // So the limit is one: who needs more traps.
    let larger = module.call("validate", &(HOST_NAMES.payload)());
    assert!(matches!(&larger, Err(CannotCall::Guest(said)) if said.contains("wasm backtrace")), "{larger:?}");
}
