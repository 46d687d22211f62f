//! Which input cannot be read, and which settings.

use super::{CONTROLLER, for_seconds};
use crate::pods::{ask, create, finds, one, owner, passes, pod, refusal, request, sent_by, workload};
use serde_json::{Value, json};

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
