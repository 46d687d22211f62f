//! Thousands of tolerations, and of anything else in a pod.

use crate::pods::{ask, create, finds, one, passes, pod, request, update};
use serde_json::{Value, json};

/// However many there are, the answer is a decision: never a crash, never an acceptance of what was not looked at. What
/// may be spent on it is counted in steps, so this needs no clock.
#[test]
fn thousands_of_tolerations_are_refused_cleanly() {
    let list = |count: usize, effect: &str, seconds: Option<usize>| -> Value {
        let with = |number: usize| seconds.map(|seconds| seconds + number);
        let one = |number: usize| {
            json!({"key": format!("k{number}"), "operator": "Gt", "value": number.to_string(),
                                  "effect": effect, "tolerationSeconds": with(number)})
        };
        (0..count).map(one).collect()
    };
    let entry = |number: usize| json!({"key": format!("k{number}"), "operator": "Lt", "value": "500"});
    let denied: Vec<Value> = (0..200).map(entry).collect();
    let mut entries = denied.clone();
    entries.iter_mut().for_each(|entry| entry["maxTolerationSeconds"] = json!(30));
    let many = 5_000;
    for (section, request) in [
        (json!({"allowed": []}), create(&list(many, "NoExecute", None))),
        (json!({"allowed": entries}), create(&list(many, "NoExecute", Some(60)))),
        (json!({"allowed": entries, "denied": denied}), create(&list(many, "", None))),
        (json!({"allowed": []}), update(&list(many, "NoExecute", Some(30)), &list(many, "NoExecute", Some(31)))),
    ] {
        let answer = ask(&section, &request);
        assert_eq!((answer.accepted, answer.code), (false, Some(403)), "{}", answer.message);
        assert!(answer.message.len() < 20_000, "the first few are shown: {} bytes", answer.message.len());
    }
}

/// Lists of other things that a pod has many of. What fits into the budget is decided, what does not is refused as too
/// large, and neither is accepted unseen.
#[test]
fn pods_with_tens_of_thousands_of_anything_are_decided_or_too_large() {
    let named = |number: usize| (format!("example.com/r{number}"), json!("1"));
    let resources = |count: usize| -> Value { (0..count).map(named).collect() };
    let containers = |count: usize| -> Value {
        let one = |number: usize| json!({"name": format!("c{number}"), "resources": {"limits": resources(number % 2)}});
        (0..count).map(one).collect()
    };
    let tolerated = json!([one("example.com/r0", "Exists", "", "NoSchedule")]);
    let with = |containers: Value| {
        let mut pod = pod(&tolerated);
        pod["spec"]["containers"] = containers;
        ask(&json!({"allowed": []}), &request("", "Pod", None, &pod))
    };
    passes(&with(containers(5_000)));
    passes(&with(json!([{"resources": {"requests": resources(5_000)}}])));
    finds(&with(containers(100_000)), &["request-too-large"]);
    finds(&with(json!([{"resources": {"requests": resources(100_000)}}])), &["request-too-large"]);
    // Too many tolerations are not looked at at all.
    let exists = |number: usize| one(&format!("k{number}"), "Exists", "", "NoSchedule");
    let many: Value = (0..20_000).map(exists).collect();
    finds(&ask(&json!({"allowed": [{"operator": "Exists"}]}), &create(&many)), &["request-too-large"]);
    let few: Value = (0..2_000).map(exists).collect();
    passes(&ask(&json!({"allowed": [{"operator": "Exists", "effect": "NoSchedule"}]}), &create(&few)));
}
