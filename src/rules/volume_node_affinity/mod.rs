//! `volumeNodeAffinity`: what an edit of a PersistentVolume does to the nodes from which it can be used.
//!
//! The rule compares where the scheduler may place pods with the volume: by its node affinity and its zone and region
//! labels, old and new, under the topology facts. On CREATE and in an audit there is nothing to compare with; then the rule
//! only reports what is odd about the volume itself.

mod edit;
mod in_use;
mod live;
mod state;
mod topology;

use self::edit::{Change, Relation, VolumeEdit, describe_node};
use self::in_use::{ClaimRef, in_use, modification_in_flight};
use self::live::{LiveChange, Nodes, names};
use self::topology::Topology;
use crate::rules::STEPS;
use crate::rules::cluster::{Live, Missing, Unread, WhenUnreadable};
use crate::rules::decision::{Annotation, Report};
use crate::rules::finding::{Code, Finding, Severity};
use crate::rules::rule::{Reads, Rule, Stopped};
use crate::rules::section::{choice, level, only_keys, when_cluster_unreadable};

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::node_selector::Labels;
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
    /// Whether losses and gains count only where a node of this cluster has them.
    by_live_nodes: bool,
    while_in_use: Option<Severity>,
    settled: bool,
    stranded: Option<Severity>,
    when_unreadable: Option<WhenUnreadable>,
}

impl VolumeNodeAffinity {
    /// # Errors
    /// A key or a value that is not exactly understood.
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
        let judge_by = choice(&section.get("judgeBy")?, &[("anyNode", false), ("liveNodes", true)])?;
        Ok(VolumeNodeAffinity {
            allow: allowed,
            topology: Topology::read(&section.get("topology")?, budget)?,
            by_live_nodes: judge_by.unwrap_or(false),
            while_in_use: level(&section.get("whileInUse")?)?,
            settled: section.boolean_of("requireSettledVolumeAttributes")?.unwrap_or(false),
            stranded: level(&section.get("strandedVolumes")?)?,
            when_unreadable: when_cluster_unreadable(section)?,
        })
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
    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        if !request.stores() || !request.stores_labels_of("", "PersistentVolume") {
            return Ok(());
        }
        let judged = self.judge_volume(request, live, budget, report);
        if judged == Err(Stopped::Exhausted) && request.old_state()?.is_some() {
            report.annotate(Annotation::Relation, Relation::Undecided.name().to_owned());
        }
        judged
    }

    fn needs(&self) -> Vec<(Kind, Reads)> {
        let mut kinds = Vec::new();
        if self.by_live_nodes || self.topology.from_live_nodes || self.stranded.is_some() {
            kinds.push(Kind::Node);
        }
        if self.while_in_use.is_some() {
            kinds.extend([Kind::Node, Kind::Pod, Kind::PersistentVolumeClaim, Kind::VolumeAttachment]);
        }
        if self.settled {
            kinds.push(Kind::PersistentVolumeClaim);
        }
        kinds.into_iter().map(|kind| (kind, Reads::All)).collect()
    }
}

/// Steps for naming nodes where no setting needs them. They are not taken from the request's own, so that a courtesy changes no
/// decision.
const NAMING_STEPS: u64 = STEPS / 4;

/// Whether everything that this rule reads is written in the new object as in the old one, found out without reading it.
fn is_written_alike(object: &Field<'_, '_>, old: &Field<'_, '_>) -> Result<bool, Unreadable> {
    let labels = |object: &Field<'_, '_>, old: &Field<'_, '_>| {
        Ok(object.get("metadata")?.get("labels")?.is_same(&old.get("metadata")?.get("labels")?))
    };
    Ok(object.get("spec")?.is_same(&old.get("spec")?) && labels(object, old)?)
}

impl VolumeNodeAffinity {
    fn judge_volume(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
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
        let judged = Judged {
            name: &name,
            own_name: request.object_name()?,
            claim: ClaimRef::read(old_object.unwrap_or(object))?,
            steps,
            live,
            old: old.as_ref(),
            new: &new,
        };
        let edit = VolumeEdit::new(judged.old, &new, &self.topology, steps, budget)?;
        match edit.contradicting_facts(budget) {
            None => self.judge_edit(&edit, &self.topology, &judged, budget, report),
            Some(facts) => {
                report.find(contradiction(&name, judged.old.unwrap_or(&new), &facts));
                let none = Topology::default();
                let edit = VolumeEdit::new(judged.old, &new, &none, steps, budget)?;
                self.judge_edit(&edit, &none, &judged, budget, report)
            }
        }
    }
}

/// The volume that is judged.
struct Judged<'v> {
    /// As it is shown.
    name: &'v str,
    own_name: &'v str,
    /// The claim to which it is bound.
    claim: Option<ClaimRef<'v>>,
    /// What reading both states took.
    steps: usize,
    live: &'v Live<'v>,
    old: Option<&'v Volume>,
    new: &'v Volume,
}

/// What judging has spent, found, and could not read.
struct Progress<'r> {
    missing: Missing,
    budget: &'r mut Budget,
    report: &'r mut Report,
}

