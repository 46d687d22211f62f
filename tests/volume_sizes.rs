//! Volumes far larger than any real one: the answer comes at once, whichever part is large.

#![allow(clippy::restriction)]

use std::time::{Duration, Instant};

use placement_guard::{kubewarden, verdict};
use serde_json::{Value, json};

/// So many that the rule works on most of what it reads, and so many that most cannot even be read.
const MANY: [usize; 2] = [20_000, 50_000];

fn judge(old: Option<&Value>, new: &Value, allow: &[&str]) -> (Value, Duration) {
    let payload = json!({
        "settings": {"volumeNodeAffinity": {"allow": allow}},
        "request": {
            "kind": {"kind": "PersistentVolume"},
            "operation": if old.is_some() { "UPDATE" } else { "CREATE" },
            "name": "pv",
            "object": new,
            "oldObject": old,
        },
    });
    let payload = payload.to_string();
    let began = Instant::now();
    let answer = serde_json::from_slice(&kubewarden::validate(payload.as_bytes())).expect("an answer is JSON");
    (answer, began.elapsed())
}

fn volume(terms: Vec<Value>) -> Value {
    json!({"metadata": {"name": "pv"}, "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}})
}

fn requirement(key: &str, values: &[String]) -> Value {
    let operator = if values.is_empty() { "Exists" } else { "In" };
    json!({"key": key, "operator": operator, "values": values})
}

/// What can be many in a volume, each in a volume with so many of it.
fn shapes(many: usize) -> Vec<(&'static str, Value)> {
    let each = |write: &dyn Fn(usize) -> Value| -> Vec<Value> { (0..many).map(write).collect() };
    let value = |index: usize| vec![format!("v{index}")];
    let expressions = |list: Vec<Value>| json!({"matchExpressions": list});
    vec![
        ("keys in one term", volume(vec![expressions(each(&|index| requirement(&format!("k{index}"), &[])))])),
        ("terms of their own key", volume(each(&|index| expressions(vec![requirement(&format!("k{index}"), &[])])))),
        ("terms of one key", volume(each(&|index| expressions(vec![requirement("k", &value(index))])))),
        ("requirements on one key", volume(vec![expressions(each(&|_| requirement("k", &value(1))))])),
        ("values", volume(vec![expressions(vec![requirement("k", &each_value(many))])])),
        ("empty terms", volume(each(&|_| json!({})))),
        ("fields", volume(vec![json!({"matchFields": each(&|_| requirement("metadata.name", &value(1)))})])),
    ]
}

/// The same volume as an in-tree one, with labels that its translation adds to every term.
fn in_tree(mut volume: Value) -> Value {
    volume["spec"]["cinder"] = json!({"volumeID": "data"});
    volume["metadata"]["labels"] = json!({
        "topology.kubernetes.io/zone": "nova__other",
        "failure-domain.beta.kubernetes.io/region": "east",
        "topology.kubernetes.io/region": "east",
    });
    volume
}

fn each_value(many: usize) -> Vec<String> {
    (0..many).map(|index| format!("v{index}")).collect()
}

/// Unoptimised code on a busy machine; the quadratic loops that this is to find took many times as long.
const AT_ONCE: Duration = Duration::from_secs(3);

#[test]
fn a_volume_that_is_too_large_is_refused_at_once_and_says_so() {
    let everywhere = ["widened", "narrowed", "shifted", "undecided"];
    let in_trees = shapes(2_000).into_iter().map(|(what, large)| (what, in_tree(large)));
    for (what, large) in in_trees {
        let (_, took) = judge(Some(&in_tree(volume(vec![json!({})]))), &large, &[]);
        assert!(took < AT_ONCE, "{what}, in-tree: {took:?}");
    }
    for (many, (what, large)) in
        MANY.into_iter().flat_map(|many| shapes(many).into_iter().map(move |shape| (many, shape)))
    {
        let small = volume(vec![json!({"matchExpressions": [requirement("k", &[])]})]);
        for old in [None, Some(&small)] {
            let (answer, took) = judge(old, &large, &everywhere);
            let findings = answer["audit_annotations"]["findings"].as_str().unwrap_or_default();
            let refused = findings.contains("request-too-large");
            assert_eq!(answer["accepted"] == false, refused, "{many} {what}: {answer}");
            // Values and empty terms are cheap enough to be judged.
            let cheap = many == MANY[0] || matches!(what, "values" | "empty terms");
            assert!(refused || cheap, "{many} {what}: {findings}");
            assert!(took < AT_ONCE, "{what}: {took:?}");
        }
        if many == MANY[0] {
            let (_, took) = judge(Some(&large), &large, &[]);
            assert!(took < AT_ONCE, "{what}, unchanged: {took:?}");
        }
    }
}

#[test]
fn a_volume_of_a_size_that_somebody_might_write_is_decided() {
    let in_trees = shapes(50).into_iter().map(|(what, large)| (what, in_tree(large)));
    for (what, large) in shapes(500).into_iter().chain(in_trees) {
        let (answer, took) = judge(Some(&large), &large, &[]);
        assert_eq!(answer["audit_annotations"]["relation"], "unchanged", "{what}: {answer}");
        assert!(took < AT_ONCE, "{what}: {took:?}");
        let mut wider = large.clone();
        let terms = wider.pointer_mut("/spec/nodeAffinity/required/nodeSelectorTerms");
        let terms = terms.and_then(Value::as_array_mut).expect("it has terms");
        terms.push(json!({"matchExpressions": [requirement("another", &[])]}));
        let (answer, took) = judge(Some(&large), &wider, &["widened"]);
        assert_eq!(answer["accepted"], true, "{what}: {answer}");
        assert!(took < AT_ONCE, "{what}: {took:?}");
    }
}

/// As many nodes as Kubernetes supports, one term for each, which is how a volume names the nodes of a cluster.
#[test]
fn five_thousand_host_names_are_decided_whatever_becomes_of_them() {
    let host = |number: usize| json!({"matchExpressions": [requirement("kubernetes.io/hostname", &[format!("node-{number:04}")])]});
    let hosts = |numbers: &mut dyn Iterator<Item = usize>| volume(numbers.map(host).collect());
    let old = hosts(&mut (0..5_000));
    for (new, relation) in [
        (hosts(&mut (5_000..10_000)), "shifted"),
        (hosts(&mut (2_500..7_500)), "shifted"),
        (hosts(&mut (0..5_000).rev()), "equivalent"),
        (hosts(&mut (0..5_000)), "unchanged"),
        (hosts(&mut (1..5_000)), "narrowed"),
        (hosts(&mut (0..5_001)), "widened"),
    ] {
        let request = json!({
            "kind": {"kind": "PersistentVolume"}, "operation": "UPDATE", "name": "pv", "object": new, "oldObject": old,
        });
        let answer = verdict::check(r#"{"volumeNodeAffinity": {}}"#, &request.to_string());
        assert_eq!(answer.annotations.get("relation").map(String::as_str), Some(relation), "{:?}", answer.message);
        let accepted = !matches!(relation, "shifted" | "narrowed");
        assert_eq!(answer.allowed, accepted, "{relation}: {:?}", answer.message);
        assert!(!answer.findings.iter().any(|code| code == "request-too-large"), "{relation}: {:?}", answer.findings);
    }
}
