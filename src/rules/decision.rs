//! From what the rules found to one decision.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::{Code, Few, Finding, Severity};
use crate::kubernetes::field::Unreadable;

/// What a face sends back, whatever its protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub accepted: bool,
    /// Why the request is refused, for a person; absent when it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// 403 for a refusal, 422 for input that cannot be read; absent when the request is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
    /// For machines, under the stable keys of [`Annotation`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
    /// For people, one line each, on acceptance too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The keys of [`Decision::audit_annotations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Annotation {
    /// Every code found, each once, comma-separated, in report order.
    Findings,
    /// How the new node affinity relates to the old.
    Relation,
    /// A node, as a JSON object of labels, that the old affinity admits and the new does not.
    LosesNode,
    /// A node, as a JSON object of labels, that the new affinity admits and the old does not.
    GainsNode,
    /// The names of the nodes of this cluster that lose the volume: the first 20 and `+N`.
    LosesLiveNodes,
    /// The names of the nodes of this cluster that gain it.
    GainsLiveNodes,
    /// The topology facts that the relation needed.
    Facts,
    /// One taint, `key=value:Effect`, of the first toleration finding.
    Taint,
}

impl Annotation {
    pub fn key(self) -> &'static str {
        match self {
            Annotation::Findings => "findings",
            Annotation::Relation => "relation",
            Annotation::LosesNode => "losesNode",
            Annotation::GainsNode => "gainsNode",
            Annotation::LosesLiveNodes => "losesLiveNodes",
            Annotation::GainsLiveNodes => "gainsLiveNodes",
            Annotation::Facts => "facts",
            Annotation::Taint => "taint",
        }
    }
}

/// Where the rules put what they find, while they judge one request.
#[derive(Debug, Default, Clone)]
pub struct Report {
    findings: Vec<Finding>,
    annotations: BTreeMap<String, String>,
}

impl Report {
    pub fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub fn find_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    pub fn find_few(&mut self, few: Few) {
        self.findings.extend(few.into_findings());
    }

    /// Sets an annotation. The first value is kept.
    pub fn annotate(&mut self, annotation: Annotation, value: String) {
        self.annotations.entry(annotation.key().to_owned()).or_insert(value);
    }

    /// Adds what one rule found. Under `enforcement: warn` none of it refuses.
    pub(super) fn absorb(&mut self, rule: Report, only_warn: bool) {
        let findings = rule.findings.into_iter();
        self.findings.extend(findings.map(|finding| if only_warn { finding.as_warning() } else { finding }));
        for (key, value) in rule.annotations {
            self.annotations.entry(key).or_insert(value);
        }
    }

    /// Everything found, in the fixed order of the codes.
    pub fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.code);
        self.findings
    }

    /// The decision over everything found: every finding, in the fixed order of the codes.
    pub fn decide(mut self) -> Decision {
        let mut ordered: Vec<Finding> = Vec::with_capacity(self.findings.len());
        let mut codes: Vec<&str> = Vec::new();
        for code in Code::ALL {
            let before = ordered.len();
            ordered.extend(self.findings.iter().filter(|finding| finding.code == *code).cloned());
            if ordered.len() > before {
                codes.push(code.name());
            }
        }
        if !codes.is_empty() {
            self.annotations.insert(Annotation::Findings.key().to_owned(), codes.join(","));
        }
        let (refusals, warnings): (Vec<&Finding>, Vec<&Finding>) =
            ordered.iter().partition(|finding| finding.severity == Severity::Refuses);
        let accepted = refusals.is_empty();
        Decision {
            accepted,
            message: (!accepted).then(|| refusals.iter().map(|finding| finding.block()).collect::<Vec<_>>().join("\n")),
            code: (!accepted).then_some(403),
            audit_annotations: self.annotations,
            warnings: warnings.iter().map(|finding| finding.line()).collect(),
        }
    }
}

impl Decision {
    /// The one answer to input that cannot be read.
    pub fn unreadable(what: &Unreadable) -> Self {
        Decision {
            accepted: false,
            message: Some(format!("unreadable: {what}")),
            code: Some(422),
            audit_annotations: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// The one answer to a request under settings that are not valid.
    pub fn unusable_settings(what: &Unreadable) -> Self {
        Decision { message: Some(not_valid(what)), ..Self::unreadable(what) }
    }
}

/// Whether settings can be used, as the module answers it and programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsVerdict {
    pub valid: bool,
    /// Why not, in a sentence; null when the settings are valid.
    pub message: Option<String>,
}

impl From<Result<(), Unreadable>> for SettingsVerdict {
    fn from(read: Result<(), Unreadable>) -> Self {
        SettingsVerdict { valid: read.is_ok(), message: read.err().map(|what| not_valid(&what)) }
    }
}

impl SettingsVerdict {
    /// The same for a program that asked a module.
    ///
    /// # Errors
    /// Why the settings cannot be used.
    pub fn into_result(self) -> Result<(), String> {
        match self {
            SettingsVerdict { valid: true, .. } => Ok(()),
            SettingsVerdict { message, .. } => {
                Err(message.unwrap_or_else(|| String::from("the module refuses the settings")))
            }
        }
    }
}

fn not_valid(what: &Unreadable) -> String {
    format!("settings are not valid: {what}")
}
