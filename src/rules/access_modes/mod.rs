//! `accessModes`: one writer where one writer is meant.
//!
//! `ReadWriteOnce` means one *node*; all pods on it may write. `ReadWriteOncePod` means one pod in the cluster. Judged are
//! claims wherever they stand, PersistentVolumes, and the CSI sidecars without which the mode does not work. On an UPDATE
//! what a claim, a volume or a container had already is left alone.
//!
//! A claim that names no class has the empty one. The API server gives the default class to a claim before it asks, but to
//! no template, and a claim that a controller makes of its template is not judged again: whoever means the default class
//! names both it and `""`.

mod csi_sidecars;

use crate::rules::rule::{Rule, Stopped};

use crate::kubernetes::claim::{AccessModes, Claim, ClaimKind, MANY_NODES, ONE_NODE, ONE_POD, read_claims};
use crate::kubernetes::field::{Field, Unreadable, quoted, short};
use crate::kubernetes::owner::is_owned_by;
use crate::kubernetes::request::{Operation, Request};
use crate::kubernetes::volume_source::{MIGRATED_TO_CSI, VolumeSource};
use crate::logic::Budget;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::glob::Glob;
use crate::rules::section::{choice, only_keys, when_cluster_unreadable};

/// The users as whom the kube-controller-manager makes claims out of templates: with an account per controller, which is
/// the usual way, or as itself.
const CLAIM_MAKERS: [&str; 3] = [
    "system:serviceaccount:kube-system:statefulset-controller",
    "system:serviceaccount:kube-system:ephemeral-volume-controller",
    "system:kube-controller-manager",
];

/// The section's settings.
#[derive(Debug)]
pub struct AccessModesRule {
    single_writer: Vec<SingleWriter>,
    csi_sidecars: bool,
}

/// Claims of some classes in some namespaces should have one writer.
#[derive(Debug)]
struct SingleWriter {
    /// `None` is every class, and every namespace.
    classes: Option<Vec<Glob>>,
    namespaces: Option<Vec<Glob>>,
    required: bool,
}

impl AccessModesRule {
    /// # Errors
    /// Whatever is not exactly understood.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(section, &["singleWriter", "csiSidecars", "whenClusterUnreadable"])?;
        when_cluster_unreadable(section)?;
        let single_writer = section.get("singleWriter")?;
        Ok(AccessModesRule {
            single_writer: single_writer.each(SingleWriter::read)?,
            csi_sidecars: section.boolean_of("csiSidecars")?.unwrap_or(false),
        })
    }

    /// Whether a claim should have one writer: `Some(true)` when it must.
    fn wants_single_writer(&self, class: &str, namespace: &str) -> Option<bool> {
        let covering = self.single_writer.iter().filter(|entry| entry.covers(class, namespace));
        // Of several entries the strictest counts.
        covering.map(|entry| entry.required).max()
    }
}

impl SingleWriter {
    fn read(item: &Field<'_, '_>) -> Result<Self, Unreadable> {
        item.only(&["storageClasses", "namespaces", "level"])?;
        let level = item.get("level")?;
        let Some(required) = choice(&level, &[("require", true), ("prefer", false)])? else {
            return Err(level.unreadable("is missing; must be `require` or `prefer`"));
        };
        Ok(SingleWriter {
            classes: Glob::read_list(&item.get("storageClasses")?)?,
            namespaces: Glob::read_list(&item.get("namespaces")?)?,
            required,
        })
    }

    fn covers(&self, class: &str, namespace: &str) -> bool {
        let matches = |globs: &Option<Vec<Glob>>, name: &str| {
            globs.as_ref().is_none_or(|globs| globs.iter().any(|glob| glob.matches(name)))
        };
        matches(&self.classes, class) && matches(&self.namespaces, namespace)
    }
}

impl Rule for AccessModesRule {
    fn judge(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        if !request.stores() || request.sub_resource.is_some() {
            return Ok(());
        }
        if request.is_about("", "PersistentVolume") {
            return Ok(judge_volume(request, report)?);
        }
        self.judge_claims(request, budget, report)?;
        if self.csi_sidecars { csi_sidecars::judge(request, budget, report) } else { Ok(()) }
    }
}

impl AccessModesRule {
    fn judge_claims(
        &self,
        request: &Request<'_, '_>,
        _budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        let new = read_claims(request.new_state()?, request.group, request.kind)?;
        let old = match request.old_state()? {
            Some(object) => read_claims(object, request.group, request.kind)?,
            None => Vec::new(),
        };
        if new.is_empty() || comes_from_a_template(request)? {
            return Ok(());
        }
        let namespace = request.namespace.unwrap_or_default();
        let few = |code: Code| Few::new(code, "claims");
        let (mut required, mut preferred) = (few(Code::SingleWriterRequired), few(Code::SingleWriterRequired));
        let mut not_alone = few(Code::RwopNotAlone);
        for claim in &new {
            let old = old.iter().find(|old| (old.kind, old.name) == (claim.kind, claim.name));
            let same_modes = old.is_some_and(|old| old.access_modes == claim.access_modes);
            let same_class = old.is_some_and(|old| old.class == claim.class);
            let unchanged = same_modes && same_class;
            match self.wants_single_writer(claim.class, namespace) {
                Some(must) if !unchanged && is_for_one_node(&claim.access_modes) => {
                    let finding = single_writer(claim, must);
                    if must { required.push(finding) } else { preferred.push(finding.as_warning()) }
                }
                _ => {}
            }
            if !same_modes && let Some(finding) = not_alone_in(&claim.access_modes, &described(claim), &claim.path) {
                not_alone.push(finding);
            }
        }
        [required, preferred, not_alone].into_iter().for_each(|few| report.find_few(few));
        Ok(())
    }
}

