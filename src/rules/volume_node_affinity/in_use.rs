//! Whether a volume is in use on nodes that lose it, and whether a change of its attributes is under way.

use super::AFFINITY;
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod::is_finished;
use crate::logic::Budget;
use crate::rules::cluster::{Freshness, Live, Unread, Wanted};
use crate::rules::finding::{Code, Finding, Severity};
use crate::rules::live_nodes::LiveNode;
use crate::rules::rule::Stopped;

/// The claim to which a volume is bound: `spec.claimRef`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRef<'v> {
    pub namespace: &'v str,
    pub name: &'v str,
}

impl<'v> ClaimRef<'v> {
    /// Reads it from a PersistentVolume; `None` when the volume is bound to none.
    ///
    /// # Errors
    /// A wrong JSON type.
    pub fn read(volume: &Field<'v, '_>) -> Result<Option<Self>, Unreadable> {
        let spec = volume.get("spec")?;
        let claim = spec.get("claimRef")?;
        let (namespace, name) = (claim.string_of("namespace")?, claim.string_of("name")?);
        Ok(name
            .filter(|name| !name.is_empty())
            .map(|name| ClaimRef { namespace: namespace.unwrap_or("default"), name }))
    }
}

const ATTACHMENT: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE)])),
    ("spec", Fields(&[("nodeName", WHOLE), ("source", Fields(&[("persistentVolumeName", WHOLE)]))])),
]);

const CLAIM: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE)])),
    ("spec", Fields(&[("volumeName", WHOLE), ("volumeAttributesClassName", WHOLE)])),
    ("status", Fields(&[("currentVolumeAttributesClassName", WHOLE), ("modifyVolumeStatus", WHOLE)])),
]);

const POD: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("namespace", WHOLE)])),
    (
        "spec",
        Fields(&[
            ("nodeName", WHOLE),
            (
                "volumes",
                Fields(&[
                    ("name", WHOLE),
                    ("ephemeral", WHOLE),
                    ("persistentVolumeClaim", Fields(&[("claimName", WHOLE)])),
                ]),
            ),
        ]),
    ),
    ("status", Fields(&[("phase", WHOLE)])),
]);

/// Where a volume is in use: for each use in words its node.
///
/// Pods and attachments are kept apart, since pods say more.
#[derive(Debug, Default)]
struct Uses {
    pods: Labels,
    attachments: Labels,
}

/// What is found when the volume is attached to one of these nodes, or a pod that is not finished has it there. `nodes` are in
/// order of their names.
///
/// # Errors
/// When the budget is spent. The inner error is a kind that cannot be read.
pub fn in_use(
    live: &Live<'_>,
    volume: &str,
    claim: Option<ClaimRef<'_>>,
    nodes: &[&LiveNode],
    severity: Severity,
    budget: &mut Budget,
) -> Result<Result<Option<Finding>, Unread>, Stopped> {
    let lost = Names::of(nodes.iter().map(|node| node.name.as_str()));
    let mut uses = Uses::default();
    let mut exhausted = false;
    let attached = live.each(Kind::VolumeAttachment, ATTACHMENT, &mut |attachment| {
        exhausted |= budget.spend(EACH).is_err();
        let spec = attachment.get("spec")?;
        let of = spec.get("source")?.string_of("persistentVolumeName")?;
        if let Some(node) = spec.string_of("nodeName")?.filter(|node| of == Some(volume) && lost.contains(node)) {
            uses.attachments.insert(format!("attached to `{}`", short(node, 120)), node.to_owned());
        }
        Ok(())
    });
    let mounted = match claim {
        None => Ok(()),
        Some(claim) => is_bound_elsewhere(live, claim, volume).and_then(|elsewhere| match elsewhere {
            true => Ok(()),
            false => live.each(Kind::Pod, POD, &mut |pod| {
                exhausted |= budget.spend(EACH).is_err();
                if let Some((pod, node)) = use_of(pod, claim, &lost)? {
                    uses.pods.insert(format!("`{pod}` runs on `{}`", short(node, 120)), node.to_owned());
                }
                Ok(())
            }),
        }),
    };
    if exhausted {
        return Err(Stopped::Exhausted);
    }
    if let Err(unread) = attached.and(mounted) {
        return Ok(Err(unread));
    }
    Ok(Ok(finding(volume, claim, &uses).map(|finding| finding.with_severity(severity))))
}

/// Steps for each object of a list.
const EACH: usize = 5;

/// Whether a volume's claim is bound to another volume. A claim that is not there says nothing: pods may still name it.
fn is_bound_elsewhere(live: &Live<'_>, claim: ClaimRef<'_>, volume: &str) -> Result<bool, Unread> {
    let bound = live.get(Kind::PersistentVolumeClaim, Some(claim.namespace), claim.name, NOW, |object| {
        Ok(object.get("spec")?.string_of("volumeName")?.is_some_and(|bound| !bound.is_empty() && bound != volume))
    })?;
    Ok(bound.unwrap_or(false))
}

