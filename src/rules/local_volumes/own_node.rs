//! Part of `localVolumes`: a requester that is bound to a node makes and changes volumes of that node only.

use super::NodeVolume;
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::storage_class::BETA_CLASS;
use crate::kubernetes::zone_labels::ZONE_LABELS;
use crate::rules::finding::{Code, Finding};

/// Names the provisioner that owns a volume: a provisioner on another node would delete it, with its data.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// Annotations that decide about a volume. The last two count in place of the fields `storageClassName` and `mountOptions`
/// of the spec (`GetPersistentVolumeClass`, `MountOptionFromSpec`, Kubernetes 1.36).
const ANNOTATIONS: [&str; 3] = [PROVISIONED_BY, BETA_CLASS, "volume.beta.kubernetes.io/mount-options"];

/// What is found when a requester on `node` makes a volume of another node, or changes `changed` of one.
pub fn foreign_node(
    node: &str,
    user: &str,
    name: &str,
    now: &NodeVolume<'_>,
    before: Option<&NodeVolume<'_>>,
    changed: Option<&str>,
) -> Option<Finding> {
    let foreign = before.into_iter().chain([now]).find(|volume| !volume.nodes.is_node(node))?;
    let verb = if changed.is_some() { "changes" } else { "creates" };
    let (node, what) = (short(node, 120), foreign.source.field());
    let headline = format!(
        "{what} volume of another node: a requester on node `{node}` {verb} volume `{name}`, {}",
        foreign.nodes.describe()
    );
    let user = short(user, 200);
    let mut finding = Finding::new(Code::LocalForeignNode, headline)
        .at("spec.nodeAffinity.required", &format!("`{}`", foreign.affinity.describe()));
    if let Some(field) = changed {
        finding = finding.detail(format!("changed field: `{field}`"));
    }
    let finding = finding
        .detail(format!("the credentials of `{user}` are bound to node `{node}`"))
        .detail(format!("accepted from this user: `local` and `hostPath` volumes that are pinned to `{node}`"))
        .detail(
            "this rule compares the node's name with its label; if they differ, list in `pinnedBy` a label whose \
             value is the node's name",
        )
        .detail("list a client that manages volumes of all nodes under `localVolumes.exempt`");
    Some(finding)
}

/// The first field that decides about a volume and differs: the spec, the zone and region labels, which the scheduler
/// enforces, which provisioner the volume belongs to, and the annotations that replace fields of the spec. Other
/// changes are not judged, so that finalizers can be removed. A write of the status stores the metadata, not the spec.
///
/// # Errors
/// A wrong JSON type in these fields.
pub fn changed_field(old: &Field<'_, '_>, new: &Field<'_, '_>, is_status: bool) -> Result<Option<String>, Unreadable> {
    if !is_status && !old.get("spec")?.is_same(&new.get("spec")?) {
        return Ok(Some(String::from("spec")));
    }
    let (old, new) = (old.get("metadata")?, new.get("metadata")?);
    let labels = ZONE_LABELS.iter().map(|(key, _)| ("labels", *key)).chain([("labels", PROVISIONED_BY)]);
    for (map, key) in labels.chain(ANNOTATIONS.map(|key| ("annotations", key))) {
        let (old, new) = (old.get(map)?, new.get(map)?);
        if old.get(key)?.string()? != new.get(key)?.string()? {
            return Ok(Some(format!("metadata.{map}[{key}]")));
        }
    }
    Ok(None)
}
