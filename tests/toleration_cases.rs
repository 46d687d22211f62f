//! `tolerations` where a table says it better than a property: what else is found, what an UPDATE may do, which
//! input cannot be read.

#![allow(clippy::restriction)]

mod pods;

use pods::{KINDS, ask, create, finds, one, owner, passes, pod, refusal, request, sent_by, update, workload};
use serde_json::{Value, json};

const CONTROLLER: &str = "system:serviceaccount:kube-system:daemon-set-controller";

/// One toleration of a `NoExecute` taint of key `k`, for so long.
fn for_seconds(operator: &str, value: &str, seconds: Option<i64>) -> Value {
    json!({"key": "k", "operator": operator, "value": value, "effect": "NoExecute", "tolerationSeconds": seconds})
}

// --- What is found in addition to taints. ---

#[test]
fn a_bound_that_is_no_canonical_number_of_64_bits_is_refused() {
    for value in ["", "007", "+5", "-0", "5.0", "1_000", "0x10", "1e3", " 5", "five", "٥"]
        .into_iter()
        .chain(["9223372036854775808", "-9223372036854775809"])
    {
        for operator in ["Gt", "Lt"] {
            // Even where nothing else is judged.
            let answer = ask(&json!({}), &create(&json!([one("k", operator, value, "NoSchedule")])));
            finds(&answer, &["toleration-invalid-number"]);
            assert_eq!((answer.accepted, answer.code), (false, Some(403)));
            assert!(
                answer.message.contains(&format!("`{value}` is not a canonical 64-bit integer")),
                "{}",
                answer.message
            );
            assert!(answer.message.contains("spec.tolerations[0]: "), "{}", answer.message);
        }
    }
    // A value that is not compared may be any label value.
    passes(&ask(&json!({}), &create(&json!([one("k", "Equal", "007", "NoSchedule")]))));
    // What stood there before is not held against an update, a change of its seconds included.
    let (old, new) = (json!([for_seconds("Gt", "007", None)]), json!([for_seconds("Gt", "007", Some(5))]));
    passes(&ask(&json!({}), &update(&old, &new)));
}

#[test]
fn a_toleration_that_no_taint_can_meet_is_told_and_allowed_everywhere() {
    for (toleration, why) in [
        (one("k", "Lt", "0", "NoSchedule"), "a taint's number is never negative"),
        (one("k", "Lt", "-7", ""), "a taint's number is never negative"),
        (one("k", "Gt", "9223372036854775807", "NoExecute"), "there is no larger number"),
        (one("k", "Equal", "-5", "NoSchedule"), "not a label value"),
        (one("k", "Ge", "5", "NoSchedule"), "no such operator"),
        (one("k", "exists", "", "NoSchedule"), "no such operator"),
        (one("k", "Exists", "", "NoEntry"), "no such effect"),
        (one("a/b/c", "Exists", "", "NoSchedule"), "not a label key"),
    ] {
        let answer = ask(&json!({"allowed": [], "denied": [{"operator": "Exists"}]}), &create(&json!([toleration])));
        finds(&answer, &["toleration-matches-nothing"]);
        assert!(answer.accepted && answer.taint.is_none(), "{why}: {answer:?}");
        assert!(answer.warnings[0].starts_with("toleration matches nothing: no taint can match `"), "{answer:?}");
    }
    for toleration in [
        one("k", "Lt", "1", "NoSchedule"),
        one("k", "Gt", "9223372036854775806", "NoSchedule"),
        one("k", "Gt", "-7", "NoSchedule"),
        one("k", "Equal", "", "NoSchedule"),
    ] {
        let answer = ask(&json!({}), &create(&json!([toleration])));
        assert!(!answer.found("toleration-matches-nothing"), "{answer:?}");
    }
}