const NOW: Wanted = Wanted { fields: CLAIM, freshness: Freshness::Now };

/// The pod, as `namespace/name`, and its node, where it uses the claim on one of these nodes.
fn use_of<'v>(
    pod: &Field<'v, '_>,
    claim: ClaimRef<'_>,
    lost: &Names<'_>,
) -> Result<Option<(String, &'v str)>, Unreadable> {
    let spec = pod.get("spec")?;
    let Some(node) = spec.string_of("nodeName")?.filter(|node| lost.contains(node)) else { return Ok(None) };
    let metadata = pod.get("metadata")?;
    let namespace = metadata.string_of("namespace")?.unwrap_or("default");
    if namespace != claim.namespace || is_finished(pod)? {
        return Ok(None);
    }
    let name = metadata.get("name")?.required_string()?;
    for volume in spec.get("volumes")?.items()? {
        let named = volume.get("persistentVolumeClaim")?.string_of("claimName")? == Some(claim.name);
        // The claim of a generic ephemeral volume is named after the pod and the volume.
        let of_pod = || claim.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        let ephemeral = volume.get("ephemeral")?.is_present()
            && of_pod().is_some_and(|rest| volume.string_of("name") == Ok(Some(rest)));
        if named || ephemeral {
            return Ok(Some((format!("{}/{}", short(namespace, 63), short(name, 120)), node)));
        }
    }
    Ok(None)
}

fn finding(volume: &str, claim: Option<ClaimRef<'_>>, uses: &Uses) -> Option<Finding> {
    const MOST: usize = 10;
    let volume = short(volume, 120);
    let headline = match (uses.pods.first_key_value(), uses.attachments.first_key_value()) {
        (Some((pod, _)), _) => format!("volume in use: {pod}, a node that loses volume `{volume}`"),
        (None, Some((_, node))) => {
            format!("volume in use: volume `{volume}` is attached to node `{}`, which loses it", short(node, 120))
        }
        (None, None) => return None,
    };
    let shown = uses.pods.keys().chain(uses.attachments.keys()).cloned();
    let used = format!("in use: {}", first_few(shown, MOST, ", "));
    let mut finding = Finding::new(Code::VolumeInUse, headline).at(AFFINITY, "").detail(used);
    if let Some(claim) = claim {
        finding = finding.detail(format!("claim: `{}/{}`", short(claim.namespace, 63), short(claim.name, 120)));
    }
    Some(
        finding
            .detail("a pod that starts again there cannot reach its volume")
            .detail("accepted: an affinity that keeps these nodes; or move the pods to other nodes first"),
    )
}

/// What is found when the claim's change to another VolumeAttributesClass has not ended: the storage has not moved yet.
///
/// # Errors
/// When the claim cannot be read.
pub fn modification_in_flight(live: &Live<'_>, volume: &str, claim: ClaimRef<'_>) -> Result<Option<Finding>, Unread> {
    let state = live.get(Kind::PersistentVolumeClaim, Some(claim.namespace), claim.name, NOW, |object| {
        let (spec, status) = (object.get("spec")?, object.get("status")?);
        let modify = status.get("modifyVolumeStatus")?;
        let wanted = spec.string_of("volumeAttributesClassName")?.unwrap_or_default();
        let current = status.string_of("currentVolumeAttributesClassName")?.unwrap_or_default();
        let bound = spec.string_of("volumeName")?;
        let settled = wanted == current && !modify.is_present() || bound != Some(volume);
        let target = modify.string_of("targetVolumeAttributesClassName")?.unwrap_or(wanted);
        let how = modify.string_of("status")?.unwrap_or("not begun");
        Ok((!settled).then(|| (short(current, 120), short(target, 120), short(how, 40))))
    })?;
    let Some((current, target, how)) = state.flatten() else { return Ok(None) };
    let (volume, claim) = (short(volume, 120), format!("{}/{}", short(claim.namespace, 63), short(claim.name, 120)));
    let class = |name: &str| if name.is_empty() { String::from("no class") } else { format!("class `{name}`") };
    let headline = format!(
        "volume modification in flight: claim `{claim}` of volume `{volume}` changes from {} to {}",
        class(&current),
        class(&target)
    );
    Ok(Some(
        Finding::new(Code::VolumeModificationInFlight, headline)
            .at(AFFINITY, "")
            .detail(format!("status.modifyVolumeStatus of the claim: {how}"))
            .detail("the storage must move before the affinity of the volume says where it is")
            .detail("accepted: the same edit when the change of the claim has ended"),
    ))
}
