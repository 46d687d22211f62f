//! `hostPath` volumes of pods, and how their containers mount them.

use std::collections::BTreeMap;

use super::field::{Field, Unreadable};
use super::pod::{CONTAINER_LISTS, PodTemplate};
use crate::logic::{Budget, Exhausted};

/// Steps to visit one volume, container or mount and to read a few of its fields.
const STEPS_EACH: usize = 20;

/// What a mount lets its container do with a folder of the node, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Read the folder and everything that is mounted below it: `recursiveReadOnly: Enabled`.
    RecursiveReadOnly,
    /// Read the folder. What the node has mounted below it stays writable. `recursiveReadOnly: IfPossible` promises
    /// no more, because a runtime without support for it mounts the folder plainly.
    ReadOnly,
    ReadWrite,
}

/// One mount of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mount<'v> {
    /// The name of the container.
    pub container: &'v str,
    pub access: Access,
}

/// A `hostPath` volume of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPathVolume<'v> {
    pub name: &'v str,
    /// As it is written.
    pub path: &'v str,
    /// `DirectoryOrCreate` or `FileOrCreate`: the kubelet makes what is not there.
    pub creates: Option<&'v str>,
    /// The position in the pod's list of volumes.
    pub index: usize,
    mounts: Vec<Mount<'v>>,
}

/// The `hostPath` volumes of a pod, mounted or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostPaths<'v> {
    pub volumes: Vec<HostPathVolume<'v>>,
    /// The path of the list of volumes in the object.
    pub field: String,
    /// The position of the first volume of each name. The API server refuses a name that appears twice.
    by_name: BTreeMap<&'v str, u32>,
}

impl<'v> HostPaths<'v> {
    /// The first volume of this name.
    pub fn named(&self, name: &str) -> Option<&HostPathVolume<'v>> {
        self.volumes.get(usize::try_from(*self.by_name.get(name)?).ok()?)
    }

    /// The mounts of the volumes of this name in containers of all kinds, in the order of the document.
    pub fn mounts(&self, name: &str) -> &[Mount<'v>] {
        self.named(name).map_or(&[], |volume| &volume.mounts)
    }
}

/// Reads every `hostPath` volume of a pod, mounted or not. `Err` inside when the budget is spent.
///
/// # Errors
/// A wrong JSON type in volumes or mounts.
pub fn read_host_paths<'v>(
    pod: &PodTemplate<'v, '_>,
    budget: &mut Budget,
) -> Result<Result<HostPaths<'v>, Exhausted>, Unreadable> {
    let volumes = pod.spec.get("volumes")?;
    let mut found = HostPaths { field: volumes.path_in_object(), ..HostPaths::default() };
    let Ok(()) = spend_on_each(&volumes, budget)? else { return Ok(Err(Exhausted)) };
    for (index, volume) in volumes.items()?.enumerate() {
        let source = volume.get("hostPath")?;
        if source.is_present() {
            let name = volume.string_of("name")?.unwrap_or_default();
            let position = u32::try_from(found.volumes.len()).unwrap_or(u32::MAX);
            // A name goes into a map.
            let Ok(()) = budget.spend(STEPS_EACH / 2) else { return Ok(Err(Exhausted)) };
            found.by_name.entry(name).or_insert(position);
            let path = source.string_of("path")?.unwrap_or_default();
            let creates = source.string_of("type")?.filter(|kind| kind.ends_with("OrCreate"));
            found.volumes.push(HostPathVolume { name, path, creates, index, mounts: Vec::new() });
        }
    }
    if found.volumes.is_empty() {
        return Ok(Ok(found));
    }
    for list in CONTAINER_LISTS {
        let list = pod.spec.get(list)?;
        let Ok(()) = spend_on_each(&list, budget)? else { return Ok(Err(Exhausted)) };
        for container in list.items()? {
            let name = container.string_of("name")?.unwrap_or_default();
            let mounts = container.get("volumeMounts")?;
            let Ok(()) = spend_on_each(&mounts, budget)? else { return Ok(Err(Exhausted)) };
            for mount in mounts.items()? {
                let volume = mount.string_of("name")?.unwrap_or_default();
                let access = read_access(&mount)?;
                let position = found.by_name.get(volume).and_then(|position| usize::try_from(*position).ok());
                if let Some(volume) = position.and_then(|position| found.volumes.get_mut(position)) {
                    volume.mounts.push(Mount { container: name, access });
                }
            }
        }
    }
    Ok(Ok(found))
}

fn spend_on_each(list: &Field<'_, '_>, budget: &mut Budget) -> Result<Result<(), Exhausted>, Unreadable> {
    Ok(budget.spend(list.items()?.len().saturating_mul(STEPS_EACH)))
}

/// What a mount lets its container do (`VolumeMount` in `core/v1`, Kubernetes 1.36). With `Bidirectional` what the container
/// mounts appears on the node, so such a mount is never read-only.
fn read_access(mount: &Field<'_, '_>) -> Result<Access, Unreadable> {
    let read_only = mount.boolean_of("readOnly")?.unwrap_or(false);
    let recursive = mount.string_of("recursiveReadOnly")? == Some("Enabled");
    let propagates = mount.string_of("mountPropagation")? == Some("Bidirectional");
    Ok(match (read_only && !propagates, recursive) {
        (false, _) => Access::ReadWrite,
        (true, false) => Access::ReadOnly,
        (true, true) => Access::RecursiveReadOnly,
    })
}
