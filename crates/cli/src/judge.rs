//! Who judges: the library that is linked in, or a module as a cluster would run it.

use placement_guard::rules::decision::{Decision, SettingsVerdict};
use placement_guard::verdict::{self, Verdict};

use crate::complaint::Complaint;
use crate::input::Source;
use crate::module::Loaded;
use crate::{request, settings};

/// Judges requests under one set of settings.
pub struct Judge<'m> {
    settings: String,
    module: Option<&'m Loaded>,
}

impl<'m> Judge<'m> {
    /// The library's judgement, or that of a module; `settings` is JSON. The module is to say what it thinks of them, by
    /// [`Judge::check_settings`]; the library has to be asked before.
    pub fn new(settings: String, module: Option<&'m Loaded>) -> Self {
        Judge { settings, module }
    }

    /// Judges a request, or the AdmissionReview that holds it, as JSON.
    ///
    /// # Errors
    /// When the module gives no decision.
    pub fn judge(&self, json: &str) -> Result<Verdict, Complaint> {
        let Some(module) = self.module else { return Ok(verdict::check(&self.settings, json)) };
        let payload = format!(r#"{{"settings":{},{}}}"#, self.settings, request::unwrapped(json));
        let answer = module.call("validate", &payload)?;
        let decision: Decision = serde_json::from_slice(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a decision: {error}")))?;
        Ok(decision.into())
    }

    /// Asks the module whether it can use the settings, which are in `source`.
    ///
    /// # Errors
    /// What it says against them.
    pub fn check_settings(&self, source: &Source) -> Result<(), Complaint> {
        let Some(module) = self.module else { return Ok(()) };
        let answer = module.call("validate_settings", &self.settings)?;
        let verdict = serde_json::from_slice::<SettingsVerdict>(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a verdict: {error}")))?;
        verdict.into_result().map_err(|message| settings::refused_by_a_module(source, &message))
    }
}
