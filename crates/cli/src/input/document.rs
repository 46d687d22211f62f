//! What a file holds, piece by piece: one object with the place where it is written.

use std::sync::Arc;

use super::places;
use super::written::{Found, ListKind, Repeated, Written};

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

impl Document {
    /// The document as JSON. What was written as JSON is the text as it was written.
    pub fn json(&self) -> &str {
        self.json.as_deref().unwrap_or(&self.written.text)
    }

    /// Where a field of the document is; where it is not there, the nearest field above it. `path` is spelled as the
    /// library spells it: `spec.tolerations[0].key`, `metadata.annotations[example.com/name]`; empty for the document.
    pub fn find(&self, path: &str) -> Found {
        places::find(&self.written, self.line, path)
    }

    /// The file in words, and the template that Helm made the document from.
    pub fn shown(&self) -> String {
        match &self.template {
            Some(template) => format!("{} ({template})", super::shown(&self.file)),
            None => super::shown(&self.file).to_owned(),
        }
    }
}
