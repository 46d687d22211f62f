//! `accessModes`: one writer where one writer is meant.
//!
//! `ReadWriteOnce` means one *node*; every pod on it may write. `ReadWriteOncePod` means one pod in the cluster. This rule
//! judges claims wherever they are written, PersistentVolumes, and the CSI sidecars without which the mode does not work.
//! Where the settings ask for it, it reads the cluster: whether several pods name one claim of a single pod.
//! On an UPDATE it leaves alone what a claim, a volume or a container had before.
//!
//! A claim that names no class has the empty class. The API server gives the default class to a claim before it asks this
//! rule, but not to a template. A claim that a controller makes from its template is not judged again. So settings that
//! mean the default class name both that class and `""`.

mod csi_sidecars;
mod shared_claims;

use crate::kubernetes::claim::{
    AccessModes, Claim, ClaimKind, Claims, MANY_WRITERS, ONE_NODE, ONE_POD, STEPS_FOR_A_MODE, read_claims,
};
use crate::kubernetes::field::{Field, Unreadable, quoted, short};
use crate::kubernetes::kind::Kind;
use crate::kubernetes::listing::first_few;
use crate::kubernetes::owner::is_owned_by;
use crate::kubernetes::request::{Operation, Request};
use crate::kubernetes::volume_source::{MIGRATED_TO_CSI, VolumeSource};
use crate::logic::Budget;
use crate::rules::cluster::{Live, Missing, WhenUnreadable};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding, Severity};
use crate::rules::glob::Glob;
use crate::rules::rule::{Reads, Rule, Stopped};
use crate::rules::section::{choice, level, only_keys, when_cluster_unreadable};

/// The users as which the kube-controller-manager makes claims from templates: usually one account for each controller,
/// otherwise its own.
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
    shared_claims: Option<Severity>,
    when_unreadable: Option<WhenUnreadable>,
}

/// Steps for comparing the class of one claim with one pattern of `singleWriter`.
const STEPS_FOR_A_PATTERN: usize = 20;

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
    /// A key or value that is not known.
    pub fn read(section: &Field<'_, '_>) -> Result<Self, Unreadable> {
        only_keys(section, &["singleWriter", "csiSidecars", "sharedClaims", "whenClusterUnreadable"])?;
        let single_writer = section.get("singleWriter")?;
        Ok(AccessModesRule {
            single_writer: single_writer.each(SingleWriter::read)?,
            csi_sidecars: section.boolean_of("csiSidecars")?.unwrap_or(false),
            shared_claims: level(&section.get("sharedClaims")?)?,
            when_unreadable: when_cluster_unreadable(section)?,
        })
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

    fn covers_class(&self, class: &str) -> bool {
        matches(self.classes.as_deref(), class)
    }

    fn covers_namespace(&self, namespace: &str) -> bool {
        matches(self.namespaces.as_deref(), namespace)
    }
}

fn matches(globs: Option<&[Glob]>, name: &str) -> bool {
    globs.is_none_or(|globs| globs.iter().any(|glob| glob.matches(name)))
}

impl Rule for AccessModesRule {
    fn needs(&self) -> Vec<(Kind, Reads)> {
        let kinds = self.shared_claims.map(|_| [Kind::Pod, Kind::PersistentVolumeClaim]);
        kinds.into_iter().flatten().map(|kind| (kind, Reads::All)).collect()
    }

    fn judge(
        &self,
        request: &Request<'_, '_>,
        live: &Live<'_>,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), Stopped> {
        // A write of a claim's status stores its annotations too, and the beta annotation names the class: the API server
        // takes back the spec only (`persistentvolumeclaimStatusStrategy.PrepareForUpdate`), and unlike
        // `ValidatePersistentVolumeClaimUpdate`, `ValidatePersistentVolumeClaimStatusUpdate` lets the annotation change.
        let is_judged = request.sub_resource.is_none() || request.stores_labels_of("", "PersistentVolumeClaim");
        if !request.stores() || !is_judged {
            return Ok(());
        }
        if request.is_about("", "PersistentVolume") {
            return judge_volume(request, budget, report);
        }
        self.judge_claims(request, budget, report)?;
        if self.csi_sidecars {
            csi_sidecars::judge(request, budget, report)?;
        }
        if let Some(severity) = self.shared_claims
            && let Err(unread) = shared_claims::judge(severity, request, live, budget, report)?
        {
            let missing = Missing::of(unread, "sharedClaims", WhenUnreadable::by_default(severity));
            missing.find(self.when_unreadable, report);
        }
        Ok(())
    }
}

