//! What is odd about a volume by itself, whatever it was before: terms that do not do what they seem to say.

use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::edit::{VolumeEdit, describe_node};
use crate::kubernetes::field::short;
use crate::kubernetes::node_selector::{self, Dead};
use crate::kubernetes::volume::Affinity;
use crate::logic::{Budget, Conjunction, covered};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};

/// The path of the terms of a volume.
const TERMS: &str = "spec.nodeAffinity.required.nodeSelectorTerms";

/// Adds the findings about the new state of the volume.
pub fn find(edit: &VolumeEdit<'_>, name: &str, report: &mut Report, budget: &mut Budget) {
    if let Affinity::Required(terms) = &edit.new.affinity {
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
    // The box of each term that is alive, beside the term's position.
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
                        .detail(format!("{TERMS}[{index}]{separator}{}", reason.field))
                });
                continue;
            }
        }
        if term.match_fields.is_some() {
            ignored.push_with(|| {
                let effect = if term.match_expressions.is_some() { "" } else { ", so this term matches every node" };
                let headline = format!(
                    "`matchFields` of volume `{name}` is ignored: volumes are matched by node labels alone{effect}"
                );
                Finding::new(Code::MatchFieldsIgnored, headline)
                    .detail(format!("{TERMS}[{index}].matchFields"))
                    .detail("accepted: matchExpressions on a label of the node, such as `kubernetes.io/hostname`")
            });
        }
    }
    let mut redundant = few(Code::RedundantTerm);
    let boxes: Vec<Conjunction> = alive.iter().map(|(_, conjunction)| conjunction.clone()).collect();
    // Where the budget ends nothing is said: the finding is a hint, and costs nobody an answer.
    for (inner, outer) in covered(&edit.space, &boxes, budget).unwrap_or_default() {
        let (Some((inner, _)), Some((outer, _))) = (alive.get(inner), alive.get(outer)) else { continue };
        redundant.push_with(|| {
            let headline = format!(
                "redundant term: every node that term {inner} of volume `{name}` matches, term {outer} matches too"
            );
            Finding::new(Code::RedundantTerm, headline).detail(format!("{TERMS}[{inner}]"))
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
        Dead { field: String::new(), reason: format!("no label value meets `{shown}`") }
    })
}

/// A node that the node affinity newly admits and that the volume's zone and region labels keep out: for such nodes the
/// edit comes to nothing. On CREATE everything that the affinity admits is new; no affinity at all adds nothing.
fn zone_label_binds(edit: &VolumeEdit<'_>, name: &str, budget: &mut Budget) -> Option<Finding> {
    let binds = edit.new.zone_labels.iter().next().is_some();
    if !binds || edit.old.is_none() && edit.new.affinity == Affinity::Absent {
        return None;
    }
    let before = edit.old_affinity.or(&edit.new_labels, budget).ok()?;
    let answer = edit.contained(&edit.new_affinity, &before, budget);
    let (old, new) = (edit.old, edit.new);
    let node = edit.example(&answer, |node| {
        let added = new.affinity.admits(node) && !old.is_some_and(|old| old.affinity.admits(node));
        added && !new.zone_labels.admits(node)
    })?;
    let headline = format!(
        "zone label binds: the affinity of volume `{name}` admits a node {}, its labels do not",
        describe_node(&node, &[new])
    );
    let finding = Finding::new(Code::ZoneLabelBinds, headline);
    let labels = new.zone_labels.iter();
    let finding = labels.fold(finding, |finding, label| {
        finding.detail(format!("metadata.labels[{}]: `{}`", label.key, short(&label.value, 63)))
    });
    Some(finding.detail("the scheduler enforces these labels beside the affinity; change or remove them too"))
}