#[test]
fn a_union_that_leaves_nothing_out_is_said_to_admit_everything() {
    const EVERYTHING: &str = "tolerations admit everything: together they tolerate every taint";
    const NUMBERS: &str =
        "tolerations admit everything numeric: together they tolerate every numeric value of `k` with";
    let exists = |effect: &str| json!({"operator": "Exists", "effect": effect});
    let k = |operator: &str, value: &str, effect: &str| one("k", operator, value, effect);
    let largest = "9223372036854775807";
    for (tolerations, says) in [
        (json!([{"operator": "Exists"}]), Some(format!("{EVERYTHING} there is"))),
        (json!([exists("NoSchedule")]), Some(format!("{EVERYTHING} with effect NoSchedule"))),
        (
            json!([exists("NoSchedule"), exists("NoExecute")]),
            Some(format!("{EVERYTHING} with effect NoSchedule or NoExecute")),
        ),
        (
            json!([exists("NoSchedule"), exists("NoExecute"), exists("PreferNoSchedule")]),
            Some(format!("{EVERYTHING} there is")),
        ),
        // Every number, which is not everything: words are not tolerated.
        (
            json!([k("Gt", "5", ""), k("Lt", "10", "")]),
            Some(format!("{NUMBERS} NoSchedule or PreferNoSchedule or NoExecute")),
        ),
        (json!([k("Gt", "5", "NoSchedule"), k("Lt", "6", "NoSchedule")]), Some(format!("{NUMBERS} NoSchedule"))),
        (json!([k("Gt", "5", "NoSchedule"), k("Lt", "5", "NoSchedule")]), None),
        (
            json!([k("Gt", "5", "NoSchedule"), k("Lt", "5", "NoSchedule"), k("", "5", "")]),
            Some(format!("{NUMBERS} NoSchedule")),
        ),
        (json!([k("Gt", "5", "NoSchedule"), k("Lt", "10", "NoExecute")]), None),
        (json!([k("Gt", "5", ""), k("Lt", "10", "NoExecute")]), Some(format!("{NUMBERS} NoExecute"))),
        (json!([k("Gt", "-1", "NoSchedule")]), Some(format!("{NUMBERS} NoSchedule"))),
        (json!([k("Gt", "0", "NoSchedule")]), None),
        (json!([k("Lt", largest, "NoSchedule")]), None),
        (json!([k("Lt", largest, "NoSchedule"), k("Equal", largest, "")]), Some(format!("{NUMBERS} NoSchedule"))),
        (json!([k("Gt", "5", "NoSchedule"), one("other", "Lt", "10", "NoSchedule")]), None),
        // A key that exists says itself that it means every value.
        (json!([k("Exists", "", "NoSchedule")]), None),
        (json!([k("Exists", "", "NoSchedule"), k("Gt", "-1", "NoSchedule")]), None),
    ] {
        let answer = ask(&json!({}), &create(&tolerations));
        assert!(answer.accepted, "it only warns: {answer:?}");
        match says {
            None => passes(&answer),
            Some(says) => {
                finds(&answer, &["toleration-admits-everything"]);
                let (headline, details) = answer.warnings[0].split_once("; spec.tolerations").expect("where it is");
                assert_eq!(headline, says);
                assert_eq!(details.contains("this is not `Exists`"), headline.contains("numeric"));
            }
        }
    }
}

#[test]
fn comparisons_are_refused_where_the_cluster_may_not_understand_them() {
    let section = json!({"numericOperators": "deny"});
    for (operator, value, refused) in
        [("Gt", "5", true), ("Lt", "5", true), ("Equal", "5", false), ("Exists", "", false)]
    {
        let tolerations = json!([one("k", operator, value, "NoSchedule")]);
        let answer = ask(&section, &create(&tolerations));
        assert_eq!(answer.found("numeric-operator-disabled"), refused, "{answer:?}");
        assert_eq!(answer.accepted, !refused);
        passes(&ask(&json!({"numericOperators": "allow"}), &create(&tolerations)));
    }
    // What is in the old list stays; what is added is refused.
    let (old, added) = (for_seconds("Gt", "5", Some(30)), one("k", "Gt", "6", ""));
    passes(&ask(&section, &update(&json!([old]), &json!([for_seconds("Gt", "5", Some(60))]))));
    finds(&ask(&section, &update(&json!([old]), &json!([old, added]))), &["numeric-operator-disabled"]);
}

// --- Updates. ---

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
        (json!([below(Some(30))]), json!([below(Some(60))]), Some(("60 s", "30 s as before"))),
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
        (json!([word(Some(-5))]), json!([word(Some(1))]), Some(("1 s", "0 s as before"))),
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
            assert!(headline.ends_with(&format!("` is there, allowed: {allowed}")), "{headline}");
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

// --- Node names. ---

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

// --- Reading. ---

