//! Pod templates: where each kind of workload keeps the pod that it makes.

use super::field::{Field, Unreadable};

/// The kinds that carry a pod, each with its API group and the steps from the object to what holds `metadata` and `spec`
/// of the pod. A Pod is its own template.
const TEMPLATES: &[(&str, &str, &[&str])] = &[
    ("", "Pod", &[]),
    ("", "PodTemplate", &["template"]),
    ("", "ReplicationController", &["spec", "template"]),
    ("apps", "DaemonSet", &["spec", "template"]),
    ("apps", "Deployment", &["spec", "template"]),
    ("apps", "ReplicaSet", &["spec", "template"]),
    ("apps", "StatefulSet", &["spec", "template"]),
    ("batch", "Job", &["spec", "template"]),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template"]),
];

/// The lists of containers in a pod's spec, in the order in which they start.
pub const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// The pod that an object is, or that it makes. Both fields know their path in the object, for instance
/// `spec.jobTemplate.spec.template.spec`; both are absent where there is no template.
#[derive(Debug, Clone, Copy)]
pub struct PodTemplate<'v, 'p> {
    pub metadata: Field<'v, 'p>,
    pub spec: Field<'v, 'p>,
}

/// Whether objects of this kind are pods or make pods.
pub fn has_pod(group: &str, kind: &str) -> bool {
    steps(group, kind).is_some()
}

/// Reads the pod of an object of this kind; `None` when the kind carries no pod.
///
/// # Errors
/// A wrong JSON type on the way to the pod, and whatever `read` complains of.
pub fn with_pod<'v, R>(
    object: &Field<'v, '_>,
    group: &str,
    kind: &str,
    read: impl FnOnce(&PodTemplate<'v, '_>) -> Result<R, Unreadable>,
) -> Result<Option<R>, Unreadable> {
    let Some(steps) = steps(group, kind) else { return Ok(None) };
    let (mut read, mut result) = (Some(read), None);
    descend(object, steps, &mut |pod| {
        result = read.take().map(|read| read(pod)).transpose()?;
        Ok(())
    })?;
    Ok(result)
}

/// Whether all containers of a pod have ended for good: `status.phase`.
///
/// # Errors
/// A wrong JSON type.
pub fn is_finished(pod: &Field<'_, '_>) -> Result<bool, Unreadable> {
    Ok(matches!(pod.get("status")?.string_of("phase")?, Some("Succeeded" | "Failed")))
}

fn steps(group: &str, kind: &str) -> Option<&'static [&'static str]> {
    TEMPLATES.iter().find(|(of_group, of_kind, _)| *of_group == group && *of_kind == kind).map(|(_, _, steps)| *steps)
}

/// Fields borrow their parents, so each step is a call. One copy for all that is read of pods: each would add a kilobyte.
fn descend<'v>(
    field: &Field<'v, '_>,
    steps: &[&str],
    read: &mut dyn FnMut(&PodTemplate<'v, '_>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    match steps.split_first() {
        Some((step, rest)) => descend(&field.get(step)?, rest, read),
        None => read(&PodTemplate { metadata: field.get("metadata")?, spec: field.get("spec")? }),
    }
}
