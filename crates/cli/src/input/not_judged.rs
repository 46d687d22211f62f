//! What was read and not judged, and why.

use std::collections::BTreeMap;

use serde::Serialize;

use super::written::Place;
use crate::complaint::Complaint;

/// Why something was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// A template of Helm, before Helm made YAML of it.
    HelmTemplate,
    /// What an API server asks, where objects are expected.
    AdmissionRequest,
    /// Neither an `apiVersion` nor a `kind`: a file of another program, or a patch.
    NotKubernetes,
    /// A list, a string or the like where an object should be.
    NotAnObject,
    /// Text that is neither YAML nor JSON.
    NotYaml,
    /// An object whose name, namespace or type is not a string.
    NoIdentity,
    /// A file or a folder that cannot be opened, or is not UTF-8.
    Unreadable,
}

impl Reason {
    /// In words, with a number.
    pub fn words(self, count: usize) -> String {
        let (one, several, more) = match self {
            Reason::HelmTemplate => {
                ("Helm template", "Helm templates", " (pipe the output of `helm template` instead)")
            }
            Reason::AdmissionRequest => {
                ("admission request", "admission requests", " (name them, and `check` judges them)")
            }
            Reason::NotKubernetes => ("document", "documents", " without a type of Kubernetes"),
            Reason::NotAnObject => ("list or string", "lists or strings", " in place of an object"),
            Reason::NotYaml => ("document", "documents", " that cannot be read as YAML or JSON"),
            Reason::NoIdentity => ("object", "objects", " whose name or type is not a string"),
            Reason::Unreadable => ("file", "files", " that cannot be read"),
        };
        format!("{count} {}{more}", if count == 1 { one } else { several })
    }

    /// Whether each one is worth a line of its own: someone meant it to be read.
    pub fn is_a_defect(self) -> bool {
        !matches!(self, Reason::HelmTemplate | Reason::AdmissionRequest) && self.is_meant()
    }

    /// Whether it looks like something that should have been judged, and is not a file of another program.
    pub fn is_meant(self) -> bool {
        !matches!(self, Reason::NotKubernetes | Reason::NotAnObject)
    }
}

/// One thing that was not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotJudged {
    pub reason: Reason,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What is wrong, without the location.
    pub problem: String,
}

impl NotJudged {
    /// As the reason for ending.
    pub fn complaint(&self) -> Complaint {
        let remedy = match self.reason {
            Reason::HelmTemplate => "pipe the output of `helm template` instead",
            Reason::AdmissionRequest => "give it to `placement-guard check`",
            Reason::NotKubernetes => "give both",
            Reason::NotAnObject | Reason::NoIdentity => "correct the manifest",
            Reason::NotYaml => "correct it",
            Reason::Unreadable if self.problem.starts_with("is not UTF-8") => "save it as UTF-8",
            Reason::Unreadable if self.problem.contains("is longer than") => "split it",
            Reason::Unreadable => "name a file, or `-`",
        };
        Complaint::said(format!("{self}; {remedy}"))
    }
}

impl std::fmt::Display for NotJudged {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", super::shown(&self.file))?;
        if let Some(Place { line, column }) = self.place {
            write!(out, ":{line}:{column}")?;
        }
        write!(out, ": {}", self.problem)
    }
}

/// Everything that was not judged.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Omitted {
    /// How many, by reason.
    pub count: BTreeMap<Reason, usize>,
    /// Those that are worth a line of their own.
    pub defects: Vec<NotJudged>,
    /// Keys that appear twice in what was judged: where, in words.
    pub repeated: Vec<String>,
}

impl Omitted {
    pub fn add(&mut self, one: NotJudged) {
        let count = self.count.entry(one.reason).or_default();
        *count = count.saturating_add(1);
        if one.reason.is_a_defect() {
            self.defects.push(one);
        }
    }

    pub fn total(&self) -> usize {
        self.count.values().sum()
    }

    /// In words: `2 Helm templates (…), 1 file that cannot be read`; empty where everything was judged.
    pub fn words(&self) -> String {
        let words = self.count.iter().map(|(reason, count)| reason.words(*count));
        words.collect::<Vec<_>>().join(", ")
    }
}
