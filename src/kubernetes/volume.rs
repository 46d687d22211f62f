//! A PersistentVolume, as far as it decides where pods that use it may run: its node affinity, as the scheduler reads it,
//! and its zone and region labels, which the scheduler enforces in addition to the affinity.

use super::affinity::Affinity;
use super::csi_translation::{InTree, Untranslatable};
use super::field::{Field, Unreadable};
use super::node_selector::{self, Labels, read_terms};
use super::zone_labels::ZoneLabels;

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
    /// volumes the region label adds nothing to the zone label. Nor does a label add anything that repeats what the affinity
    /// says under the driver's own key, such as `topology.gke.io/zone`.
    pub binding_labels: ZoneLabels,
}

/// The affinity of a volume that no pod can use.
static NO_NODE: Affinity = Affinity::Required(Vec::new());

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
        let mut binding_labels = if provisioned { zone_labels.zones_before_regions() } else { zone_labels.clone() };
        if provisioned && let Affinity::Required(terms) = &affinity {
            binding_labels.leave_out_repeated(terms);
        }
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
        self.scheduling_affinity().keys().chain(self.zone_labels.iter().map(|label| label.key))
    }

    /// The values that the volume names for one of these label keys.
    pub fn values(&self, keys: &[&str]) -> impl Iterator<Item = &str> {
        let requirements = self.scheduling_affinity().requirements();
        let requirements = requirements.filter(|requirement| keys.contains(&requirement.key.as_str()));
        let labels = self.zone_labels.iter().filter(|label| keys.contains(&label.key));
        requirements
            .flat_map(|requirement| requirement.values.iter().flatten())
            .map(String::as_str)
            .chain(labels.flat_map(|label| label.value.split("__").map(str::trim)))
    }

    /// Whether the scheduler may place a pod with this volume on a node with these labels: the plain matcher.
    pub fn admits(&self, labels: &Labels) -> bool {
        self.scheduling_affinity().admits(labels) && self.zone_labels.admits(labels)
    }

    /// The same for a node of which only these labels are known; `None` when labels that are not known decide.
    pub fn known_to_admit(&self, known: &Labels) -> Option<bool> {
        let by_affinity = match self.scheduling_affinity() {
            Affinity::Absent => Some(true),
            Affinity::Required(terms) => node_selector::known_to_match(terms, known),
        };
        let by_labels = self.zone_labels.known_to_keep_out(known).map(|label| label.is_none());
        match (by_affinity, by_labels) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }
}

/// Steps for what does not grow with the affinity: labels, annotations, the source.
const FIXED_STEPS: usize = 200;
