//! The node affinity of a PersistentVolume: the nodes from which it can be used, as terms.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use super::node_selector::{self, Labels};
use crate::logic::{Outline, Term};

/// `spec.nodeAffinity`.
#[derive(Debug, Clone, PartialEq)]
pub enum Affinity {
    /// No node affinity, or none that is required: every node.
    Absent,
    /// `required.nodeSelectorTerms`: the nodes that match any of them.
    Required(Vec<NodeSelectorTerm>),
}

impl Affinity {
    /// Whether a node with these labels matches: `CheckNodeAffinity`, which knows no node name.
    pub fn admits(&self, labels: &Labels) -> bool {
        match self {
            Affinity::Absent => true,
            Affinity::Required(terms) => node_selector::matches(terms, labels),
        }
    }

    /// The requirements on labels in all terms, dead ones included.
    pub fn requirements(&self) -> impl Iterator<Item = &NodeSelectorRequirement> {
        node_selector::requirements(match self {
            Affinity::Absent => &[],
            Affinity::Required(terms) => terms,
        })
    }

    /// The label keys that the terms ask about.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.requirements().map(|requirement| requirement.key.as_str())
    }

    /// The terms without dead ones. No affinity is one term that asks nothing.
    pub fn to_terms<'t>(&'t self, outline: &mut Outline<'t>) -> Vec<Term<'t>> {
        match self {
            Affinity::Absent => vec![Term::new()],
            Affinity::Required(terms) => {
                let alive = terms.iter().filter_map(|term| node_selector::conditions(term).ok());
                alive.map(|conditions| node_selector::to_term(&conditions, outline)).collect()
            }
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        match self {
            Affinity::Absent => String::from("every node"),
            Affinity::Required(terms) => node_selector::describe(terms),
        }
    }
}
