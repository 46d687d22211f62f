//! `localVolumes`: volumes that are a piece of one node.
//!
//! Judged are `local` PersistentVolumes (where they can be used, which path of the node they are, and who makes them),
//! `hostPath` in PersistentVolumes and in pods, and the StorageClasses of volumes that nobody provisions. On an UPDATE
//! nothing that stays as it is is judged.

mod host_paths;
mod pinned;

use self::host_paths::{Prefixes, Verdict, shown_path};
use self::pinned::{Place, moved, not_pinned};
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::pod::has_pod;
use crate::kubernetes::request::Request;
use crate::kubernetes::storage_class::{NO_PROVISIONER, StorageClass, WAIT_FOR_FIRST_CONSUMER};
use crate::kubernetes::volume::{Affinity, Volume};
use crate::kubernetes::volume_source::VolumeSource;
use crate::logic::Budget;
use crate::logic::Domain;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Finding};
use crate::rules::rule::{Rule, Stopped};
use crate::rules::section::{only_keys, when_cluster_unreadable};

/// The label by which a node is named where the settings name no other.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// The section's settings.
#[derive(Debug)]
pub struct LocalVolumes {
    pinned: bool,
    pinned_by: Vec<String>,
    own_node_only: bool,
    /// `None` when paths are not judged.
    paths: Option<Prefixes>,
    host_paths: Option<Prefixes>,
    wait_for_first_consumer: bool,
}

impl LocalVolumes {
    /// # Errors
    /// Whatever is not exactly understood.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(
            section,
            &[
                "pinned",
                "pinnedBy",
                "ownNodeOnly",
                "paths",
                "hostPaths",
                "waitForFirstConsumer",
                "whenClusterUnreadable",
            ],
        )?;
        when_cluster_unreadable(section)?;
        let flag = |name: &str| Ok(section.boolean_of(name)?.unwrap_or(false));
        let (pinned, own_node_only) = (flag("pinned")?, flag("ownNodeOnly")?);
        let keys = section.get("pinnedBy")?;
        if keys.is_present() && !pinned && !own_node_only {
            return Err(keys.unreadable("says nothing without `pinned: true` or `ownNodeOnly: true`"));
        }
        Ok(LocalVolumes {
            pinned,
            pinned_by: read_keys(&keys)?,
            own_node_only,
            paths: Prefixes::read_paths(&section.get("paths")?)?,
            host_paths: Prefixes::read_entries(&section.get("hostPaths")?)?,
            wait_for_first_consumer: flag("waitForFirstConsumer")?,
        })
    }
}

fn read_keys(list: &Field<'_, '_>) -> Result<Vec<String>, Unreadable> {
    if !list.is_present() {
        return Ok(vec![HOSTNAME.to_owned()]);
    }
    let read_key = |item: &Field<'_, '_>| match item.required_string()? {
        key if Domain::Name.contains(key) => Ok(key.to_owned()),
        _ => Err(item.unacceptable("a label key")),
    };
    let keys = list.each(read_key)?;
    if keys.is_empty() {
        return Err(list.unreadable("is empty, so no volume could be pinned"));
    }
    Ok(keys)
}

impl Rule for LocalVolumes {
    fn judge(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        if !request.stores() {
            return Ok(());
        }
        if request.is_about("", "PersistentVolume") {
            return self.judge_volume(request, budget, report);
        }
        if request.is_about("storage.k8s.io", "StorageClass") && self.wait_for_first_consumer {
            return Ok(judge_class(request, report)?);
        }
        match &self.host_paths {
            Some(allowed) if brings_mounts(request) => host_paths::judge_pod(allowed, request, budget, report),
            _ => Ok(()),
        }
    }
}

/// Whether the request can bring new volumes or mounts: a pod, what makes pods, or ephemeral containers for a pod, which
/// are stored through a sub-resource and may mount what the pod has.
fn brings_mounts(request: &Request<'_, '_>) -> bool {
    match request.sub_resource {
        None => has_pod(request.group, request.kind),
        Some(name) => name == "ephemeralcontainers" && (request.group, request.kind) == ("", "Pod"),
    }
}

/// A `local` PersistentVolume.
struct Local<'v> {
    path: &'v str,
    affinity: Affinity,
    place: Place,
}

