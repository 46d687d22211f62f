//! `metadata.yml`: what the module says of itself. Stricter than Kubewarden, which ignores unknown keys: a misspelt key would
//! otherwise vanish without a sign.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_saphyr::UserMessageFormatter;

/// The fields are in the order in which Kubewarden's own tool writes them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    pub rules: Vec<Rule>,
    /// Sorted, so that the same metadata always gives the same bytes.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    pub mutating: bool,
    #[serde(default = "audited_unless_said_otherwise")]
    pub background_audit: bool,
    #[serde(default)]
    pub execution_mode: ExecutionMode,
    #[serde(default)]
    pub policy_type: PolicyType,
    #[serde(default)]
    pub context_aware_resources: Vec<ContextAwareResource>,
}

/// What the API server sends to the policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    pub api_groups: Vec<String>,
    pub api_versions: Vec<String>,
    pub resources: Vec<String>,
    pub operations: Vec<Operation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
    #[serde(rename = "*")]
    All,
}

/// A kind that the policy may read from the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextAwareResource {
    pub api_version: String,
    pub kind: String,
}

/// Kubewarden knows more; a module of this workspace speaks waPC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum ExecutionMode {
    #[default]
    #[serde(rename = "kubewarden-wapc")]
    KubewardenWapc,
}

/// Kubewarden knows `raw` too; a module of this workspace judges Kubernetes requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyType {
    #[default]
    Kubernetes,
}

/// Why a `metadata.yml` cannot be used, with the place in it.
#[derive(Debug, thiserror::Error)]
pub enum InvalidMetadata {
    #[error("not the metadata of a policy: {0}")]
    Unreadable(String),
    #[error("`rules[{rule}].{list}` is empty: the policy would never be called; name at least one, or remove the rule")]
    EmptyList { rule: usize, list: &'static str },
    #[error("`rules[{rule}].{list}` has `*` next to other entries; remove `*` or the others")]
    WildcardInCompany { rule: usize, list: &'static str },
}

impl Metadata {
    pub fn parse(yaml: &str) -> Result<Self, InvalidMetadata> {
        let metadata: Self = serde_saphyr::from_str(yaml).map_err(|error| {
            // Without the excerpt of the file, the line and column are in the sentence.
            InvalidMetadata::Unreadable(error.without_snippet().render_with_formatter(&UserMessageFormatter))
        })?;
        for (index, rule) in metadata.rules.iter().enumerate() {
            rule.check(index)?;
        }
        Ok(metadata)
    }
}

impl Rule {
    fn check(&self, rule: usize) -> Result<(), InvalidMetadata> {
        let names = |list: &[String]| list.iter().map(|name| name == "*").collect();
        let lists: [(&'static str, Vec<bool>); 4] = [
            ("apiGroups", names(&self.api_groups)),
            ("apiVersions", names(&self.api_versions)),
            ("resources", names(&self.resources)),
            ("operations", self.operations.iter().map(|operation| *operation == Operation::All).collect()),
        ];
        for (list, is_wildcard) in lists {
            if is_wildcard.is_empty() {
                return Err(InvalidMetadata::EmptyList { rule, list });
            }
            if is_wildcard.len() > 1 && is_wildcard.contains(&true) {
                return Err(InvalidMetadata::WildcardInCompany { rule, list });
            }
        }
        Ok(())
    }
}

fn audited_unless_said_otherwise() -> bool {
    true
}
