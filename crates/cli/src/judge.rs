//! Who judges: the library that is linked in, or a module as a cluster would run it.

use std::path::Path;

use host::{Host, Limits, Memory, Module};
use placement_guard::rules::decision::{Decision, SettingsVerdict};
use placement_guard::verdict::{self, Verdict};

use crate::complaint::Complaint;
use crate::input::Source;
use crate::{distribution, request, settings};

/// What a call of a module may use: the memory of a small pod, and more time than Kubewarden's two seconds, since nobody
/// waits in a queue here.
const LIMITS: Limits = Limits { memory: Memory::AtMost { bytes: 64 << 20, instances: 1 }, seconds: 30 };

/// A module that was compiled, under the name by which it was asked for.
pub struct Loaded {
    name: String,
    module: Module,
}

impl Loaded {
    /// Loads the module from a file or, where `name` is a reference, from a registry.
    ///
    /// # Errors
    /// A module that cannot be had, or is none.
    pub fn load(name: &str, insecure: bool) -> Result<Self, Complaint> {
        let host = Host::new(LIMITS).map_err(|error| Complaint::new(name, error, "judge without `--module`"))?;
        let loaded = if is_reference(name) {
            host.compile(name, &distribution::fetch(name, insecure)?.module)
        } else {
            host.load(name)
        };
        let module = loaded.map_err(|error| Complaint::new(name, &error.fault, error.fault.remedy()))?;
        Ok(Loaded { name: name.to_owned(), module })
    }

    fn call(&self, function: &str, payload: &str) -> Result<Vec<u8>, Complaint> {
        let answer = self.module.call(function, payload.as_bytes());
        // Some of wasmtime's complaints end with a full stop.
        answer.map_err(|error| self.unusable(format!("gives no answer: {error}").trim_end_matches('.')))
    }

    fn unusable(&self, problem: &str) -> Complaint {
        Complaint::new(&self.name, problem, "give a module of this program")
    }
}

/// Whether a module is asked for in a registry: `registry://` says so, and else a host before the first slash, unless there
/// is such a file or the name can only be that of one.
pub fn is_reference(name: &str) -> bool {
    if name.starts_with("registry://") {
        return true;
    }
    let is_file = name.starts_with('.') || name.ends_with(".wasm") || Path::new(name).exists();
    let host = name.split_once('/').map(|(host, _)| host);
    !is_file && host.is_some_and(|host| host == "localhost" || host.contains(['.', ':']))
}

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

    /// Has the module say whether it can use the settings, which stand in `source`.
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
