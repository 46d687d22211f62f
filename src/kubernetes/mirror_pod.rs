//! Mirror pods: what a node shows the API server of its static pods.

use super::field::{Field, Unreadable};
use super::owner::is_owned_by;
use super::request::Request;

/// Whether a pod is the mirror of a static pod. The node runs a static pod whatever the API server answers: a refusal
/// only hides it.
///
/// The node itself must have created the mirror. In an audit, where the creator is not known, a node must own
/// it. The annotation alone proves nothing, since anyone may write it. A pod template is never a mirror.
///
/// # Errors
/// A wrong JSON type in what decides it.
pub fn is_mirror_pod(request: &Request<'_, '_>, metadata: &Field<'_, '_>) -> Result<bool, Unreadable> {
    let annotations = metadata.get("annotations")?;
    if request.kind != "Pod" || annotations.get("kubernetes.io/config.mirror")?.string()?.is_none() {
        return Ok(false);
    }
    let by_node = request.user.groups.contains(&"system:nodes");
    Ok(by_node || (request.is_audit() && is_owned_by(metadata, "v1", "Node")?))
}
