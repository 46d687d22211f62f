//! What the functions answer: the Rust types from which the TypeScript types are made.

use std::collections::BTreeMap;

use placement_guard::kubernetes::field::Unreadable;
use placement_guard::rules::decision;
use placement_guard::verdict;
use serde::de::value::{self, StrDeserializer};
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// A decision.
#[derive(Debug, PartialEq, Eq, Serialize, Tsify)]
pub struct Verdict {
    pub allowed: bool,
    /// 403 for a refusal, 422 for input that cannot be read; null when the request is allowed.
    pub code: Option<u16>,
    /// Why the request is refused, for a person; null when it is allowed.
    pub message: Option<String>,
    /// The codes of everything found, each once, in report order.
    pub findings: Vec<String>,
    /// For people, one line each, on acceptance too.
    pub warnings: Vec<String>,
    /// For machines: `relation`, `losesNode` and the like.
    #[tsify(type = "Record<string, string>")]
    pub annotations: BTreeMap<String, String>,
}

impl From<verdict::Verdict> for Verdict {
    fn from(verdict: verdict::Verdict) -> Self {
        // Member by member: a member that is added there and not here does not compile.
        let verdict::Verdict { allowed, code, message, findings, warnings, annotations } = verdict;
        Verdict { allowed, code, message, findings, warnings, annotations }
    }
}

/// Whether settings can be used.
#[derive(Debug, PartialEq, Eq, Serialize, Tsify)]
pub struct SettingsVerdict {
    pub valid: bool,
    /// The path of the first thing that is not understood, and what would be; null when the settings are valid.
    pub message: Option<String>,
}

impl From<Result<(), Unreadable>> for SettingsVerdict {
    fn from(read: Result<(), Unreadable>) -> Self {
        let decision::SettingsVerdict { valid, message } = read.into();
        SettingsVerdict { valid, message }
    }
}

/// How two states of a PersistentVolume relate.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Relation {
    /// Null when a document cannot be read.
    pub relation: Option<RelationName>,
    /// The labels of a node that can use the volume before and not after; null when there is none.
    #[tsify(type = "Record<string, string> | null")]
    pub loses_node: Option<BTreeMap<String, String>>,
    /// The labels of a node that can use the volume after and not before; null when there is none.
    #[tsify(type = "Record<string, string> | null")]
    pub gains_node: Option<BTreeMap<String, String>>,
    /// The topology facts that the relation needed; null when it needed none.
    pub facts: Option<String>,
    /// What is odd about the volumes or the facts, one line each.
    pub warnings: Vec<String>,
    /// 422 when a document cannot be read, otherwise null.
    pub code: Option<u16>,
    /// The path of what cannot be read, beginning with `before`, `after` or `topology`, and why; otherwise null.
    pub message: Option<String>,
}

/// The names of relations between sets of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub enum RelationName {
    Unchanged,
    Equivalent,
    Widened,
    Narrowed,
    Shifted,
    Undecided,
}

impl RelationName {
    /// Reads the annotation `relation`.
    pub fn of(name: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<value::Error>::new(name)).ok()
    }
}

/// Whether a taint is tolerated.
#[derive(Debug, PartialEq, Eq, Serialize, Tsify)]
pub struct Tolerance {
    /// False also when a document cannot be read.
    pub tolerated: bool,
    /// 422 when a document cannot be read, otherwise null.
    pub code: Option<u16>,
    /// The path of what cannot be read, and why; otherwise null.
    pub message: Option<String>,
}

/// What a change to a PersistentVolume means for each node.
#[derive(Debug, PartialEq, Eq, Serialize, Tsify)]
pub struct NodeChanges {
    /// In the order of the document; empty when a document cannot be read.
    pub nodes: Vec<NodeChange>,
    /// 422 when a document cannot be read, otherwise null.
    pub code: Option<u16>,
    /// The path of what cannot be read, beginning with `before`, `after` or `nodes`, and why; otherwise null.
    pub message: Option<String>,
}

/// What a change to a PersistentVolume means for one node.
#[derive(Debug, PartialEq, Eq, Serialize, Tsify)]
pub struct NodeChange {
    pub name: String,
    pub change: NodeChangeName,
}

/// Whether a node can use the volume before and after a change: `keeps` is both, `never` neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub enum NodeChangeName {
    Loses,
    Gains,
    Keeps,
    Never,
}
