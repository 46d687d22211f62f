//! A policy as its file writes it, and whether the API server asks it about a request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, Program, Value as Cel};
use placement_guard::rules::settings::section_names;
use placement_guard::verdict::{self, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// The language of conditions, with what API servers add to it: `.?` for fields that may be absent.
static CEL: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(true)));

/// The policy of the rule that can do nothing without the cluster. The policy of all rules leaves it out, with its
/// sub-resource.
pub const NEEDS_CLUSTER: &str = "volume-binding";

/// Each policy with the sections of its settings: one for each rule, named after its section, and one for all the others.
pub static POLICIES: LazyLock<Vec<(String, Vec<&'static str>)>> = LazyLock::new(|| {
    let mut policies: Vec<(String, Vec<&str>)> =
        section_names().map(|section| (with_dashes(section), vec![section])).collect();
    let others = section_names().filter(|section| with_dashes(section) != NEEDS_CLUSTER);
    policies.push((String::from("all-rules"), others.collect()));
    policies
});

/// `nodeTaints` as `node-taints`.
fn with_dashes(section: &str) -> String {
    let letter =
        |letter: char| if letter.is_uppercase() { format!("-{}", letter.to_lowercase()) } else { letter.into() };
    section.chars().map(letter).collect()
}

/// A ClusterAdmissionPolicy. The fields are those of the CRD `policies.kubewarden.io/v1`, so that a misspelt one is found.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    pub api_version: String,
    pub kind: String,
    pub metadata: Metadata,
    pub spec: Spec,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    pub name: String,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "known to the CRD, and used by no policy here")]
pub struct Spec {
    pub policy_server: Option<String>,
    pub mode: String,
    pub module: String,
    pub settings: Value,
    pub rules: Vec<Rule>,
    pub failure_policy: String,
    pub mutating: bool,
    pub background_audit: bool,
    pub match_policy: Option<String>,
    pub match_conditions: Vec<MatchCondition>,
    pub object_selector: Option<Value>,
    pub side_effects: Option<String>,
    pub timeout_seconds: Option<u8>,
    pub message: Option<String>,
    pub namespace_selector: Option<NamespaceSelector>,
    #[serde(default)]
    pub context_aware_resources: Vec<ContextAwareResource>,
    pub timeout_eval_seconds: Option<u8>,
}

/// A kind that a policy may read from the cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextAwareResource {
    pub api_version: String,
    pub kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    pub api_groups: Vec<String>,
    pub api_versions: Vec<String>,
    pub resources: Vec<String>,
    pub operations: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchCondition {
    pub name: String,
    pub expression: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamespaceSelector {
    pub match_expressions: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterRole {
    pub api_version: String,
    pub kind: String,
    pub metadata: Metadata,
    pub rules: Vec<PolicyRule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyRule {
    pub api_groups: Vec<String>,
    pub resources: Vec<String>,
    pub verbs: Vec<String>,
}

pub struct Policy {
    pub name: &'static str,
    pub sections: &'static [&'static str],
    pub text: String,
    pub spec: Spec,
    pub conditions: Vec<(String, Program)>,
}

pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn policies() -> Vec<Policy> {
    POLICIES.iter().map(|(name, sections)| Policy::read(name, sections)).collect()
}

impl Policy {
    pub fn read(name: &'static str, sections: &'static [&'static str]) -> Self {
        Self::of(name, sections, read(&format!("policies/kubewarden/{name}.yaml")))
    }

    pub fn of(name: &'static str, sections: &'static [&'static str], text: String) -> Self {
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

    pub fn verdict(&self, request: &Value) -> Verdict {
        verdict::check(&self.spec.settings.to_string(), &request.to_string())
    }

    /// Whether the API server asks the policy about this request: by its rules, then by its conditions.
    pub fn matches(&self, request: &Value) -> bool {
        self.has_rule_for(request) && self.conditions.iter().all(|(name, program)| self.holds(name, program, request))
    }

    pub fn has_rule_for(&self, request: &Value) -> bool {
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
    pub fn holds(&self, name: &str, program: &Program, request: &Value) -> bool {
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
