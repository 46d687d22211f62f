//! Requests about pods with certain tolerations, put to the module's own entry points, and its answers.
#![allow(dead_code, reason = "each test file asks its own questions")]

use placement_guard::kubewarden;
use serde_json::{Value, json};

/// The kinds that carry a pod: API group, kind, and where the pod's template is in the object.
pub const KINDS: [(&str, &str, &str); 9] = [
    ("", "Pod", ""),
    ("", "PodTemplate", "/template"),
    ("", "ReplicationController", "/spec/template"),
    ("apps", "DaemonSet", "/spec/template"),
    ("apps", "Deployment", "/spec/template"),
    ("apps", "ReplicaSet", "/spec/template"),
    ("apps", "StatefulSet", "/spec/template"),
    ("batch", "Job", "/spec/template"),
    ("batch", "CronJob", "/spec/jobTemplate/spec/template"),
];

/// What the module says to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub accepted: bool,
    pub code: Option<u64>,
    pub message: String,
    pub findings: Vec<String>,
    pub taint: Option<String>,
    pub warnings: Vec<String>,
}

impl Answer {
    pub fn found(&self, finding: &str) -> bool {
        self.findings.iter().any(|found| found == finding)
    }
}

/// A pod with these tolerations, and nothing else to speak of.
pub fn pod(tolerations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
           "spec": {"containers": [{"name": "web", "image": "web:1"}], "tolerations": tolerations}})
}

/// An object of this kind whose pods have these tolerations.
pub fn workload(template: &str, tolerations: &Value) -> Value {
    let mut object = pod(tolerations);
    for step in template.rsplit('/').filter(|step| !step.is_empty()) {
        object = json!({step: object});
    }
    object["metadata"] = json!({"name": "web", "namespace": "shop"});
    object
}

/// The request of a tenant.
pub fn request(group: &str, kind: &str, old: Option<&Value>, new: &Value) -> Value {
    json!({
        "uid": "1", "kind": {"group": group, "version": "v1", "kind": kind}, "name": "web", "namespace": "shop",
        "operation": if old.is_some() { "UPDATE" } else { "CREATE" },
        "userInfo": {"username": "tenant", "groups": ["system:authenticated"]},
        "object": new, "oldObject": old,
    })
}

pub fn create(tolerations: &Value) -> Value {
    request("", "Pod", None, &pod(tolerations))
}

pub fn update(old: &Value, new: &Value) -> Value {
    request("", "Pod", Some(&pod(old)), &pod(new))
}

/// What the `tolerations` section says to a request.
pub fn ask(section: &Value, request: &Value) -> Answer {
    ask_settings(&json!({"tolerations": section}), request)
}

pub fn ask_settings(settings: &Value, request: &Value) -> Answer {
    let payload = json!({"settings": settings, "request": request}).to_string();
    let answer: Value = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let annotations = &answer["audit_annotations"];
    Answer {
        accepted: answer["accepted"].as_bool().expect("every answer says whether it accepts"),
        code: answer["code"].as_u64(),
        message: text(&answer["message"]).unwrap_or_default(),
        findings: text(&annotations["findings"])
            .map(|codes| codes.split(',').map(str::to_owned).collect())
            .unwrap_or_default(),
        taint: text(&annotations["taint"]),
        warnings: answer["warnings"].as_array().into_iter().flatten().filter_map(text).collect(),
    }
}

/// Why settings with this section are refused; `None` when they are valid.
pub fn refusal(section: &str, value: &Value) -> Option<String> {
    let payload = json!({section: value}).to_string();
    let verdict: Value =
        serde_json::from_slice(&kubewarden::validate_settings(payload.as_bytes())).expect("a verdict is JSON");
    match verdict["valid"].as_bool() {
        Some(true) => None,
        _ => Some(verdict["message"].as_str().expect("a refusal says why").to_owned()),
    }
}

/// A toleration.
pub fn one(key: &str, operator: &str, value: &str, effect: &str) -> Value {
    json!({"key": key, "operator": operator, "value": value, "effect": effect})
}

/// Nothing is found.
pub fn passes(answer: &Answer) {
    assert!(answer.accepted && answer.findings.is_empty() && answer.warnings.is_empty(), "{answer:?}");
}

/// These are found, in this order, and nothing else.
pub fn finds(answer: &Answer, findings: &[&str]) {
    assert_eq!(answer.findings, findings, "{answer:?}");
}

/// A reference to an owner.
pub fn owner(version: &str, kind: &str, controller: bool) -> Value {
    json!({"apiVersion": version, "kind": kind, "name": "owner", "uid": "2", "controller": controller})
}

/// The request, sent by this user.
pub fn sent_by(user: &Value, mut request: Value) -> Value {
    request["userInfo"] = user.clone();
    request
}