/// Finds a node affinity that is new and requires nothing: its key `required` is missing or misspelt. The API server refuses
/// it, but an audit of files comes before the API server.
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
    fn judge_edit(
        &self,
        edit: &VolumeEdit<'_>,
        topology: &Topology,
        judged: &Judged<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        let mut progress = Progress { missing: Missing::default(), budget, report };
        let judged_live = match judged.old {
            None => self.judge_as_it_stands(edit, judged, &mut progress),
            Some(old) => {
                let (change, facts) = edit.change(progress.budget);
                // Nothing in the cluster changes what is equivalent for every node.
                if change == Change::Equivalent {
                    self.report_change(old, judged, (&change, &facts), None, false, progress.report);
                    Ok(())
                } else {
                    self.judge_change(edit, (change, facts), topology, judged, &mut progress)
                }
            }
        };
        let Progress { missing, budget, report } = progress;
        missing.find(self.when_unreadable, report);
        state::find(edit, judged.name, report, budget);
        judged_live
    }

    /// On CREATE and in audits: whether some node of the cluster can use the volume.
    fn judge_as_it_stands(
        &self,
        edit: &VolumeEdit<'_>,
        judged: &Judged<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Stopped> {
        let Progress { missing, budget, report } = progress;
        let Some(severity) = self.stranded else { return Ok(()) };
        if edit.admits_every_node() {
            return Ok(());
        }
        match Nodes::read(judged.live, None, judged.new) {
            Ok(nodes) => report.find_all(nodes.stranded(edit, judged.name, severity, budget)?),
            Err(unread) => missing.add(unread, "strandedVolumes", WhenUnreadable::by_default(severity)),
        }
        Ok(())
    }

    /// A change that is not equivalent for every node: what it does to the nodes that are there, and to the pods that use the volume.
    fn judge_change(
        &self,
        edit: &VolumeEdit<'_>,
        decided: (Change, Vec<String>),
        topology: &Topology,
        judged: &Judged<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Stopped> {
        let Some(old) = judged.old else { return Ok(()) };
        // What only gains, and may, stands: no node can lose the volume, and none that could use it is taken away.
        let stands = matches!(decided.0, Change::Widened { .. }) && self.allows(Relation::Widened);
        if stands {
            let nodes =
                if judged.live.is_at_hand() { Nodes::read(judged.live, Some(old), judged.new).ok() } else { None };
            let live = nodes.as_ref().and_then(|nodes| nodes.change(edit, &mut Budget::of(NAMING_STEPS)).ok());
            let live = live.as_ref().map(|live| (live, edit));
            self.report_change(old, judged, (&decided.0, &decided.1), live, false, progress.report);
        } else {
            let nodes = Nodes::read(judged.live, Some(old), judged.new);
            self.judge_among(&nodes, edit, decided, topology, (old, judged), progress)?;
        }
        let Progress { missing, report, .. } = progress;
        if let (true, Some(claim)) = (self.settled, judged.claim) {
            match modification_in_flight(judged.live, judged.own_name, claim) {
                Ok(finding) => report.find_all(finding),
                Err(unread) => missing.add(unread, "requireSettledVolumeAttributes", WhenUnreadable::Deny),
            }
        }
        Ok(())
    }

    /// A change by which nodes may lose the volume, or that is not allowed, among the nodes that are there.
    fn judge_among(
        &self,
        nodes: &Result<Nodes, Unread>,
        edit: &VolumeEdit<'_>,
        (mut change, mut facts): (Change, Vec<String>),
        topology: &Topology,
        (old, judged): (&Volume, &Judged<'_>),
        progress: &mut Progress<'_>,
    ) -> Result<(), Stopped> {
        let Progress { missing, budget, report } = progress;
        if topology.from_live_nodes {
            match nodes {
                Ok(nodes) => {
                    let (topology, contradictions) = topology.with_learned(&nodes.0, &[old, judged.new]);
                    report.find_all(contradictions);
                    // Facts only take nodes out of the question, so where the budget ends the answer without them stands.
                    if let Ok(learned) = VolumeEdit::new(judged.old, judged.new, &topology, judged.steps, budget) {
                        match learned.contradicting_facts(budget) {
                            Some(facts) => report.find(contradiction(judged.name, old, &facts)),
                            None => match learned.change(budget) {
                                (Change::Undecided, _) => {}
                                decided => (change, facts) = decided,
                            },
                        }
                    }
                }
                // Without these facts more is a loss, never less.
                Err(unread) => missing.add(*unread, "topology.fromLiveNodes", WhenUnreadable::Allow),
            }
        }
        let changed = nodes.as_ref().map(|nodes| {
            if self.by_live_nodes || self.while_in_use.is_some() {
                nodes.change(edit, budget).ok()
            } else {
                nodes.change(edit, &mut Budget::of(NAMING_STEPS)).ok()
            }
        });
        if self.by_live_nodes {
            (change, facts) = match &changed {
                Ok(Some(live)) => (live.change(), Vec::new()),
                Ok(None) => (Change::Undecided, Vec::new()),
                Err(unread) => {
                    missing.add(**unread, "judgeBy", WhenUnreadable::Deny);
                    (change, facts)
                }
            };
        }
        let unknown = self.by_live_nodes && changed.is_err();
        // Of a cluster without nodes there is nothing to tell.
        let some = nodes.as_ref().is_ok_and(|nodes| !nodes.0.is_empty());
        let live_change = changed.as_ref().ok().and_then(Option::as_ref).filter(|_| some);
        self.report_change(old, judged, (&change, &facts), live_change.map(|live| (live, edit)), unknown, report);
        match (self.stranded, nodes) {
            (Some(severity), Ok(nodes)) => report.find_all(nodes.stranded(edit, judged.name, severity, budget)?),
            (Some(severity), Err(unread)) => {
                missing.add(*unread, "strandedVolumes", WhenUnreadable::by_default(severity));
            }
            (None, _) => {}
        }
        let Some(severity) = self.while_in_use else { return Ok(()) };
        let otherwise = WhenUnreadable::by_default(severity);
        match &changed {
            Ok(Some(change)) if change.loses.is_empty() => {}
            Ok(Some(change)) => {
                match in_use(judged.live, judged.own_name, judged.claim, &change.loses, severity, budget)? {
                    Ok(finding) => report.find_all(finding),
                    Err(unread) => missing.add(unread, "whileInUse", otherwise),
                }
            }
            Ok(None) => return Err(Stopped::Exhausted),
            Err(unread) => missing.add(**unread, "whileInUse", otherwise),
        }
        Ok(())
    }

    /// Reports what an edit does, and refuses it where the settings do not allow that. `live` is what it does to the nodes that
    /// are there. Where that alone counts and is unknown, the change does not refuse: what could not be read does.
    fn report_change(
        &self,
        old: &Volume,
        judged: &Judged<'_>,
        (change, facts): (&Change, &[String]),
        live: Option<(&LiveChange<'_>, &VolumeEdit<'_>)>,
        unknown: bool,
        report: &mut Report,
    ) {
        report.annotate(Annotation::Relation, change.relation().name().to_owned());
        for (annotation, node) in [(Annotation::LosesNode, change.loses()), (Annotation::GainsNode, change.gains())] {
            if let Some(node) = node {
                report.annotate(annotation, serde_json::to_string(node).unwrap_or_default());
            }
        }
        let mut here = Vec::new();
        if let Some((live, edit)) = live {
            for (annotation, verb, nodes) in
                [(Annotation::LosesLiveNodes, "loses", &live.loses), (Annotation::GainsLiveNodes, "gains", &live.gains)]
            {
                if !nodes.is_empty() {
                    let (plain, quoted) = names(nodes, edit);
                    report.annotate(annotation, plain);
                    here.push(format!("{verb} {quoted}"));
                }
            }
            if here.is_empty() {
                here.push(String::from("no node loses or gains it"));
            }
        }
        if !facts.is_empty() {
            report.annotate(Annotation::Facts, facts.join("; "));
        }
        if !unknown && !self.allows(change.relation()) {
            let here = live.map(|(live, _)| (live, here.join("; ")));
            report.find(self.refusal(judged.name, old, judged.new, change, facts, here));
        }
    }

    fn refusal(
        &self,
        name: &str,
        old: &Volume,
        new: &Volume,
        change: &Change,
        facts: &[String],
        here: Option<(&LiveChange<'_>, String)>,
    ) -> Finding {
        // Where only the nodes that are there count, the example is one of them.
        let by_name = here.as_ref().filter(|_| self.by_live_nodes).map(|(live, _)| live);
        let known = |node: &Labels| {
            let mut nodes = by_name.into_iter().flat_map(|live| live.loses.iter().chain(&live.gains));
            nodes.find(|known| known.labels == *node)
        };
        let describe = |node: &Labels| match known(node) {
            Some(known) => format!("node `{}`", short(&known.name, 120)),
            None => format!("a node {}", describe_node(node, &[old, new])),
        };
        let mut finding = match change {
            Change::Narrowed { loses } => Finding::new(
                Code::NodeAffinityNarrowed,
                format!("node affinity narrowed: {} loses volume `{name}`", describe(loses)),
            ),
            Change::Shifted { loses, gains } => Finding::new(
                Code::NodeAffinityShifted,
                format!(
                    "node affinity shifted: {} loses volume `{name}`; {} gains it",
                    describe(loses),
                    describe(gains)
                ),
            ),
            Change::Widened { gains } => Finding::new(
                Code::NodeAffinityWidened,
                format!("node affinity widened: {} gains volume `{name}`", describe(gains)),
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
                "the scheduler translates this in-tree volume to CSI: was {}, becomes {}",
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
        if let Some((_, here)) = here {
            finding = finding.detail(format!("in this cluster: {here}"));
        }
        if !facts.is_empty() {
            finding = finding.detail(relying_on(facts));
        }
        finding.detail(format!("accepted: {}", self.accepted()))
    }
}
