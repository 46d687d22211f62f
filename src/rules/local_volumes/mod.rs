//! `localVolumes`: volumes that live on a single node.
//!
//! This rule judges `local` and `hostPath` PersistentVolumes (from where they can be used, which path of the node they
//! are, who makes them, and when they are bound), `hostPath` volumes in pods, and StorageClasses without a provisioner or of
//! listed ones. On an UPDATE it leaves alone what stays as it is. Where the settings ask for it, it reads the cluster: whether
//! a node that can use the volume is there, and whether another volume has the same path on the same node.

mod binding;
mod host_paths;
mod missing_node;
mod overlap;
mod own_node;
mod pinned;
mod prefixes;

use self::binding::{judge_class, no_class};
use self::host_paths::{Source, brings_mounts};
use self::own_node::{changed_field, foreign_node};
use self::pinned::{AdmittedNodes, Named, moved, not_pinned};
use self::prefixes::Prefixes;
use crate::kubernetes::affinity::Affinity;
use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::node_selector::Labels;
use crate::kubernetes::request::Request;
use crate::kubernetes::storage_class::class_of_volume;
use crate::kubernetes::volume::Volume;
use crate::kubernetes::volume_source::VolumeSource;
use crate::kubernetes::zone_labels::ZoneLabels;
use crate::logic::Budget;
use crate::logic::Domain;
use crate::rules::cluster::{Live, Missing, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::finding::Severity;
use crate::rules::rule::{Reads, Rule, Stopped};
use crate::rules::section::{level, only_keys, when_cluster_unreadable};

/// The label by which a node is named where the settings name no other.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// The section's settings.
#[derive(Debug)]
pub struct LocalVolumes {
    pinned: bool,
    /// The host name first, where it is among them: it counts most.
    pinned_by: Vec<String>,
    own_node_only: bool,
    /// `None` when paths are not judged.
    paths: Option<Prefixes>,
    host_paths: Option<Prefixes>,
    wait_for_first_consumer: bool,
    missing_node: Option<Severity>,
    overlap: Option<Severity>,
    /// `None` where the two settings above say by themselves what follows.
    when_unreadable: Option<WhenUnreadable>,
    /// Provisioners whose classes must wait, in addition to none.
    provisioners: Vec<String>,
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
                "missingNode",
                "overlap",
                "provisioners",
                "whenClusterUnreadable",
            ],
        )?;
        let flag = |name: &str| Ok(section.boolean_of(name)?.unwrap_or(false));
        let (pinned, own_node_only) = (flag("pinned")?, flag("ownNodeOnly")?);
        let keys = section.get("pinnedBy")?;
        if keys.is_present() && !pinned && !own_node_only {
            return Err(keys.unreadable("has no effect without `pinned: true` or `ownNodeOnly: true`"));
        }
        let wait_for_first_consumer = flag("waitForFirstConsumer")?;
        let listed = section.get("provisioners")?;
        if listed.is_present() && !wait_for_first_consumer {
            return Err(listed.unreadable("says nothing without `waitForFirstConsumer: true`"));
        }
        Ok(LocalVolumes {
            pinned,
            pinned_by: read_keys(&keys)?,
            own_node_only,
            paths: Prefixes::read_paths(&section.get("paths")?)?,
            host_paths: Prefixes::read_host_paths(&section.get("hostPaths")?)?,
            missing_node: level(&section.get("missingNode")?)?,
            overlap: level(&section.get("overlap")?)?,
            when_unreadable: when_cluster_unreadable(section)?,
            wait_for_first_consumer,
            provisioners: if listed.is_present() { listed.each(read_provisioner)? } else { Vec::new() },
        })
    }
}

