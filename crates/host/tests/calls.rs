//! What a module is answered that asks its host for something.

#![allow(clippy::restriction)]

use host::{CannotCall, Host, HostCalls, Limits, Memory, Module};

/// A module that makes one call to its host and answers with the host's answer, or fails with its error.
fn asking(operation: &str, payload: &str) -> Module {
    let text = format!(
        r#"(module
          (import "wapc" "__guest_response" (func $respond (param i32 i32)))
          (import "wapc" "__guest_error" (func $fail (param i32 i32)))
          (import "wapc" "__host_call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
          (import "wapc" "__host_response_len" (func $length (result i32)))
          (import "wapc" "__host_response" (func $take (param i32)))
          (import "wapc" "__host_error_len" (func $error_length (result i32)))
          (import "wapc" "__host_error" (func $take_error (param i32)))
          (memory (export "memory") 4)
          (data (i32.const 0) "kubewarden")
          (data (i32.const 16) "kubernetes")
          (data (i32.const 32) "{operation}")
          (data (i32.const 64) "{payload}")
          (func (export "__guest_call") (param i32 i32) (result i32)
            (if (call $call
                  (i32.const 0) (i32.const 10) (i32.const 16) (i32.const 10)
                  (i32.const 32) (i32.const {}) (i32.const 64) (i32.const {}))
              (then
                (call $take (i32.const 65536))
                (call $respond (i32.const 65536) (call $length))
                (return (i32.const 1))))
            (call $take_error (i32.const 65536))
            (call $fail (i32.const 65536) (call $error_length))
            (i32.const 0)))"#,
        operation.len(),
        payload.len(),
        payload = payload.replace('"', "\\\""),
    );
    let host = Host::new(Limits { memory: Memory::Unlimited, seconds: 10 }).unwrap();
    host.compile("asking", &wat::parse_str(text).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

const NODE: &str =
    r#"{"api_version":"v1","kind":"Node","name":"n","namespace":null,"disable_cache":false,"field_masks":null}"#;

fn error(called: Result<Vec<u8>, CannotCall>) -> String {
    match called {
        Err(CannotCall::Guest(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_more_a_module_is_granted_nothing() {
    let one = asking("get_resource", NODE).call("validate", b"");
    let not_granted =
        "Policy has not been granted access to Kubernetes v1/Node resources. The violation has been reported.";
    assert_eq!(error(one), not_granted);
    let all = r#"{"api_version":"storage.k8s.io/v1","kind":"CSINode","label_selector":null,"field_selector":null}"#;
    assert_eq!(
        error(asking("list_resources_all", all).call("validate", b"")),
        "Policy has not been granted access to Kubernetes storage.k8s.io/v1/CSINode resources. The violation has been reported."
    );
}

/// Says what it is asked.
struct Echo;

impl HostCalls for Echo {
    fn call(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let said = format!("{binding}/{namespace}/{operation} {}", String::from_utf8_lossy(payload));
        if operation == "get_resource" { Ok(said.into_bytes()) } else { Err(said) }
    }
}

#[test]
fn answers_and_errors_reach_the_module_byte_for_byte() {
    let one = asking("get_resource", NODE).call_with("validate", b"", Echo).unwrap();
    assert_eq!(String::from_utf8(one).unwrap(), format!("kubewarden/kubernetes/get_resource {NODE}"));
    let other = asking("can_i", NODE).call_counted("validate", b"", Echo);
    assert_eq!(error(other.answer), format!("kubewarden/kubernetes/can_i {NODE}"));
}

#[test]
fn a_module_knows_its_time_limit() {
    assert_eq!(asking("get_resource", NODE).time_limit(), std::time::Duration::from_secs(10));
}
