//! The nodes to which a pod itself limits its choice: its node selector and its required node affinity.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use super::affinity::Affinity;
use super::field::{Field, Unreadable};
use super::node_selector::{Labels, read_terms, steps_to_read, term_matches};
use crate::logic::{Budget, Exhausted};

/// Steps for a label of the node selector, which is read into every term.
const STEPS_FOR_A_LABEL: usize = 15;

/// Reads both from the spec of a pod as one list of terms, each of which asks for the labels of the selector too
/// (`GetRequiredNodeAffinity`, component-helpers, Kubernetes 1.36). Also says the steps that matching a node takes.
///
/// # Errors
/// A wrong JSON type; within the result, more terms than the budget allows.
pub fn nodes_of_pod(
    spec: &Field<'_, '_>,
    budget: &mut Budget,
) -> Result<Result<(Affinity, usize), Exhausted>, Unreadable> {
    let mut selected = Vec::new();
    for (key, value) in spec.get("nodeSelector")?.members()? {
        selected.push(NodeSelectorRequirement {
            key: key.to_owned(),
            operator: String::from("In"),
            values: Some(vec![value.required_string()?.to_owned()]),
        });
    }
    let affinity = spec.get("affinity")?;
    let node_affinity = affinity.get("nodeAffinity")?;
    let required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")?;
    let list = required.get("nodeSelectorTerms")?;
    let labels = selected.len().saturating_mul(STEPS_FOR_A_LABEL);
    let steps = steps_to_read(&list)?.saturating_add(labels.saturating_mul(list.items()?.len().max(1)));
    if budget.spend(steps).is_err() {
        return Ok(Err(Exhausted));
    }
    let mut terms = read_terms(&list)?;
    if !required.is_present() {
        if selected.is_empty() {
            return Ok(Ok((Affinity::Absent, steps)));
        }
        terms.push(NodeSelectorTerm { match_expressions: Some(selected), match_fields: None });
    } else if !selected.is_empty() {
        // An empty term stays one, since it matches no node.
        for term in terms.iter_mut().filter(|term| term.match_expressions.is_some() || term.match_fields.is_some()) {
            term.match_expressions.get_or_insert_default().extend(selected.iter().cloned());
        }
    }
    Ok(Ok((Affinity::Required(terms), steps)))
}

/// Whether a pod may get a node with this name and these labels, as far as its selector and affinity say: the plain matcher.
/// For pods, other than for volumes, the requirements on fields count. They can only name the node.
pub fn pod_may_get(affinity: &Affinity, name: &str, labels: &Labels) -> bool {
    match affinity {
        Affinity::Absent => true,
        Affinity::Required(terms) => terms.iter().any(|term| {
            let fields = term.match_fields.iter().flatten();
            term_matches(term, labels)
                && fields.into_iter().all(|requirement| {
                    let actual = if requirement.key == "metadata.name" { name } else { "" };
                    let listed = requirement.values.iter().flatten().any(|value| value == actual);
                    listed == (requirement.operator == "In")
                })
        }),
    }
}
