//! The claims that a pod uses.

use super::claim::class_of_claim;
use super::field::{Field, Unreadable};
use super::names::Names;
use crate::logic::{Budget, Exhausted};

/// A claim that a pod uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodClaim {
    pub name: String,
    /// The field of the pod that makes it use the claim.
    pub path: String,
    /// The class in the template of a generic ephemeral volume, empty when it names none; `None` for a claim that is named.
    pub template_class: Option<String>,
}

/// Steps for a volume of the pod.
const STEPS_FOR_A_VOLUME: usize = 60;

/// The claims of a pod of this name, each once, in the order of its volumes. The claim of a generic ephemeral volume is named
/// after the pod and the volume (`ephemeral.VolumeClaimName`, component-helpers, Kubernetes 1.36).
///
/// # Errors
/// A wrong JSON type; within the result, more volumes than the budget allows.
pub fn claims_of_pod(
    pod: &Field<'_, '_>,
    name: &str,
    budget: &mut Budget,
) -> Result<Result<Vec<PodClaim>, Exhausted>, Unreadable> {
    let spec = pod.get("spec")?;
    let volumes = spec.get("volumes")?;
    if budget.spend(volumes.items()?.len().saturating_mul(STEPS_FOR_A_VOLUME)).is_err() {
        return Ok(Err(Exhausted));
    }
    let mut claims = Vec::new();
    let mut named = Names::default();
    for volume in volumes.items()? {
        let (source, ephemeral) = (volume.get("persistentVolumeClaim")?, volume.get("ephemeral")?);
        let claim = source.get("claimName")?;
        if let Some(name) = claim.string()?.filter(|name| named.add(name, 0)) {
            claims.push(PodClaim { name: name.to_owned(), path: claim.path_in_object(), template_class: None });
        }
        if ephemeral.is_present() {
            claims.push(PodClaim {
                name: format!("{name}-{}", volume.get("name")?.required_string()?),
                path: ephemeral.path_in_object(),
                template_class: Some(class_of_claim(&ephemeral.get("volumeClaimTemplate")?)?.to_owned()),
            });
        }
    }
    Ok(Ok(claims))
}
