//! One question, judged by the module: measured, counted, and written into the log, without the objects.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use host::{CannotCall, Module, NothingGranted};
use placement_guard::rules::decision::Decision;
use placement_guard::rules::settings::section_names;
use placement_guard::verdict::Verdict;
use protocol::key::{Question, Subject};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::asker::Asker;
use crate::cluster::{Cluster, Reader};
use crate::evaluation::NotEvaluated;
use crate::metrics::Metrics;
use crate::settings::CheckedSettings;

/// Judges with one module.
pub struct Judge {
    module: Arc<Module>,
    /// What the module may ask about.
    cluster: Option<Arc<Cluster>>,
    metrics: Arc<Metrics>,
}

/// Why there is no decision. All of these are transient: clients must not cache them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the evaluation was stopped at its time limit; check whether the server is short of processor time")]
    Deadline,
    #[error(
        "the keys of one request together may take {0} seconds; ask for fewer keys at once, or check whether the server \
         is short of processor time"
    )]
    RequestDeadline(u64),
    #[error("the module trapped: {0}; if it ran out of memory, the object is larger than this policy can judge")]
    Trapped(String),
    #[error("the module's answer is not a decision; give `--module` a module of this program's version")]
    NoDecision,
    #[error("{0}")]
    NotEvaluated(#[from] NotEvaluated),
}

impl Fault {
    /// For metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            Fault::Deadline => "deadline",
            Fault::RequestDeadline(_) => "request-deadline",
            Fault::Trapped(_) | Fault::NotEvaluated(NotEvaluated::Failed) => "trapped",
            Fault::NoDecision => "no-decision",
            Fault::NotEvaluated(NotEvaluated::Busy) => "busy",
        }
    }
}

impl Judge {
    pub fn new(module: Arc<Module>, cluster: Option<Arc<Cluster>>, metrics: Arc<Metrics>) -> Self {
        Judge { module, cluster, metrics }
    }

    /// Judges a request of an API server under settings that were checked. Blocks until it is judged.
    pub fn review(&self, settings: &CheckedSettings, request: &RawValue, asker: &Asker) -> Result<Verdict, Fault> {
        self.judge("admit", &Question { settings: settings.json(), request }, asker)
    }

    /// Judges a question that brings its own settings, which the module checks with it. Blocks until it is judged.
    pub fn question(&self, question: &Question<'_>, asker: &Asker) -> Result<Verdict, Fault> {
        self.judge("query", question, asker)
    }

    fn judge(&self, face: &'static str, question: &Question<'_>, asker: &Asker) -> Result<Verdict, Fault> {
        let Question { settings, request } = question;
        let Subject { operation, kind, namespace, name, user } = Subject::of(request);
        let begin = Instant::now();
        let payload = [r#"{"settings":"#, settings.get(), r#","request":"#, request.get(), "}"].concat();
        let called = match &self.cluster {
            None => self.module.call_counted("validate", payload.as_bytes(), NothingGranted),
            Some(cluster) => {
                let reader = Reader::new(Arc::clone(cluster), self.module.time_limit());
                self.module.call_counted("validate", payload.as_bytes(), reader)
            }
        };
        let elapsed = begin.elapsed();
        self.metrics.evaluated(elapsed.as_secs_f64(), called.ticks);
        let microseconds = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let judged = match called.answer {
            Ok(answer) => serde_json::from_slice::<Decision>(&answer).map_err(|_other| Fault::NoDecision),
            Err(CannotCall::Deadline) => Err(Fault::Deadline),
            Err(error) => Err(Fault::Trapped(first_line(&error.to_string()))),
        };
        match judged {
            Ok(decision) => {
                let verdict = Verdict::from(decision);
                let word = word(&verdict);
                for rule in rules(settings) {
                    self.metrics.decided(rule, word);
                }
                if asker.may_log_decision() {
                    tracing::info!(
                        face,
                        operation,
                        kind,
                        namespace,
                        name,
                        user,
                        microseconds,
                        verdict = word,
                        relation = verdict.annotations.get("relation").map(String::as_str),
                        findings = verdict.annotations.get("findings").map(String::as_str),
                        "decision"
                    );
                }
                Ok(verdict)
            }
            Err(fault) => {
                self.metrics.fault(fault.reason());
                if asker.may_log_complaint() {
                    let reason = fault.to_string();
                    tracing::error!(face, operation, kind, namespace, name, user, microseconds, reason, "no decision");
                }
                Err(fault)
            }
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match (verdict.allowed, verdict.code) {
        (true, _) => "allowed",
        (false, Some(422)) => "unreadable",
        (false, _) => "refused",
    }
}

/// The rules that the settings name; `other` if they do not name a known one, so that requests cannot invent labels.
fn rules(settings: &RawValue) -> Vec<&'static str> {
    let sections: Sections = serde_json::from_str(settings.get()).unwrap_or_default();
    if sections.0.is_empty() { vec!["other"] } else { sections.0 }
}

/// The known sections of some settings, in the order of the rules. Nothing is kept of the unknown ones, however many there are.
#[derive(Default)]
struct Sections(Vec<&'static str>);

impl<'de> Deserialize<'de> for Sections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Sections::default())
    }
}

impl<'de> Visitor<'de> for Sections {
    type Value = Sections;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Sections, A::Error> {
        let mut named = Vec::new();
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            members.next_value::<IgnoredAny>()?;
            named.extend(section_names().find(|known| *known == name && !named.contains(known)));
        }
        Ok(Sections(section_names().filter(|known| named.contains(known)).collect()))
    }
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    text.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_count_for_the_rules_that_the_settings_name() {
        let of = |settings: &str| rules(&RawValue::from_string(settings.to_owned()).unwrap());
        let known = r#"{"tolerations":{},"x":1,"volumeNodeAffinity":{"y":[]},"tolerations":{}}"#;
        assert_eq!(of(known), ["volumeNodeAffinity", "tolerations"]);
        for other in ["{}", "7", r#"{"x":1}"#, r#"["tolerations"]"#] {
            assert_eq!(of(other), ["other"], "{other}");
        }
    }
}
