//! Pods and templates that name their node.

use crate::pods::{KINDS, ask, finds, one, passes, pod, request, sent_by, workload};
use serde_json::{Value, json};

/// The workload with a node name in its pod.
fn on_node(template: &str, node: &Value) -> Value {
    let mut object = workload(template, &json!([]));
    object.pointer_mut(&format!("{template}/spec")).expect("a pod")["nodeName"] = node.clone();
    object
}

#[test]
fn a_node_name_is_found_in_every_kind_and_said_with_its_path() {
    for (group, kind, template) in KINDS {
        let named = on_node(template, &json!("n1"));
        let answer = ask(&json!({"allowed": []}), &request(group, kind, None, &named));
        finds(&answer, &["node-name-skips-taints"]);
        assert_eq!((answer.accepted, answer.code), (false, Some(403)), "{kind}");
        let path = format!("{template}/spec/nodeName").replace('/', ".");
        assert!(answer.message.contains(&format!("\n  {}: ", path.trim_start_matches('.'))), "{}", answer.message);
        passes(&ask(&json!({"allowed": [], "nodeName": "allow"}), &request(group, kind, None, &named)));
        for none in [json!(null), json!("")] {
            passes(&ask(&json!({"allowed": []}), &request(group, kind, None, &on_node(template, &none))));
        }
        // The scheduler names the nodes of the pods that an audit finds. It writes into no template.
        let audit = sent_by(&json!({}), request(group, kind, None, &named));
        assert_eq!(ask(&json!({"allowed": []}), &audit).accepted, kind == "Pod", "{kind} in an audit");
        let broken = ask(&json!({"allowed": []}), &request(group, kind, None, &on_node(template, &json!(["n1"]))));
        assert_eq!(broken.code, Some(422));
        assert!(broken.message.contains(&format!("{path}: must be a string")), "{}", broken.message);
    }
}

#[test]
fn a_node_name_is_judged_where_an_update_makes_it_new() {
    let named = |node: Value| on_node("/spec/template", &node);
    for (old, new, refused) in [
        (json!(null), json!("n1"), true),
        (json!(""), json!("n1"), true),
        (json!("n2"), json!("n1"), true),
        (json!("n1"), json!("n1"), false),
        (json!("n1"), json!(null), false),
        (json!("n1"), json!(""), false),
    ] {
        let answer = ask(
            &json!({"allowed": []}),
            &request("apps", "Deployment", Some(&named(old.clone())), &named(new.clone())),
        );
        assert_eq!(answer.found("node-name-skips-taints"), refused, "{old} → {new}: {answer:?}");
        assert_eq!(answer.accepted, !refused);
    }
    // What the old list tolerated stays permitted, no matter who names the node now.
    let mut old = named(json!(null));
    old["spec"]["template"]["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    let mut new = old.clone();
    new["spec"]["template"]["spec"]["nodeName"] = json!("n1");
    passes(&ask(&json!({"allowed": []}), &request("apps", "Deployment", Some(&old), &new)));
}

/// What the list says is reported first; the example taint is that of the first finding.
#[test]
fn a_node_name_is_found_beside_what_the_list_says() {
    let mut pod = pod(&json!([one("spot", "Exists", "", "NoExecute"), one("k", "Gt", "5", "NoSchedule")]));
    pod["spec"]["nodeName"] = json!("n1");
    let section = json!({"allowed": [], "numericOperators": "deny"});
    let answer = ask(&section, &request("", "Pod", None, &pod));
    finds(&answer, &["toleration-not-allowed", "numeric-operator-disabled", "node-name-skips-taints"]);
    assert_eq!(answer.taint.as_deref(), Some("spot:NoExecute"));
    let warned =
        ask(&json!({"allowed": [], "enforcement": "warn"}), &request("", "Pod", None, &on_node("", &json!("n1"))));
    assert!(warned.accepted && warned.warnings[0].starts_with("node name skips taints: node `n1` "), "{warned:?}");
}
