//! A PersistentVolume, as far as it decides where pods that use it may run: its node affinity, as the scheduler reads it,
//! and its zone and region labels, which the scheduler enforces in addition to the affinity.

use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::csi_translation::{InTree, Untranslatable};
use super::field::{Field, Unreadable};
use super::node_selector::{self, Labels, read_terms};
use crate::logic::{Condition, Domain, Outline, Term};

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
pub const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// The labels that the VolumeZone plugin looks at. Each comes with the node label that is read instead where the node does
/// not carry the first: a beta label falls back to its successor, not the other way round.
pub const ZONE_LABELS: [(&str, &str); 4] = [(BETA_ZONE, ZONE), (BETA_REGION, REGION), (ZONE, ZONE), (REGION, REGION)];

/// The annotation in which a provisioner names itself on the volumes that it makes.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// Where pods that use a volume may run.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// As it is written.
    pub affinity: Affinity,
    pub zone_labels: ZoneLabels,
    /// The plugin that decides how the scheduler reads the affinity.
    in_tree: Option<InTree>,
    /// What the scheduler makes of the affinity; `None` when it reads it as it is written.
    translated: Option<Result<Affinity, Untranslatable>>,
    /// The labels that may keep out nodes unintentionally. A provisioner writes the region in which the zone lies, so on its
    /// volumes the region label adds nothing to the zone label.
    pub binding_labels: ZoneLabels,
}

/// The affinity of a volume that no pod can use.
static NO_NODE: Affinity = Affinity::Required(Vec::new());

/// `spec.nodeAffinity`.
#[derive(Debug, Clone, PartialEq)]
pub enum Affinity {
    /// No node affinity, or none that is required: every node.
    Absent,
    /// `required.nodeSelectorTerms`: the nodes that match any of them.
    Required(Vec<NodeSelectorTerm>),
}

/// The zone and region labels of a volume, with what the VolumeZone plugin (`volume_zone.go`, Kubernetes 1.36) makes of
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ZoneLabels {
    labels: Vec<ZoneLabel>,
}

/// One zone or region label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneLabel {
    pub key: &'static str,
    /// The node label that is read where the node does not carry `key`.
    fallback: &'static str,
    pub value: String,
}

impl Volume {
    /// Reads what is judged of a PersistentVolume.
    ///
    /// # Errors
    /// A wrong JSON type in the fragment.
    pub fn read(object: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let spec = object.get("spec")?;
        let affinity = spec.get("nodeAffinity")?;
        let required = affinity.get("required")?;
        let terms = required.get("nodeSelectorTerms")?;
        let affinity = if required.is_present() { Affinity::Required(read_terms(&terms)?) } else { Affinity::Absent };
        let metadata = object.get("metadata")?;
        let zone_labels = ZoneLabels::read(&metadata.get("labels")?)?;
        let in_tree = InTree::of(&spec)?;
        let provisioner = metadata.get("annotations")?.string_of(PROVISIONED_BY)?;
        let provisioned = provisioner.is_some_and(|name| !name.is_empty());
        let binding_labels = if provisioned { zone_labels.zones_before_regions() } else { zone_labels.clone() };
        Ok(Volume { affinity, zone_labels, in_tree, translated: None, binding_labels }.translated())
    }

    /// The volume that a write of its status stores: with these labels, and with the spec as it is.
    #[must_use]
    pub fn with_labels_of(&self, written: Volume) -> Self {
        Volume { affinity: self.affinity.clone(), in_tree: self.in_tree, ..written }.translated()
    }

    fn translated(mut self) -> Self {
        let translated = self.in_tree.map(|plugin| plugin.translate(&self.affinity, &self.zone_labels));
        self.translated = translated.filter(|translated| translated.as_ref() != Ok(&self.affinity));
        self
    }

    /// Whether both say the same about nodes, in the same words.
    pub fn says_the_same_as(&self, other: &Volume) -> bool {
        self.affinity == other.affinity && self.zone_labels == other.zone_labels && self.translated == other.translated
    }

    /// The steps that reading the volume takes, found out without reading it: the size of its affinity.
    ///
    /// # Errors
    /// A wrong JSON type above the requirements.
    pub fn steps_to_read(object: &Field<'_, '_>) -> Result<usize, Unreadable> {
        let spec = object.get("spec")?;
        let affinity = spec.get("nodeAffinity")?;
        let required = affinity.get("required")?;
        let once = node_selector::steps_to_read(&required.get("nodeSelectorTerms")?)?;
        // A translation makes a second copy of the terms.
        let copies = if InTree::of(&spec)?.is_some() { 2 } else { 1 };
        Ok(once.saturating_mul(copies).saturating_add(FIXED_STEPS))
    }