impl LocalVolumes {
    fn judge_volume(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        let name = short(request.object_name()?, 120);
        let new = VolumeSource::read(request.new_state()?)?;
        let old = request.old_state()?.map(VolumeSource::read).transpose()?;
        if let (Some(allowed), Some(path)) = (&self.host_paths, new.host_path) {
            let old = old.as_ref().and_then(|old| old.host_path);
            host_paths::judge_volume(allowed, path, old, &name, report);
        }
        let before = match &old {
            Some(old) => self.read_local(old, request.old_state()?, budget)?,
            None => None,
        };
        if let Some(now) = self.read_local(&new, Some(request.new_state()?), budget)? {
            self.judge_local(&name, &now, before.as_ref(), report);
            self.judge_requester(&name, &now, before.as_ref(), request, report)?;
        }
        Ok(())
    }

    fn read_local<'v>(
        &self,
        source: &VolumeSource<'v>,
        object: Option<&Field<'_, '_>>,
        budget: &mut Budget,
    ) -> Result<Option<Local<'v>>, Unreadable> {
        let (Some(path), Some(object)) = (source.local_path, object) else { return Ok(None) };
        // A section that judges paths alone does not read who may use the volume.
        let reads_affinity = self.pinned || self.own_node_only;
        let affinity = if reads_affinity { Volume::read(object)?.affinity } else { Affinity::Absent };
        Ok(Some(Local { path, place: Place::of(&affinity, &self.pinned_by, budget), affinity }))
    }

    fn judge_local(&self, name: &str, now: &Local<'_>, before: Option<&Local<'_>>, report: &mut Report) {
        if let Some(allowed) = &self.paths
            && before.is_none_or(|before| before.path != now.path)
            && allowed.verdict(now.path) == Verdict::Nothing
        {
            let headline = format!("local path not allowed: volume `{name}` is `{}` of its node", short(now.path, 200));
            let finding = Finding::new(Code::LocalPathNotAllowed, headline)
                .detail(shown_path("spec.local.path", now.path))
                .detail(allowed.describe());
            report.find(finding);
        }
        if self.pinned && before.is_none_or(|before| before.affinity != now.affinity) {
            let pinned = not_pinned(name, &now.affinity, &now.place, &self.pinned_by);
            let moved = before.and_then(|before| moved(name, &now.affinity, &before.place, &now.place));
            pinned.into_iter().chain(moved).for_each(|finding| report.find(finding));
        }
    }

    /// A requester whose credentials are bound to a node makes and changes local volumes of that node alone. What is not in
    /// the spec may change, so that finalizers come off.
    fn judge_requester(
        &self,
        name: &str,
        now: &Local<'_>,
        before: Option<&Local<'_>>,
        request: &Request<'_, '_>,
        report: &mut Report,
    ) -> Result<(), Unreadable> {
        let Some(node) = request.user.node.filter(|_| self.own_node_only) else { return Ok(()) };
        if let Some(old) = request.old_state()?
            && old.get("spec")?.is_same(&request.new_state()?.get("spec")?)
        {
            return Ok(());
        }
        let foreign = before.into_iter().chain([now]).find(|volume| !volume.place.is_node(node));
        if let Some(foreign) = foreign {
            let verb = if before.is_some() { "changes" } else { "makes" };
            let headline = format!(
                "local volume of another node: a requester on node `{}` {verb} volume `{name}`, {}",
                short(node, 120),
                foreign.place.describe()
            );
            let user = short(request.user.name.unwrap_or_default(), 200);
            let finding = Finding::new(Code::LocalForeignNode, headline)
                .detail(format!("spec.nodeAffinity.required: `{}`", foreign.affinity.describe()))
                .detail(format!("the credentials of `{user}` are bound to that node"))
                .detail(format!("accepted from it: local volumes that are pinned to `{}`", short(node, 120)))
                .detail("a provisioner that makes the volumes of all nodes belongs into `localVolumes.exempt`");
            report.find(finding);
        }
        Ok(())
    }
}

fn judge_class(request: &Request<'_, '_>, report: &mut Report) -> Result<(), Unreadable> {
    let new = StorageClass::read(request.new_state()?)?;
    let old = request.old_state()?.map(StorageClass::read).transpose()?;
    if !new.binds_blindly() || old.as_ref() == Some(&new) {
        return Ok(());
    }
    let name = short(request.object_name()?, 120);
    let headline = format!("immediate binding: class `{name}` binds a claim to a volume before its pod has a node");
    let mode = match new.binding_mode {
        Some(mode) => format!("`{}`", short(mode, 60)),
        None => String::from("absent, which is `Immediate`"),
    };
    let finding = Finding::new(Code::ImmediateBinding, headline)
        .detail(format!("volumeBindingMode: {mode}, with provisioner `{NO_PROVISIONER}`"))
        .detail("the pod is tied to the node of whatever volume was taken, whether it can run there or not")
        .detail(format!("accepted: `{WAIT_FOR_FIRST_CONSUMER}`"));
    report.find(finding);
    Ok(())
}