impl AccessModesRule {
    fn judge_claims(&self, request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
        let new = read_claims(request.new_state()?, request.group, request.kind, budget)??;
        let old = match request.old_state()? {
            Some(object) => read_claims(object, request.group, request.kind, budget)??,
            None => Claims::default(),
        };
        if comes_from_a_template(request)? {
            return Ok(());
        }
        let namespace = request.namespace.unwrap_or_default();
        let entries: Vec<&SingleWriter> =
            self.single_writer.iter().filter(|entry| entry.covers_namespace(namespace)).collect();
        let patterns = entries.iter().map(|entry| entry.classes.as_ref().map_or(1, Vec::len)).sum::<usize>();
        let is_status = request.sub_resource.is_some();
        let few = |code: Code| Few::new(code, "claims");
        let (mut required, mut preferred) = (few(Code::SingleWriterRequired), few(Code::SingleWriterRequired));
        let mut not_alone = few(Code::RwopNotAlone);
        for claim in new.iter() {
            budget.spend(patterns.saturating_mul(STEPS_FOR_A_PATTERN))?;
            let old = old.same(claim);
            // A write of the status does not store the modes.
            let same_modes = is_status || old.is_some_and(|old| old.access_modes == claim.access_modes);
            let same_class = old.is_some_and(|old| old.class == claim.class);
            if !(same_modes && same_class) && may_have_several_writers(&claim.access_modes) {
                let covering = entries.iter().filter(|entry| entry.covers_class(claim.class));
                // Of several entries the strictest counts.
                match covering.map(|entry| entry.required).max() {
                    Some(true) => required.push_with(|| single_writer(claim, &new, "required", "accepted")),
                    Some(false) => {
                        preferred.push_with(|| single_writer(claim, &new, "preferred", "preferred").as_warning());
                    }
                    None => {}
                }
            }
            if !same_modes && let Some(other) = beside_one_pod(&claim.access_modes) {
                not_alone.push_with(|| not_alone_in(&claim.access_modes, other, &described(claim), &new.path(claim)));
            }
        }
        [required, preferred, not_alone].into_iter().for_each(|few| report.find_few(few));
        Ok(())
    }
}

/// Whether a claim was judged where it was written: in the template of a StatefulSet or in a pod.
///
/// On a CREATE the user shows it. An audit names no user: there the owner references of the claim itself show it. Those in a
/// template prove nothing. By default a StatefulSet does not own its claims, and nothing else in them shows where they come
/// from, so an audit reports such a claim in addition to the StatefulSet.
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

/// Whether a claim asks for one node and not for many writers: `ReadWriteOncePod` may be what is meant. `ReadOnlyMany` does
/// not widen who may write, so listing it as well makes no difference.
fn may_have_several_writers(modes: &AccessModes<'_>) -> bool {
    modes.contains(ONE_NODE) && !modes.contains(MANY_WRITERS)
}

fn described(claim: &Claim<'_>) -> String {
    let name = short(claim.name, 120);
    match claim.kind {
        ClaimKind::Claim => format!("claim `{name}`"),
        ClaimKind::Template => format!("claim template `{name}`"),
        ClaimKind::Ephemeral => format!("ephemeral volume `{name}`"),
    }
}

fn single_writer(claim: &Claim<'_>, claims: &Claims<'_>, level: &str, proposed: &str) -> Finding {
    let headline = format!(
        "single writer {level}: {} asks for `{ONE_NODE}`, so every pod on its node may write at the same time",
        described(claim)
    );
    let class = match claim.class {
        "" => String::from("it names no StorageClass"),
        class => format!("its StorageClass: `{}`", short(class, 120)),
    };
    Finding::new(Code::SingleWriterRequired, headline)
        .at(claims.path(claim), &listed(&claim.access_modes))
        .detail(class)
        .detail(format!(
            "{proposed}: only `{ONE_POD}`, with a CSI driver; the modes of an existing claim cannot change, so create a \
             new claim"
        ))
}

/// The first mode that is listed next to `ReadWriteOncePod`: the API server refuses that too.
fn beside_one_pod<'v>(modes: &AccessModes<'v>) -> Option<&'v str> {
    modes.iter().find(|mode| *mode != ONE_POD).filter(|_| modes.contains(ONE_POD))
}

fn not_alone_in(modes: &AccessModes<'_>, other: &str, what: &str, path: &str) -> Finding {
    let headline = format!("access mode not alone: {what} lists `{}` next to `{ONE_POD}`", short(other, 60));
    Finding::new(Code::RwopNotAlone, headline)
        .at(path, &listed(modes))
        .detail("a volume cannot promise both single-pod and shared access")
        .detail(format!("accepted: only `{ONE_POD}`, or a list without it"))
}

fn listed(modes: &AccessModes<'_>) -> String {
    first_few(modes.iter().map(|mode| format!("`{}`", short(mode, 60))), 5, ", ")
}

fn judge_volume(request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
    let new = VolumeSource::read(request.new_state()?)?;
    budget.spend(new.access_modes.iter().len().saturating_mul(STEPS_FOR_A_MODE))?;
    let old = request.old_state()?.map(VolumeSource::read).transpose()?;
    let name = short(request.object_name()?, 120);
    let same_modes = old.as_ref().is_some_and(|old| old.access_modes == new.access_modes);
    if !same_modes && let Some(other) = beside_one_pod(&new.access_modes) {
        report.find(not_alone_in(&new.access_modes, other, &format!("volume `{name}`"), "spec.accessModes"));
    }
    let has_unkept = |volume: &VolumeSource<'_>| volume.access_modes.contains(ONE_POD) && !volume.is_csi;
    if has_unkept(&new) && !old.as_ref().is_some_and(has_unkept) {
        let source = new.other.map_or_else(|| String::from("no known source"), |name| format!("the source `{name}`"));
        let headline = format!("access mode not on CSI: volume `{name}` has `{ONE_POD}` and {source}");
        let finding = Finding::new(Code::RwopNotCsi, headline)
            .at("spec.accessModes", &listed(&new.access_modes))
            .detail(format!("only CSI volumes, and those that migrate to CSI, support `{ONE_POD}`"))
            .detail(format!("accepted: `csi`, {}; or another access mode", quoted(&MIGRATED_TO_CSI)));
        report.find(finding);
    }
    Ok(())
}
