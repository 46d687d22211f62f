//! The policies in `policies/kubewarden/`: whether Kubewarden can read them, and whether what they send to the policy
//! server is what the module judges: nothing else, and nothing less.

#![allow(clippy::restriction)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, Program, Value as Cel};
use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::kind::Kind;
use placement_guard::kubewarden::host::HostCluster;
use placement_guard::rules::read_settings;
use placement_guard::rules::settings::section_names;
use placement_guard::verdict::{self, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

/// The language of conditions, with what API servers add to it: `.?` for fields that may be absent.
static CEL: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(true)));

/// Each policy with the sections of its settings: one for each rule, named after its section, and one for all of them.
static POLICIES: LazyLock<Vec<(String, Vec<&'static str>)>> = LazyLock::new(|| {
    let mut policies: Vec<(String, Vec<&str>)> =
        section_names().map(|section| (with_dashes(section), vec![section])).collect();
    policies.push((String::from("all-rules"), section_names().collect()));
    policies
});

/// `nodeTaints` as `node-taints`.
fn with_dashes(section: &str) -> String {
    let letter =
        |letter: char| if letter.is_uppercase() { format!("-{}", letter.to_lowercase()) } else { letter.into() };
    section.chars().map(letter).collect()
}

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

/// A ClusterAdmissionPolicy. The fields are those of the CRD `policies.kubewarden.io/v1`, so that a misspelt one is found.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "known to the CRD, and used by no policy here")]
struct Spec {
    policy_server: Option<String>,
    mode: String,
    module: String,
    settings: Value,
    rules: Vec<Rule>,
    failure_policy: String,
    mutating: bool,
    background_audit: bool,
    match_policy: Option<String>,
    match_conditions: Vec<MatchCondition>,
    object_selector: Option<Value>,
    side_effects: Option<String>,
    timeout_seconds: Option<u8>,
    message: Option<String>,
    namespace_selector: Option<NamespaceSelector>,
    #[serde(default)]
    context_aware_resources: Vec<ContextAwareResource>,
    timeout_eval_seconds: Option<u8>,
}

