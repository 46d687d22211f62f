//! What an edit does to the nodes that are in the cluster now.

use super::AFFINITY;
use super::edit::{Change, VolumeEdit};
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::volume::Volume;
use crate::kubernetes::zone_labels::ZONE_LABELS;
use crate::logic::{Budget, Domain, Exhausted};
use crate::rules::cluster::{Live, Unread};
use crate::rules::finding::{Code, Finding, Severity};
use crate::rules::live_nodes::{LiveNode, live_nodes};

/// The nodes that are there, with the labels that the volume asks about before or after the edit.
pub struct Nodes(pub Vec<LiveNode>);

/// What an edit does to the nodes that are there: each list by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LiveChange<'n> {
    pub loses: Vec<&'n LiveNode>,
    pub gains: Vec<&'n LiveNode>,
}

impl LiveChange<'_> {
    /// The change as the nodes that are there see it.
    pub fn change(&self) -> Change {
        let first = |nodes: &[&LiveNode]| nodes.first().map(|node| node.labels.clone());
        match (first(&self.loses), first(&self.gains)) {
            (None, None) => Change::Equivalent,
            (None, Some(gains)) => Change::Widened { gains },
            (Some(loses), None) => Change::Narrowed { loses },
            (Some(loses), Some(gains)) => Change::Shifted { loses, gains },
        }
    }
}

impl Nodes {
    /// # Errors
    /// When nodes cannot be read.
    pub fn read(live: &Live<'_>, old: Option<&Volume>, new: &Volume) -> Result<Self, Unread> {
        let volumes = old.into_iter().chain([new]);
        // Whether a zone label of a volume counts depends on all four labels of the node.
        let keys = ZONE_LABELS.iter().map(|(key, _)| *key).chain(volumes.flat_map(Volume::keys));
        live_nodes(live, &Names::of(keys)).map(Nodes)
    }

    /// Which of them lose the volume, and which gain it. The first of both, those that are shown, are replayed through the
    /// plain matcher.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn change(&self, edit: &VolumeEdit<'_>, budget: &mut Budget) -> Result<LiveChange<'_>, Exhausted> {
        let mut change = LiveChange::default();
        let Some(old) = edit.old else { return Ok(change) };
        self.each(edit, budget, &mut |node, before, after| match (before, after) {
            (true, false) => change.loses.push(node),
            (false, true) => change.gains.push(node),
            _ => {}
        })?;
        for (nodes, admitted_before) in [(&change.loses, true), (&change.gains, false)] {
            for node in nodes.iter().take(shown(edit)) {
                budget.spend(edit.steps / 4)?;
                if old.admits(&node.labels) != admitted_before || edit.new.admits(&node.labels) == admitted_before {
                    debug_assert!(false, "the matcher denies what is said of {node:?}");
                    return Err(Exhausted);
                }
            }
        }
        Ok(change)
    }

    /// What is found when none of them can use the volume after the edit.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn stranded(
        &self,
        edit: &VolumeEdit<'_>,
        name: &str,
        severity: Severity,
        budget: &mut Budget,
    ) -> Result<Option<Finding>, Exhausted> {
        let mut some = false;
        self.each(edit, budget, &mut |_, _, after| some |= after)?;
        if some {
            return Ok(None);
        }
        let count = self.0.len();
        let headline = match count {
            0 => format!("no live node: this cluster has no node that could use volume `{name}`"),
            1 => format!("no live node: the only node of this cluster cannot use volume `{name}`"),
            _ => format!("no live node: none of the {count} nodes of this cluster can use volume `{name}`"),
        };
        let mut finding = Finding::new(Code::NoLiveNode, headline)
            .at(AFFINITY, &format!("`{}`", edit.new.scheduling_affinity().describe()));
        const MOST: usize = 5;
        let mut seen = Names::default();
        for key in edit.new.keys().filter(|key| seen.add(key, 0)).take(MOST) {
            budget.spend(count.saturating_mul(5))?;
            let values = || self.0.iter().filter_map(|node| node.labels.get(key));
            let missing = count.saturating_sub(values().count());
            let mut others = Names::default();
            let values: Vec<String> =
                values().filter(|value| others.add(value, 0)).map(|value| format!("`{value}`")).collect();
            let values = first_few(values.into_iter(), MOST, ", ");
            finding = finding.detail(match (missing, values.as_str()) {
                (_, "") => format!("label `{key}`: missing on all of them"),
                (0, values) => format!("label `{key}`: the nodes have {values}"),
                (missing, values) => {
                    format!("label `{key}`: missing on {missing} of {count} nodes; the others have {values}")
                }
            });
        }
        Ok(Some(
            finding
                .detail("accepted: an affinity and zone labels that a node of this cluster meets")
                .with_severity(severity),
        ))
    }

    fn each<'n>(
        &'n self,
        edit: &VolumeEdit<'_>,
        budget: &mut Budget,
        see: &mut dyn FnMut(&'n LiveNode, bool, bool),
    ) -> Result<(), Exhausted> {
        const NODE: usize = 10;
        const VALUE: usize = 8;
        let axes = edit.space.axes().count().saturating_mul(VALUE);
        let each = axes.saturating_add(NODE).saturating_add(edit.steps_to_look_up());
        for node in &self.0 {
            budget.spend(each)?;
            let point = edit.space.point(Domain::OptionalText, |key| node.labels.get(key).map(String::as_str));
            // No node has a label value that is none.
            let Some(point) = point else { continue };
            let (before, after) = edit.admit(&point);
            see(node, before, after);
        }
        Ok(())
    }
}

/// How many nodes are shown by name. For a volume so large that looking twice at each would cost too much, the first.
fn shown(edit: &VolumeEdit<'_>) -> usize {
    if edit.steps > 10_000 { 1 } else { 20 }
}

/// The names of nodes, as annotations carry them, and for a message.
pub fn names(nodes: &[&LiveNode], edit: &VolumeEdit<'_>) -> (String, String) {
    let listed = |separator: &str, quote: &str| {
        first_few(nodes.iter().map(|node| format!("{quote}{}{quote}", node.name)), shown(edit), separator)
    };
    (listed(",", ""), listed(", ", "`"))
}
