//! `volumeNodeAffinity`: what an edit of a PersistentVolume does to the nodes from which it can be used.
//!
//! The rule compares where the scheduler may place pods with the volume: by its node affinity and its zone and region
//! labels, old and new, under the topology facts. On CREATE and in an audit there is nothing to compare with; then the rule
//! only reports what is odd about the volume itself.

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
use crate::kubernetes::listing::first_few;
use crate::kubernetes::request::Request;
use crate::kubernetes::volume::Volume;
use crate::kubernetes::zone_labels::ZONE_LABELS;
use crate::logic::Budget;

/// Where the node affinity of a volume is.
const AFFINITY: &str = "spec.nodeAffinity.required";

/// The section's settings.
#[derive(Debug)]
pub struct VolumeNodeAffinity {
    allow: Vec<Relation>,
    topology: Topology,
}

impl VolumeNodeAffinity {
    /// # Errors
    /// A key or a value that is not exactly understood, and one that needs the live cluster.
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

    /// The relations that are accepted, in words.
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
        let judged = self.judge_volume(request, budget, report);
        if judged == Err(Stopped::Exhausted) && request.old_state()?.is_some() {
            report.annotate(Annotation::Relation, Relation::Undecided.name().to_owned());
        }
        judged
    }
}

/// Whether everything that this rule reads is written in the new object as in the old one, found out without reading it.
fn is_written_alike(object: &Field<'_, '_>, old: &Field<'_, '_>) -> Result<bool, Unreadable> {
    let labels = |object: &Field<'_, '_>, old: &Field<'_, '_>| {
        Ok(object.get("metadata")?.get("labels")?.is_same(&old.get("metadata")?.get("labels")?))
    };
    Ok(object.get("spec")?.is_same(&old.get("spec")?) && labels(object, old)?)
}

impl VolumeNodeAffinity {
    fn judge_volume(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        let name = short(request.object_name()?, 120);
        let (object, old_object) = (request.new_state()?, request.old_state()?);
        let mut steps = Volume::steps_to_read(object)?;
        if let Some(old) = old_object {
            steps = steps.saturating_add(Volume::steps_to_read(old)?);
        }
        // A volume that is too large to be read may still lose a finalizer.
        if budget.left() < u64::try_from(steps).unwrap_or(u64::MAX)
            && let Some(old) = old_object
            && is_written_alike(object, old)?
        {
            report.annotate(Annotation::Relation, Relation::Unchanged.name().to_owned());
            return Ok(());
        }
        budget.spend(steps)?;
        let mut new = Volume::read(object)?;
        let old = old_object.map(Volume::read).transpose()?;
        if request.sub_resource.is_none() {
            without_required(&name, object, old_object, report)?;
        }
        if request.sub_resource.is_some() {
            // The API server stores the labels of such a write, and takes the spec from what is stored.
            let Some(old) = &old else { return Ok(()) };
            new = old.with_labels_of(new);
            if old.says_the_same_as(&new) {
                return Ok(());
            }
        }
        if old.as_ref().is_some_and(|old| old.says_the_same_as(&new)) {
            report.annotate(Annotation::Relation, Relation::Unchanged.name().to_owned());
            return Ok(());
        }
        let edit = VolumeEdit::new(old.as_ref(), &new, &self.topology, steps, budget)?;
        match edit.contradicting_facts(budget) {
            None => self.judge_edit(&edit, &name, report, budget),
            Some(facts) => {
                report.find(contradiction(&name, old.as_ref().unwrap_or(&new), &facts));
                let none = Topology::default();
                let edit = VolumeEdit::new(old.as_ref(), &new, &none, steps, budget)?;
                self.judge_edit(&edit, &name, report, budget);
            }
        }
        Ok(())
    }
}

/// Finds a node affinity that is new and requires nothing: its key `required` is missing or misspelt. The API server refuses
/// it, but nobody may have asked the API server yet.
fn without_required(
    name: &str,
    object: &Field<'_, '_>,
    old: Option<&Field<'_, '_>>,
    report: &mut Report,
) -> Result<(), Unreadable> {
    let keys_instead = |object: &Field<'_, '_>| {
        let spec = object.get("spec")?;
        let affinity = spec.get("nodeAffinity")?;
        if !affinity.is_present() || affinity.get("required")?.is_present() {
            return Ok(None);
        }
        let keys = affinity.members()?.map(|(key, _)| format!("`{}`", short(key, 60)));
        Ok(Some(first_few(keys, 5, ", ")))
    };
    let had = old.map(keys_instead).transpose()?.flatten();
    if let Some(keys) = keys_instead(object)?.filter(|_| had.is_none()) {
        let said = if keys.is_empty() { String::from("is empty") } else { format!("has only the key {keys}") };
        let headline = format!("node affinity without `required`: it does not keep volume `{name}` from any node");
        let finding = Finding::new(Code::NodeAffinityWithoutRequired, headline).at("spec.nodeAffinity", &said);
        report.find(finding.detail("accepted: `required` with `nodeSelectorTerms`, or no `nodeAffinity`"));
    }
    Ok(())
}

