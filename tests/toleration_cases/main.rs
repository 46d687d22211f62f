//! `tolerations` where a table says it better than a property: what else is found, what an UPDATE may do, which
//! input cannot be read.

#![allow(clippy::restriction)]

mod findings;
mod node_names;
#[path = "../pods/mod.rs"]
mod pods;
mod reading;
mod size;
mod updates;
mod words;

use serde_json::{Value, json};

const CONTROLLER: &str = "system:serviceaccount:kube-system:daemon-set-controller";

/// One toleration of a `NoExecute` taint of key `k`, for so long.
fn for_seconds(operator: &str, value: &str, seconds: Option<i64>) -> Value {
    json!({"key": "k", "operator": operator, "value": value, "effect": "NoExecute", "tolerationSeconds": seconds})
}