#[test]
fn null_is_absent_at_every_field() {
    let section = json!({"allowed": [], "denied": null, "standard": null, "numericOperators": null,
                         "enforcement": null, "exempt": null});
    let with = |pointer: &str, value: Value| {
        let mut pod = pod(&json!([for_seconds("Exists", "", None)]));
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
        pod["metadata"]["ownerReferences"] = json!([owner("v1", "Node", true)]);
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}, "limits": {}});
        *pod.pointer_mut(pointer).expect("the field is there") = value;
        pod
    };
    for pointer in ["/spec", "/spec/tolerations"] {
        passes(&ask(&section, &request("", "Pod", None, &with(pointer, json!(null)))));
    }
    for pointer in [
        "/metadata",
        "/metadata/annotations",
        "/metadata/annotations/kubernetes.io~1config.mirror",
        "/metadata/ownerReferences",
        "/metadata/ownerReferences/0",
        "/metadata/ownerReferences/0/controller",
        "/spec/containers",
        "/spec/containers/0",
        "/spec/containers/0/resources",
        "/spec/containers/0/resources/requests",
        "/spec/containers/0/resources/requests/cpu",
        "/spec/tolerations/0/operator",
        "/spec/tolerations/0/value",
        "/spec/tolerations/0/effect",
        "/spec/tolerations/0/tolerationSeconds",
    ] {
        let answer = ask(&section, &request("", "Pod", None, &with(pointer, json!(null))));
        assert_eq!((answer.code, answer.findings.len()), (Some(403), 1), "{pointer}: {answer:?}");
        assert!(answer.taint.as_deref().is_some_and(|taint| taint.starts_with('k')), "{pointer}: {answer:?}");
    }
    // Without a list of what is allowed nothing is not allowed; an old object without a list had no toleration.
    passes(&ask(&json!({"allowed": null}), &create(&json!([for_seconds("Exists", "", None)]))));
    let old = json!({"apiVersion": "v1", "kind": "Pod", "metadata": null, "spec": null});
    let new = pod(&json!([for_seconds("Exists", "", None)]));
    finds(&ask(&section, &request("", "Pod", Some(&old), &new)), &["toleration-not-allowed"]);
    passes(&ask(&section, &request("", "Pod", Some(&new), &old)));
}

#[test]
fn a_wrong_type_is_answered_with_its_path_and_code_422() {
    let full = || {
        let mut pod = pod(&json!([one("k", "Equal", "v", "NoExecute")]));
        pod["spec"]["hostNetwork"] = json!(true);
        pod["spec"]["initContainers"] = json!([{"name": "first"}]);
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
        pod["metadata"]["ownerReferences"] = json!([owner("v1", "Node", true)]);
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}, "limits": {}});
        pod["spec"]["tolerations"][0]["tolerationSeconds"] = json!(30);
        pod
    };
    let (text, number, list, object) = (json!("x"), json!(7), json!([7]), json!({"x": 7}));
    for (pointer, path, wrong) in [
        ("/spec", "spec", vec![&text, &number, &list]),
        ("/metadata", "metadata", vec![&text, &number, &list]),
        ("/spec/tolerations", "spec.tolerations", vec![&text, &number, &object]),
        ("/spec/tolerations/0", "spec.tolerations[0]", vec![&text, &number, &list]),
        ("/spec/tolerations/0/key", "spec.tolerations[0].key", vec![&number, &list, &object]),
        ("/spec/tolerations/0/operator", "spec.tolerations[0].operator", vec![&number, &list, &object]),
        ("/spec/tolerations/0/value", "spec.tolerations[0].value", vec![&number, &list, &object]),
        ("/spec/tolerations/0/effect", "spec.tolerations[0].effect", vec![&number, &list, &object]),
        (
            "/spec/tolerations/0/tolerationSeconds",
            "spec.tolerations[0].tolerationSeconds",
            vec![&text, &list, &object, &json!(1.5), &json!(9_223_372_036_854_775_808_u64), &json!(true)],
        ),
        ("/spec/hostNetwork", "spec.hostNetwork", vec![&text, &number]),
        ("/spec/containers", "spec.containers", vec![&text, &object]),
        ("/spec/containers/0", "spec.containers[0]", vec![&text, &list]),
        ("/spec/initContainers", "spec.initContainers", vec![&text, &object]),
        ("/spec/containers/0/resources", "spec.containers[0].resources", vec![&text, &list]),
        ("/spec/containers/0/resources/requests", "spec.containers[0].resources.requests", vec![&text, &list]),
        ("/spec/containers/0/resources/limits", "spec.containers[0].resources.limits", vec![&text, &list]),
        ("/metadata/annotations", "metadata.annotations", vec![&text, &list]),
    ] {
        for wrong in wrong {
            let mut broken = full();
            *broken.pointer_mut(pointer).expect("the field is there") = wrong.clone();
            let by_controller = json!({"username": CONTROLLER});
            let new = sent_by(&by_controller, request("", "Pod", None, &broken));
            let old = sent_by(&by_controller, request("", "Pod", Some(&broken), &full()));
            for (request, root) in [(new, "object"), (old, "oldObject")] {
                let answer = ask(&json!({"allowed": []}), &request);
                assert_eq!((answer.accepted, answer.code), (false, Some(422)), "{root}.{path}: {wrong}: {answer:?}");
                let says = answer.message.strip_prefix(&format!("unreadable: {root}.{path}: ")).unwrap_or_default();
                let is_told = says.starts_with("must be ") || says == "is not a 64-bit integer";
                assert!(is_told, "{root}.{path}: {wrong}: {}", answer.message);
            }
        }
    }
    // The steps to a template are part of the path.
    let mut cron_job = workload("/spec/jobTemplate/spec/template", &json!([7]));
    let judged = |object: &Value| ask(&json!({}), &request("batch", "CronJob", None, object)).message;
    let here = "object.spec.jobTemplate.spec.template.spec.tolerations[0]";
    assert!(judged(&cron_job).starts_with(&format!("unreadable: {here}: must be an object")));
    cron_job["spec"]["jobTemplate"] = json!("x");
    assert!(judged(&cron_job).starts_with("unreadable: object.spec.jobTemplate: must be an object"));
}

