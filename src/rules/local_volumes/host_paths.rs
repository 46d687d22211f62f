//! Part of `localVolumes`: which paths of a node pods may use, and how.
//!
//! This covers a pod with a `hostPath` volume and a PersistentVolume with `hostPath` or `local`. Otherwise a claim would
//! walk round the rule.

use std::collections::BTreeMap;

use super::prefixes::{Prefixes, of_node, shown_path};
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::host_path::{Access, HostPathVolume, HostPaths, Mount, read_host_paths};
use crate::kubernetes::mirror_pod::is_mirror_pod;
use crate::kubernetes::pod::{has_pod, with_pod};
use crate::kubernetes::request::Request;
use crate::logic::Budget;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::rule::Stopped;

/// Whether the request can bring new volumes or mounts: a pod, what makes pods, or ephemeral containers for a pod, which
/// are stored through a sub-resource and may mount what the pod has.
pub fn brings_mounts(request: &Request<'_, '_>) -> bool {
    match request.sub_resource {
        None => has_pod(request.group, request.kind),
        Some(name) => name == "ephemeralcontainers" && (request.group, request.kind) == ("", "Pod"),
    }
}

/// Judges the `hostPath` volumes of a pod, or of what makes pods. Mirror pods are not judged.
///
/// A volume must lie within a prefix, mounted or not. How it may be used is judged where a container mounts it. On an
/// UPDATE a volume that was there is left alone, unless a container may do more with it than before.
///
/// # Errors
/// A wrong JSON type in volumes and mounts, and a spent budget.
pub fn judge_pod(
    allowed: &Prefixes,
    request: &Request<'_, '_>,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<(), Stopped> {
    let pod = request.new_state()?;
    if is_mirror_pod(request, &pod.get("metadata")?)? {
        return Ok(());
    }
    let old = request.old_state()?;
    if let Some(old) = old
        && is_untouched(request, pod, old)?
    {
        return Ok(());
    }
    let Some(new) = read(pod, request, budget)? else { return Ok(()) };
    let old = match old {
        Some(pod) => read(pod, request, budget)?.unwrap_or_default(),
        None => HostPaths::default(),
    };
    let mut not_allowed = Few::new(Code::HostPathNotAllowed, "volumes");
    let mut not_recursive = Few::new(Code::HostPathNotRecursive, "volumes");
    let mut judge_volumes = || -> Result<(), Stopped> {
        for volume in &new.volumes {
            let mounts = new.mounts(volume.name);
            budget.spend(mounts.len().saturating_add(old.mounts(volume.name).len()).saturating_mul(10))?;
            if gives_no_more(volume, mounts, &old) {
                continue;
            }
            let most = allowed.most(volume.path, budget)?;
            if let Some(excess) = Excess::of(most, volume, mounts) {
                not_allowed.push_with(|| excess.finding(&new.field, volume, allowed));
            } else if most == Some(Access::ReadOnly)
                && let Some(mount) = mounts.iter().find(|mount| mount.access == Access::ReadOnly)
            {
                not_recursive.push_with(|| not_recursive_finding(&new.field, volume, mount.container));
            }
        }
        Ok(())
    };
    let judged = judge_volumes();
    report.find_few(not_allowed);
    report.find_few(not_recursive);
    judged
}

/// Whether the pod's spec is the same JSON as before. A pod that is too large to be judged must still give up its
/// finalizers.
fn is_untouched(request: &Request<'_, '_>, new: &Field<'_, '_>, old: &Field<'_, '_>) -> Result<bool, Unreadable> {
    let (group, kind) = (request.group, request.kind);
    let same = with_pod(new, group, kind, |new| with_pod(old, group, kind, |old| Ok(old.spec.is_same(&new.spec))))?;
    Ok(same.flatten().unwrap_or(false))
}

fn read<'v>(
    object: &Field<'v, '_>,
    request: &Request<'_, '_>,
    budget: &mut Budget,
) -> Result<Option<HostPaths<'v>>, Stopped> {
    Ok(with_pod(object, request.group, request.kind, |pod| read_host_paths(pod, budget))?.transpose()?)
}

