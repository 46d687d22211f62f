//! Who judges: the library that is linked in, or a module as a cluster would run it.

use placement_guard::rules::decision::{Decision, SettingsVerdict};
use placement_guard::verdict::{self, Verdict};

use crate::cluster::Surroundings;
use crate::complaint::Complaint;
use crate::input::Source;
use crate::module::Loaded;
use crate::{request, settings};

/// Judges requests under one set of settings, which were checked, in one cluster.
pub struct Judge<'m> {
    settings: String,
    module: Option<&'m Loaded>,
    surroundings: Surroundings,
}

impl<'m> Judge<'m> {
    /// Judges under the settings in `source`: by the library, or by a module, which then checks the settings itself. What
    /// the settings read of a cluster is read of what `surroundings` gives for them.
    ///
    /// # Errors
    /// Settings that cannot be used, and a cluster that cannot be read.
    pub fn new(
        source: &Source,
        module: Option<&'m Loaded>,
        surroundings: impl FnOnce(&str) -> Result<Surroundings, Complaint>,
    ) -> Result<Self, Complaint> {
        let Some(module) = module else {
            let settings = settings::usable(source)?;
            return Ok(Judge { surroundings: surroundings(&settings)?, settings, module: None });
        };
        let settings = settings::unjudged(source)?;
        let answer = module.call("validate_settings", &settings, &Surroundings::default())?;
        let verdict = serde_json::from_slice::<SettingsVerdict>(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a verdict: {error}")))?;
        verdict.into_result().map_err(|message| settings::refused_by_a_module(source, &message))?;
        Ok(Judge { surroundings: surroundings(&settings)?, settings, module: Some(module) })
    }

    /// Judges a request, or the AdmissionReview that holds it, as JSON.
    ///
    /// # Errors
    /// When the module gives no decision.
    pub fn judge(&self, json: &str) -> Result<Verdict, Complaint> {
        let Some(module) = self.module else {
            return Ok(verdict::check_in(&self.settings, json, &self.surroundings));
        };
        let payload = format!(r#"{{"settings":{},{}}}"#, self.settings, request::unwrapped(json));
        let answer = module.call("validate", &payload, &self.surroundings)?;
        let decision: Decision = serde_json::from_slice(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a decision: {error}")))?;
        Ok(decision.into())
    }
}
