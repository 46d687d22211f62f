//! What was judged and found: one shape for one object and for many, for `check` and for `audit`, and for every output.

mod baseline;
mod fields;
mod github;
mod junit;
pub mod options;
mod sarif;
mod silence;
mod text;

use std::collections::BTreeMap;

use placement_guard::kubernetes::field::{Unreadable, short};
use placement_guard::rules::finding::{Code, Finding, Severity};
use placement_guard::verdict::Verdict;
use serde::Serialize;
use templates::findings;

use crate::input::{Document, Omitted, Place};
use crate::manifest::Identity;
use crate::plain::plain;
use silence::Silences;

/// Everything that a run judged and found.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub summary: Summary,
    /// Every request of `check`; of `audit` the objects in which something was found.
    pub objects: Vec<Judged>,
}

/// The numbers of a run.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Objects or requests that were read.
    pub objects: usize,
    pub accepted: usize,
    pub refused: usize,
    /// Findings that refuse and findings that warn, without those that are silenced or in the baseline.
    pub refusals: usize,
    pub warnings: usize,
    /// Findings that the object itself silences.
    pub silenced: usize,
    /// Findings that the baseline holds.
    pub in_baseline: usize,
    /// Findings that are only counted, by code: what is meant for a DaemonSet that runs on every node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<String, usize>,
    pub not_judged: NotJudged,
    /// Nodes of the cluster that were given with `--nodes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
}

/// What was read and not judged.
#[derive(Debug, Default, Serialize)]
pub struct NotJudged {
    /// Objects of kinds that no section of the settings judges, by kind.
    pub kinds: BTreeMap<String, usize>,
    /// What is not an object at all, by reason.
    #[serde(flatten)]
    pub documents: Omitted,
}

/// Which object, what is asked of it, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Subject {
    pub kind: Option<String>,
    pub namespace: Option<String>,
    pub name: Option<String>,
    /// `CREATE` and the like; absent in an audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    pub file: String,
    pub line: usize,
    /// The template from which Helm made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

impl Subject {
    pub fn of(identity: &Identity, operation: Option<String>, document: &Document) -> Self {
        Subject {
            kind: Some(identity.kind.clone()),
            namespace: identity.namespace.clone(),
            name: identity.name.clone(),
            operation,
            file: document.file.to_string(),
            line: document.line,
            template: document.template.clone(),
        }
    }
}

/// One object or request with the decision on it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    #[serde(flatten)]
    pub subject: Subject,
    /// What a cluster would answer, whatever is silenced here.
    pub verdict: Verdict,
    pub findings: Vec<Found>,
    /// Whether a rule judged it: its kind is one of theirs, and the request changes something.
    #[serde(skip)]
    pub concerns_a_rule: bool,
    #[serde(skip)]
    silences: Silences,
}

/// One thing found.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    pub code: String,
    pub effect: Effect,
    pub message: String,
    /// Where, why, and what would be accepted: one line each.
    pub details: Vec<String>,
    /// The field that it is about, within the object.
    pub field: Option<String>,
    /// Where the field is in the file, or what should hold it.
    pub line: usize,
    pub column: usize,
    /// Why the object silences it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silenced: Option<String>,
    /// Whether the baseline holds it.
    #[serde(rename = "inBaseline", skip_serializing_if = "is_false")]
    pub in_baseline: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What a finding does to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    Refuses,
    Warns,
}

impl From<Severity> for Effect {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Refuses => Effect::Refuses,
            Severity::Warns => Effect::Warns,
        }
    }
}

/// How people read a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouped {
    ByFile,
    ByCode,
}

/// How much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Everything,
    Findings,
    Summary,
}

/// Tells where a field of an object is in its file; without a field, where the object begins.
pub type Locate<'d> = &'d dyn Fn(Option<&str>) -> Place;

impl Found {
    /// A finding of the rules.
    fn of(finding: Finding, locate: Locate<'_>) -> Self {
        let Finding { code, severity, headline, details, path } = finding;
        Found::new(code.name(), severity.into(), headline, details, path, locate)
    }

    /// A finding of the command line.
    pub fn new(
        code: &str,
        effect: Effect,
        message: String,
        details: Vec<String>,
        field: Option<String>,
        locate: Locate<'_>,
    ) -> Self {
        let Place { line, column } = locate(field.as_deref());
        let code = code.to_owned();
        Found { code, effect, message, details, field, line, column, silenced: None, in_baseline: false }
    }

    /// Whether it counts: it is not silenced, and it is new.
    pub fn is_active(&self) -> bool {
        self.silenced.is_none() && !self.in_baseline
    }
}

impl Judged {
    /// `object` is the text of the object that may silence findings.
    pub fn new(subject: Subject, verdict: Verdict, findings: Vec<Found>, object: &str, locate: Locate<'_>) -> Self {
        let silences = Silences::of(object);
        let mut judged = Judged { subject, verdict, findings, concerns_a_rule: true, silences };
        for found in &mut judged.findings {
            found.silenced = judged.silences.reason(&found.code).map(str::to_owned);
        }
        for wrong in &judged.silences.not_understood {
            let field = Some(silence::FIELD.to_owned());
            let details = vec![String::from("accepted: `CODE: reason`, one on each line")];
            let code = findings::IGNORE_NOT_UNDERSTOOD;
            judged.findings.push(Found::new(code, Effect::Warns, wrong.clone(), details, field, locate));
        }
        judged
    }

