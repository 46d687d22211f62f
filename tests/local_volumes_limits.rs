//! Requests of a size that no person writes: the rule for local volumes decides them, or says that they are too large.
//! What costs the square of their size would not come to an end here.

#![allow(clippy::restriction)]

use placement_guard::kubewarden;
use serde_json::{Value, json};

const MANY: usize = 20_000;

fn findings(settings: &Value, kind: &str, old: Option<&Value>, object: &Value) -> String {
    let request = json!({
        "uid": "1", "kind": {"group": "", "version": "v1", "kind": kind},
        "operation": if old.is_some() { "UPDATE" } else { "CREATE" }, "object": object, "oldObject": old,
        "userInfo": {"username": "system:node:a", "groups": ["system:nodes"]},
    });
    let payload = json!({"settings": {"localVolumes": settings}, "request": request}).to_string();
    let decision: Value = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
    let found = decision["audit_annotations"]["findings"].as_str().unwrap_or_default().to_owned();
    if found.contains("request-too-large") {
        assert_eq!(decision["code"], 403, "{decision}");
    }
    found
}

fn many<T>(write: impl Fn(usize) -> T) -> Vec<T> {
    (0..MANY).map(write).collect()
}

fn read_only() -> Value {
    json!({"hostPaths": [{"prefix": "/var/log", "readOnly": true}]})
}

fn pod(volumes: Vec<Value>, containers: Vec<Value>) -> Value {
    json!({"metadata": {"name": "it"}, "spec": {"volumes": volumes, "containers": containers}})
}

fn host_path(name: &str) -> Value {
    json!({"name": name, "hostPath": {"path": "/var/log"}})
}

#[test]
fn many_volumes_are_decided() {
    let volumes = pod(many(|index| host_path(&index.to_string())), vec![]);
    assert_eq!(findings(&read_only(), "Pod", None, &volumes), "");
    assert_eq!(findings(&json!({"hostPaths": []}), "Pod", None, &volumes), "host-path-not-allowed");
}

#[test]
fn many_mounts_of_one_volume_are_decided() {
    let mounts = many(|_| json!({"name": "v", "readOnly": true}));
    let object = pod(vec![host_path("v")], vec![json!({"name": "app", "volumeMounts": mounts})]);
    assert_eq!(findings(&read_only(), "Pod", None, &object), "host-path-not-recursive");
}

#[test]
fn many_containers_with_a_mount_are_too_large_and_half_of_them_are_decided() {
    let containers = |count: usize| {
        let container = |index: usize| json!({"name": index.to_string(), "volumeMounts": [{"name": "v"}]});
        pod(vec![host_path("v")], (0..count).map(container).collect())
    };
    let half = containers(MANY / 2);
    assert_eq!(findings(&read_only(), "Pod", None, &half), "host-path-not-allowed");
    assert_eq!(findings(&read_only(), "Pod", Some(&half), &half), "");
    let all = containers(3 * MANY);
    assert_eq!(findings(&read_only(), "Pod", None, &all), "request-too-large");
}

/// The API server refuses a name that appears twice. Each of these volumes has all of the mounts.
#[test]
fn many_volumes_of_one_name_with_many_mounts_are_too_large() {
    let mounts = many(|_| json!({"name": "v", "readOnly": true, "recursiveReadOnly": "Enabled"}));
    let object = pod(many(|_| host_path("v")), vec![json!({"name": "app", "volumeMounts": mounts})]);
    assert_eq!(findings(&read_only(), "Pod", None, &object), "request-too-large");
}

#[test]
fn paths_of_any_length_are_decided_or_too_large() {
    let volume = |path: String| json!({"spec": {"storageClassName": "fast", "local": {"path": path}}});
    let settings = json!({"paths": ["/a"]});
    assert_eq!(findings(&settings, "PersistentVolume", None, &volume("/a".repeat(100_000))), "");
    assert_eq!(findings(&settings, "PersistentVolume", None, &volume("/..".repeat(500_000))), "local-path-not-allowed");
    assert_eq!(findings(&settings, "PersistentVolume", None, &volume("/a".repeat(4_000_000))), "request-too-large");
}

#[test]
fn many_prefixes_and_many_volumes_are_too_large() {
    let prefixes = many(|index| json!({"prefix": format!("/{index}")}));
    let volumes = pod(many(|index| host_path(&index.to_string())), vec![]);
    let found = findings(&json!({"hostPaths": prefixes}), "Pod", None, &volumes);
    assert_eq!(found, "host-path-not-allowed,request-too-large");
}

#[test]
fn an_affinity_of_many_host_names_is_decided_or_too_large() {
    let volume = |names: Vec<String>| {
        let hosts = json!([{"key": "kubernetes.io/hostname", "operator": "In", "values": names}]);
        let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}});
        json!({"spec": {"storageClassName": "fast", "local": {"path": "/a"}, "nodeAffinity": affinity}})
    };
    let settings = json!({"pinned": true, "ownNodeOnly": true});
    assert_eq!(
        findings(&settings, "PersistentVolume", None, &volume(many(|index| format!("n{index}")))),
        "local-not-pinned,local-foreign-node"
    );
    let ten_times = (0..10 * MANY).map(|index| format!("n{index}")).collect();
    assert_eq!(findings(&settings, "PersistentVolume", None, &volume(ten_times)), "request-too-large");
}

#[test]
fn what_is_too_large_to_be_judged_may_lose_its_finalizers() {
    let containers = (0..3 * MANY).map(|index| json!({"name": index.to_string(), "volumeMounts": [{"name": "v"}]}));
    let pod = pod(vec![host_path("v")], containers.collect());
    let names: Vec<String> = (0..10 * MANY).map(|index| format!("n{index}")).collect();
    let hosts = json!([{"key": "kubernetes.io/hostname", "operator": "In", "values": names}]);
    let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}});
    let volume = json!({"metadata": {"name": "it"}, "spec": {"local": {"path": "/a"}, "nodeAffinity": affinity}});
    let settings = json!({"pinned": true, "ownNodeOnly": true, "waitForFirstConsumer": true, "hostPaths": []});
    for (kind, object) in [("Pod", pod), ("PersistentVolume", volume)] {
        let mut old = object.clone();
        old["metadata"]["finalizers"] = json!(["example.com/it"]);
        assert!(findings(&settings, kind, None, &object).contains("request-too-large"), "{kind}");
        assert_eq!(findings(&settings, kind, Some(&old), &object), "", "{kind}");
    }
}

/// The controller that binds a volume changes its spec, and not its affinity.
#[test]
fn a_volume_with_a_large_affinity_can_be_bound() {
    let names: Vec<String> = (0..10 * MANY).map(|index| format!("n{index}")).collect();
    let hosts = json!([{"key": "kubernetes.io/hostname", "operator": "In", "values": names}]);
    let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}});
    let old = json!({"metadata": {"name": "it"}, "spec": {"local": {"path": "/a"}, "nodeAffinity": affinity}});
    let mut bound = old.clone();
    bound["spec"]["claimRef"] = json!({"name": "data"});
    assert_eq!(findings(&json!({"pinned": true, "paths": []}), "PersistentVolume", Some(&old), &bound), "");
}
