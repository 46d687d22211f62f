//! The policies in `policies/kubewarden/`: whether Kubewarden can read them, and whether what they send to the policy
//! server is what the module judges: nothing else, and nothing less.

#![allow(clippy::restriction)]

mod cluster;
mod matching;
mod policy;

use std::collections::BTreeSet;

use placement_guard::verdict;
use policy::{ClusterRole, NEEDS_CLUSTER, POLICIES, Policy, Rule, policies, read, repository};
use serde::Deserialize;
use serde_json::json;

const IN_NO_NAMESPACE: [&str; 4] = ["persistentvolumes", "nodes", "csidrivers", "storageclasses"];

/// What `view` shows of the kinds that the module judges (`bootstrappolicy`, Kubernetes 1.36).
const IN_VIEW: [&str; 9] = [
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
    "cronjobs",
];

#[test]
fn there_is_one_policy_for_each_file() {
    let entries = std::fs::read_dir(repository("policies/kubewarden")).expect("the policies are there");
    let found: BTreeSet<String> =
        entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    let mut expected: BTreeSet<String> = POLICIES.iter().map(|(name, _)| format!("{name}.yaml")).collect();
    expected.extend(["README.md", "cluster-reader.yaml", "kustomization.yaml", "permissions.yaml"].map(String::from));
    assert_eq!(found, expected);
}

/// The kustomization of a folder below `policies/`.
fn kustomization(folder: &str) -> serde_json::Value {
    let path = format!("policies/{folder}/kustomization.yaml");
    serde_saphyr::from_str(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_kustomization_has_the_policy_of_each_rule_and_what_they_need() {
    let single =
        POLICIES.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "all-rules" && *name != NEEDS_CLUSTER);
    let expected: Vec<String> =
        ["permissions", "cluster-reader"].into_iter().chain(single).map(|name| format!("{name}.yaml")).collect();
    assert_eq!(kustomization("kubewarden")["resources"], json!(expected));
}

/// What comes out of them is tested with kustomize itself, in `make cluster-test`.
#[test]
fn each_overlay_sets_the_mode_of_its_name_and_the_failure_policy_that_belongs_to_it() {
    for (mode, failure_policy) in [("monitor", "Ignore"), ("protect", "Fail")] {
        let overlay = kustomization(&format!("kubewarden-overlays/{mode}"));
        assert_eq!(overlay["resources"], json!(["../../kubewarden"]), "{mode}");
        let patch = overlay["patches"][0]["patch"].as_str().expect("a patch");
        let patch: serde_json::Value = serde_saphyr::from_str(patch).expect("YAML");
        assert_eq!(
            patch,
            json!([
                {"op": "replace", "path": "/spec/mode", "value": mode},
                {"op": "replace", "path": "/spec/failurePolicy", "value": failure_policy},
            ])
        );
    }
}

#[test]
fn the_settings_are_valid_and_are_those_of_the_rule() {
    for policy in policies() {
        let settings = &policy.spec.settings;
        assert_eq!(verdict::validate_settings(&settings.to_string()), Ok(()), "{}", policy.name);
        let sections: BTreeSet<&str> = settings.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(sections, policy.sections.iter().copied().collect(), "{}", policy.name);
    }
}

#[test]
fn each_policy_begins_by_watching_and_says_what_comes_after() {
    for Policy { name, text, spec, .. } in policies() {
        assert_eq!((spec.mode.as_str(), spec.failure_policy.as_str()), ("monitor", "Ignore"), "{name}");
        assert!(!spec.mutating, "{name}");
        assert_eq!(spec.module, "registry://ghcr.io/placement-guard/placement-guard:v0.1.0", "{name}");
        let comments: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix("# ")).collect();
        let comments = comments.join(" ");
        for sentence in [
            "Use it ",
            "A rule that refuses also refuses the next Pod of a Deployment that did not change",
            "With `protect` write `Fail`",
            "Replace it by where you pushed the module",
        ] {
            assert!(comments.contains(sentence), "{name} does not say {sentence:?}");
        }
    }
}

