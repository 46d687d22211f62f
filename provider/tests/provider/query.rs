//! What Gatekeeper is answered.

use serde_json::{Value, json};

use crate::running::{bounds, built, start};

const ZONE: &str = "topology.kubernetes.io/zone";

/// A key about a volume whose zones change.
pub fn volume_key(before: &[&str], after: &[&str]) -> String {
    let volume = |zones: &[&str]| {
        let expression = json!({"key": ZONE, "operator": "In", "values": zones});
        json!({"metadata": {"name": "pv-data"}, "spec": {"nodeAffinity": {"required":
            {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}})
    };
    json!({
        "v": 1,
        "settings": {"volumeNodeAffinity": {}},
        "request": {
            "operation": "UPDATE",
            "kind": {"group": "", "version": "v1", "kind": "PersistentVolume"},
            "name": "pv-data",
            "object": volume(after),
            "oldObject": volume(before),
        },
    })
    .to_string()
}

pub fn provider_request(keys: &[impl AsRef<str>]) -> String {
    let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
    json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest", "request": {"keys": keys}})
        .to_string()
}

pub fn provider_response(items: Value, system_error: &str) -> Value {
    json!({"apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderResponse",
        "response": {"idempotent": true, "items": items, "systemError": system_error}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_echoed_with_the_decision_in_order_and_once() {
    let server = start(built(), bounds(), None).await;
    let (narrowed, widened) = (volume_key(&["b", "c"], &["b"]), volume_key(&["b"], &["b", "c"]));
    let keys = [&*narrowed, &widened, "no key", &narrowed];
    let answer = server.gatekeeper().post("/v1/query", provider_request(&keys)).await;
    let message = "node affinity narrowed: a node with `topology.kubernetes.io/zone=c` loses volume `pv-data`\n  \
        spec.nodeAffinity.required: was `topology.kubernetes.io/zone in (b, c)`, becomes `topology.kubernetes.io/zone in (b)`\n  \
        accepted: unchanged, equivalent, widened";
    let items = json!([
        {"key": narrowed, "value": {
            "allowed": false,
            "code": 403,
            "message": message,
            "warnings": [],
            "findings": ["node-affinity-narrowed"],
            "annotations": {
                "findings": "node-affinity-narrowed",
                "relation": "narrowed",
                "losesNode": r#"{"topology.kubernetes.io/zone":"c"}"#,
            },
        }},
        {"key": widened, "value": {
            "allowed": true,
            "message": "",
            "warnings": [],
            "findings": [],
            "annotations": {"relation": "widened", "gainsNode": r#"{"topology.kubernetes.io/zone":"c"}"#},
        }},
        {"key": "no key", "value": {
            "allowed": false,
            "code": 422,
            "message": "the key cannot be read: no JSON object: line 1, column 2; use the templates of this version",
            "warnings": [],
            "findings": [],
        }},
    ]);
    assert_eq!(answer, (200, provider_response(items, "")));
    let decisions =
        |rule: &str, verdict: &str| format!("placement_guard_decisions_total{{rule=\"{rule}\",verdict=\"{verdict}\"}}");
    assert_eq!(server.metric(&decisions("volumeNodeAffinity", "refused")).await, 1.0);
    assert_eq!(server.metric(&decisions("volumeNodeAffinity", "allowed")).await, 1.0);
    assert_eq!(server.metric(&decisions("none", "unreadable")).await, 1.0);
}
