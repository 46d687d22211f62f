//! Standard tolerations: what Kubernetes adds to pods, and for whom it is allowed.

#![allow(clippy::restriction)]

mod pods;

use pods::{KINDS, ask, create, finds, one, owner, passes, pod, request, sent_by, workload};
use serde_json::{Value, json};

const CONTROLLER: &str = "system:serviceaccount:kube-system:daemon-set-controller";

#[test]
fn every_pod_may_tolerate_for_ever_what_kubernetes_adds_to_every_pod_and_nothing_beside_it() {
    for (key, effect, is_added) in [
        ("node.kubernetes.io/not-ready", "NoExecute", true),
        ("node.kubernetes.io/unreachable", "NoExecute", true),
        ("node.kubernetes.io/memory-pressure", "NoSchedule", true),
        ("node.kubernetes.io/not-ready", "NoSchedule", false),
        ("node.kubernetes.io/not-ready", "", false),
        ("node.kubernetes.io/memory-pressure", "NoExecute", false),
        ("node.kubernetes.io/disk-pressure", "NoSchedule", false),
        ("node.kubernetes.io/unschedulable", "NoSchedule", false),
    ] {
        let tolerations = json!([one(key, "Exists", "", effect)]);
        let answer = ask(&json!({"allowed": []}), &create(&tolerations));
        assert_eq!(answer.accepted, is_added, "{key}:{effect}: {answer:?}");
        let answer = ask(&json!({"allowed": [], "standard": false}), &create(&tolerations));
        assert!(!answer.accepted, "standard: false, {key}:{effect}");
    }
}

