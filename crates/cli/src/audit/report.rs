//! What an audit found, by finding.

use placement_guard::rules::finding::{Code, Severity};
use serde::Serialize;

use crate::input::{Document, Omitted};
use crate::manifest::Identity;
use crate::rollout::NotTogether;

/// The code of an object that cannot be read: in admission it would be refused with 422.
pub const UNREADABLE: &str = "unreadable";

/// Every finding, grouped by code in report order; within a group by kind, namespace, name and place.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Objects that were judged.
    pub objects: usize,
    /// Objects that admission would refuse.
    pub refused: usize,
    /// What was not judged, and why.
    pub not_judged: Omitted,
    pub findings: Vec<Group>,
    /// Documents that must not be applied together.
    pub not_together: Vec<NotTogether>,
}

/// All findings of one code.
#[derive(Debug, Serialize)]
pub struct Group {
    pub code: &'static str,
    pub count: usize,
    pub objects: Vec<Found>,
}

/// One finding in one object.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Found {
    #[serde(flatten)]
    pub object: Object,
    /// Whether admission would refuse the object for it.
    pub refuses: bool,
    pub message: String,
}

/// Which object, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Object {
    #[serde(flatten)]
    pub identity: Identity,
    pub file: String,
    pub line: usize,
}

impl Object {
    pub fn new(identity: &Identity, document: &Document) -> Self {
        Object { identity: identity.clone(), file: document.file.to_string(), line: document.line }
    }
}

impl Report {
    pub fn find(&mut self, code: &'static str, severity: Severity, object: &Object, message: String) {
        let found = Found { object: object.clone(), refuses: severity == Severity::Refuses, message };
        match self.findings.iter_mut().find(|group| group.code == code) {
            Some(group) => group.objects.push(found),
            None => self.findings.push(Group { code, count: 0, objects: vec![found] }),
        }
    }

    /// Counts an object that was judged.
    pub fn count(&mut self, refused: bool) {
        self.objects = self.objects.saturating_add(1);
        self.refused = self.refused.saturating_add(usize::from(refused));
    }

    /// Brings everything into order.
    pub fn finish(&mut self, not_together: Vec<NotTogether>, not_judged: Omitted) {
        (self.not_together, self.not_judged) = (not_together, not_judged);
        // What cannot be read has no place among the codes: it comes first.
        let rank = |code: &str| Code::ALL.iter().position(|known| known.name() == code);
        self.findings.sort_by_key(|group| rank(group.code));
        for group in &mut self.findings {
            group.objects.sort();
            group.count = group.objects.len();
        }
    }
}