/// Each may appear in settings; what the API server would refuse as a toleration may not.
#[test]
fn settings_are_refused_with_the_path_and_what_is_accepted() {
    let exists = |more: Value| {
        let mut entry = json!({"key": "k", "operator": "Exists"});
        entry.as_object_mut().expect("an entry").extend(more.as_object().expect("members").clone());
        entry
    };
    for (section, path) in [
        (json!({"allowed": {}}), "tolerations.allowed: must be a list"),
        (json!({"allowed": [null]}), "tolerations.allowed[0]: is missing"),
        (json!({"denied": [null]}), "tolerations.denied[0]: is missing"),
        (json!({"allowed": ["k"]}), "tolerations.allowed[0]: must be an object"),
        (
            json!({"allowed": [exists(json!({"tolerationSeconds": 5}))]}),
            "tolerations.allowed[0].tolerationSeconds: is not a known key",
        ),
        (
            json!({"denied": [exists(json!({"maxTolerationSeconds": 5}))]}),
            "tolerations.denied[0].maxTolerationSeconds: is not a known key",
        ),
        (
            json!({"allowed": [exists(json!({"maxTolerationSeconds": -1}))]}),
            "tolerations.allowed[0].maxTolerationSeconds: must be 0 or more",
        ),
        (
            json!({"allowed": [exists(json!({"maxTolerationSeconds": "5"}))]}),
            "tolerations.allowed[0].maxTolerationSeconds: must be a 64-bit integer",
        ),
        (
            json!({"allowed": [exists(json!({"maxTolerationSeconds": 1.5}))]}),
            "tolerations.allowed[0].maxTolerationSeconds: is not a 64-bit integer",
        ),
        (json!({"allowed": [{}]}), "tolerations.allowed[0].operator: must be `Exists` when there is no key"),
        (json!({"allowed": [{"operator": "Lt", "value": "5"}]}), "tolerations.allowed[0].operator: must be `Exists`"),
        (json!({"allowed": [one("k", "Lt", "05", "")]}), "tolerations.allowed[0].value: must be a 64-bit integer"),
        (json!({"allowed": [one("k", "Gt", "", "")]}), "tolerations.allowed[0].value: must be a 64-bit integer"),
        (json!({"allowed": [one("k", "Exists", "v", "")]}), "tolerations.allowed[0].value: must be absent"),
        (
            json!({"allowed": [one("k", "Equal", "a b", "")]}),
            "tolerations.allowed[0].value: must be a valid label value",
        ),
        (json!({"allowed": [one("k", "Ge", "5", "")]}), "tolerations.allowed[0].operator: must be `Equal`"),
        (json!({"allowed": [one("a/b/c", "Exists", "", "")]}), "tolerations.allowed[0].key: must be a valid label key"),
        (
            json!({"allowed": [one("k", "Exists", "", "NoEntry")]}),
            "tolerations.allowed[0].effect: must be `NoSchedule`",
        ),
        (json!({"standard": "yes"}), "tolerations.standard: must be true or false"),
        (json!({"numericOperators": "warn"}), "tolerations.numericOperators: must be one of `allow`, `deny`"),
        (json!({"maxTolerationSeconds": 5}), "tolerations.maxTolerationSeconds: is not a known key"),
    ] {
        let said = refusal("tolerations", &section).unwrap_or_else(|| panic!("{section} is valid"));
        assert!(said.starts_with(&format!("settings are not valid: {path}")), "{section}: {said}");
    }
    for section in [
        json!({}),
        json!({"allowed": []}),
        json!({"allowed": [exists(json!({"maxTolerationSeconds": 0})), exists(json!({"maxTolerationSeconds": i64::MAX}))]}),
        json!({"allowed": [exists(json!({"effect": "NoSchedule", "maxTolerationSeconds": 5}))]}),
        // Entries that match nothing, and duplicate entries, are understood all the same.
        json!({"allowed": [one("k", "Lt", "0", ""), one("k", "Lt", "0", "")], "denied": [one("k", "Gt", "-5", "")]}),
        json!({"denied": [{"operator": "Exists", "effect": "NoExecute"}]}),
    ] {
        assert_eq!(refusal("tolerations", &section), None, "{section}");
    }
}

