//! What the policies may read of the cluster: what their settings need, and no more.

use std::cell::RefCell;
use std::collections::BTreeSet;

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubewarden::host::HostCluster;
use placement_guard::rules::read_settings;
use placement_guard::verdict;
use serde_json::{Value, json};

use crate::policy::{ClusterRole, ContextAwareResource, NEEDS_CLUSTER, Policy, PolicyRule, Spec, policies, read};

/// The lines in comments that grant a kind, and the settings in comments that read the cluster, put in force.
fn with_live_settings(text: &str) -> String {
    const LIVE: [&str; 11] = [
        "- {apiVersion: ",
        "contextAwareResources: ",
        "timeoutEvalSeconds: ",
        "attraction: ",
        "evictions: ",
        "missingNode: ",
        "overlap: ",
        "rollout: ",
        "sharedClaims: ",
        "unreachableTogether: ",
        "whileInUse: ",
    ];
    let others = ["strandedVolumes: ", "requireSettledVolumeAttributes: "];
    let line = |line: &str| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        match rest.strip_prefix("# ") {
            Some(rest) if LIVE.iter().chain(&others).any(|start| rest.starts_with(start)) => {
                format!("{indent}{rest}\n")
            }
            _ => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// The kinds that settings need.
fn needs(settings: &Value) -> BTreeSet<Kind> {
    let settings = settings.to_string();
    let document = field::parse(settings.as_bytes()).expect("settings are JSON");
    let settings = read_settings(&Field::root("settings", &document)).unwrap_or_else(|error| panic!("{error:?}"));
    settings.needs().into_iter().map(|(kind, _)| kind).collect()
}

fn granted(spec: &Spec) -> BTreeSet<Kind> {
    let kind = |granted: &ContextAwareResource| {
        let known = Kind::ALL.into_iter().find(|kind| kind.name() == granted.kind);
        let known = known.unwrap_or_else(|| panic!("no rule reads {granted:?}"));
        assert_eq!(known.api_version(), granted.api_version);
        known
    };
    let kinds: BTreeSet<Kind> = spec.context_aware_resources.iter().map(kind).collect();
    assert_eq!(kinds.len(), spec.context_aware_resources.len(), "a kind is granted twice");
    kinds
}

/// `volumeNodeAffinity` names nodes wherever it can read them, whatever its settings.
fn names_nodes(settings: &Value) -> bool {
    settings.get("volumeNodeAffinity").is_some()
}

/// What is granted is what the settings of the file need. With the lines in comments it is so too.
#[test]
fn each_policy_is_granted_the_kinds_that_its_settings_need_and_no_other() {
    let mut live = BTreeSet::new();
    for policy in policies() {
        let with_comments = Policy::of(policy.name, policy.sections, with_live_settings(&policy.text));
        for (Policy { name, spec, .. }, is_live) in [(&policy, false), (&with_comments, true)] {
            let mut expected = needs(&spec.settings);
            let reads = *name == NEEDS_CLUSTER || is_live && *name != "all-rules";
            assert_eq!(!expected.is_empty(), reads, "{name}: {expected:?}");
            if names_nodes(&spec.settings) {
                expected.insert(Kind::Node);
            }
            assert_eq!(granted(spec), expected, "{name}");
            // A cold list of thousands of nodes takes longer than the default of 2 seconds.
            assert_eq!(spec.timeout_eval_seconds, (!expected.is_empty()).then_some(10), "{name}");
            live.extend(expected);
        }
        if !granted(&policy.spec).is_empty() || with_comments.text != policy.text {
            assert!(policy.text.contains("cluster-reader.yaml"), "{}", policy.name);
        }
    }
    // DaemonSets are read for `rollout.nodePlugins`, which only the owner of a driver can write.
    let shown: BTreeSet<Kind> = Kind::ALL.into_iter().filter(|kind| *kind != Kind::DaemonSet).collect();
    assert_eq!(live, shown);
}

/// The role of the policy server: by itself what the policies read, with its comments what any rule can read.
#[test]
fn the_policy_server_may_read_what_the_policies_read_and_nothing_else() {
    let text = read("policies/kubewarden/cluster-reader.yaml");
    let role = |text: &str| -> BTreeSet<(String, String)> {
        let role: ClusterRole = serde_saphyr::from_str(text.split("---\n").next().expect("a role")).expect("a role");
        assert_eq!((role.api_version.as_str(), role.kind.as_str()), ("rbac.authorization.k8s.io/v1", "ClusterRole"));
        assert_eq!(role.metadata.name, "placement-guard-cluster-reader");
        let resource = |rule: &PolicyRule| {
            assert_eq!(rule.verbs, ["get", "list", "watch"]);
            assert_eq!((rule.api_groups.len(), rule.resources.len()), (1, 1));
            (rule.api_groups[0].clone(), rule.resources[0].clone())
        };
        role.rules.iter().map(resource).collect()
    };
    let resources = |kinds: BTreeSet<Kind>| -> BTreeSet<(String, String)> {
        kinds.into_iter().map(|kind| (kind.group().to_owned(), kind.resource().to_owned())).collect()
    };
    // Its own comment says what to grant for it.
    let others = policies().into_iter().filter(|policy| policy.name != NEEDS_CLUSTER);
    let read_by_policies = others.flat_map(|policy| granted(&policy.spec)).collect();
    assert_eq!(role(&text), resources(read_by_policies));
    let in_force = text.replace("  # - {apiGroups", "  - {apiGroups");
    assert_eq!(role(&in_force), resources(Kind::ALL.into()));
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[1]["roleRef"]["name"], "placement-guard-cluster-reader");
    // The account that Kubewarden's chart makes for its default policy server.
    let account = json!([{"kind": "ServiceAccount", "name": "policy-server", "namespace": "kubewarden"}]);
    assert_eq!(objects[1]["subjects"], account);
}

/// `kwctl scaffold manifest --allow-context-aware` writes these kinds into the policy.
#[test]
fn the_metadata_names_every_kind_that_a_rule_can_read() {
    let metadata: Value = serde_saphyr::from_str(&read("metadata.yml")).expect("metadata.yml is readable");
    let known: Vec<Value> =
        Kind::ALL.iter().map(|kind| json!({"apiVersion": kind.api_version(), "kind": kind.name()})).collect();
    assert_eq!(metadata["contextAwareResources"], json!(known));
}

/// The kinds about which a host is asked while it judges a request.
fn asked_for(case: &testkit::Case, settings: &Value, request: &Value) -> BTreeSet<Kind> {
    let host = case.host();
    let asked = RefCell::new(BTreeSet::new());
    let call = |operation: &str, payload: &[u8]| {
        let call: Value = serde_json::from_slice(payload).expect("a call is JSON");
        let kind = Kind::ALL.into_iter().find(|kind| call["kind"] == kind.name()).expect("a known kind");
        assert_eq!(call["api_version"], kind.api_version());
        asked.borrow_mut().insert(kind);
        host.call(operation, payload).map_err(|said| format!("Host error: {said}"))
    };
    verdict::check_in(&settings.to_string(), &request.to_string(), &HostCluster { call: &call });
    asked.into_inner()
}

/// A policy that is granted what its settings need is never told that it may not read a kind.
#[test]
fn a_rule_asks_for_the_kinds_that_its_settings_need_and_for_no_other() {
    let mut asked = BTreeSet::new();
    for case in testkit::cases().expect("the cases are readable") {
        let Some(request) = case.request() else { continue };
        let settings: Value = serde_json::from_slice(&case.settings()).expect("settings are JSON");
        if verdict::validate_settings(&settings.to_string()).is_err() {
            continue;
        }
        let mut expected = needs(&settings);
        if names_nodes(&settings) {
            expected.insert(Kind::Node);
        }
        let kinds = asked_for(&case, &settings, request);
        assert!(kinds.is_subset(&expected), "{}: asks for {kinds:?}, needs {expected:?}", case.name);
        asked.extend(kinds);
    }
    assert_eq!(asked, Kind::ALL.into());
}
