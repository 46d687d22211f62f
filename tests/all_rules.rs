//! Every rule on one request: each reports everything that it finds, and the report has one order, whatever the order of
//! the settings.

#![allow(clippy::restriction)]

use placement_guard::kubewarden;
use placement_guard::rules::finding::Code;
use serde_json::{Value, json};

const SECTIONS: [&str; 6] =
    ["volumeNodeAffinity", "tolerations", "nodeTaints", "csiDriverTokens", "accessModes", "localVolumes"];

fn section(name: &str) -> Value {
    match name {
        "volumeNodeAffinity" => json!({"allow": []}),
        "tolerations" => json!({"allowed": [], "denied": [{"key": "control", "operator": "Exists"}]}),
        "nodeTaints" => json!({"numericKeys": ["spot"]}),
        "csiDriverTokens" => json!({
            "requireSecrets": true, "requireRepublish": true, "audiences": [], "expirationSeconds": {"max": 600},
        }),
        "accessModes" => json!({"singleWriter": [{"level": "require"}], "csiSidecars": true}),
        "localVolumes" => json!({
            "pinned": true, "ownNodeOnly": true, "paths": [], "hostPaths": [], "waitForFirstConsumer": true,
        }),
        other => panic!("{other} is no section"),
    }
}

/// The settings with every section, in this order.
fn settings<'s>(order: impl Iterator<Item = &'s str>) -> String {
    let sections: Vec<String> = order.map(|name| format!("{}: {}", json!(name), section(name))).collect();
    format!("{{{}}}", sections.join(", "))
}

fn decide(settings: &str, request: &Value) -> Value {
    let payload = format!("{{\"settings\": {settings}, \"request\": {request}}}");
    serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON")
}

fn request(group: &str, kind: &str, old: Option<Value>, object: Value) -> Value {
    json!({
        "uid": "1", "kind": {"group": group, "version": "v1", "kind": kind}, "name": "it", "namespace": "default",
        "operation": if old.is_some() { "UPDATE" } else { "CREATE" },
        "userInfo": {
            "username": "system:serviceaccount:kube-system:provisioner",
            "extra": {"authentication.kubernetes.io/node-name": ["own"]},
        },
        "object": object, "oldObject": old,
    })
}

fn pod_spec() -> Value {
    let claim = |modes: &[&str]| json!({"volumeClaimTemplate": {"spec": {"accessModes": modes}}});
    json!({
        "tolerations": [
            {"operator": "Exists"},
            {"key": "spot", "operator": "Gt", "value": "007"},
            {"key": "spot", "operator": "Lt", "value": "0", "effect": "NoSchedule"},
        ],
        "volumes": [
            {"name": "one", "ephemeral": claim(&["ReadWriteOnce"])},
            {"name": "two", "ephemeral": claim(&["ReadWriteOncePod", "ReadWriteMany"])},
            {"name": "etc", "hostPath": {"path": "/etc"}},
        ],
        "containers": [
            {"name": "old", "image": "registry.example.com:5000/csi-attacher:v3.2.0"},
            {"name": "which", "image": "csi-resizer"},
        ],
    })
}