    /// Which object, and what is asked of it.
    pub fn name(&self) -> String {
        let Subject { kind, namespace, name, operation, .. } = &self.subject;
        let object = match kind {
            None => String::from("a request"),
            Some(kind) => Identity::described(kind, namespace.as_deref(), name.as_deref()),
        };
        operation.iter().fold(object, |object, operation| format!("{object} {operation}"))
    }

    fn has_active(&self) -> bool {
        self.findings.iter().any(Found::is_active)
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.verdict.annotations.get(key).map(String::as_str)
    }
}

/// What the rules found in an object, with the places in its file.
pub fn found(judged: Result<Vec<Finding>, Unreadable>, locate: Locate<'_>) -> Vec<Found> {
    match judged {
        Ok(findings) => findings.into_iter().map(|finding| Found::of(finding, locate)).collect(),
        Err(Unreadable { path, problem }) => {
            let field = path.strip_prefix("object.").unwrap_or(&path).to_owned();
            let message = format!("unreadable: {path}: {problem}");
            vec![Found::new(findings::UNREADABLE, Effect::Refuses, message, Vec::new(), Some(field), locate)]
        }
    }
}

/// What a module says that does not say the same as the rules of this program: its words, without codes and fields.
pub fn found_by_a_module(verdict: &Verdict, locate: Locate<'_>) -> Vec<Found> {
    let only_code = match verdict.findings.as_slice() {
        [only] => only.as_str(),
        _ if verdict.code == Some(422) => findings::UNREADABLE,
        _ => "unknown",
    };
    let refusals = verdict.message.iter().map(|message| (Effect::Refuses, message));
    let warnings = verdict.warnings.iter().map(|warning| (Effect::Warns, warning));
    let one = |(effect, text): (Effect, &String)| {
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let headline = lines.next().unwrap_or_default();
        Found::new(only_code, effect, headline, lines.collect(), None, locate)
    };
    refusals.chain(warnings).map(one).collect()
}

impl Report {
    /// Takes in an object that was judged.
    pub fn add(&mut self, judged: Judged) {
        self.count(&judged.verdict);
        self.objects.push(judged);
    }

    /// Counts an object in which nothing was found.
    pub fn count(&mut self, verdict: &Verdict) {
        let Summary { objects, accepted, refused, .. } = &mut self.summary;
        *objects = objects.saturating_add(1);
        let by_decision = if verdict.allowed { accepted } else { refused };
        *by_decision = by_decision.saturating_add(1);
    }

    /// Counts an object of a kind that no rule in force judges.
    pub fn not_judged(&mut self, kind: &str) {
        let count = self.summary.not_judged.kinds.entry(plain(&short(kind, 63)).into_owned()).or_default();
        *count = count.saturating_add(1);
    }

    /// The same for one that was asked about as a request: it has an answer, for programs.
    pub fn add_not_judged(&mut self, kind: &str, mut judged: Judged) {
        self.not_judged(kind);
        judged.concerns_a_rule = false;
        self.objects.push(judged);
    }

    /// Counts a finding that is not worth a line.
    pub fn only_count(&mut self, code: &str) {
        let count = self.summary.counted.entry(code.to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    /// Adds a finding to the object at a place of a file. Its silences were read when it was judged.
    pub fn find_at(&mut self, subject: &Subject, mut found: Found) {
        let here = |judged: &&mut Judged| judged.subject.file == subject.file && judged.subject.line == subject.line;
        if let Some(judged) = self.objects.iter_mut().find(here) {
            found.silenced = judged.silences.reason(&found.code).map(str::to_owned);
            judged.findings.push(found);
            return;
        }
        // The rules found nothing in it.
        self.objects.push(Judged {
            subject: subject.clone(),
            verdict: Verdict {
                allowed: true,
                code: None,
                message: None,
                findings: Vec::new(),
                warnings: Vec::new(),
                annotations: BTreeMap::new(),
            },
            findings: vec![found],
            silences: Silences::default(),
            concerns_a_rule: false,
        });
    }

    /// Counts findings, when nothing more is found.
    fn sum_up(&mut self) {
        let all = || self.objects.iter().flat_map(|judged| &judged.findings);
        let count = |chosen: &dyn Fn(&Found) -> bool| all().filter(|found| chosen(found)).count();
        let active = |effect: Effect| count(&|found| found.is_active() && found.effect == effect);
        let (refusals, warnings) = (active(Effect::Refuses), active(Effect::Warns));
        let silenced = count(&|found| found.silenced.is_some());
        let in_baseline = count(&|found| found.silenced.is_none() && found.in_baseline);
        let summary = &mut self.summary;
        (summary.refusals, summary.warnings) = (refusals, warnings);
        (summary.silenced, summary.in_baseline) = (silenced, in_baseline);
    }
}

/// The place of a code in every report: first what the command line finds, then the codes of the rules in their order.
fn rank(code: &str) -> usize {
    findings::all().position(|explained| explained.name == code).unwrap_or(Code::ALL.len().saturating_mul(2))
}