/// In what a volume exceeds what the prefixes allow.
enum Excess<'v> {
    /// It lies within no prefix.
    Path,
    /// The kubelet makes what is not there, below a read-only prefix.
    Creates(&'v str),
    /// A container may do more than the prefix allows.
    Mount(Access, Mount<'v>),
}

impl<'v> Excess<'v> {
    fn of(most: Option<Access>, volume: &HostPathVolume<'v>, mounts: &[Mount<'v>]) -> Option<Self> {
        let Some(most) = most else { return Some(Excess::Path) };
        if most == Access::ReadWrite {
            return None;
        }
        let creates = volume.creates.map(Excess::Creates);
        let mount = || mounts.iter().find(|mount| mount.access > most).map(|mount| Excess::Mount(most, *mount));
        creates.or_else(mount)
    }

    fn finding(&self, volumes: &str, volume: &HostPathVolume<'_>, allowed: &Prefixes) -> Finding {
        let (name, path) = (short(volume.name, 63), of_node(volume.path));
        let (headline, accepted) = match self {
            Excess::Path => (format!("volume `{name}` gives its pod {path}"), None),
            Excess::Creates(kind) => (
                format!("`type: {kind}` of volume `{name}` may create {path}, which is allowed only as read-only"),
                Some("accepted: `type: Directory` or another type that creates nothing on the node"),
            ),
            Excess::Mount(most, Mount { container, access: Access::ReadWrite }) => (
                format!("container `{}` may write to {path}, which is allowed only as read-only", short(container, 63)),
                Some(match most {
                    Access::RecursiveReadOnly => MOUNT_RECURSIVELY,
                    _ => {
                        "accepted: `readOnly: true` without `mountPropagation: Bidirectional` on every mount of the \
                         volume"
                    }
                }),
            ),
            Excess::Mount(_, Mount { container, .. }) => (
                format!(
                    "container `{}` may write to what is mounted below {path}, which is allowed only as recursively \
                     read-only",
                    short(container, 63)
                ),
                Some(MOUNT_RECURSIVELY),
            ),
        };
        let finding = Finding::new(Code::HostPathNotAllowed, format!("host path not allowed: {headline}"))
            .at(field_of(volumes, volume), &shown_path(volume.path));
        let accepted = accepted.map(str::to_owned).into_iter().chain([allowed.describe("hostPaths")]);
        accepted.fold(finding, Finding::detail)
    }
}

const MOUNT_RECURSIVELY: &str = "accepted: `readOnly: true` with `recursiveReadOnly: Enabled` on every mount of the \
    volume; `IfPossible` does not guarantee it";

fn not_recursive_finding(volumes: &str, volume: &HostPathVolume<'_>, container: &str) -> Finding {
    let headline = format!(
        "host path not recursively read-only: container `{}` may write to what is mounted below {}",
        short(container, 63),
        of_node(volume.path)
    );
    Finding::new(Code::HostPathNotRecursive, headline).at(field_of(volumes, volume), &shown_path(volume.path)).detail(
        "to prevent this, set `recursiveReadOnly: Enabled` on the mount; to require that, set `readOnly: recursive` in \
         `hostPaths`",
    )
}

fn field_of(volumes: &str, volume: &HostPathVolume<'_>) -> String {
    format!("{volumes}[{}].hostPath.path", volume.index)
}

/// Whether a volume is the same as before, and no container may do with it what it could not do then.
fn gives_no_more(new: &HostPathVolume<'_>, mounts: &[Mount<'_>], old: &HostPaths<'_>) -> bool {
    let Some(before) = old.named(new.name) else { return false };
    if before.path != new.path || (new.creates.is_some() && new.creates != before.creates) {
        return false;
    }
    // For each container the mount that let it do most.
    let had = old.mounts(new.name);
    let mut most: BTreeMap<&str, u32> = BTreeMap::new();
    let access =
        |position: u32| usize::try_from(position).ok().and_then(|position| had.get(position)).map(|had| had.access);
    for (position, mount) in (0_u32..).zip(had) {
        let known = most.entry(mount.container).or_insert(position);
        if Some(mount.access) > access(*known) {
            *known = position;
        }
    }
    mounts.iter().all(|mount| most.get(mount.container).and_then(|known| access(*known)) >= Some(mount.access))
}

/// Which field of a PersistentVolume names a path of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Local,
    HostPath,
}

impl Source {
    /// The name of the field below `spec`.
    pub fn field(self) -> &'static str {
        match self {
            Source::Local => "local",
            Source::HostPath => "hostPath",
        }
    }
}

/// Judges the path of a PersistentVolume. It is not known how its claims will be mounted, so pods may write it.
///
/// # Errors
/// A spent budget.
pub fn judge_volume(
    allowed: &Prefixes,
    source: Source,
    path: &str,
    name: &str,
    budget: &mut Budget,
    report: &mut Report,
) -> Result<(), Stopped> {
    let most = allowed.most(path, budget)?;
    if most == Some(Access::ReadWrite) {
        return Ok(());
    }
    let (code, what, own) = match source {
        Source::Local => (Code::LocalPathNotAllowed, "local path", "paths"),
        Source::HostPath => (Code::HostPathNotAllowed, "host path", "hostPaths"),
    };
    let headline = format!("{what} not allowed: volume `{name}` gives pods {}", of_node(path));
    let mut finding = Finding::new(code, headline).at(format!("spec.{}.path", source.field()), &shown_path(path));
    if most.is_some() {
        finding = finding.detail(
            "the path is allowed only as read-only, and nothing in a PersistentVolume keeps a pod from writing to it",
        );
    }
    report.find(finding.detail(allowed.describe(own)));
    Ok(())
}