fn contradiction(name: &str, volume: &Volume, facts: &[String]) -> Finding {
    let headline = format!(
        "topology facts contradict volume `{name}`: no node that they allow could use it; judged without facts"
    );
    let finding =
        Finding::new(Code::FactsContradictVolume, headline).at(AFFINITY, &format!("`{}`", volume.affinity.describe()));
    let finding = volume.zone_labels.iter().fold(finding, |finding, label| {
        finding.at(format!("metadata.labels[{}]", label.key), &format!("`{}`", short(&label.value, 63)))
    });
    finding.detail(relying_on(facts)).detail("correct the volume, or `volumeNodeAffinity.topology` in the settings")
}

/// The facts that an answer needs, for a person.
fn relying_on(facts: &[String]) -> String {
    format!("relying on these facts: {}", short(&facts.join("; "), 400))
}

impl VolumeNodeAffinity {
    fn judge_edit(&self, edit: &VolumeEdit<'_>, name: &str, report: &mut Report, budget: &mut Budget) {
        if let Some(old) = edit.old {
            let (change, facts) = edit.change(budget);
            report.annotate(Annotation::Relation, change.relation().name().to_owned());
            for (annotation, node) in [(Annotation::LosesNode, change.loses()), (Annotation::GainsNode, change.gains())]
            {
                if let Some(node) = node {
                    report.annotate(annotation, serde_json::to_string(node).unwrap_or_default());
                }
            }
            if !facts.is_empty() {
                report.annotate(Annotation::Facts, facts.join("; "));
            }
            if !self.allows(change.relation()) {
                report.find(self.refusal(name, old, edit.new, &change, &facts));
            }
        }
        state::find(edit, name, report, budget);
    }

    fn refusal(&self, name: &str, old: &Volume, new: &Volume, change: &Change, facts: &[String]) -> Finding {
        let describe = |node| describe_node(node, &[old, new]);
        let mut finding = match change {
            Change::Narrowed { loses } => Finding::new(
                Code::NodeAffinityNarrowed,
                format!("node affinity narrowed: a node {} loses volume `{name}`", describe(loses)),
            ),
            Change::Shifted { loses, gains } => Finding::new(
                Code::NodeAffinityShifted,
                format!(
                    "node affinity shifted: a node {} loses volume `{name}`; a node {} gains it",
                    describe(loses),
                    describe(gains)
                ),
            ),
            Change::Widened { gains } => Finding::new(
                Code::NodeAffinityWidened,
                format!("node affinity widened: a node {} gains volume `{name}`", describe(gains)),
            ),
            // Always allowed; and where it is not, no answer is better than a wrong one.
            Change::Equivalent | Change::Undecided => Finding::new(
                Code::NodeAffinityUndecided,
                format!(
                    "node affinity undecided: could not decide within {STEPS} steps whether nodes lose volume `{name}`"
                ),
            ),
        };
        if old.affinity != new.affinity {
            let edit = format!("was `{}`, becomes `{}`", old.affinity.describe(), new.affinity.describe());
            finding = finding.at(AFFINITY, &edit);
        }
        if old.scheduling_affinity() != new.scheduling_affinity() && (old.is_translated() || new.is_translated()) {
            finding = finding.detail(format!(
                "the scheduler reads this in-tree volume translated to CSI: was {}, becomes {}",
                old.describe_translation(),
                new.describe_translation()
            ));
        }
        for (key, _) in ZONE_LABELS {
            let (was, becomes) = (old.zone_labels.get(key), new.zone_labels.get(key));
            if was != becomes {
                let shown = |value: Option<&str>| {
                    value.map_or_else(|| String::from("absent"), |value| format!("`{}`", short(value, 63)))
                };
                let edit = format!("was {}, becomes {}", shown(was), shown(becomes));
                finding = finding.at(format!("metadata.labels[{key}]"), &edit);
            }
        }
        if !facts.is_empty() {
            finding = finding.detail(relying_on(facts));
        }
        finding.detail(format!("accepted: {}", self.accepted()))
    }
}