/// A request for each kind of object, with every code that it must have.
fn requests() -> Vec<(Value, Vec<&'static str>)> {
    let of_pods = vec![
        "toleration-not-allowed",
        "toleration-denied",
        "toleration-invalid-number",
        "toleration-matches-nothing",
        "toleration-admits-everything",
        "single-writer-required",
        "rwop-not-alone",
        "sidecar-too-old",
        "sidecar-version-unknown",
        "host-path-not-allowed",
    ];
    let affinity = |values: &[&str]| {
        json!({"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": values}]},
            {},
        ]}})
    };
    let volume = |modes: &[&str], nodes: &[&str]| json!({"spec": {"local": {"path": "/data"}, "accessModes": modes, "nodeAffinity": affinity(nodes)}});
    vec![
        (request("", "Pod", None, json!({"spec": pod_spec()})), of_pods.clone()),
        (request("apps", "Deployment", None, json!({"spec": {"template": {"spec": pod_spec()}}})), of_pods),
        (
            request("", "PersistentVolume", None, volume(&["ReadWriteOncePod", "ReadWriteOnce"], &["other", "own"])),
            vec![
                "dead-term",
                "rwop-not-alone",
                "rwop-not-csi",
                "local-path-not-allowed",
                "local-not-pinned",
                "local-foreign-node",
                "immediate-binding",
            ],
        ),
        (
            request(
                "",
                "PersistentVolume",
                Some(volume(&["ReadWriteOnce"], &["own"])),
                volume(&["ReadWriteOncePod"], &["other"]),
            ),
            vec!["node-affinity-shifted", "dead-term", "rwop-not-csi", "local-moved", "local-foreign-node"],
        ),
        (
            request(
                "storage.k8s.io",
                "CSIDriver",
                Some(json!({"spec": {
                    "tokenRequests": [{"audience": "a"}], "serviceAccountTokenInSecrets": true, "requiresRepublish": true,
                }})),
                json!({"spec": {"tokenRequests": [{"audience": "a"}, {"audience": ""}]}}),
            ),
            vec![
                "token-in-volume-context",
                "token-audience-not-allowed",
                "token-expiration-out-of-range",
                "token-republish-missing",
                "token-back-to-volume-context",
            ],
        ),
        (
            request(
                "",
                "Node",
                None,
                json!({"spec": {"taints": [{"key": "spot", "value": "high", "effect": "NoExecute"}]}}),
            ),
            vec!["taint-not-numeric"],
        ),
        (
            request("storage.k8s.io", "StorageClass", None, json!({"provisioner": "kubernetes.io/no-provisioner"})),
            vec!["immediate-binding"],
        ),
        (request("", "ConfigMap", None, json!({"data": {}})), vec![]),
    ]
}

#[test]
fn every_rule_reports_everything_that_it_finds() {
    let settings = settings(SECTIONS.into_iter());
    for (request, codes) in requests() {
        let decision = decide(&settings, &request);
        let found = decision["audit_annotations"]["findings"].as_str().unwrap_or_default();
        assert_eq!(found, codes.join(","), "{}: {decision}", request["kind"]);
        assert_eq!(decision["accepted"], json!(codes.is_empty()), "{}", request["kind"]);
    }
}

/// The API server writes the object itself with an empty sub-resource, or without the field.
#[test]
fn an_empty_sub_resource_is_none_for_every_rule() {
    let settings = settings(SECTIONS.into_iter());
    for (request, _) in requests() {
        let mut spelled = request.clone();
        spelled["subResource"] = json!("");
        assert_eq!(decide(&settings, &spelled), decide(&settings, &request), "{}", request["kind"]);
    }
}

/// Where every member of an object is read, whatever its name.
#[test]
fn a_key_that_appears_twice_among_names_of_any_kind_is_refused() {
    let settings = settings(SECTIONS.into_iter());
    let node = r#""authentication.kubernetes.io/node-name": ["own"]"#;
    let volume = requests().remove(2).0;
    let amount = r#""example.com/gpu": "1""#;
    let pod = json!({"tolerations": [{"operator": "Exists"}], "containers": [
        {"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}},
    ]});
    let pod = request("", "Pod", None, json!({"spec": pod}));
    for (request, once, path) in [
        (volume, node.replace(": ", ":"), "userInfo.extra[authentication.kubernetes.io/node-name]"),
        (pod, amount.replace(": ", ":"), "object.spec.containers[0].resources.limits[example.com/gpu]"),
    ] {
        let request = request.to_string();
        assert!(request.contains(&once), "{request}");
        let twice = request.replace(&once, &format!("{once},{once}"));
        let payload = format!("{{\"settings\": {settings}, \"request\": {twice}}}");
        let decision: Value =
            serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
        let expected = json!({"accepted": false, "code": 422, "message": format!("unreadable: {path}: appears twice")});
        assert_eq!(decision, expected);
    }
}

#[test]
fn the_report_has_the_order_of_the_codes() {
    for (_, codes) in requests() {
        let positions: Vec<_> =
            codes.iter().map(|name| Code::ALL.iter().position(|code| code.name() == *name)).collect();
        assert!(positions.iter().all(Option::is_some), "{codes:?}");
        assert!(positions.is_sorted(), "{codes:?}");
    }
}

#[test]
fn the_order_of_the_sections_is_the_authors_own() {
    let (forwards, backwards) = (settings(SECTIONS.into_iter()), settings(SECTIONS.into_iter().rev()));
    for (request, _) in requests() {
        assert_eq!(decide(&forwards, &request), decide(&backwards, &request), "{}", request["kind"]);
    }
}
