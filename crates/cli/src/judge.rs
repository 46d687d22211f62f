//! Who judges: the library that is linked in, or a module as a cluster would run it.

use placement_guard::rules::decision::{Decision, SettingsVerdict};
use placement_guard::verdict::{self, Verdict};

use crate::complaint::Complaint;
use crate::input::Source;
use crate::module::Loaded;
use crate::{request, settings};

/// Judges requests under one set of settings, which were checked.
pub struct Judge<'m> {
    settings: String,
    module: Option<&'m Loaded>,
}

impl<'m> Judge<'m> {
    /// Judges under the settings in `source`: by the library, or by a module, which then checks the settings itself.
    ///
    /// # Errors
    /// Settings that cannot be used.
    pub fn new(source: &Source, module: Option<&'m Loaded>) -> Result<Self, Complaint> {
        let Some(module) = module else { return Ok(Judge { settings: settings::usable(source)?, module: None }) };
        let settings = settings::unjudged(source)?;
        let answer = module.call("validate_settings", &settings)?;
        let verdict = serde_json::from_slice::<SettingsVerdict>(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a verdict: {error}")))?;
        verdict.into_result().map_err(|message| settings::refused_by_a_module(source, &message))?;
        Ok(Judge { settings, module: Some(module) })
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
}