/// A block with several groups or versions is a cross product, and one combination that does not exist makes the audit
/// scanner give up on the policy; so does a sub-resource in a block with CREATE.
#[test]
fn the_rules_name_one_group_and_version_each_and_what_exists() {
    #[derive(Deserialize)]
    struct ModuleMetadata {
        rules: Vec<Rule>,
    }
    let of_module: ModuleMetadata = serde_saphyr::from_str(&read("metadata.yml")).expect("metadata.yml is readable");
    let flat = |rules: &[Rule]| -> BTreeSet<(String, String, Vec<String>)> {
        let of_rule = |rule: &Rule| {
            let (group, operations) = (rule.api_groups[0].clone(), rule.operations.clone());
            rule.resources.clone().into_iter().map(move |name| (group.clone(), name, operations.clone()))
        };
        rules.iter().flat_map(of_rule).collect()
    };
    let ephemeral = (String::new(), String::from("pods/ephemeralcontainers"), vec![String::from("UPDATE")]);
    let mut known = flat(&of_module.rules);
    known.insert(ephemeral.clone());
    for Policy { name, spec, .. } in policies() {
        for rule in &spec.rules {
            assert_eq!((rule.api_groups.len(), rule.api_versions.as_slice()), (1, &[String::from("v1")][..]), "{name}");
        }
        let rules = flat(&spec.rules);
        if name == NEEDS_CLUSTER {
            // A pod is bound once, and its node and its volumes stay.
            let created = |name: &str| (String::new(), name.to_owned(), vec![String::from("CREATE")]);
            assert_eq!(rules, ["bindings", "pods", "pods/binding"].map(created).into());
            continue;
        }
        assert!(rules.is_subset(&known), "{name}: {rules:?}");
        assert_eq!(rules.contains(&ephemeral), ["local-volumes", "all-rules"].contains(&name), "{name}");
        if name == "all-rules" {
            assert_eq!(rules, known);
        }
    }
}

#[test]
fn system_namespaces_are_left_out_wherever_there_are_namespaces() {
    let system = json!([{
        "key": "kubernetes.io/metadata.name",
        "operator": "NotIn",
        "values": ["kube-system", "kube-public", "kube-node-lease", "kubewarden"],
    }]);
    for Policy { name, spec, .. } in policies() {
        let resources: Vec<&String> = spec.rules.iter().flat_map(|rule| &rule.resources).collect();
        let has_namespaces = resources.iter().any(|name| !IN_NO_NAMESPACE.contains(&name.as_str()));
        let selector = spec.namespace_selector.map(|selector| json!(selector.match_expressions));
        assert_eq!(selector, has_namespaces.then(|| system.clone()), "{name}");
    }
}

#[test]
fn the_audit_scanner_may_list_what_it_scans_and_nothing_else_is_granted() {
    let role: ClusterRole =
        serde_saphyr::from_str(&read("policies/kubewarden/permissions.yaml")).expect("a ClusterRole");
    assert_eq!((role.api_version.as_str(), role.kind.as_str()), ("rbac.authorization.k8s.io/v1", "ClusterRole"));
    let label = ("rbac.authorization.k8s.io/aggregate-to-view", "true");
    assert!(role.metadata.labels.iter().any(|(key, value)| (key.as_str(), value.as_str()) == label));
    let mut granted = BTreeSet::new();
    for rule in &role.rules {
        assert_eq!(rule.verbs, ["get", "list", "watch"]);
        assert_eq!(rule.api_groups.len(), 1);
        granted.extend(rule.resources.iter().map(|name| (rule.api_groups[0].clone(), name.clone())));
    }
    let mut scanned = BTreeSet::new();
    for Policy { name, spec, .. } in policies() {
        assert_eq!(spec.background_audit, !["volume-node-affinity", NEEDS_CLUSTER].contains(&name), "{name}");
        if name == NEEDS_CLUSTER {
            continue;
        }
        for rule in spec.rules.iter().filter(|rule| rule.operations.iter().any(|operation| operation == "CREATE")) {
            scanned.extend(rule.resources.iter().map(|name| (rule.api_groups[0].clone(), name.clone())));
        }
    }
    scanned.retain(|(_, name)| !IN_VIEW.contains(&name.as_str()));
    assert_eq!(granted, scanned);
}
