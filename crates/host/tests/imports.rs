//! What a module may import.

#![allow(clippy::restriction)]

use host::{Fault, Host, Limits, Memory};

/// The whole error message about a module that imports this.
fn complaint(import: &str) -> String {
    let host = Host::new(Limits { memory: Memory::Unlimited, seconds: 1 }).unwrap();
    let text = format!(
        r#"(module {import} (memory (export "memory") 1) (func (export "__guest_call") (param i32 i32) (result i32) (i32.const 1)))"#
    );
    match host.compile("other.wasm", &wat::parse_str(text).unwrap()) {
        Ok(_) => String::from("none"),
        Err(error) => {
            assert!(matches!(error.fault, Fault::NotAPolicy(_)), "{error}");
            error.to_string()
        }
    }
}

#[test]
fn a_module_imports_wapc_and_nothing_else() {
    assert_eq!(complaint(r#"(import "wapc" "__guest_request" (func (param i32 i32)))"#), "none");
    for (module, function, parameters) in
        [("wasi_snapshot_preview1", "clock_time_get", "i32 i64 i32"), ("env", "random", "i32")]
    {
        let said = complaint(&format!(r#"(import "{module}" "{function}" (func (param {parameters}) (result i32)))"#));
        let why = format!("unknown import: `{module}::{function}` has not been defined");
        assert_eq!(said, format!("other.wasm: is not a policy: {why}; a policy may import only waPC"));
    }
}
