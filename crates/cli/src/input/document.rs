//! What a file holds, piece by piece: one object with the place where it is written, and what was not judged and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::places;
use crate::complaint::Complaint;

/// One document, or one item of a List. It owns what it needs, so that a file of any length is read in little memory.
#[derive(Debug, Clone)]
pub struct Document {
    /// The path as it was given, or as it was found below a folder; `-` is standard input.
    pub file: Arc<str>,
    /// The template that Helm made it from: `# Source: chart/templates/pod.yaml`.
    pub template: Option<String>,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// What its items are where a typed list (`PersistentVolumeList`) leaves it out of them.
    pub of_list: Option<ListKind>,
    /// Keys that appear more than once. The last one counts, as for `kubectl`.
    pub repeated: Vec<Repeated>,
    /// As it is written.
    pub written: Written,
    /// As JSON where it is not written so.
    pub(super) json: Option<String>,
}

/// The text of a document in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    pub syntax: Syntax,
    /// The byte of the file at which it begins.
    pub offset: u64,
    /// The column at which its first line begins, from 0: an item of a List stands behind a `-`.
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    Json,
    Yaml,
}

/// The type that a list gives to its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKind {
    pub api_version: String,
    pub kind: String,
}

/// A key that appears again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The path of its field, as in `spec.tolerations[0].key`.
    pub path: String,
    /// Where it appears again.
    pub place: Place,
}

/// A place in a file, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// Where a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Of its key; of an item in a list, of the item.
    pub key: Place,
    pub value: Place,
    /// Whether it is the field itself, or the nearest one above it that exists.
    pub exact: bool,
}

impl Document {
    /// The document as JSON. What was written as JSON is the text as it was written.
    pub fn json(&self) -> &str {
        self.json.as_deref().unwrap_or(&self.written.text)
    }

    /// Where a field of the document is; where it is not there, the nearest field above it. `path` is spelled as the
    /// library spells it: `spec.tolerations[0].key`, `metadata.annotations[example.com/name]`; empty for the document.
    pub fn find(&self, path: &str) -> Found {
        places::find(self, path)
    }

    /// The file in words, and the template that Helm made the document from.
    pub fn shown(&self) -> String {
        match &self.template {
            Some(template) => format!("{} ({template})", super::shown(&self.file)),
            None => super::shown(&self.file).to_owned(),
        }
    }
}

impl NotJudged {
    /// As the reason for ending.
    pub fn complaint(&self) -> Complaint {
        let remedy = match self.reason {
            Reason::HelmTemplate => "pipe the output of `helm template` instead",
            Reason::NotKubernetes => "give both",
            Reason::NotAnObject | Reason::NoIdentity => "correct the manifest",
            Reason::NotYaml => "correct it",
            Reason::Unreadable if self.problem.starts_with("is not UTF-8") => "save it as UTF-8",
            Reason::Unreadable => "name a file, or `-`",
        };
        Complaint::said(format!("{self}; {remedy}"))
    }
}

impl ListKind {
    /// The type of the items of a list, for instance of a `PersistentVolumeList`. A plain `List` gives none.
    pub(super) fn of(api_version: Option<&str>, kind: &str) -> Option<Self> {
        let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(ListKind { api_version: api_version?.to_owned(), kind: kind.to_owned() })
    }
}

/// Why something was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// A template of Helm, before Helm made YAML of it.
    HelmTemplate,
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
        !matches!(self, Reason::HelmTemplate) && self.is_meant()
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
