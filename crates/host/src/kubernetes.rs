//! The calls by which a policy asks Kubewarden's policy server about the cluster, and the error messages that it gets.
//!
//! Names, members and messages are those of the policy server (`crates/policy-evaluator/src/runtimes/callback.rs`) and of
//! its SDK (`host_capabilities::kubernetes`), because modules tell errors apart by their words.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What the policy server puts before the error of a call that it was willing to answer.
pub const FAILURE: &str = "Callback evaluation failure: ";

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// `tracing/log`, which needs no grant.
    ToLog,
    /// `kubernetes/get_resource`
    ForOne(Get),
    /// `kubernetes/list_resources_all` and `kubernetes/list_resources_by_namespace`
    ForAll(List),
}

/// Asks for one object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Get {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
    /// Whether the answer must be as new as the API server's.
    pub disable_cache: bool,
    /// The fields that are wanted, as paths with dots; without any, all of them.
    pub field_masks: Option<BTreeSet<String>>,
}

/// Asks for all objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct List {
    pub api_version: String,
    pub kind: String,
    /// Of one namespace only.
    #[serde(skip)]
    pub namespace: Option<String>,
    pub label_selector: Option<String>,
    pub field_selector: Option<String>,
    pub field_masks: Option<BTreeSet<String>>,
}

#[derive(Deserialize)]
struct Namespace {
    namespace: String,
}

/// Reads a call.
///
/// # Errors
/// The message for a module that asks for something else, or in another form.
pub fn asked(binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Asked, String> {
    if binding != "kubewarden" {
        return Err(format!("unknown binding: {binding}"));
    }
    match (namespace, operation) {
        ("tracing", "log") => Ok(Asked::ToLog),
        ("kubernetes", "get_resource") => Ok(Asked::ForOne(read(payload)?)),
        ("kubernetes", "list_resources_all") => Ok(Asked::ForAll(read(payload)?)),
        ("kubernetes", "list_resources_by_namespace") => {
            let Namespace { namespace } = read(payload)?;
            Ok(Asked::ForAll(List { namespace: Some(namespace), ..read(payload)? }))
        }
        ("tracing", _) => Err(format!("unknown operation: {operation}")),
        _ => Err(format!(
            "Policy has not been granted access to the '{namespace}/{operation}' host capability. The violation has been \
             reported."
        )),
    }
}

fn read<T: DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    serde_json::from_slice(payload).map_err(|error| error.to_string())
}

/// The message about a kind that a policy may not read.
pub fn not_granted(api_version: &str, kind: &str) -> String {
    format!(
        "Policy has not been granted access to Kubernetes {api_version}/{kind} resources. The violation has been reported."
    )
}

/// The message about an object that does not exist.
pub fn not_found(api_version: &str, kind: &str, name: &str, namespace: Option<&str>) -> String {
    format!("{FAILURE}Cannot find {api_version}/{kind} named '{name}' inside of namespace '{namespace:?}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_as_the_sdk_writes_them() {
        let payload = br#"{"api_version":"v1","kind":"Node","name":"n","namespace":null,"disable_cache":false,"field_masks":["spec.taints","metadata.name"]}"#;
        let masks = Some(["metadata.name", "spec.taints"].map(String::from).into());
        let get = Get {
            api_version: String::from("v1"),
            kind: String::from("Node"),
            name: String::from("n"),
            namespace: None,
            disable_cache: false,
            field_masks: masks,
        };
        assert_eq!(asked("kubewarden", "kubernetes", "get_resource", payload), Ok(Asked::ForOne(get)));
        let mut list = List {
            api_version: String::from("v1"),
            kind: String::from("Pod"),
            namespace: None,
            label_selector: None,
            field_selector: None,
            field_masks: None,
        };
        let payload =
            br#"{"api_version":"v1","kind":"Pod","label_selector":null,"field_selector":null,"field_masks":null}"#;
        assert_eq!(asked("kubewarden", "kubernetes", "list_resources_all", payload), Ok(Asked::ForAll(list.clone())));
        let payload = br#"{"api_version":"v1","kind":"Pod","namespace":"ns"}"#;
        list.namespace = Some(String::from("ns"));
        assert_eq!(asked("kubewarden", "kubernetes", "list_resources_by_namespace", payload), Ok(Asked::ForAll(list)));
        assert_eq!(asked("kubewarden", "tracing", "log", b"{}"), Ok(Asked::ToLog));
    }

    #[test]
    fn other_calls_get_the_words_of_the_policy_server() {
        let no_namespace = br#"{"api_version":"v1","kind":"Pod"}"#;
        let cases: [(&str, &str, &str, &[u8], &str); 5] = [
            ("other", "kubernetes", "get_resource", b"{}", "unknown binding: other"),
            ("kubewarden", "tracing", "write", b"{}", "unknown operation: write"),
            (
                "kubewarden",
                "kubernetes",
                "can_i",
                b"{}",
                "Policy has not been granted access to the 'kubernetes/can_i' host capability. The violation has been reported.",
            ),
            ("kubewarden", "kubernetes", "get_resource", b"{}", "missing field `api_version` at line 1 column 2"),
            (
                "kubewarden",
                "kubernetes",
                "list_resources_by_namespace",
                no_namespace,
                "missing field `namespace` at line 1 column 33",
            ),
        ];
        for (binding, namespace, operation, payload, message) in cases {
            assert_eq!(asked(binding, namespace, operation, payload), Err(String::from(message)));
        }
    }

    #[test]
    fn an_absent_object_is_named_as_rust_prints_its_namespace() {
        assert_eq!(
            not_found("v1", "Node", "n", None),
            "Callback evaluation failure: Cannot find v1/Node named 'n' inside of namespace 'None'"
        );
        assert_eq!(
            not_found("v1", "Pod", "p", Some("ns")),
            "Callback evaluation failure: Cannot find v1/Pod named 'p' inside of namespace 'Some(\"ns\")'"
        );
    }
}
