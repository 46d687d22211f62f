//! What a broken or hostile host sends to the module. There is always an answer: a trap or a guest error would reach the
//! user as an internal error with status 500, and a policy group may count it as consent.

mod document;
mod duplicate_keys;
mod nesting;
mod not_json;
mod numbers;
mod settings;
mod sizes;
mod wrong_types;

use std::sync::OnceLock;

use serde_json::{Value, json};
use wasm_tests::{Module, Response};

fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| Module::built().unwrap_or_else(|error| panic!("{error}")))
}

/// The request of a recorded AdmissionReview, an edit from one zone to a region where nothing else is said. Zone labels
/// are added, so that every kind of field that the module reads is there.
fn update() -> Value {
    let mut request = recorded("pv-update-zone-to-region");
    for object in ["object", "oldObject"] {
        request[object]["metadata"]["labels"] = json!({"app": "db", "topology.kubernetes.io/zone": "us-east1-b"});
    }
    request
}

fn recorded(name: &str) -> Value {
    let path = format!("{}/../tests/requests/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let review = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice::<Value>(&review).unwrap()["request"].take()
}

/// What the host hands to `validate`.
fn payload(request: Value) -> Value {
    json!({"settings": {"volumeNodeAffinity": {}}, "request": request})
}

/// Has a payload judged and checks what holds for every answer.
fn answer(payload: &[u8]) -> Response {
    let response = module().respond(payload);
    let message = response.message.as_deref();
    match response.code {
        None => assert!(response.accepted && message.is_none(), "{response:?}"),
        Some(403 | 422) => assert!(!response.accepted && message.is_some_and(|text| !text.is_empty()), "{response:?}"),
        Some(_) => panic!("neither a refusal nor unreadable input: {response:?}"),
    }
    assert_eq!(response.mutated_object, None);
    for warning in response.warnings.iter().flatten() {
        assert!(!warning.contains(['\n', '\r']), "a warning travels in an HTTP header: {warning:?}");
    }
    let length = serde_json::to_vec(&(message, &response.warnings, &response.audit_annotations)).unwrap().len();
    assert!(length <= LONGEST_ANSWER, "an answer of {length} bytes to {} bytes", payload.len());
    response
}

/// An answer quotes what it is about; it does not repeat the input.
const LONGEST_ANSWER: usize = 64 << 10;

/// Insists that the payload is refused as unreadable, with a message that names `place`.
#[track_caller]
fn assert_unreadable(payload: &[u8], place: &str) {
    let response = answer(payload);
    assert_eq!(response.code, Some(422), "{place}: {response:?}");
    let message = response.message.unwrap();
    assert!(message.contains(&format!("{place}: ")), "does not name `{place}`: {message}");
}

/// Insists that a change at `place` was either refused by name or made no difference.
#[track_caller]
fn assert_noticed_or_without_influence(payload: &[u8], place: &str, untouched: &Response) {
    let response = answer(payload);
    if response != *untouched {
        assert_eq!(response.code, Some(422), "{place}: {response:?}");
        let message = response.message.unwrap();
        assert!(message.contains(place), "does not name `{place}`: {message}");
    }
}
