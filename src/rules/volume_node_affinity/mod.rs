//! `volumeNodeAffinity`: what an edit of a PersistentVolume does to the nodes from which it can be used.
//!
//! Compared is where the scheduler may place pods with the volume: its node affinity and its zone and region labels, both
//! old and new, under the topology facts of the settings. On CREATE and in an audit there is nothing to compare with, and
//! only what is odd about the volume itself is said.

mod edit;
mod state;
mod topology;

use self::edit::{Change, Relation, VolumeEdit, describe_node};
use self::topology::Topology;
use crate::rules::STEPS;
use crate::rules::decision::{Annotation, Report};
use crate::rules::finding::{Code, Finding};
use crate::rules::rule::{Rule, Stopped};
use crate::rules::section::{NEEDS_CLUSTER, choice, only_keys, when_cluster_unreadable, without_cluster};

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::request::Request;
use crate::kubernetes::volume::{Volume, ZONE_LABELS};
use crate::logic::Budget;

/// The section's settings.
#[derive(Debug)]
pub struct VolumeNodeAffinity {
    allow: Vec<Relation>,
    topology: Topology,
}

impl VolumeNodeAffinity {
    /// # Errors
    /// Whatever is not exactly understood, or needs the live cluster.
    pub fn read(section: &Field<'_, '_>, budget: &mut Budget) -> Result<Self, Unreadable> {
        only_keys(
            section,
            &[
                "allow",
                "judgeBy",
                "topology",
                "whileInUse",
                "requireSettledVolumeAttributes",
                "strandedVolumes",
                "whenClusterUnreadable",
            ],
        )?;
        without_cluster(&section.get("judgeBy")?, &["anyNode"], &["liveNodes"])?;
        without_cluster(&section.get("whileInUse")?, &["ignore"], &["deny", "warn"])?;
        without_cluster(&section.get("strandedVolumes")?, &["ignore"], &["deny", "warn"])?;
        when_cluster_unreadable(section)?;
        let settled = section.get("requireSettledVolumeAttributes")?;
        if settled.boolean()? == Some(true) {
            return Err(settled.unreadable(format!("`true` {NEEDS_CLUSTER}; accepted: false")));
        }
        let allow = section.get("allow")?;
        let known = [
            ("widened", Relation::Widened),
            ("narrowed", Relation::Narrowed),
            ("shifted", Relation::Shifted),
            ("undecided", Relation::Undecided),
        ];
        let mut allowed = Vec::new();
        for item in allow.items()? {
            item.required_string()?;
            allowed.extend(choice(&item, &known)?);
        }
        if !allow.is_present() {
            allowed.push(Relation::Widened);
        }
        Ok(VolumeNodeAffinity { allow: allowed, topology: Topology::read(&section.get("topology")?, budget)? })
    }

    fn allows(&self, relation: Relation) -> bool {
        matches!(relation, Relation::Unchanged | Relation::Equivalent) || self.allow.contains(&relation)
    }

    /// The relations that pass, in words.
    fn accepted(&self) -> String {
        let always = [Relation::Unchanged, Relation::Equivalent];
        let mut names: Vec<&str> = Vec::new();
        for relation in always.iter().chain(&self.allow) {
            if !names.contains(&relation.name()) {
                names.push(relation.name());
            }
        }
        names.join(", ")
    }
}