/// A kind that a policy may read from the cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ContextAwareResource {
    api_version: String,
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    api_groups: Vec<String>,
    api_versions: Vec<String>,
    resources: Vec<String>,
    operations: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchCondition {
    name: String,
    expression: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NamespaceSelector {
    match_expressions: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClusterRole {
    api_version: String,
    kind: String,
    metadata: Metadata,
    rules: Vec<PolicyRule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PolicyRule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    verbs: Vec<String>,
}

struct Policy {
    name: &'static str,
    sections: &'static [&'static str],
    text: String,
    spec: Spec,
    conditions: Vec<(String, Program)>,
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn policies() -> Vec<Policy> {
    POLICIES.iter().map(|(name, sections)| Policy::read(name, sections)).collect()
}

impl Policy {
    fn read(name: &'static str, sections: &'static [&'static str]) -> Self {
        Self::of(name, sections, read(&format!("policies/kubewarden/{name}.yaml")))
    }

    fn of(name: &'static str, sections: &'static [&'static str], text: String) -> Self {
        let manifest: Manifest = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(manifest.api_version, "policies.kubewarden.io/v1", "{name}");
        assert_eq!(manifest.kind, "ClusterAdmissionPolicy", "{name}");
        let named = if name == "all-rules" { "placement-guard" } else { name };
        assert_eq!(manifest.metadata.name, named);
        let annotations: Vec<&str> = manifest.metadata.annotations.keys().map(String::as_str).collect();
        assert_eq!(annotations, ["io.kubewarden.policy.category", "io.kubewarden.policy.severity"], "{name}");
        let compile = |condition: &MatchCondition| {
            let program = CEL.compile(&condition.expression);
            (condition.name.clone(), program.unwrap_or_else(|error| panic!("{name}: {}: {error}", condition.name)))
        };
        let conditions = manifest.spec.match_conditions.iter().map(compile).collect();
        Policy { name, sections, text, spec: manifest.spec, conditions }
    }

    fn verdict(&self, request: &Value) -> Verdict {
        verdict::check(&self.spec.settings.to_string(), &request.to_string())
    }

    /// Whether the API server asks the policy about this request: by its rules, then by its conditions.
    fn matches(&self, request: &Value) -> bool {
        self.has_rule_for(request) && self.conditions.iter().all(|(name, program)| self.holds(name, program, request))
    }

    fn has_rule_for(&self, request: &Value) -> bool {
        let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let mut resource = text("/resource/resource").to_owned();
        if let Some(sub_resource) = request["subResource"].as_str().filter(|name| !name.is_empty()) {
            resource = format!("{resource}/{sub_resource}");
        }
        let has = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        self.spec.rules.iter().any(|rule| {
            has(&rule.api_groups, text("/resource/group"))
                && has(&rule.api_versions, text("/resource/version"))
                && has(&rule.resources, &resource)
                && has(&rule.operations, text("/operation"))
        })
    }

    /// What a condition says. One that fails would refuse the request, so none may.
    fn holds(&self, name: &str, program: &Program, request: &Value) -> bool {
        let mut context = Context::with_env(Arc::clone(&CEL));
        for (variable, value) in
            [("request", request), ("object", &request["object"]), ("oldObject", &request["oldObject"])]
        {
            context.add_variable(variable, value).expect("JSON is a value of CEL");
        }
        match program.execute(&context) {
            Ok(Cel::Bool(holds)) => holds,
            other => panic!("{}: {name} says {other:?} of {request}", self.name),
        }
    }
}

/// The requests that a real API server sent, by the names of their files.
fn recorded() -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(repository("tests/requests")).expect("the recorded requests are there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.expect("a file").file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), testkit::recorded(&name).expect("a recorded request"))).collect()
}

/// Whether a verdict says more than that nothing was touched.
fn says_something(verdict: &Verdict) -> bool {
    let is_news = |(key, value): (&String, &String)| (key.as_str(), value.as_str()) != ("relation", "unchanged");
    !verdict.allowed || !verdict.warnings.is_empty() || verdict.annotations.iter().any(is_news)
}

#[test]
fn there_is_one_policy_for_each_file() {
    let entries = std::fs::read_dir(repository("policies/kubewarden")).expect("the policies are there");
    let found: BTreeSet<String> =
        entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    let mut expected: BTreeSet<String> = POLICIES.iter().map(|(name, _)| format!("{name}.yaml")).collect();
    expected.extend(["README.md", "cluster-reader.yaml", "permissions.yaml"].map(String::from));
    assert_eq!(found, expected);
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
        assert_eq!(spec.background_audit, name != "volume-node-affinity", "{name}");
        for rule in spec.rules.iter().filter(|rule| rule.operations.iter().any(|operation| operation == "CREATE")) {
            scanned.extend(rule.resources.iter().map(|name| (rule.api_groups[0].clone(), name.clone())));
        }
    }
    scanned.retain(|(_, name)| !IN_VIEW.contains(&name.as_str()));
    assert_eq!(granted, scanned);
}

/// What is matched is judged: with an object of which nothing is readable, the module says so.
#[test]
fn every_recorded_request_that_a_policy_matches_is_judged() {
    let mut matched: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for policy in policies() {
        for (name, mut request) in recorded() {
            if !policy.matches(&request) {
                continue;
            }
            for member in ["spec", "template", "provisioner"] {
                request["object"][member] = json!([1]);
            }
            let verdict = policy.verdict(&request);
            assert_eq!(verdict.code, Some(422), "{} matches {name} and does not judge it: {verdict:?}", policy.name);
            matched.entry(policy.name).or_default().push(name);
        }
    }
    let counts: Vec<(&str, usize)> = matched.iter().map(|(policy, names)| (*policy, names.len())).collect();
    let expected = [
        ("access-modes", 23),
        ("all-rules", 58),
        ("csi-driver-tokens", 4),
        ("local-volumes", 11),
        ("node-taints", 6),
        ("tolerations", 16),
        ("volume-node-affinity", 24),
    ];
    assert_eq!(counts, expected, "{matched:#?}");
    let all = &matched["all-rules"];
    for untouched in ["pv-update-claimref-bind", "pod-update-label-only", "node-update-label-only", "pv-delete"] {
        assert!(!all.iter().any(|name| name == untouched), "{untouched} changes nothing that is judged");
    }
}

#[test]
fn every_recorded_request_about_which_the_module_has_something_to_say_is_matched() {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for policy in policies() {
        for (name, request) in recorded() {
            let verdict = policy.verdict(&request);
            if says_something(&verdict) {
                assert!(policy.matches(&request), "{} leaves out {name}: {verdict:?}", policy.name);
                *said.entry(policy.name).or_default() += 1;
            }
        }
    }
    let expected = [
        ("access-modes", 5),
        ("all-rules", 38),
        ("csi-driver-tokens", 3),
        ("local-volumes", 5),
        ("node-taints", 2),
        ("tolerations", 12),
        ("volume-node-affinity", 13),
    ];
    assert_eq!(said, BTreeMap::from(expected));
}

/// The conditions depend on the rules, not on the values in the settings: they hold under the settings of every case.
#[test]
fn every_case_about_which_the_module_has_something_to_say_is_matched() {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    let policies = policies();
    for case in testkit::cases().expect("the cases are readable") {
        let Some(request) = case.request().map(completed) else { continue };
        // If not only controllers may write it, it needs a separate policy: audits do not know sub-resources.
        if request["subResource"] == "status" {
            continue;
        }
        let settings: Value = serde_json::from_slice(&case.settings()).expect("settings are JSON");
        for policy in &policies {
            let sections: serde_json::Map<String, Value> = policy
                .sections
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), settings.get(*name)?.clone())))
                .collect();
            if sections.is_empty() {
                continue;
            }
            let verdict = verdict::check(&Value::from(sections).to_string(), &request.to_string());
            // What the module cannot read an API server does not send.
            if verdict.code != Some(422) && says_something(&verdict) {
                assert!(policy.matches(&request), "{} leaves out {}: {verdict:?}", policy.name, case.name);
                *said.entry(policy.name).or_default() += 1;
            }
        }
    }
    // Cases are added all the time, so these are not counted exactly.
    for (policy, least) in [
        ("access-modes", 24),
        ("all-rules", 243),
        ("csi-driver-tokens", 16),
        ("local-volumes", 76),
        ("node-taints", 4),
        ("tolerations", 54),
        ("volume-node-affinity", 83),
    ] {
        assert!(said.get(policy).is_some_and(|count| *count >= least), "{policy}: {said:?}");
    }
    assert_eq!(said.len(), policies.len(), "a policy about which no case says anything: {said:?}");
}

/// The lines in comments that grant a kind, and the settings in comments that read the cluster, put in force.
fn with_live_settings(text: &str) -> String {
    const LIVE: [&str; 10] = [
        "- {apiVersion: ",
        "contextAwareResources: ",
        "timeoutEvalSeconds: ",
        "attraction: ",
        "evictions: ",
        "missingNode: ",
        "overlap: ",
        "rollout: ",
        "sharedClaims: ",
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
    settings.needs().into_iter().collect()
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
            assert_eq!(!expected.is_empty(), is_live && *name != "all-rules", "{name}: {expected:?}");
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
    let read_by_policies = policies().iter().flat_map(|policy| granted(&policy.spec)).collect();
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

/// A request with the resource that an API server would name, where a case only has the kind.
fn completed(request: &Value) -> Value {
    let mut request = request.clone();
    let kind = request["kind"].clone();
    let plural = match kind["kind"].as_str().unwrap_or_default().to_lowercase() {
        name if name.ends_with('s') => name + "es",
        name => name + "s",
    };
    request["resource"] = json!({"group": kind["group"], "version": "v1", "resource": plural});
    request
}
