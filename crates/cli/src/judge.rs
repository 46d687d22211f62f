//! Who judges: the library that is linked in, or a module as a cluster would run it.

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::rules::decision::{Decision, SettingsVerdict};
use placement_guard::rules::read_settings;
use placement_guard::rules::settings::Settings;
use placement_guard::verdict::{self, Verdict};

use crate::complaint::Complaint;
use crate::coverage::Coverage;
use crate::input::Source;
use crate::manifest::Identity;
use crate::module::Loaded;
use crate::report::{Found, Locate, found, found_by_a_module};
use crate::{request, settings};

/// Judges requests under one set of settings, which were checked.
pub struct Judge<'m> {
    json: String,
    /// The settings as this program reads them; `None` where only the module does.
    settings: Option<Settings>,
    /// `None` where a module decides what it judges.
    coverage: Option<Coverage>,
    module: Option<&'m Loaded>,
}

impl<'m> Judge<'m> {
    /// Judges under the settings in `source`: by the library, or by a module, which then checks the settings itself.
    ///
    /// # Errors
    /// Settings that cannot be used.
    pub fn new(source: &Source, module: Option<&'m Loaded>) -> Result<Self, Complaint> {
        let Some(module) = module else {
            let json = settings::usable(source)?;
            let (settings, coverage) = (settings_of(&json), Some(Coverage::of(&json)));
            return Ok(Judge { json, settings, coverage, module: None });
        };
        let json = settings::unjudged(source)?;
        let answer = module.call("validate_settings", &json)?;
        let verdict = serde_json::from_slice::<SettingsVerdict>(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a verdict: {error}")))?;
        verdict.into_result().map_err(|message| settings::refused_by_a_module(source, &message))?;
        Ok(Judge { settings: settings_of(&json), json, coverage: None, module: Some(module) })
    }

    /// Whether a rule in force is about such an object.
    pub fn covers(&self, identity: &Identity) -> bool {
        self.coverage.as_ref().is_none_or(|coverage| coverage.includes(&identity.group, &identity.kind))
    }

    /// Judges a request, or the AdmissionReview that holds it, as JSON: the decision and what it rests on.
    ///
    /// A module says what it found in words only. Where the rules of this program say the same, their codes and fields count
    /// for it too.
    ///
    /// # Errors
    /// When the module gives no decision.
    pub fn judge(&self, json: &str, locate: Locate<'_>) -> Result<(Verdict, Vec<Found>), Complaint> {
        let own = self.settings.as_ref().map(|settings| verdict::examine(settings, json));
        let Some(module) = self.module else {
            let (verdict, findings) = own.unwrap_or_else(|| (verdict::check(&self.json, json), Ok(Vec::new())));
            return Ok((verdict, found(findings, locate)));
        };
        let payload = format!(r#"{{"settings":{},{}}}"#, self.json, request::unwrapped(json));
        let answer = module.call("validate", &payload)?;
        let decision: Decision = serde_json::from_slice(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a decision: {error}")))?;
        let decided = Verdict::from(decision);
        let found = match own {
            Some((verdict, findings)) if verdict == decided => found(findings, locate),
            _ => found_by_a_module(&decided, locate),
        };
        Ok((decided, found))
    }
}

fn settings_of(json: &str) -> Option<Settings> {
    let json = field::parse(json.as_bytes()).ok()?;
    read_settings(&Field::root("settings", &json)).ok()
}