fn read_keys(list: &Field<'_, '_>) -> Result<Vec<String>, Unreadable> {
    if !list.is_present() {
        return Ok(vec![HOSTNAME.to_owned()]);
    }
    let read_key = |item: &Field<'_, '_>| match item.required_string()? {
        key if Domain::Name.contains(key) => Ok(key.to_owned()),
        _ => Err(item.unacceptable("a valid label key")),
    };
    let keys = list.each(read_key)?;
    if keys.is_empty() {
        return Err(list.unreadable("is empty, so no volume could be pinned"));
    }
    let (mut ordered, others): (Vec<String>, Vec<String>) = keys.into_iter().partition(|key| key == HOSTNAME);
    ordered.extend(others);
    Ok(ordered)
}

fn read_provisioner(item: &Field<'_, '_>) -> Result<String, Unreadable> {
    match item.required_string()? {
        "" => Err(item.unacceptable("the name of a provisioner")),
        name => Ok(name.to_owned()),
    }
}

impl Rule for LocalVolumes {
    fn needs(&self) -> Vec<(Kind, Reads)> {
        let nodes = self.missing_node.map(|_| Kind::Node);
        let volumes = self.overlap.map(|_| Kind::PersistentVolume);
        nodes.into_iter().chain(volumes).map(|kind| (kind, Reads::All)).collect()
    }

    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        if !request.stores() {
            return Ok(());
        }
        if request.stores_labels_of("", "PersistentVolume") {
            return self.judge_volume(request, live, budget, report);
        }
        if request.is_about("storage.k8s.io", "StorageClass") && self.wait_for_first_consumer {
            return judge_class(&self.provisioners, request, budget, report);
        }
        match self.prefixes(Source::HostPath) {
            Some(allowed) if brings_mounts(request) => host_paths::judge_pod(allowed, request, budget, report),
            _ => Ok(()),
        }
    }
}

/// What this rule reads of a PersistentVolume that is a folder or a disk of a node.
struct NodeVolume<'v> {
    source: Source,
    path: &'v str,
    /// The StorageClass; empty when there is none.
    class: &'v str,
    /// [`Affinity::Absent`] where nothing is judged by it.
    affinity: Affinity,
    zone_labels: ZoneLabels,
    /// [`AdmittedNodes::Undecided`] until somebody asks.
    nodes: AdmittedNodes,
}

impl NodeVolume<'_> {
    /// Whether the scheduler may place a pod with this volume on a node with these labels: the plain matcher.
    fn admits(&self, labels: &Labels) -> bool {
        self.affinity.admits(labels) && self.zone_labels.admits(labels)
    }

    /// Whether the same nodes can use both, as far as that can be seen without looking at nodes.
    fn has_same_nodes(&self, other: &Self) -> bool {
        self.affinity == other.affinity && self.zone_labels == other.zone_labels
    }
}

impl LocalVolumes {
    /// The list of paths for a kind of volume: its own or, where its own is not set, the other one. Otherwise a limit
    /// on one kind could be bypassed with the other kind.
    fn prefixes(&self, source: Source) -> Option<&Prefixes> {
        match source {
            Source::Local => self.paths.as_ref().or(self.host_paths.as_ref()),
            Source::HostPath => self.host_paths.as_ref().or(self.paths.as_ref()),
        }
    }

    /// Whether volumes of this kind must stay on one node: a `hostPath` volume is data of a node only where its path is
    /// judged at all.
    fn judges_pinned(&self, source: Source) -> bool {
        self.pinned && (source == Source::Local || self.prefixes(source).is_some())
    }