/// The tolerations of a DaemonSet's pod, in a pod that says so by owner and host network.
fn daemon_pod(network: bool, owner: Value) -> Value {
    let mut pod = pod(&json!([
        one("node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule"),
        one("node.kubernetes.io/pid-pressure", "Exists", "", "NoSchedule"),
        one("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
    ]));
    if network {
        let tolerations = pod["spec"]["tolerations"].as_array_mut().expect("a list");
        tolerations.push(one("node.kubernetes.io/network-unavailable", "Exists", "", "NoSchedule"));
        pod["spec"]["hostNetwork"] = json!(true);
    }
    pod["metadata"]["ownerReferences"] = json!([owner]);
    pod
}

#[test]
fn a_daemon_set_s_pods_are_those_that_its_controller_creates() {
    let daemon_set = owner("apps/v1", "DaemonSet", true);
    let section = json!({"allowed": []});
    for network in [false, true] {
        let pod = daemon_pod(network, daemon_set.clone());
        let by = |user: Value| ask(&section, &sent_by(&user, request("", "Pod", None, &pod)));
        passes(&by(json!({"username": CONTROLLER, "groups": ["system:serviceaccounts"]})));
        // Where controllers have no accounts of their own, one account makes the pods of all of them.
        let manager = json!({"username": "system:kube-controller-manager", "groups": ["system:authenticated"]});
        passes(&by(manager.clone()));
        let mut of_none = pod.clone();
        for other in [json!(null), json!([owner("apps/v1", "ReplicaSet", true), owner("apps/v1", "DaemonSet", false)])]
        {
            of_none["metadata"]["ownerReferences"] = other;
            let answer = ask(&section, &sent_by(&manager, request("", "Pod", None, &of_none)));
            finds(&answer, &["toleration-not-allowed"]);
        }
        // Everyone may write owner references.
        for user in [
            json!({"username": "tenant", "groups": ["system:authenticated"]}),
            json!({"username": "tenant", "groups": ["system:kube-controller-manager"]}),
            json!({"username": "system:serviceaccount:shop:daemon-set-controller", "groups": []}),
            json!({"username": "tenant", "groups": [CONTROLLER]}),
        ] {
            finds(&by(user), &["toleration-not-allowed"]);
        }
    }
    // The network toleration is for pods on the host's network.
    let mut on_the_pod_network = daemon_pod(true, daemon_set);
    on_the_pod_network["spec"]["hostNetwork"] = json!(false);
    let user = json!({"username": CONTROLLER});
    let answer = ask(&section, &sent_by(&user, request("", "Pod", None, &on_the_pod_network)));
    assert_eq!(answer.taint.as_deref(), Some("node.kubernetes.io/network-unavailable:NoSchedule"));
}

/// An audit scan asks about what is stored, as a CREATE without a user: only the owner tells who made it.
#[test]
fn in_an_audit_a_daemon_set_s_pods_are_those_that_it_owns() {
    let audit = |owner: Value| {
        let mut request = sent_by(&json!({}), request("", "Pod", None, &daemon_pod(true, owner)));
        request["resource"] = json!({"group": "", "version": "v1", "resource": "Pod"});
        ask(&json!({"allowed": []}), &request)
    };
    passes(&audit(owner("apps/v1", "DaemonSet", true)));
    for other in [
        owner("apps/v1", "ReplicaSet", true),
        owner("apps/v1", "DaemonSet", false),
        owner("example.com/v1", "DaemonSet", true),
    ] {
        finds(&audit(other), &["toleration-not-allowed"]);
    }
}

/// A template says whatever its author wrote into it.
#[test]
fn an_owner_in_a_template_proves_nothing() {
    let section = json!({"allowed": []});
    for (group, kind, template) in KINDS.iter().filter(|(_, kind, _)| *kind != "Pod") {
        let mut object =
            workload(template, &json!([one("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule")]));
        let owners = json!([owner("apps/v1", "DaemonSet", true), owner("v1", "Node", true)]);
        let metadata = json!({"ownerReferences": owners, "annotations": {"kubernetes.io/config.mirror": "x"}});
        object.pointer_mut(template).expect("a template")["metadata"] = metadata.clone();
        object["metadata"]["ownerReferences"] = owners;
        for user in [
            json!({}),
            json!({"username": "system:kube-controller-manager"}),
            json!({"username": CONTROLLER}),
            json!({"username": "system:node:n1", "groups": ["system:nodes"]}),
        ] {
            let answer = ask(&section, &sent_by(&user, request(group, kind, None, &object)));
            finds(&answer, &["toleration-not-allowed"]);
        }
    }
}

/// What the settings say of not-ready and unreachable is the limit, but never less than the 300 s of Kubernetes' default.
#[test]
fn the_limit_of_what_every_pod_is_given_is_what_the_settings_say_of_it() {
    const NOT_READY: &str = "node.kubernetes.io/not-ready";
    const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
    let entry = |key: &str, operator: &str, value: &str, most: Option<i64>| json!({"key": key, "operator": operator, "value": value, "effect": "NoExecute", "maxTolerationSeconds": most});
    for (allowed, key, limit) in [
        (json!([]), NOT_READY, None),
        (json!([entry(NOT_READY, "Exists", "", Some(0))]), NOT_READY, Some(300)),
        (json!([entry(NOT_READY, "Exists", "", Some(299))]), NOT_READY, Some(300)),
        (json!([entry(NOT_READY, "Exists", "", Some(301))]), NOT_READY, Some(301)),
        (json!([entry(NOT_READY, "Exists", "", None)]), NOT_READY, None),
        (json!([entry(NOT_READY, "Exists", "", Some(5)), entry("", "Exists", "", Some(600))]), NOT_READY, Some(600)),
        (json!([entry("", "Exists", "", Some(5))]), UNREACHABLE, Some(300)),
        // An entry for another taint is not an entry for this one: another key, another value, another effect.
        (json!([entry(NOT_READY, "Exists", "", Some(5))]), UNREACHABLE, None),
        (json!([entry(NOT_READY, "Equal", "x", Some(5))]), NOT_READY, None),
        (
            json!([{"key": NOT_READY, "operator": "Exists", "effect": "NoSchedule", "maxTolerationSeconds": 5}]),
            NOT_READY,
            None,
        ),
    ] {
        let section = json!({"allowed": allowed});
        // The taint that Kubernetes itself sets has no value.
        let stays = |seconds: Option<i64>| {
            create(&json!([{"key": key, "operator": "Equal", "effect": "NoExecute", "tolerationSeconds": seconds}]))
        };
        for seconds in [0, 300, 301, 600, 601] {
            let found = ask(&section, &stays(Some(seconds))).found("toleration-seconds-exceeded");
            assert_eq!(found, limit.is_some_and(|limit| seconds > limit), "{allowed}: {seconds} s of {key}");
        }
        let for_ever = ask(&section, &stays(None));
        assert_eq!(for_ever.found("toleration-seconds-exceeded"), limit.is_some(), "{allowed}: for ever");
        // The DaemonSet controller gives its pods no limit.
        passes(&ask(&section, &sent_by(&json!({"username": CONTROLLER}), stays(None))));
    }
    // The value that the settings name is limited, and the others are not.
    let some = json!({"allowed": [entry(NOT_READY, "Equal", "x", Some(5))]});
    let answer = ask(&some, &create(&json!([one(NOT_READY, "Exists", "", "NoExecute")])));
    assert_eq!(answer.taint.as_deref(), Some("node.kubernetes.io/not-ready=x:NoExecute"));
    // Without the standard tolerations the limit is what is written, however low.
    let strict = json!({"allowed": [entry(NOT_READY, "Exists", "", Some(30))], "standard": false});
    let seconds = |seconds: i64| {
        create(&json!([{"key": NOT_READY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]))
    };
    passes(&ask(&strict, &seconds(30)));
    finds(&ask(&strict, &seconds(31)), &["toleration-seconds-exceeded"]);
}

/// A pod with a toleration of `gpu.example.com/card:NoSchedule` and these containers.
fn with_card(containers: &str, resources: &Value) -> Value {
    let mut pod = pod(&json!([one("gpu.example.com/card", "Exists", "", "NoSchedule")]));
    pod["spec"][containers] = json!([{"name": "train", "image": "train:1", "resources": resources}]);
    pod
}

#[test]
fn a_pod_may_tolerate_the_key_of_an_extended_resource_that_it_requests() {
    let judged = |pod: &Value| ask(&json!({"allowed": []}), &request("", "Pod", None, pod));
    let card = json!({"gpu.example.com/card": "1"});
    passes(&judged(&with_card("containers", &json!({"requests": card, "limits": card}))));
    passes(&judged(&with_card("initContainers", &json!({"requests": card}))));
    // A limit alone becomes the request.
    passes(&judged(&with_card("containers", &json!({"limits": card}))));
    for resources in [json!({}), json!({"requests": {"gpu.example.com/other": "1", "cpu": "1"}}), json!(null)] {
        finds(&judged(&with_card("containers", &resources)), &["toleration-not-allowed"]);
    }
    // The plugin adds it to neither.
    finds(&judged(&with_card("ephemeralContainers", &json!({"requests": card}))), &["toleration-not-allowed"]);
    let mut evicts = with_card("containers", &json!({"requests": card}));
    evicts["spec"]["tolerations"][0]["effect"] = json!("NoExecute");
    finds(&judged(&evicts), &["toleration-not-allowed"]);
}

/// `requests: {anything/at-all: 0}` is accepted by the API server and asks the scheduler for nothing: it must not open
/// every taint whose key has a domain.
#[test]
fn a_pod_that_requests_none_of_a_resource_may_not_tolerate_its_key() {
    for none in [json!("0"), json!(0), json!("0k"), json!("0.0"), json!("0e3"), json!(0.0), json!(-0.0), json!(null)] {
        let pod = with_card("containers", &json!({"requests": {"gpu.example.com/card": none}}));
        finds(&ask(&json!({"allowed": []}), &request("", "Pod", None, &pod)), &["toleration-not-allowed"]);
    }
}

/// `Quantity.UnmarshalJSON` reads a number as it is spelled.
#[test]
fn an_amount_may_be_a_number() {
    for some in [json!(1), json!(1.0), json!(2.5), json!(1e3), json!(18_446_744_073_709_551_615_u64), json!("1e-1")] {
        let pod = with_card("containers", &json!({"limits": {"gpu.example.com/card": some}}));
        passes(&ask(&json!({"allowed": []}), &request("", "Pod", None, &pod)));
    }
    for wrong in [json!(true), json!(["1"]), json!({})] {
        let pod = with_card("containers", &json!({"limits": {"gpu.example.com/card": wrong}}));
        let answer = ask(&json!({"allowed": []}), &request("", "Pod", None, &pod));
        assert_eq!(answer.code, Some(422), "{answer:?}");
        let path = "unreadable: object.spec.containers[0].resources.limits[gpu.example.com/card]: must be ";
        assert!(answer.message.starts_with(path), "{}", answer.message);
    }
}

/// What the pod requests is permitted, so it is never an example of what is not, whether or not the settings name it.
#[test]
fn an_example_is_never_the_key_of_a_requested_resource() {
    let section = json!({"allowed": [one("gpu.example.com/card", "Equal", "x", "NoSchedule")]});
    let requests = json!({"gpu.example.com/card": "1", "example.com/other": "1", "example.com/other-2": "1"});
    let mut pod = with_card("containers", &json!({"requests": requests}));
    pod["spec"]["tolerations"] = json!([{"operator": "Exists", "effect": "NoSchedule"}]);
    let answer = ask(&section, &request("", "Pod", None, &pod));
    let taint = answer.taint.expect("an example");
    let key = taint.split(['=', ':']).next().expect("a key");
    assert!(requests.get(key).is_none(), "{taint}");
}

#[test]
fn a_resource_of_kubernetes_itself_opens_no_taint() {
    for name in ["node-role.kubernetes.io/control-plane", "cpu", "requests.example.com/card", "hugepages-2Mi"] {
        let mut pod = with_card("containers", &json!({"requests": {name: "1"}}));
        pod["spec"]["tolerations"] = json!([one(name, "Exists", "", "NoSchedule")]);
        finds(&ask(&json!({"allowed": []}), &request("", "Pod", None, &pod)), &["toleration-not-allowed"]);
    }
}

#[test]
fn templates_open_the_key_of_what_their_containers_request() {
    let tolerations = json!([one("gpu.example.com/card", "Exists", "", "NoSchedule")]);
    for (group, kind, template) in KINDS {
        let mut object = workload(template, &tolerations);
        let without = ask(&json!({"allowed": []}), &request(group, kind, None, &object));
        finds(&without, &["toleration-not-allowed"]);
        let container = object.pointer_mut(&format!("{template}/spec/containers/0")).expect("a container");
        container["resources"] = json!({"requests": {"gpu.example.com/card": "2"}});
        passes(&ask(&json!({"allowed": []}), &request(group, kind, None, &object)));
    }
}

#[test]
fn mirror_pods_are_those_that_a_node_creates_and_are_not_judged() {
    let section = json!({"allowed": [], "denied": [{"operator": "Exists"}], "numericOperators": "deny"});
    let node = json!({"username": "system:node:n1", "groups": ["system:nodes", "system:authenticated"]});
    let tenant = json!({"username": "tenant", "groups": ["system:authenticated"]});
    let everything = json!([{"operator": "Exists"}]);
    let mut mirror = pod(&everything);
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "0123456789abcdef"});
    let refused = ["toleration-not-allowed", "toleration-denied", "toleration-admits-everything"];
    let by = |user: &Value, pod: &Value| ask(&section, &sent_by(user, request("", "Pod", None, pod)));
    passes(&by(&node, &mirror));
    finds(&by(&tenant, &mirror), &refused);
    finds(&by(&node, &pod(&everything)), &refused);
    // In an audit the creator is not known, so the node that owns it counts as the creator.
    finds(&by(&json!({}), &mirror), &refused);
    let mut owned = mirror.clone();
    owned["metadata"]["ownerReferences"] = json!([owner("v1", "Node", true)]);
    passes(&by(&json!({}), &owned));
    finds(&by(&tenant, &owned), &refused);
    // A template has no mirror.
    let mut template = workload("/spec/template", &everything);
    template["spec"]["template"]["metadata"] = mirror["metadata"].clone();
    finds(&ask(&section, &sent_by(&node, request("apps", "Deployment", None, &template))), &refused);
}
