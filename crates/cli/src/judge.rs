//! Who judges: the library that is linked in, or a module as a cluster would run it.

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::rules::decision::{Decision, SettingsVerdict};
use placement_guard::rules::read_settings;
use placement_guard::rules::settings::Settings;
use placement_guard::verdict::{self, Verdict};

use crate::cluster::Surroundings;
use crate::complaint::Complaint;
use crate::coverage::Coverage;
use crate::manifest::Identity;
use crate::module::Loaded;
use crate::report::{Found, Locate, found, found_by_a_module};
use crate::{request, settings};

/// Judges requests under settings that were checked, in one cluster: what they ask must pass every set.
pub struct Judge<'m> {
    sets: Vec<Set<'m>>,
    surroundings: Surroundings,
}

/// One set of settings.
struct Set<'m> {
    json: String,
    /// The settings as this program reads them; `None` where only the module does.
    settings: Option<Settings>,
    /// `None` where only the module knows what it judges.
    coverage: Option<Coverage>,
    module: Option<&'m Loaded>,
}

impl<'m> Judge<'m> {
    /// Judges by the library, or by a module, which then checks the settings itself. What the settings need of a cluster is
    /// read of what `surroundings` gives for them.
    ///
    /// # Errors
    /// Settings that cannot be used, and a cluster that cannot be read.
    pub fn new(
        sets: Vec<settings::Found>,
        module: Option<&'m Loaded>,
        surroundings: impl FnOnce(&[&str]) -> Result<Surroundings, Complaint>,
    ) -> Result<Self, Complaint> {
        let sets = sets.into_iter().map(|found| Set::new(found, module)).collect::<Result<Vec<_>, _>>()?;
        let settings: Vec<&str> = sets.iter().map(|set| set.json.as_str()).collect();
        let surroundings = surroundings(&settings)?;
        Ok(Judge { sets, surroundings })
    }

    /// Every set of settings, as JSON.
    pub fn settings(&self) -> impl Iterator<Item = &str> {
        self.sets.iter().map(|set| set.json.as_str())
    }

    /// The cluster in which it judges.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Whether a module judges, which may be about more than this program knows.
    pub fn is_by_a_module(&self) -> bool {
        self.sets.iter().any(|set| set.module.is_some())
    }

    /// Whether a rule in force is about such an object.
    pub fn covers(&self, identity: &Identity) -> bool {
        self.sets.iter().any(|set| set.covers(identity))
    }

    /// Judges a request, or the AdmissionReview that holds it, as JSON: the decision and what it rests on.
    ///
    /// # Errors
    /// When the module gives no decision.
    pub fn judge(&self, json: &str, locate: Locate<'_>) -> Result<(Verdict, Vec<Found>), Complaint> {
        let answers =
            self.sets.iter().map(|set| set.judge(json, &self.surroundings, locate)).collect::<Result<Vec<_>, _>>()?;
        Ok(together(answers))
    }

    /// The same where the library judges.
    pub fn examine(&self, json: &str, locate: Locate<'_>) -> (Verdict, Vec<Found>) {
        together(self.sets.iter().map(|set| set.examine(json, &self.surroundings, locate)))
    }
}

/// One verdict of several: what one of them refuses is refused.
fn together(answers: impl IntoIterator<Item = (Verdict, Vec<Found>)>) -> (Verdict, Vec<Found>) {
    let joined = answers.into_iter().reduce(|(mut verdict, mut all), (next, found)| {
        verdict.allowed &= next.allowed;
        verdict.code = verdict.code.max(next.code);
        verdict.message = match (verdict.message.take(), next.message) {
            (Some(one), Some(other)) if one != other => Some(format!("{one}\n{other}")),
            (one, other) => one.or(other),
        };
        let new = |list: &[String], item: &String| !list.contains(item);
        let codes: Vec<String> = next.findings.into_iter().filter(|code| new(&verdict.findings, code)).collect();
        verdict.findings.extend(codes);
        let warnings: Vec<String> = next.warnings.into_iter().filter(|said| new(&verdict.warnings, said)).collect();
        verdict.warnings.extend(warnings);
        for (key, value) in next.annotations {
            verdict.annotations.entry(key).or_insert(value);
        }
        let more: Vec<Found> =
            found.into_iter().filter(|found| !all.iter().any(|known| is_same(known, found))).collect();
        all.extend(more);
        (verdict, all)
    });
    joined.unwrap_or_else(|| (verdict::check("{}", "{}"), Vec::new()))
}

fn is_same(one: &Found, other: &Found) -> bool {
    one.code == other.code && one.message == other.message && one.field == other.field
}

impl<'m> Set<'m> {
    fn new(found: settings::Found, module: Option<&'m Loaded>) -> Result<Self, Complaint> {
        let Some(module) = module else {
            let json = found.usable()?;
            let (settings, coverage) = (settings_of(&json), Some(Coverage::of(&json)));
            return Ok(Set { json, settings, coverage, module: None });
        };
        let json = found.json.clone();
        let answer = module.call("validate_settings", &json, &Surroundings::default())?;
        let verdict = serde_json::from_slice::<SettingsVerdict>(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a verdict: {error}")))?;
        verdict.into_result().map_err(|message| found.refused_by_a_module(&message))?;
        let settings = settings_of(&json);
        let coverage = settings.is_some().then(|| Coverage::of(&json));
        Ok(Set { json, settings, coverage, module: Some(module) })
    }

    fn covers(&self, identity: &Identity) -> bool {
        self.coverage.as_ref().is_none_or(|coverage| coverage.includes(&identity.group, &identity.kind))
    }

    fn examine(&self, json: &str, surroundings: &Surroundings, locate: Locate<'_>) -> (Verdict, Vec<Found>) {
        let own = self.settings.as_ref().map(|settings| verdict::examine(settings, json, surroundings));
        let (verdict, findings) =
            own.unwrap_or_else(|| (verdict::check_in(&self.json, json, surroundings), Ok(Vec::new())));
        (verdict, found(findings, locate))
    }

    /// A module says what it found in words only. Where the rules of this program say the same, their codes and fields count
    /// for it too.
    fn judge(
        &self,
        json: &str,
        surroundings: &Surroundings,
        locate: Locate<'_>,
    ) -> Result<(Verdict, Vec<Found>), Complaint> {
        let Some(module) = self.module else { return Ok(self.examine(json, surroundings, locate)) };
        let own = self.settings.as_ref().map(|settings| verdict::examine(settings, json, surroundings));
        let payload = format!(r#"{{"settings":{},{}}}"#, self.json, request::unwrapped(json));
        let answer = module.call("validate", &payload, surroundings)?;
        let decision: Decision = serde_json::from_slice(&answer)
            .map_err(|error| module.unusable(&format!("its answer is not a decision: {error}")))?;
        let decided = Verdict::from(decision);
        let found = match own {
            Some((verdict, findings)) if is_alike(&verdict, &decided) => found(findings, locate),
            _ => found_by_a_module(&decided, locate),
        };
        Ok((decided, found))
    }
}

/// Whether two verdicts say the same. A module does not ask its host for names that change nothing.
fn is_alike(own: &Verdict, decided: &Verdict) -> bool {
    const NAMES: &str = "gainsLiveNodes";
    let mut own = own.clone();
    if !decided.annotations.contains_key(NAMES) {
        own.annotations.remove(NAMES);
    }
    own == *decided
}

fn settings_of(json: &str) -> Option<Settings> {
    let json = field::parse(json.as_bytes()).ok()?;
    read_settings(&Field::root("settings", &json)).ok()
}
