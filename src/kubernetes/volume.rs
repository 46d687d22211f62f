//! A PersistentVolume, as far as it decides where pods that use it may run: its node affinity, and its zone and region
//! labels, which the scheduler enforces beside the affinity.

use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::field::{Field, Unreadable};
use super::node_selector::{self, Labels, read_terms};
use crate::logic::{Condition, Domain, Outline, Term};

/// The labels that the VolumeZone plugin looks at, each with the label of a node that stands in where the node does not
/// carry the same one: a beta label falls back to its successor, not the other way round.
pub const ZONE_LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// Where pods that use a volume may run. Two of the same value read the same fragment.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    pub affinity: Affinity,
    pub zone_labels: ZoneLabels,
}

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
    /// The node's label that stands in for an absent one.
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
        let labels = metadata.get("labels")?;
        let mut zone_labels = ZoneLabels::default();
        for (key, fallback) in ZONE_LABELS {
            if let Some(value) = labels.get(key)?.string()? {
                zone_labels.labels.push(ZoneLabel { key, fallback, value: value.to_owned() });
            }
        }
        Ok(Volume { affinity, zone_labels })
    }

    /// The label keys that the volume asks about.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let terms = match &self.affinity {
            Affinity::Absent => &[],
            Affinity::Required(terms) => terms.as_slice(),
        };
        let expressions = terms.iter().flat_map(|term| term.match_expressions.iter().flatten());
        expressions.map(|requirement| requirement.key.as_str()).chain(self.zone_labels.iter().map(|label| label.key))
    }

    /// Whether the scheduler may place a pod with this volume on a node with these labels: the plain matcher.
    pub fn admits(&self, labels: &Labels) -> bool {
        self.affinity.admits(labels) && self.zone_labels.admits(labels)
    }
}

impl Affinity {
    /// Whether a node with these labels matches: `CheckNodeAffinity`, which knows no node name.
    pub fn admits(&self, labels: &Labels) -> bool {
        match self {
            Affinity::Absent => true,
            Affinity::Required(terms) => node_selector::matches(terms, labels),
        }
    }

    /// The terms; one that asks nothing where there is no affinity. Dead terms are left out.
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
        if !ZONE_LABELS.iter().any(|(key, _)| labels.contains_key(*key)) {
            return true;
        }
        self.labels.iter().all(|label| match label.zones() {
            None => true,
            Some(zones) => {
                let value = labels.get(label.key).or_else(|| labels.get(label.fallback));
                value.is_some_and(|value| zones.contains(&value.as_str()))
            }
        })
    }

    /// The same as terms of a space whose axes are label keys.
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