    /// The affinity that the scheduler matches nodes against: for an in-tree volume, its translation to CSI.
    pub fn scheduling_affinity(&self) -> &Affinity {
        match &self.translated {
            None => &self.affinity,
            Some(Ok(affinity)) => affinity,
            Some(Err(_)) => &NO_NODE,
        }
    }

    /// Whether the scheduler reads the affinity differently from what is written.
    pub fn is_translated(&self) -> bool {
        self.translated.is_some()
    }

    /// How the scheduler reads the affinity, in words.
    pub fn describe_translation(&self) -> String {
        match &self.translated {
            Some(Err(Untranslatable(reason))) => format!("`no node`, because {reason}"),
            Some(Ok(_)) | None => format!("`{}`", self.scheduling_affinity().describe()),
        }
    }

    /// The label keys that the volume asks about.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let terms = match self.scheduling_affinity() {
            Affinity::Absent => &[],
            Affinity::Required(terms) => terms.as_slice(),
        };
        let expressions = terms.iter().flat_map(|term| term.match_expressions.iter().flatten());
        expressions.map(|requirement| requirement.key.as_str()).chain(self.zone_labels.iter().map(|label| label.key))
    }

    /// Whether the scheduler may place a pod with this volume on a node with these labels: the plain matcher.
    pub fn admits(&self, labels: &Labels) -> bool {
        self.scheduling_affinity().admits(labels) && self.zone_labels.admits(labels)
    }
}

/// Steps for what does not grow with the affinity: labels, annotations, the source.
const FIXED_STEPS: usize = 200;

impl Affinity {
    /// Whether a node with these labels matches: `CheckNodeAffinity`, which knows no node name.
    pub fn admits(&self, labels: &Labels) -> bool {
        match self {
            Affinity::Absent => true,
            Affinity::Required(terms) => node_selector::matches(terms, labels),
        }
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

impl ZoneLabels {
    fn read(labels: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let mut zone_labels = ZoneLabels::default();
        for (key, fallback) in ZONE_LABELS {
            if let Some(value) = labels.get(key)?.string()? {
                zone_labels.labels.push(ZoneLabel { key, fallback, value: value.to_owned() });
            }
        }
        Ok(zone_labels)
    }

    /// Only the zone labels, or all labels if there is no zone label.
    fn zones_before_regions(&self) -> Self {
        let zones = self.labels.iter().filter(|label| matches!(label.key, ZONE | BETA_ZONE)).cloned().collect();
        let zones = ZoneLabels { labels: zones };
        if zones.labels.is_empty() { self.clone() } else { zones }
    }

    /// The labels, in the order of [`ZONE_LABELS`].
    pub fn iter(&self) -> impl Iterator<Item = &ZoneLabel> {
        self.labels.iter()
    }

    /// The value of one of the labels.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|label| label.key == key).map(|label| label.value.as_str())
    }

    /// Whether a node with these labels passes. A node that carries none of the four labels always does.
    pub fn admits(&self, labels: &Labels) -> bool {
        self.keeping_out(labels).is_none()
    }

    /// The first label that keeps a node with these labels out.
    pub fn keeping_out(&self, labels: &Labels) -> Option<&ZoneLabel> {
        if !ZONE_LABELS.iter().any(|(key, _)| labels.contains_key(*key)) {
            return None;
        }
        self.labels.iter().find(|label| {
            label.zones().is_some_and(|zones| {
                let value = labels.get(label.key).or_else(|| labels.get(label.fallback));
                !value.is_some_and(|value| zones.contains(&value.as_str()))
            })
        })
    }

    /// The labels as terms of a space whose axes are label keys.
    pub fn to_terms<'t>(&'t self, outline: &mut Outline<'t>) -> Vec<Term<'t>> {
        let mut terms = vec![Term::new()];
        let mut binds = false;
        for (label, zones) in self.labels.iter().filter_map(|label| Some((label, label.zones()?))) {
            binds = true;
            let named = || Condition::In(zones.clone());
            let own = outline.axis(label.key, Domain::OptionalText);
            let mut ways = vec![vec![(own, named())]];
            if label.fallback != label.key {
                ways.push(vec![
                    (own, Condition::Absent),
                    (outline.axis(label.fallback, Domain::OptionalText), named()),
                ]);
            }
            terms = terms.iter().flat_map(|term| ways.iter().map(move |way| [term.as_slice(), way].concat())).collect();
        }
        if binds {
            let unlabelled =
                ZONE_LABELS.iter().map(|(key, _)| (outline.axis(key, Domain::OptionalText), Condition::Absent));
            terms.push(unlabelled.collect());
        }
        terms
    }
}

impl ZoneLabel {
    /// The zones or regions that the label lists, `None` when one of them is empty: then the plugin ignores the label.
    fn zones(&self) -> Option<Vec<&str>> {
        let zones: Vec<&str> = self.value.split("__").map(str::trim).collect();
        (!zones.contains(&"")).then_some(zones)
    }
}
