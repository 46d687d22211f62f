//! Objects with thousands of containers, volumes, modes and tokens: they are decided, or refused as too large, and the
//! order of a list makes no difference. Comparing each entry with each other one would take minutes here.

#![allow(clippy::restriction)]

use placement_guard::kubewarden;
use serde_json::{Value, json};

fn decide(settings: &Value, group: &str, kind: &str, old: Option<&Value>, object: &Value) -> Value {
    let request = json!({
        "uid": "1", "kind": {"group": group, "version": "v1", "kind": kind}, "name": "it", "namespace": "default",
        "operation": if old.is_some() { "UPDATE" } else { "CREATE" },
        "userInfo": {"username": "admin"}, "object": object, "oldObject": old,
    });
    let payload = json!({"settings": settings, "request": request}).to_string();
    serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON")
}

fn findings(decision: &Value) -> &str {
    decision["audit_annotations"]["findings"].as_str().unwrap_or_default()
}

/// An object for each kind of list, with so many entries; `mark` changes what is judged in each of them.
type Make = fn(usize, &str) -> Value;

fn sidecars(count: usize, mark: &str) -> Value {
    let container = |index| json!({"name": format!("c{index}"), "image": format!("{mark}csi-attacher:v1.0.0")});
    json!({"spec": {"containers": (0..count).map(container).collect::<Vec<_>>()}})
}

fn volumes(count: usize, mark: &str) -> Value {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": format!("{mark}regional")});
    let volume =
        |index| json!({"name": format!("v{index}"), "ephemeral": {"volumeClaimTemplate": {"spec": spec.clone()}}});
    json!({"spec": {"volumes": (0..count).map(volume).collect::<Vec<_>>()}})
}

fn templates(count: usize, mark: &str) -> Value {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": format!("{mark}regional")});
    let template = |index| json!({"metadata": {"name": format!("t{index}")}, "spec": spec.clone()});
    json!({"spec": {"volumeClaimTemplates": (0..count).map(template).collect::<Vec<_>>()}})
}

fn tokens(count: usize, mark: &str) -> Value {
    let request = |index| json!({"audience": format!("{mark}a{index}")});
    json!({"spec": {"tokenRequests": (0..count).map(request).collect::<Vec<_>>()}})
}

/// Settings under which every entry is found, the object, where its list is, and the finding.
fn lists() -> [(Value, &'static str, &'static str, Make, &'static str, &'static str); 4] {
    let one_writer = json!({"accessModes": {"singleWriter": [{"level": "require"}]}});
    [
        (
            json!({"accessModes": {"csiSidecars": true}}),
            "",
            "Pod",
            sidecars,
            "/spec/containers",
            "sidecar-too-old: the same for 1990 more containers",
        ),
        (
            one_writer.clone(),
            "",
            "Pod",
            volumes,
            "/spec/volumes",
            "single-writer-required: the same for 1990 more claims",
        ),
        (
            one_writer,
            "apps",
            "StatefulSet",
            templates,
            "/spec/volumeClaimTemplates",
            "single-writer-required: the same for 1990 more claims",
        ),
        (
            json!({"csiDriverTokens": {"audiences": []}}),
            "storage.k8s.io",
            "CSIDriver",
            tokens,
            "/spec/tokenRequests",
            "token-audience-not-allowed: the same for 1990 more audiences in spec.tokenRequests",
        ),
    ]
}

#[test]
fn thousands_of_entries_are_decided() {
    for (settings, group, kind, make, _, says) in lists() {
        let decision = decide(&settings, group, kind, None, &make(2000, ""));
        assert_eq!(findings(&decision), says.split(':').next().unwrap_or_default(), "{kind}");
        assert!(decision["message"].as_str().is_some_and(|message| message.contains(says)), "{kind}: {decision}");
    }
}

#[test]
fn what_was_there_is_left_alone_in_any_order_and_what_is_new_is_found() {
    for (settings, group, kind, make, list, says) in lists() {
        let old = make(2000, "");
        let mut new = old.clone();
        new.pointer_mut(list).and_then(Value::as_array_mut).expect("a list").reverse();
        assert_eq!(findings(&decide(&settings, group, kind, Some(&old), &new)), "", "{kind} {list}");
        let changed = decide(&settings, group, kind, Some(&old), &make(2000, "x-"));
        // With another prefix an image is no longer known to be of kubernetes-csi.
        let expected = says.split(':').next().unwrap_or_default().replace("sidecar-too-old", "sidecar-version-unknown");
        assert_eq!(findings(&changed), expected, "{kind} {list}");
    }
}

#[test]
fn more_than_can_be_decided_is_refused_as_too_large() {
    for (settings, group, kind, make, list, _) in lists() {
        let decision = decide(&settings, group, kind, None, &make(20_000, ""));
        assert_eq!(findings(&decision), "request-too-large", "{kind} {list}");
        assert_eq!(decision["accepted"], false, "{kind} {list}");
    }
}

#[test]
fn many_modes_of_one_claim_and_of_one_volume_are_decided() {
    let modes = |count: usize| (0..count).map(|index| format!("Mode{index}")).collect::<Vec<_>>();
    let object = |modes: Vec<String>| json!({"spec": {"accessModes": modes, "csi": {"driver": "d"}}});
    let settings = json!({"accessModes": {}});
    for kind in ["PersistentVolumeClaim", "PersistentVolume"] {
        let old = object(modes(10_000));
        let mut reversed = modes(10_000);
        reversed.reverse();
        let mut wider = reversed.clone();
        assert_eq!(findings(&decide(&settings, "", kind, Some(&old), &object(reversed))), "", "{kind}");
        wider.push(String::from("ReadWriteOncePod"));
        let decision = decide(&settings, "", kind, Some(&old), &object(wider));
        assert_eq!(findings(&decision), "rwop-not-alone", "{kind}");
        assert!(
            decision["message"].as_str().is_some_and(|message| message.contains("`Mode9995`, +9996\n")),
            "{decision}"
        );
        assert_eq!(
            findings(&decide(&settings, "", kind, None, &object(modes(100_000)))),
            "request-too-large",
            "{kind}"
        );
    }
}