impl Rule for VolumeNodeAffinity {
    fn judge(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        if !request.stores() || !request.stores_labels_of("", "PersistentVolume") {
            return Ok(());
        }
        let name = short(request.object_name()?, 120);
        let mut new = Volume::read(request.new_state()?)?;
        let old = request.old_state()?.map(Volume::read).transpose()?;
        if request.sub_resource.is_some() {
            // Of a write of the status the labels are stored, and the spec is not.
            match &old {
                Some(old) if old.zone_labels != new.zone_labels => new.affinity = old.affinity.clone(),
                _ => return Ok(()),
            }
        }
        if old.as_ref() == Some(&new) {
            report.annotate(Annotation::Relation, Relation::Unchanged.name().to_owned());
            return Ok(());
        }
        let edit = VolumeEdit::new(old.as_ref(), &new, &self.topology, budget)?;
        if edit.facts_contradict(budget) {
            report.find(contradiction(&name, old.as_ref().unwrap_or(&new)));
            let none = Topology::default();
            let edit = VolumeEdit::new(old.as_ref(), &new, &none, budget)?;
            self.judge_edit(&edit, &name, report, budget);
        } else {
            self.judge_edit(&edit, &name, report, budget);
        }
        Ok(())
    }
}

fn contradiction(name: &str, volume: &Volume) -> Finding {
    let headline =
        format!("topology facts contradict volume `{name}`: under them no node could use it; judged without facts");
    Finding::new(Code::FactsContradictVolume, headline)
        .detail(format!("spec.nodeAffinity.required: `{}`", volume.affinity.describe()))
        .detail("correct `volumeNodeAffinity.topology` in the settings, or the volume")
}

impl VolumeNodeAffinity {
    fn judge_edit(&self, edit: &VolumeEdit<'_>, name: &str, report: &mut Report, budget: &mut Budget) {
        if let Some(old) = edit.old {
            let change = edit.change(budget);
            report.annotate(Annotation::Relation, change.relation.name().to_owned());
            for (annotation, node) in [(Annotation::LosesNode, &change.loses), (Annotation::GainsNode, &change.gains)] {
                if let Some(node) = node {
                    report.annotate(annotation, serde_json::to_string(node).unwrap_or_default());
                }
            }
            if !change.facts.is_empty() {
                report.annotate(Annotation::Facts, change.facts.join("; "));
            }
            if !self.allows(change.relation) {
                report.find(self.refusal(name, old, edit.new, &change));
            }
        }
        state::find(edit, name, report, budget);
    }

    fn refusal(&self, name: &str, old: &Volume, new: &Volume, change: &Change) -> Finding {
        let describe =
            |node: &Option<Labels>| node.as_ref().map(|node| describe_node(node, &[old, new])).unwrap_or_default();
        let (loses, gains) = (describe(&change.loses), describe(&change.gains));
        let (code, headline) = match change.relation {
            Relation::Narrowed | Relation::Unchanged | Relation::Equivalent => {
                (Code::NodeAffinityNarrowed, format!("node affinity narrowed: a node {loses} loses volume `{name}`"))
            }
            Relation::Shifted => (
                Code::NodeAffinityShifted,
                format!("node affinity shifted: a node {loses} loses volume `{name}`; a node {gains} gains it"),
            ),
            Relation::Widened => {
                (Code::NodeAffinityWidened, format!("node affinity widened: a node {gains} gains volume `{name}`"))
            }
            Relation::Undecided => (
                Code::NodeAffinityUndecided,
                format!("node affinity undecided: whether nodes lose volume `{name}` is not known after {STEPS} steps"),
            ),
        };
        let mut finding = Finding::new(code, headline);
        if old.affinity != new.affinity {
            finding = finding.detail(format!(
                "spec.nodeAffinity.required: was `{}`, becomes `{}`",
                old.affinity.describe(),
                new.affinity.describe()
            ));
        }
        for (key, _) in ZONE_LABELS {
            let (was, becomes) = (old.zone_labels.get(key), new.zone_labels.get(key));
            if was != becomes {
                let shown = |value: Option<&str>| {
                    value.map_or_else(|| String::from("absent"), |value| format!("`{}`", short(value, 63)))
                };
                finding =
                    finding.detail(format!("metadata.labels[{key}]: was {}, becomes {}", shown(was), shown(becomes)));
            }
        }
        if !change.facts.is_empty() {
            finding = finding.detail(format!("by the facts: {}", short(&change.facts.join("; "), 400)));
        }
        finding.detail(format!("accepted: {}", self.accepted()))
    }
}
