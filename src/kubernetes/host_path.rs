//! `hostPath` volumes of pods, and how their containers mount them.

use super::field::Unreadable;
use super::pod::{CONTAINER_LISTS, PodTemplate};

/// A `hostPath` volume of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPathVolume<'v> {
    pub name: &'v str,
    /// As it is written.
    pub path: &'v str,
    /// The path of the field in the object.
    pub field: String,
    /// The mounts of it in containers of all kinds: the container's name, and whether it is for reading only.
    pub mounts: Vec<(&'v str, bool)>,
}

/// Reads every `hostPath` volume of a pod, mounted or not.
///
/// # Errors
/// A wrong JSON type in volumes or mounts.
pub fn read_host_paths<'v>(pod: &PodTemplate<'v, '_>) -> Result<Vec<HostPathVolume<'v>>, Unreadable> {
    let mut found: Vec<HostPathVolume<'v>> = Vec::new();
    let volumes = pod.spec.get("volumes")?;
    for volume in volumes.items()? {
        let source = volume.get("hostPath")?;
        if source.is_present() {
            let path = source.get("path")?;
            found.push(HostPathVolume {
                name: volume.string_of("name")?.unwrap_or_default(),
                path: path.string()?.unwrap_or_default(),
                field: path.path_in_object(),
                mounts: Vec::new(),
            });
        }
    }
    if found.is_empty() {
        return Ok(found);
    }
    for list in CONTAINER_LISTS {
        let list = pod.spec.get(list)?;
        for container in list.items()? {
            let container_name = container.string_of("name")?.unwrap_or_default();
            let mounts = container.get("volumeMounts")?;
            for mount in mounts.items()? {
                let name = mount.string_of("name")?.unwrap_or_default();
                let read_only = mount.boolean_of("readOnly")?.unwrap_or(false);
                for volume in found.iter_mut().filter(|volume| volume.name == name) {
                    volume.mounts.push((container_name, read_only));
                }
            }
        }
    }
    Ok(found)
}
