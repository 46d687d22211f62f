//! The zone and region labels of a PersistentVolume, which the scheduler enforces in addition to its node affinity.

use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::field::{Field, Unreadable};
use super::node_selector::Labels;
use crate::logic::{Condition, Domain, Outline, Term};

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
pub const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// The labels that the VolumeZone plugin looks at. Each comes with the node label that is read instead where the node does
/// not carry the first: a beta label falls back to its successor, not the other way round.
pub const ZONE_LABELS: [(&str, &str); 4] = [(BETA_ZONE, ZONE), (BETA_REGION, REGION), (ZONE, ZONE), (REGION, REGION)];

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

impl ZoneLabels {
    /// Reads them from `metadata.labels`.
    ///
    /// # Errors
    /// A label that is not a string.
    pub fn read(labels: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let mut zone_labels = ZoneLabels::default();
        for (key, fallback) in ZONE_LABELS {
            if let Some(value) = labels.get(key)?.string()? {
                zone_labels.labels.push(ZoneLabel { key, fallback, value: value.to_owned() });
            }
        }
        Ok(zone_labels)
    }

    /// Only the zone labels, or all labels if there is no zone label.
    #[must_use]
    pub fn zones_before_regions(&self) -> Self {
        let zones = self.labels.iter().filter(|label| matches!(label.key, ZONE | BETA_ZONE)).cloned().collect();
        let zones = ZoneLabels { labels: zones };
        if zones.labels.is_empty() { self.clone() } else { zones }
    }

    /// Leaves out each label that every term repeats: the term requires one of the label's zones, or regions, of a key with the
    /// same name behind another prefix.
    pub fn leave_out_repeated(&mut self, terms: &[NodeSelectorTerm]) {
        self.labels.retain(|label| {
            let zones = label.zones().unwrap_or_default();
            !terms.iter().all(|term| {
                let mut requirements = term.match_expressions.iter().flatten();
                requirements.any(|requirement| {
                    let values = requirement.values.as_deref().unwrap_or_default();
                    requirement.operator == "In"
                        && requirement.key.rsplit('/').next() == label.key.rsplit('/').next()
                        && values.iter().all(|value| zones.contains(&value.as_str()))
                })
            })
        });
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

    /// The same for a node of which only these labels are known; `None` when labels that are not known decide.
    pub fn known_to_keep_out(&self, known: &Labels) -> Option<Option<&ZoneLabel>> {
        let mut answer = Some(None);
        for label in &self.labels {
            let Some(zones) = label.zones() else { continue };
            match known.get(label.key) {
                Some(value) if zones.contains(&value.as_str()) => {}
                Some(_) => return Some(Some(label)),
                // Another label may be read in its place, and a node without any of the four passes.
                None => answer = None,
            }
        }
        answer
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
