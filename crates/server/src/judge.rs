//! One question, judged by the module: measured, counted, and written into the log, without the objects.

use std::sync::Arc;
use std::time::Instant;

use host::{CannotCall, Module};
use placement_guard::rules::decision::Decision;
use placement_guard::rules::settings::section_names;
use placement_guard::verdict::Verdict;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::key::Subject;
use crate::metrics::Metrics;

/// Judges with one module.
pub struct Judge {
    module: Arc<Module>,
    metrics: Arc<Metrics>,
}

/// Why there is no decision. All of it is of the moment: nobody may keep it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the evaluation was stopped at its time limit; see whether the server is short of processor time")]
    Deadline,
    #[error("the module broke off: {0}; where it was refused memory, the object is larger than this policy can judge")]
    Broke(String),
    #[error("the module answers what is no decision; give `--module` a module of this program's version")]
    NoDecision,
    #[error("{0}")]
    NotEvaluated(#[from] crate::evaluation::NotEvaluated),
}

impl Fault {
    /// For metrics.
    pub fn reason(&self) -> &'static str {
        use crate::evaluation::NotEvaluated;
        match self {
            Fault::Deadline => "deadline",
            Fault::Broke(_) | Fault::NotEvaluated(NotEvaluated::Broken) => "broke-off",
            Fault::NoDecision => "no-decision",
            Fault::NotEvaluated(NotEvaluated::Busy) => "busy",
        }
    }
}

impl Judge {
    pub fn new(module: Arc<Module>, metrics: Arc<Metrics>) -> Self {
        Judge { module, metrics }
    }

    /// Judges a request under settings; `face` is who asked, for the log. Blocks until it is judged.
    pub fn judge(&self, face: &'static str, settings: &RawValue, request: &RawValue) -> Result<Verdict, Fault> {
        let subject = Subject::of(request);
        let begin = Instant::now();
        let payload = format!(r#"{{"settings":{},"request":{}}}"#, settings.get(), request.get());
        let called = self.module.call_counted("validate", payload.as_bytes());
        let elapsed = begin.elapsed();
        self.metrics.evaluated(elapsed.as_secs_f64(), called.ticks);
        let microseconds = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let Subject { operation, kind, namespace, name, user } = subject;
        let judged = match called.answer {
            Ok(answer) => serde_json::from_slice::<Decision>(&answer).map_err(|_other| Fault::NoDecision),
            Err(CannotCall::Deadline) => Err(Fault::Deadline),
            Err(error) => Err(Fault::Broke(first_line(&error.to_string()))),
        };
        match judged {
            Ok(decision) => {
                let verdict = Verdict::from(decision);
                let word = word(&verdict);
                for rule in rules(settings) {
                    self.metrics.decided(rule, word);
                }
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
                Ok(verdict)
            }
            Err(fault) => {
                self.metrics.fault(fault.reason());
                let reason = fault.to_string();
                tracing::error!(face, operation, kind, namespace, name, user, microseconds, reason, "no decision");
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

/// The rules that the settings name; `other` where they name none that is known, so that no request makes labels.
fn rules(settings: &RawValue) -> Vec<&'static str> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Sections(std::collections::BTreeMap<String, IgnoredAny>);
    let sections = serde_json::from_str::<Sections>(settings.get()).map(|sections| sections.0).unwrap_or_default();
    let known: Vec<&str> = section_names().filter(|name| sections.contains_key(*name)).collect();
    if known.is_empty() { vec!["other"] } else { known }
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    text.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}
