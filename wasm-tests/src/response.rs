//! What the module answers, as Kubewarden reads it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The answer of `validate`. Strict: a key that Kubewarden does not read would be lost without a sign.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    pub accepted: bool,
    pub message: Option<String>,
    pub code: Option<u16>,
    pub mutated_object: Option<serde_json::Value>,
    pub audit_annotations: Option<BTreeMap<String, String>>,
    pub warnings: Option<Vec<String>>,
}

/// The answer of `validate_settings`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsVerdict {
    pub valid: bool,
    pub message: Option<String>,
}