    fn judge_volume(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        let (new, old) = (request.new_state()?, request.old_state()?);
        let is_status = request.sub_resource.is_some();
        let changed = match old {
            Some(old) => changed_field(old, new, is_status)?,
            None => None,
        };
        if old.is_some() && changed.is_none() {
            return Ok(());
        }
        let name = short(request.object_name()?, 120);
        // A write of the status stores the metadata, not the spec.
        let stored = old.filter(|_| is_status).unwrap_or(new);
        let node = request.user.node.filter(|_| self.own_node_only);
        let mut unread_for = Missing::default();
        for source in [Source::Local, Source::HostPath] {
            let Some(mut now) = self.read_volume(source, new, stored, node)? else { continue };
            let mut before = match old {
                Some(old) => self.read_volume(source, old, old, node)?,
                None => None,
            };
            let same_affinity = before.as_ref().is_some_and(|before| before.affinity == now.affinity);
            let judges_pinned = self.judges_pinned(source) && !same_affinity;
            let same_nodes = before.as_ref().is_some_and(|before| before.has_same_nodes(&now));
            let same_path = before.as_ref().is_some_and(|before| before.path == now.path);
            let missing_node = self.missing_node.filter(|_| !same_nodes);
            // A request that changes something else does not spend steps on a large affinity.
            if judges_pinned || node.is_some() || missing_node.is_some() {
                for volume in before.iter_mut().chain([&mut now]) {
                    volume.nodes = AdmittedNodes::of(&volume.affinity, &self.pinned_by, budget)?;
                }
            }
            if !same_path && let Some(allowed) = self.prefixes(source) {
                host_paths::judge_volume(allowed, source, now.path, &name, budget, report)?;
            }
            if judges_pinned {
                let volume = Named { kind: source.field(), name: &name };
                let pinned = not_pinned(&volume, &now.affinity, &now.nodes, &self.pinned_by);
                let moved = before.as_ref().and_then(|before| moved(&volume, &now.affinity, &before.nodes, &now.nodes));
                pinned.into_iter().chain(moved).for_each(|finding| report.find(finding));
            }
            let had_class = before.as_ref().is_none_or(|before| !before.class.is_empty());
            if self.wait_for_first_consumer && source == Source::Local && now.class.is_empty() && had_class {
                report.find(no_class(&name));
            }
            if let Some(node) = node {
                let user = request.user.name.unwrap_or_default();
                let foreign = foreign_node(node, user, &name, &now, before.as_ref(), changed.as_deref());
                foreign.into_iter().for_each(|finding| report.find(finding));
            }
            if let Some(severity) = missing_node {
                match missing_node::find(&name, &now, live, budget) {
                    Ok(found) => report.find_all(found.map(|finding| finding.with_severity(severity))),
                    Err(unread) => unread_for.add(unread, "missingNode", WhenUnreadable::by_default(severity)),
                }
            }
            if let Some(severity) = self.overlap.filter(|_| !(same_nodes && same_path)) {
                match overlap::find(request.object_name()?, &now, live, budget) {
                    Ok(found) => report.find_all(found.map(|finding| finding.with_severity(severity))),
                    Err(unread) => unread_for.add(unread, "overlap", WhenUnreadable::by_default(severity)),
                }
            }
        }
        unread_for.find(self.when_unreadable, report);
        Ok(())
    }

    /// Reads the volume with this source; `None` when it has another. `spec_of` is the object whose spec counts.
    fn read_volume<'v>(
        &self,
        source: Source,
        object: &Field<'v, '_>,
        spec_of: &Field<'v, '_>,
        node: Option<&str>,
    ) -> Result<Option<NodeVolume<'v>>, Unreadable> {
        let sources = VolumeSource::read(spec_of)?;
        let path = match source {
            Source::Local => sources.local_path,
            Source::HostPath => sources.host_path,
        };
        let Some(path) = path else { return Ok(None) };
        let class = class_of_volume(&object.get("metadata")?, &spec_of.get("spec")?)?;
        // A section that judges paths only does not read who may use the volume.
        let reads_cluster = self.missing_node.is_some() || self.overlap.is_some();
        let reads_affinity = node.is_some() || self.judges_pinned(source) || reads_cluster;
        let affinity = if reads_affinity { Volume::read(spec_of)?.affinity } else { Affinity::Absent };
        let zone_labels = if reads_cluster {
            ZoneLabels::read(&object.get("metadata")?.get("labels")?)?
        } else {
            ZoneLabels::default()
        };
        Ok(Some(NodeVolume { source, path, class, affinity, zone_labels, nodes: AdmittedNodes::Undecided }))
    }
}
