//! Who judges: the library that is linked in, or a module as a cluster would run it.

use std::path::{Path, PathBuf};

use host::{Host, Limits, Memory, Module};
use placement_guard::rules::decision::Decision;
use placement_guard::verdict::{self, Verdict};

use crate::complaint::Complaint;
use crate::request;

/// What a call of a module may use: the memory of a small pod, and more time than Kubewarden's two seconds, since nobody
/// waits in a queue here.
const LIMITS: Limits = Limits { memory: Memory::AtMost { bytes: 64 << 20, instances: 1 }, seconds: 30 };

/// Judges requests under one set of settings.
pub struct Judge {
    settings: String,
    module: Option<(PathBuf, Module)>,
}

impl Judge {
    /// The library's judgement, or that of a module; `settings` is JSON.
    ///
    /// # Errors
    /// A module that cannot be loaded.
    pub fn new(settings: String, module: Option<&Path>) -> Result<Self, Complaint> {
        let module = match module {
            None => None,
            Some(path) => {
                let host = Host::new(LIMITS).map_err(|error| unusable(path, &error, "judge without `--module`"))?;
                let module = host.load(path).map_err(|error| unusable(path, &error.fault, error.fault.remedy()))?;
                Some((path.to_path_buf(), module))
            }
        };
        Ok(Judge { settings, module })
    }

    /// Judges a request, or the AdmissionReview that holds it, as JSON.
    ///
    /// # Errors
    /// When the module gives no decision.
    pub fn judge(&self, json: &str) -> Result<Verdict, Complaint> {
        let Some((path, module)) = &self.module else { return Ok(verdict::check(&self.settings, json)) };
        let payload = format!(r#"{{"settings":{},{}}}"#, self.settings, request::unwrapped(json));
        let answer = module
            .call("validate", payload.as_bytes())
            .map_err(|error| unusable(path, &format!("gives no answer: {error}"), "give a module of this program"))?;
        let decision: Decision = serde_json::from_slice(&answer).map_err(|error| {
            unusable(path, &format!("answers what is no decision: {error}"), "give a module of this program")
        })?;
        Ok(decision.into())
    }

    /// Has the module say whether it can use the settings.
    ///
    /// # Errors
    /// What it says against them.
    pub fn check_settings(&self, place: &str) -> Result<(), Complaint> {
        #[derive(serde::Deserialize)]
        struct Answer {
            valid: bool,
            message: Option<String>,
        }
        let Some((path, module)) = &self.module else { return Ok(()) };
        let answer = module
            .call("validate_settings", self.settings.as_bytes())
            .map_err(|error| unusable(path, &format!("gives no answer: {error}"), "give a module of this program"))?;
        match serde_json::from_slice::<Answer>(&answer) {
            Ok(Answer { valid: true, .. }) => Ok(()),
            Ok(Answer { message, .. }) => {
                let message = message.unwrap_or_else(|| String::from("the module refuses the settings"));
                Err(Complaint::new(place, message, "write settings that this module knows"))
            }
            Err(error) => Err(unusable(path, &format!("answers what is no verdict: {error}"), "give a policy module")),
        }
    }
}

fn unusable(path: &Path, problem: &dyn std::fmt::Display, remedy: &str) -> Complaint {
    Complaint::new(path.display(), problem, remedy)
}