/// Whether a claim was judged where it was written: in the template of a StatefulSet or in a pod.
///
/// On a CREATE the user says so. An audit names no user: there a claim says so that is owned by its pod or StatefulSet. By
/// default a StatefulSet does not own its claims, and nothing else in them says where they come from; an audit reports
/// such a claim beside the StatefulSet.
fn comes_from_a_template(request: &Request<'_, '_>) -> Result<bool, Unreadable> {
    if request.operation != Operation::Create || !request.is_about("", "PersistentVolumeClaim") {
        return Ok(false);
    }
    if !request.is_audit() {
        return Ok(request.user.name.is_some_and(|name| CLAIM_MAKERS.contains(&name)));
    }
    let metadata = request.object.get("metadata")?;
    Ok(is_owned_by(&metadata, "v1", "Pod")? || is_owned_by(&metadata, "apps/v1", "StatefulSet")?)
}

/// Whether a claim asks for one node and for no mode with several: `ReadWriteOncePod` may be what is meant.
fn is_for_one_node(modes: &AccessModes<'_>) -> bool {
    modes.contains(ONE_NODE) && !MANY_NODES.iter().any(|mode| modes.contains(mode))
}

fn described(claim: &Claim<'_>) -> String {
    let name = short(claim.name, 120);
    match claim.kind {
        ClaimKind::Claim => format!("claim `{name}`"),
        ClaimKind::Template => format!("claim template `{name}`"),
        ClaimKind::Ephemeral => format!("ephemeral volume `{name}`"),
    }
}

fn single_writer(claim: &Claim<'_>, required: bool) -> Finding {
    let (verb, what) = (if required { "required" } else { "preferred" }, described(claim));
    let headline =
        format!("single writer {verb}: {what} asks for `{ONE_NODE}`, so every pod on its node may write at once");
    let class = match claim.class {
        "" => String::from("it names no StorageClass"),
        class => format!("its StorageClass: `{}`", short(class, 120)),
    };
    Finding::new(Code::SingleWriterRequired, headline)
        .detail(format!("{}: {}", claim.path, listed(&claim.access_modes)))
        .detail(class)
        .detail(format!("accepted: `{ONE_POD}` alone, of a CSI driver; a claim that exists must be made anew for it"))
}

/// What a list of modes has when another mode stands beside `ReadWriteOncePod`: the API server refuses that too.
fn not_alone_in(modes: &AccessModes<'_>, what: &str, path: &str) -> Option<Finding> {
    let other = modes.iter().find(|mode| *mode != ONE_POD).filter(|_| modes.contains(ONE_POD))?;
    let headline = format!("access mode not alone: {what} lists `{}` beside `{ONE_POD}`", short(other, 60));
    let finding = Finding::new(Code::RwopNotAlone, headline)
        .detail(format!("{path}: {}", listed(modes)))
        .detail("one pod alone and several cannot both be promised")
        .detail(format!("accepted: `{ONE_POD}` alone, or without it"));
    Some(finding)
}

fn listed(modes: &AccessModes<'_>) -> String {
    short(&quoted(&modes.iter().collect::<Vec<_>>()), 200)
}

fn judge_volume(request: &Request<'_, '_>, report: &mut Report) -> Result<(), Unreadable> {
    let new = VolumeSource::read(request.new_state()?)?;
    let old = request.old_state()?.map(VolumeSource::read).transpose()?;
    let name = short(request.object_name()?, 120);
    let same_modes = old.as_ref().is_some_and(|old| old.access_modes == new.access_modes);
    if !same_modes
        && let Some(finding) = not_alone_in(&new.access_modes, &format!("volume `{name}`"), "spec.accessModes")
    {
        report.find(finding);
    }
    let has_unkept = |volume: &VolumeSource<'_>| volume.access_modes.contains(ONE_POD) && !volume.is_csi;
    if has_unkept(&new) && !old.as_ref().is_some_and(has_unkept) {
        let source = new.other.map_or_else(|| String::from("no known source"), |name| format!("source `{name}`"));
        let headline = format!("access mode not on CSI: volume `{name}` has `{ONE_POD}` and {source}");
        let finding = Finding::new(Code::RwopNotCsi, headline)
            .detail(format!("spec.accessModes: {}", listed(&new.access_modes)))
            .detail(format!("`{ONE_POD}` is supported for CSI volumes alone, and for those that migrate to CSI"))
            .detail(format!("accepted: `csi`, {}; or another access mode", quoted(&MIGRATED_TO_CSI)));
        report.find(finding);
    }
    Ok(())
}
