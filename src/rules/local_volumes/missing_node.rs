//! Part of `localVolumes`: whether a node that can use a volume is in the cluster.

use super::NodeVolume;
use super::pinned::{NodeName, label, steps_to_read};
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::short;
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::zone_labels::ZONE_LABELS;
use crate::logic::{Budget, Exhausted};
use crate::rules::cluster::{Freshness, Live, Unread, Wanted};
use crate::rules::finding::{Code, Finding};
use crate::rules::live_nodes::{LiveNode, NODE, live_nodes, read};
use crate::rules::live_share::with_half;

/// Steps for a node that is looked at, in addition to those of matching it.
const STEPS_FOR_A_NODE: usize = 10;

/// What is found when no node of the cluster can use the volume. A volume that every node can use is not looked at.
///
/// Most often the label that the volume is known by has the node's own name as its value, so that one node answers the
/// question. Otherwise all nodes are looked at.
///
/// # Errors
/// When nodes cannot be read.
pub fn find(
    name: &str,
    volume: &NodeVolume<'_>,
    live: &Live<'_>,
    budget: &mut Budget,
) -> Result<Option<Finding>, Unread> {
    if volume.affinity == Affinity::Absent && volume.zone_labels.iter().next().is_none() {
        return Ok(None);
    }
    let keys = keys(volume);
    let known_by = volume.nodes.known_by();
    if let Some(known_by) = known_by {
        let wanted = Wanted { fields: NODE, freshness: Freshness::Held };
        let named = live.get(Kind::Node, None, &known_by.value, wanted, |node| read(node, &keys))?;
        if named.is_some_and(|node| volume.admits(&node.labels)) {
            return Ok(None);
        }
    }
    let nodes = live_nodes(live, &keys)?;
    let steps = steps_to_read(&volume.affinity).saturating_add(STEPS_FOR_A_NODE);
    let is_admitted = with_half(budget, |own| {
        for node in &nodes {
            own.spend(steps)?;
            if volume.admits(&node.labels) {
                return Ok(true);
            }
        }
        Ok(false)
    });
    Ok(match is_admitted {
        Ok(true) => None,
        Ok(false) => Some(missing(name, volume, known_by, &nodes)),
        Err(Exhausted) => Some(Finding::new(
            Code::LocalNodeMissing,
            format!(
                "local node missing: could not decide whether one of {} nodes can use volume `{name}`",
                nodes.len()
            ),
        )),
    })
}

/// The label keys that decide whether a node can use the volume.
fn keys<'v>(volume: &'v NodeVolume<'_>) -> Names<'v> {
    // A node without any of these labels passes all of them.
    let zones = ZONE_LABELS.iter().map(|(key, _)| *key);
    Names::of(volume.affinity.keys().chain(zones))
}

fn missing(name: &str, volume: &NodeVolume<'_>, known_by: Option<&NodeName>, nodes: &[LiveNode]) -> Finding {
    let what = match known_by {
        Some(known_by) => format!(", which is pinned to {}", label(known_by)),
        None => String::new(),
    };
    let headline = format!("local node missing: no node of this cluster can use volume `{name}`{what}");
    let mut finding = Finding::new(Code::LocalNodeMissing, headline)
        .at("spec.nodeAffinity.required", &format!("`{}`", volume.affinity.describe()));
    if let Some(known_by) = known_by {
        finding = finding.detail(who_carries(volume, known_by, nodes));
    } else {
        finding = finding.detail(match nodes.len() {
            0 => String::from("there is no node at all"),
            1 => String::from("the only node of the cluster was looked at"),
            count => format!("{count} nodes were looked at"),
        });
    }
    finding
        .detail("the data of a local volume is on one node: without that node no pod can use it")
        .detail("accepted: an affinity to a node that exists; that is the node's label, which can differ from its name")
}

/// Why the nodes that might be meant are not it.
fn who_carries(volume: &NodeVolume<'_>, known_by: &NodeName, nodes: &[LiveNode]) -> String {
    let value_of = |node: &LiveNode| node.labels.get(&known_by.key).cloned();
    let carries = |node: &&LiveNode| value_of(node).as_deref() == Some(known_by.value.as_str());
    if let Some(node) = nodes.iter().find(carries) {
        let keeps_out = match volume.zone_labels.keeping_out(&node.labels) {
            Some(label) => {
                format!("the volume's label `{}={}` keeps it out", label.key, short(&label.value, 63))
            }
            None => String::from("the affinity asks for other labels too, which it does not carry"),
        };
        return format!("node `{}` carries {}, but {keeps_out}", node.name, label(known_by));
    }
    let absent = format!("no node carries {}", label(known_by));
    let shown = |labels: &Labels| match labels.get(&known_by.key) {
        Some(value) => format!("`{}={value}`", short(&known_by.key, 120)),
        None => format!("no label `{}`", short(&known_by.key, 120)),
    };
    if let Some(node) = nodes.iter().find(|node| node.name == known_by.value) {
        return format!("{absent}; node `{}` carries {}", node.name, shown(&node.labels));
    }
    let similar = nodes.iter().filter_map(value_of).filter(|value| is_similar(value, &known_by.value));
    let similar = first_few(similar.map(|value| format!("`{value}`")), 5, ", ");
    if similar.is_empty() { absent } else { format!("{absent}; similar values that nodes carry: {similar}") }
}

/// Whether one of the two may be meant where the other is written: they differ in one place only, by one or two letters, or
/// one of them is the other with its domain.
fn is_similar(one: &str, other: &str) -> bool {
    let host = |name: &str| name.split('.').next().map(str::to_ascii_lowercase);
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let (one_rest, other_rest) = (one.len().saturating_sub(same), other.len().saturating_sub(same));
    let ends = one.bytes().rev().zip(other.bytes().rev()).take_while(|(one, other)| one == other).count();
    let ends = ends.min(one_rest).min(other_rest);
    let differs = one_rest.max(other_rest).saturating_sub(ends);
    host(one) == host(other) || (differs <= 2 && same.saturating_add(ends) > 2)
}

#[cfg(test)]
mod tests {
    use super::is_similar;

    #[test]
    fn a_slip_of_the_pen_is_similar() {
        for (one, other) in [
            ("node-7", "node-07"),
            ("node-7", "node-8"),
            ("node-a", "node-a.example.com"),
            ("Node-A", "node-a"),
            ("worker-1", "woker-1"),
        ] {
            assert!(is_similar(one, other) && is_similar(other, one), "{one} {other}");
        }
        for (one, other) in [("a", "b"), ("node-7", "storage-7"), ("node-100", "node-7"), ("", "node")] {
            assert!(!is_similar(one, other) && !is_similar(other, one), "{one} {other}");
        }
    }
}
