//! Part of `volumeBinding`: from the claims of a pod to their volumes.

use super::Halt;
use crate::kubernetes::claim::class_of_claim;
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::owner::is_controlled_by;
use crate::kubernetes::picked::{Fields, WHOLE};
use crate::kubernetes::pod_claims::PodClaim;
use crate::kubernetes::volume::Volume;
use crate::kubernetes::zone_labels::ZoneLabels;
use crate::logic::Budget;
use crate::rules::cluster::{Freshness, Live, Wanted};

/// Steps for reading an object of the cluster: a request makes a few hundred reads at most.
pub const STEPS_TO_READ: usize = 3_000;

/// What is read of a claim: its volume, and its class as well.
pub const CLAIM: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("ownerReferences", WHOLE)])),
    ("spec", Fields(&[("volumeName", WHOLE)])),
]);
pub const CLAIM_AND_CLASS: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("annotations", WHOLE), ("ownerReferences", WHOLE)])),
    ("spec", Fields(&[("storageClassName", WHOLE), ("volumeName", WHOLE)])),
]);

const VOLUME: Fields = Fields(&[
    ("metadata", Fields(&[("name", WHOLE), ("labels", WHOLE)])),
    (
        "spec",
        Fields(&[
            ("nodeAffinity", WHOLE),
            ("awsElasticBlockStore", WHOLE),
            ("cinder", WHOLE),
            ("gcePersistentDisk", WHOLE),
        ]),
    ),
]);

/// What a claim has.
#[derive(Debug, Default)]
pub struct Bound {
    /// Its volume; empty when it has none yet.
    pub volume: String,
    /// Its StorageClass; empty when it names none.
    pub class: String,
}

/// Reads a claim of a pod with this UID; `None` when it is not there. The volume of a claim never changes, so only a claim
/// without one is asked for again. The claim of an ephemeral volume counts only when it belongs to the pod: the kubelet waits
/// for it otherwise.
pub fn read_claim(
    live: &Live<'_>,
    namespace: &str,
    (claim, fields): (&PodClaim, Fields),
    uid: &str,
    budget: &mut Budget,
) -> Result<Option<Bound>, Halt> {
    let read = |object: &Field<'_, '_>| -> Result<Bound, Unreadable> {
        if claim.template_class.is_some() && !is_controlled_by(&object.get("metadata")?, uid)? {
            return Ok(Bound::default());
        }
        let volume = object.get("spec")?.string_of("volumeName")?.unwrap_or_default().to_owned();
        Ok(Bound { volume, class: class_of_claim(object)?.to_owned() })
    };
    let mut bound = None;
    for freshness in [Freshness::Held, Freshness::Now] {
        budget.spend(STEPS_TO_READ)?;
        let wanted = Wanted { fields, freshness };
        bound = live.get(Kind::PersistentVolumeClaim, Some(namespace), &claim.name, wanted, read)?;
        if bound.as_ref().is_none_or(|bound| !bound.volume.is_empty()) {
            break;
        }
    }
    Ok(bound)
}

/// Reads the volume of a claim as it is now, and pays for matching it with a node twice; `None` when it is not there. The labels
/// of a volume do not count for an ephemeral claim, which the scheduler's VolumeZone plugin passes over
/// (`getPersistentVolumeClaimNameFromPod`, Kubernetes 1.36).
pub fn read_volume(live: &Live<'_>, claim: &PodClaim, name: &str, budget: &mut Budget) -> Result<Option<Volume>, Halt> {
    budget.spend(STEPS_TO_READ)?;
    let wanted = Wanted { fields: VOLUME, freshness: Freshness::Now };
    let volume = live.get(Kind::PersistentVolume, None, name, wanted, |object| {
        let steps = Volume::steps_to_read(object)?;
        Ok(match budget.spend(steps.saturating_mul(3)) {
            Ok(()) => {
                let mut volume = Volume::read(object)?;
                if claim.template_class.is_some() {
                    volume.zone_labels = ZoneLabels::default();
                }
                Ok(volume)
            }
            Err(exhausted) => Err(exhausted),
        })
    })?;
    Ok(volume.transpose()?)
}
