//! What is odd about a volume by itself, whatever it was before: terms and labels that do not do what they seem to say.

use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::edit::{VolumeEdit, describe_node};
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::short;
use crate::kubernetes::node_selector::{self, Dead, Labels};
use crate::logic::{Budget, Conjunction, covered};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};

/// The path of the terms of a volume.
const TERMS: &str = "spec.nodeAffinity.required.nodeSelectorTerms";

/// Adds the findings about the new state of the volume.
pub fn find(edit: &VolumeEdit<'_>, name: &str, report: &mut Report, budget: &mut Budget) {
    if let Affinity::Required(terms) = edit.new.scheduling_affinity() {
        terms_that_mislead(edit, terms, name, report, budget);
    }
    if let Some(finding) = zone_label_binds(edit, name, budget) {
        report.find(finding);
    }
}

fn terms_that_mislead(
    edit: &VolumeEdit<'_>,
    terms: &[NodeSelectorTerm],
    name: &str,
    report: &mut Report,
    budget: &mut Budget,
) {
    let few = |code: Code| Few::new(code, format!("terms of volume `{name}`"));
    let mut dead = few(Code::DeadTerm);
    let mut ignored = few(Code::MatchFieldsIgnored);
    // The position and the box of each term that is alive.
    let mut alive: Vec<(usize, Conjunction)> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        match meaning(edit, term) {
            Ok(conjunction) => alive.push((index, conjunction)),
            Err(reason) => {
                dead.push_with(|| {
                    let separator = if reason.field.is_empty() { "" } else { "." };
                    let headline =
                        format!("dead term: term {index} of volume `{name}` can never match: {}", reason.reason);
                    Finding::new(Code::DeadTerm, headline)
                        .at(format!("{TERMS}[{index}]{separator}{}", reason.field), "")
                });
                continue;
            }
        }
        if term.match_fields.is_some() {
            ignored.push_with(|| {
                let effect = if term.match_expressions.is_some() { "" } else { ", so this term matches every node" };
                let headline = format!(
                    "`matchFields` of volume `{name}` is ignored: volumes are matched by node labels only{effect}"
                );
                Finding::new(Code::MatchFieldsIgnored, headline)
                    .at(format!("{TERMS}[{index}].matchFields"), "")
                    .detail("accepted: matchExpressions on a label of the node, such as `kubernetes.io/hostname`")
            });
        }
    }
    let mut redundant = few(Code::RedundantTerm);
    let boxes: Vec<Conjunction> = alive.iter().map(|(_, conjunction)| conjunction.clone()).collect();
    // Where the budget ends, this finding is left out: it is a hint, and the decision does not depend on it.
    for (inner, outer) in covered(&edit.space, &boxes, budget).unwrap_or_default() {
        let (Some((inner, _)), Some((outer, _))) = (alive.get(inner), alive.get(outer)) else { continue };
        redundant.push_with(|| {
            let headline = format!(
                "redundant term: term {outer} of volume `{name}` also matches every node that term {inner} matches"
            );
            Finding::new(Code::RedundantTerm, headline).at(format!("{TERMS}[{inner}]"), "")
        });
    }
    for few in [dead, ignored, redundant] {
        report.find_few(few);
    }
}

/// The nodes that a term matches, as a box.
fn meaning(edit: &VolumeEdit<'_>, term: &NodeSelectorTerm) -> Result<Conjunction, Dead> {
    let conditions = node_selector::conditions(term)?;
    let known = conditions.iter().map(|(key, condition)| Some((edit.space.axis(key)?, condition.clone())));
    let written: Option<Vec<_>> = known.collect();
    written.and_then(|term| edit.space.conjunction(&term)).ok_or_else(|| {
        let shown = node_selector::describe(std::slice::from_ref(term));
        Dead { field: String::new(), reason: format!("no label value satisfies `{shown}`") }
    })
}

/// A node that the node affinity newly admits and that one of the volume's zone and region labels keeps out: for such nodes
/// the edit has no effect. On CREATE everything that the affinity admits is new; no affinity at all adds nothing.
///
/// The terms of an in-tree volume count only for nodes that they admit as they are written, too. Its label repeats the zone
/// of its affinity, and only a node whose CSI driver and zone label disagree could tell the two apart.
fn zone_label_binds(edit: &VolumeEdit<'_>, name: &str, budget: &mut Budget) -> Option<Finding> {
    let (old, new) = (edit.old, edit.new);
    let binds = new.binding_labels.iter().next().is_some();
    if !binds || old.is_none() && new.affinity == Affinity::Absent {
        return None;
    }
    let before = edit.old_affinity.or(&edit.binding_labels, budget).ok()?;
    let added = |node: &Labels| {
        let admitted = new.scheduling_affinity().admits(node) && new.affinity.admits(node);
        admitted && !old.is_some_and(|old| old.scheduling_affinity().admits(node))
    };
    let kept_out = |node: &Labels| added(node) && !new.binding_labels.admits(node);
    let node = edit.node_between(&edit.new_as_written, &before, kept_out, budget)?;
    let label = new.binding_labels.keeping_out(&node)?;
    let headline = format!(
        "zone label binds: the affinity of volume `{name}` admits a node {}, but its label `{}` does not",
        describe_node(&node, &[new]),
        label.key
    );
    let finding = Finding::new(Code::ZoneLabelBinds, headline)
        .at(format!("metadata.labels[{}]", label.key), &format!("`{}`", short(&label.value, 63)));
    Some(finding.detail("the scheduler enforces this label in addition to the affinity; change or remove it too"))
}
