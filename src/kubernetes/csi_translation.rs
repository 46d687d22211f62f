//! Node affinity of in-tree volumes as the scheduler reads it: after their translation to CSI.
//!
//! Follows `TranslateInTreePVToCSI` of `k8s.io/csi-translation-lib` and `tryTranslatePVToCSI` of the scheduler's
//! VolumeBinding plugin (`binder.go`), Kubernetes 1.36. The scheduler translates a volume where the node's kubelet reports
//! its plugin as migrated, which every supported kubelet does. It asks that of five plugins (`isCSIMigrationOnForPlugin`),
//! and the translation of two of them, Azure disk and Portworx, leaves the affinity alone. `azureFile` and `vsphereVolume`
//! are scheduled as they are written.
//!
//! What a volume says about its disk is not looked at. A disk identifier that cannot be translated keeps the volume from
//! every node, but no update can change it, so no update can gain or lose a node by it.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use super::affinity::Affinity;
use super::field::{Field, Unreadable};
use super::names::Names;
use super::zone_labels::{BETA_REGION, BETA_ZONE, REGION, ZONE, ZoneLabels};

/// An in-tree plugin whose translation moves the zone to the key of its CSI driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InTree {
    GcePersistentDisk,
    AwsElasticBlockStore,
    Cinder,
}

/// The plugins, each with the member of `spec` that holds its source.
const SOURCES: [(&str, InTree); 3] = [
    ("gcePersistentDisk", InTree::GcePersistentDisk),
    ("awsElasticBlockStore", InTree::AwsElasticBlockStore),
    ("cinder", InTree::Cinder),
];

/// Why the scheduler cannot translate a volume. No pod with it is scheduled then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untranslatable(pub String);

impl InTree {
    /// The plugin of a PersistentVolume with this `spec`; `None` when its affinity is scheduled as it is written.
    ///
    /// # Errors
    /// A source that is not an object.
    pub fn of(spec: &Field<'_, '_>) -> Result<Option<Self>, Unreadable> {
        for (member, plugin) in SOURCES {
            let source = spec.get(member)?;
            source.check_object()?;
            if source.is_present() {
                return Ok(Some(plugin));
            }
        }
        Ok(None)
    }

    /// The label of a node in which the CSI driver reports the zone.
    pub fn zone_key(self) -> &'static str {
        match self {
            InTree::GcePersistentDisk => "topology.gke.io/zone",
            InTree::AwsElasticBlockStore => "topology.ebs.csi.aws.com/zone",
            InTree::Cinder => "topology.cinder.csi.openstack.org/zone",
        }
    }

    /// The affinity that the scheduler matches nodes against.
    ///
    /// # Errors
    /// Zone labels of a GCE disk that do not name zones of one region: no pod with the volume is scheduled.
    pub fn translate(self, affinity: &Affinity, labels: &ZoneLabels) -> Result<Affinity, Untranslatable> {
        if self == InTree::GcePersistentDisk {
            one_region(labels)?;
        }
        let (zone, region) = topology_keys(affinity, labels);
        let mut terms = match affinity {
            Affinity::Absent => None,
            Affinity::Required(terms) => Some(terms.clone()),
        };
        if has_values(terms.as_deref(), zone) {
            rename(terms.as_deref_mut(), zone, self.zone_key());
        } else if let Some(label) = labels.get(zone) {
            add(&mut terms, self.zone_key(), label);
        }
        if region == BETA_REGION && has_values(terms.as_deref(), region) {
            rename(terms.as_deref_mut(), region, REGION);
        }
        Ok(terms.map_or(Affinity::Absent, Affinity::Required))
    }
}

/// The generation of zone and region keys that is translated: `getTopologyLabel`. One GA zone key anywhere decides for GA.
fn topology_keys(affinity: &Affinity, labels: &ZoneLabels) -> (&'static str, &'static str) {
    let terms = match affinity {
        Affinity::Absent => None,
        Affinity::Required(terms) => Some(terms.as_slice()),
    };
    let asks = |key: &str| requirements(terms).any(|requirement| requirement.key == key);
    let beta = !asks(ZONE) && (asks(BETA_ZONE) || labels.get(ZONE).is_none() && labels.get(BETA_ZONE).is_some());
    if beta { (BETA_ZONE, BETA_REGION) } else { (ZONE, REGION) }
}

fn requirements(terms: Option<&[NodeSelectorTerm]>) -> impl Iterator<Item = &NodeSelectorRequirement> {
    terms.into_iter().flatten().flat_map(|term| term.match_expressions.iter().flatten())
}

/// Whether `getTopologyValues` finds any: `Exists` on the key alone does not count.
fn has_values(terms: Option<&[NodeSelectorTerm]>, key: &str) -> bool {
    requirements(terms).any(|requirement| requirement.key == key && requirement.values.is_some())
}

/// `replaceTopology`.
fn rename(terms: Option<&mut [NodeSelectorTerm]>, from: &str, to: &str) {
    let requirements = terms.into_iter().flatten().flat_map(|term| term.match_expressions.iter_mut().flatten());
    for requirement in requirements.filter(|requirement| requirement.key == from) {
        to.clone_into(&mut requirement.key);
    }
}

/// `addTopology`: the zones of a label, empty ones left out, are required by every term, and by one new term where there
/// is none. A label without a zone adds nothing.
fn add(terms: &mut Option<Vec<NodeSelectorTerm>>, key: &str, label: &str) {
    let zones = Names::of(label.split("__").map(str::trim).filter(|zone| !zone.is_empty()));
    if zones.count() == 0 {
        return;
    }
    let terms = terms.get_or_insert_default();
    if terms.is_empty() {
        terms.push(NodeSelectorTerm::default());
    }
    for term in terms {
        term.match_expressions.get_or_insert_default().push(NodeSelectorRequirement {
            key: key.to_owned(),
            operator: String::from("In"),
            values: Some(zones.names().map(str::to_owned).collect()),
        });
    }
}

/// A GCE disk with several zones is regional, and its region is read from their names (`gceGetRegionFromZones`).
fn one_region(labels: &ZoneLabels) -> Result<(), Untranslatable> {
    let label =
        labels.get(BETA_ZONE).filter(|label| !label.is_empty()).or_else(|| labels.get(ZONE)).unwrap_or_default();
    let mut region = None;
    for zone in label.split("__").filter(|_| label.contains("__")) {
        let found = match zone.split('-').collect::<Vec<&str>>().as_slice() {
            [locale, name, _] => (locale.to_owned(), name.to_owned()),
            _ => {
                return Err(Untranslatable(format!(
                    "`{zone}` in its zone label is not a zone of the form `us-east1-b`"
                )));
            }
        };
        if *region.get_or_insert(found) != found {
            return Err(Untranslatable(format!("its zone label `{label}` names zones of several regions")));
        }
    }
    Ok(())
}
