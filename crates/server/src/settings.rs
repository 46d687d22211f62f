//! The settings of `/v1/admit`, checked by the module that judges under them.

use host::{Module, sha256};
use placement_guard::rules::decision::SettingsVerdict;
use serde_json::value::RawValue;

use crate::error::CannotServe;

/// Settings that the module can use.
#[derive(Debug)]
pub struct CheckedSettings {
    json: Box<RawValue>,
    digest: String,
}

impl CheckedSettings {
    /// Has a module check settings, which are JSON.
    ///
    /// # Errors
    /// What the module says against them, or why it does not answer.
    pub fn check(module: &Module, settings: String) -> Result<Self, CannotServe> {
        let answer = module.call("validate_settings", settings.as_bytes())?;
        let verdict = serde_json::from_slice::<SettingsVerdict>(&answer).map_err(|error| {
            CannotServe::Settings(format!("the module's answer is not a verdict on settings: {error}"))
        })?;
        verdict.into_result().map_err(CannotServe::Settings)?;
        let digest = sha256(settings.as_bytes());
        let json = RawValue::from_string(settings).map_err(|error| CannotServe::Settings(error.to_string()))?;
        Ok(CheckedSettings { json, digest })
    }

    pub fn json(&self) -> &RawValue {
        &self.json
    }

    /// Of the JSON.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}
