//! The JavaScript face: what the module decides, for browsers, Node and editors.
//!
//! Everything passes as JSON text, in and out: no JavaScript object is touched from inside wasm, so no getter, `toJSON`
//! or cycle of one can run, throw or return there. `crates/js/package/functions.js` turns objects into texts before the call and
//! the answer into an object after it; the declarations that TypeScript sees are those of the functions here.

mod answers;
mod document;
mod nodes;
mod relation;
mod tolerance;

pub use answers::{
    NodeChange, NodeChangeName, NodeChanges, Relation, RelationName, SettingsVerdict, Tolerance, Verdict,
};

use placement_guard::objects::Objects;
use placement_guard::rules::decision::Decision;
use placement_guard::verdict;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const DOCUMENT: &str = "\
/**
 * A JSON document: its text, or the object that it would be parsed into.
 *
 * A number beyond 2^53 is exact only in a text.
 */
export type JsonDocument = string | object;

/** What a request is judged in. */
export interface CheckOptions {
  /**
   * The objects of the cluster that rules may read: a list of them, or what `kubectl get -o json` prints. A kind of which it
   * holds no object counts as one without objects. Without it, no rule can read the cluster.
   */
  cluster?: JsonDocument;
}
";

/// Judges an admission request, or the AdmissionReview that holds it, under the settings of the policy.
///
/// The verdict refuses what cannot be read, with code 422 and the path of the field.
#[wasm_bindgen(unchecked_return_type = "Verdict")]
pub fn check(
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] request: &str,
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] settings: &str,
    #[wasm_bindgen(js_name = options, unchecked_optional_param_type = "CheckOptions")] cluster: Option<String>,
) -> String {
    let verdict = match cluster.map(|objects| document::read("cluster", &objects, Objects::of)).transpose() {
        Ok(Some(objects)) => verdict::check_in(settings, request, &objects),
        Ok(None) => verdict::check(settings, request),
        Err(unreadable) => Decision::unreadable(&unreadable).into(),
    };
    to_json(&Verdict::from(verdict))
}

/// Whether settings can be used, and if not, where and why.
#[wasm_bindgen(js_name = validateSettings, unchecked_return_type = "SettingsVerdict")]
pub fn validate_settings(#[wasm_bindgen(unchecked_param_type = "JsonDocument")] settings: &str) -> String {
    to_json(&SettingsVerdict::from(verdict::validate_settings(settings)))
}

/// How the nodes that may use a PersistentVolume change from one state of it to another, under topology facts as
/// `volumeNodeAffinity.topology` in the settings declares them.
#[wasm_bindgen(unchecked_return_type = "Relation")]
pub fn relation(
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] before: &str,
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] after: &str,
    #[wasm_bindgen(unchecked_optional_param_type = "JsonDocument")] topology: &str,
) -> String {
    to_json(&relation::between(before, after, topology))
}

/// What the change from one state of a PersistentVolume to another means for each of these nodes: one node, a list, or what
/// `kubectl get nodes -o json` prints. Objects of other kinds are left out.
#[wasm_bindgen(js_name = nodeChanges, unchecked_return_type = "NodeChanges")]
pub fn node_changes(
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] before: &str,
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] after: &str,
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] nodes: &str,
) -> String {
    to_json(&nodes::between(before, after, nodes))
}

/// Whether a pod with this list of tolerations may be on a node with this taint, comparison operators included.
#[wasm_bindgen(unchecked_return_type = "Tolerance")]
pub fn tolerates(
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] tolerations: &str,
    #[wasm_bindgen(unchecked_param_type = "JsonDocument")] taint: &str,
) -> String {
    to_json(&tolerance::of(tolerations, taint))
}

fn to_json(answer: &impl Serialize) -> String {
    // The answers are plain structs with string keys, which always serialise; were that ever untrue, the caller fails on
    // an empty text.
    serde_json::to_string(answer).unwrap_or_default()
}
