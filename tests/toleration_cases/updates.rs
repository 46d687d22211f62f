//! What an UPDATE may do.

use super::for_seconds;
use crate::pods::{KINDS, ask, create, finds, one, passes, pod, request, update, workload};
use serde_json::json;

/// For each: the old list, the new list, and how long the pod then stays too long and how long it may.
#[test]
fn an_update_may_not_let_the_pod_stay_longer_than_before_or_than_allowed() {
    let (word, below) = (|seconds| for_seconds("Exists", "", seconds), |seconds| for_seconds("Lt", "20", seconds));
    let section = json!({"allowed": [{"key": "k", "operator": "Lt", "value": "10", "effect": "NoExecute",
                                      "maxTolerationSeconds": 60}]});
    for (old, new, too_long) in [
        (json!([below(Some(30))]), json!([below(Some(30))]), None),
        (json!([below(Some(30))]), json!([below(None)]), Some(("forever", "60 s"))),
        (json!([below(Some(30))]), json!([below(Some(i64::MAX))]), Some(("forever", "60 s"))),
        // Below 10 the settings allow 60 s; from 10 to 19 the old list alone permits, and for 30 s.
        (json!([below(Some(30))]), json!([below(Some(60))]), Some(("60 s", "30 s, as before"))),
        (json!([below(Some(30))]), json!([below(Some(29))]), None),
        (json!([below(Some(30))]), json!([below(Some(-1))]), None),
        (json!([below(None)]), json!([below(Some(i64::MAX))]), None),
        (json!([below(Some(300))]), json!([below(Some(300)), word(Some(0))]), None),
        // The order alone: before, 30 s of the first decided.
        (json!([below(Some(30)), word(Some(300))]), json!([word(Some(300)), below(Some(30))]), Some(("300 s", "60 s"))),
        (json!([word(Some(300)), below(Some(30))]), json!([below(Some(30)), word(Some(300))]), None),
        // So does the first when it goes.
        (json!([below(Some(30)), word(Some(300))]), json!([word(Some(300))]), Some(("300 s", "60 s"))),
        // At once, and then not at once.
        (json!([below(Some(-5))]), json!([below(Some(0))]), None),
        (json!([word(Some(-5))]), json!([word(Some(1))]), Some(("1 s", "0 s, as before"))),
    ] {
        let answer = ask(&section, &update(&old, &new));
        let new_words = answer.found("toleration-not-allowed");
        let expects_new_words = !old.to_string().contains("Exists") && new.to_string().contains("Exists");
        assert_eq!(new_words, expects_new_words, "{answer:?}");
        assert_eq!(answer.found("toleration-seconds-exceeded"), too_long.is_some(), "{old} → {new}: {answer:?}");
        if let Some((stays, allowed)) = too_long {
            let headline = answer.message.lines().next().expect("a headline");
            assert!(
                headline.starts_with(&format!("toleration seconds exceeded: the pod stays {stays} on a node with `k")),
                "{headline}"
            );
            assert!(headline.ends_with(&format!("`, allowed: {allowed}")), "{headline}");
        }
    }
}

#[test]
fn an_update_is_denied_for_what_is_new_alone() {
    let section = json!({"denied": [{"key": "k", "operator": "Gt", "value": "10"}]});
    let below = |bound: &str| json!([one("k", "Lt", bound, "NoSchedule")]);
    finds(&ask(&section, &create(&below("15"))), &["toleration-denied"]);
    passes(&ask(&section, &update(&below("15"), &below("13"))));
    let answer = ask(&section, &update(&below("15"), &below("17")));
    finds(&answer, &["toleration-denied"]);
    assert_eq!(answer.taint.as_deref(), Some("k=15:NoSchedule"));
    // The old list permits what it tolerated, however the new one spells it.
    passes(&ask(&section, &update(&below("13"), &json!([one("k", "Equal", "12", "NoSchedule")]))));
}

#[test]
fn sub_resources_and_deletions_pass_whatever_the_object_says() {
    let section = json!({"allowed": [], "denied": [{"operator": "Exists"}]});
    let everything = json!([{"operator": "Exists"}]);
    for sub_resource in ["status", "ephemeralcontainers", "resize", "eviction", "binding", "exec", "log"] {
        let mut request = update(&json!([]), &everything);
        request["subResource"] = json!(sub_resource);
        passes(&ask(&section, &request));
    }
    for (group, kind, template) in KINDS {
        for sub_resource in ["status", "scale"] {
            let (old, new) = (workload(template, &json!([])), workload(template, &everything));
            let mut request = request(group, kind, Some(&old), &new);
            assert!(!ask(&section, &request).accepted, "{kind} itself is judged");
            request["subResource"] = json!(sub_resource);
            passes(&ask(&section, &request));
        }
    }
    let mut delete = create(&json!([]));
    delete["operation"] = json!("DELETE");
    delete["oldObject"] = pod(&everything);
    delete["object"] = json!(null);
    passes(&ask(&section, &delete));
    // Kinds that carry no pod, and a pod's kind in another group.
    for (group, kind) in [("", "Service"), ("apps", "Pod"), ("autoscaling", "Scale"), ("example.com", "Deployment")] {
        passes(&ask(&section, &request(group, kind, None, &pod(&everything))));
    }
}

/// Neither engine leaves the name of a sub-resource out where there is none: some send an empty one.
#[test]
fn an_empty_sub_resource_is_none() {
    let mut request = create(&json!([{"operator": "Exists"}]));
    for (sub_resource, is_judged) in [(json!(""), true), (json!(null), true), (json!("status"), false)] {
        request["subResource"] = sub_resource;
        assert_eq!(ask(&json!({"allowed": []}), &request).accepted, !is_judged, "{}", request["subResource"]);
    }
}