#[test]
fn enforcement_and_exemptions_hold_for_tolerations() {
    let everything = create(&json!([{"operator": "Exists"}]));
    let mut section = json!({"allowed": [], "enforcement": "warn"});
    let answer = ask(&section, &everything);
    assert!(answer.accepted && answer.message.is_empty(), "{answer:?}");
    finds(&answer, &["toleration-not-allowed", "toleration-admits-everything"]);
    assert!(answer.taint.is_some() && answer.warnings.len() == 2, "{answer:?}");
    for exempt in
        [json!({"users": ["tenant"]}), json!({"groups": ["system:authenticated"]}), json!({"namespaces": ["shop"]})]
    {
        section = json!({"allowed": [], "exempt": exempt});
        passes(&ask(&section, &everything));
    }
}

// --- Words. ---

/// `Lt 5` tolerates taints below 5: every operator is put into words that say which taint values it admits.
#[test]
fn the_message_says_which_taint_values_are_tolerated() {
    for (toleration, says) in [
        (one("k", "Lt", "5", "NoSchedule"), "`k < 5, effect NoSchedule` admits taint values below 5"),
        (one("k", "Gt", "5", "NoSchedule"), "`k > 5, effect NoSchedule` admits taint values 6 and up"),
        (one("k", "Gt", "-5", "NoSchedule"), "`k > -5, effect NoSchedule` admits taint values 0 and up"),
        (one("k", "Equal", "5", ""), "`k = 5, every effect` admits the taint value `5`"),
        (one("k", "Exists", "", ""), "`k exists, every effect` admits every taint value"),
        (one("", "Exists", "", "NoExecute"), "`every key, effect NoExecute` admits every taint value"),
        (one("", "Exists", "", ""), "`every taint` admits every taint value"),
    ] {
        let answer = ask(&json!({"allowed": []}), &create(&json!([toleration])));
        let detail = answer.message.lines().nth(1).expect("the line that says where").trim();
        assert_eq!(detail, format!("spec.tolerations[0]: {says}"));
    }
}

#[test]
fn the_first_120_characters_carry_the_sense() {
    let longest = format!("{}/{}", ["a"; 126].join("."), "b".repeat(63));
    for (section, tolerations, says) in [
        (json!({"allowed": []}), json!([one("k", "Gt", "5", "")]), "toleration not allowed: tolerates `k=6:"),
        (
            json!({"denied": [{"operator": "Exists"}]}),
            json!([one("k", "Gt", "5", "")]),
            "toleration denied: tolerates `k=6:",
        ),
        (
            json!({"allowed": [{"key": "k", "operator": "Exists", "maxTolerationSeconds": 5}]}),
            json!([for_seconds("Gt", "5", None)]),
            "toleration seconds exceeded: the pod stays forever on a node with `k=6:NoExecute`, allowed: 5 s",
        ),
        (
            json!({}),
            json!([one("k", "Gt", "05", "")]),
            "toleration with an invalid number: `05` is not a canonical 64-bit integer",
        ),
        (
            json!({"numericOperators": "deny"}),
            json!([one("k", "Gt", "5", "")]),
            "numeric operator disabled: `Gt` in a toleration of `k`",
        ),
        // A key of 315 bytes, the longest there is, comes after what is wrong with it.
        (json!({"allowed": []}), json!([one(&longest, "Exists", "", "")]), "toleration not allowed: tolerates `a.a.a"),
    ] {
        let answer = ask(&section, &create(&tolerations));
        let first: String = answer.message.chars().take(120).collect();
        assert!(first.contains(says), "{first}");
    }
}

// --- Size. ---

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
