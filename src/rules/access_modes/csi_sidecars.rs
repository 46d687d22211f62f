//! Part of `accessModes`: CSI sidecars that know `ReadWriteOncePod`. An older sidecar passes the claim on as if it said
//! `ReadWriteOnce`, and nothing reports it.

use semver::Version;

use crate::kubernetes::field::{Field, short};
use crate::kubernetes::image::ImageReference;
use crate::kubernetes::names::Names;
use crate::kubernetes::pod::{CONTAINER_LISTS, with_pod};
use crate::kubernetes::request::Request;
use crate::kubernetes::version::{Age, TagVersion};
use crate::logic::{Budget, Exhausted};
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::rule::Stopped;

/// The sidecars, each with the first version that knows the mode (KEP-2485).
static SIDECARS: [(&str, Version); 3] =
    [("provisioner", Version::new(3, 0, 0)), ("attacher", Version::new(3, 3, 0)), ("resizer", Version::new(1, 3, 0))];

/// The ends of the names of images that are made for one architecture only.
const ARCHITECTURES: [&str; 8] = ["-amd64", "-arm64", "-arm", "-386", "-ppc64le", "-s390x", "-riscv64", "-linux"];

/// The sidecars will not have a larger major version for a long time. A tag with a larger one begins with a date.
const LATEST_MAJOR: u64 = 19;

/// Steps for one container: reading it, looking it up in the old object, and taking its image apart.
const STEPS_FOR_A_CONTAINER: usize = 100;

/// A sidecar, recognised by its image.
#[derive(Debug)]
struct Sidecar<'i> {
    image: ImageReference<'i>,
    /// `provisioner`, `attacher` or `resizer`.
    role: &'static str,
    minimum: &'static Version,
    /// Whether its tags are the versions of kubernetes-csi.
    has_upstream_versions: bool,
}

/// The containers of an object before an update: their images by name.
#[derive(Debug, Default)]
struct OldImages<'v> {
    names: Names<'v>,
    images: Vec<&'v str>,
}

/// Finds sidecars that are too old, or whose version cannot be read, in a pod or in an object that makes pods. A container
/// that keeps its image in an UPDATE is not judged.
///
/// # Errors
/// A wrong JSON type in names and images; more containers than the budget allows.
pub fn judge(request: &Request<'_, '_>, budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
    let mut old = OldImages::default();
    if let Some(object) = request.old_state()? {
        each_container(request, object, budget, |name, image, _| {
            old.names.add(name, old.images.len());
            old.images.push(image);
        })?;
    }
    let mut too_old = Few::new(Code::SidecarTooOld, "containers");
    let mut unknown = Few::new(Code::SidecarVersionUnknown, "containers");
    each_container(request, request.new_state()?, budget, |name, image, field| {
        let before = old.names.position(name).and_then(|position| old.images.get(position));
        if before == Some(&image) {
            return;
        }
        let Some(sidecar) = ImageReference::parse(image).and_then(Sidecar::recognise) else { return };
        match sidecar.age() {
            Age::Enough => {}
            Age::TooOld => too_old.push_with(|| sidecar.too_old(image, field)),
            Age::Unknown => unknown.push_with(|| sidecar.unknown(image, field)),
        }
    })?;
    report.find_few(too_old);
    report.find_few(unknown);
    Ok(())
}

/// Shows each container of the object's pod: its name, its image, and the field of the image.
fn each_container<'v>(
    request: &Request<'_, '_>,
    object: &Field<'v, '_>,
    budget: &mut Budget,
    mut see: impl FnMut(&'v str, &'v str, &Field<'v, '_>),
) -> Result<(), Stopped> {
    let seen = with_pod(object, request.group, request.kind, |pod| {
        for list in CONTAINER_LISTS {
            let list = pod.spec.get(list)?;
            let containers = list.items()?;
            if budget.spend(containers.len().saturating_mul(STEPS_FOR_A_CONTAINER)).is_err() {
                return Ok(Err(Exhausted));
            }
            for container in containers {
                let image = container.get("image")?;
                let name = container.string_of("name")?.unwrap_or_default();
                see(name, image.string()?.unwrap_or_default(), &image);
            }
        }
        Ok(Ok(()))
    })?;
    Ok(seen.unwrap_or(Ok(()))?)
}

impl<'i> Sidecar<'i> {
    /// Recognises a sidecar by the end of its image's name.
    ///
    /// * `csi-provisioner`, with anything before it: `sig-storage/csi-provisioner`, `mirrored-sig-storage-csi-provisioner`.
    ///   With a prefix other than Rancher's `mirrored-…` the versions may be the vendor's own.
    /// * `external-provisioner` below `kubernetes-csi`, as in the EKS distribution.
    /// * `…csi-external-provisioner`, as in OpenShift, whose versions are those of OpenShift.
    fn recognise(image: ImageReference<'i>) -> Option<Self> {
        let mut name = image.short_name();
        while let Some(shorter) = ARCHITECTURES.iter().find_map(|end| name.strip_suffix(end)) {
            name = shorter;
        }
        let (prefix, role, minimum) =
            SIDECARS.iter().find_map(|(role, minimum)| Some((name.strip_suffix(role)?, *role, minimum)))?;
        let has_segment = |is_it: fn(&str) -> bool| image.domain.into_iter().chain(image.path.split('/')).any(is_it);
        if prefix == "external-" {
            let is_upstream = has_segment(|segment| segment == "kubernetes-csi");
            return is_upstream.then_some(Sidecar { image, role, minimum, has_upstream_versions: true });
        }
        let without_external = prefix.strip_suffix("external-");
        let vendor = without_external.unwrap_or(prefix).strip_suffix("csi-")?;
        if !(vendor.is_empty() || vendor.ends_with(['-', '_', '.'])) {
            return None;
        }
        let has_upstream_versions = without_external.is_none()
            && (vendor.is_empty() || vendor.starts_with("mirrored-"))
            && !has_segment(|segment| segment.starts_with("openshift"));
        Some(Sidecar { image, role, minimum, has_upstream_versions })
    }

    fn age(&self) -> Age {
        if !self.has_upstream_versions || self.image.digest.is_some() {
            return Age::Unknown;
        }
        let version = self.image.tag.and_then(TagVersion::read).filter(|version| version.major() <= LATEST_MAJOR);
        version.map_or(Age::Unknown, |version| version.compare(self.minimum))
    }

    /// The sidecar with the first version that knows the mode.
    fn accepted(&self) -> String {
        let Version { major, minor, patch, .. } = self.minimum;
        format!("csi-{} {major}.{minor}.{patch} or later", self.role)
    }

    fn too_old(&self, image: &str, field: &Field<'_, '_>) -> Finding {
        let headline = format!(
            "sidecar too old: `csi-{}` version `{}` does not support `ReadWriteOncePod`",
            self.role,
            short(self.image.tag.unwrap_or_default(), 128)
        );
        Finding::new(Code::SidecarTooOld, headline)
            .at(field.path_in_object(), &format!("`{}`", short(image, 300)))
            .detail(format!("accepted: {}", self.accepted()))
    }

    fn unknown(&self, image: &str, field: &Field<'_, '_>) -> Finding {
        let headline = format!(
            "sidecar version unknown: the image of `csi-{}` does not say whether it supports `ReadWriteOncePod`",
            self.role
        );
        let why = match (self.image.digest, self.has_upstream_versions) {
            (Some(_), _) => "the digest decides which image runs, whatever the tag says",
            (None, false) => "this image does not use the version numbers of kubernetes-csi",
            (None, true) => "the tag does not name a single version of kubernetes-csi",
        };
        Finding::new(Code::SidecarVersionUnknown, headline)
            .at(field.path_in_object(), &format!("`{}`", short(image, 300)))
            .detail(why)
            .detail(format!("make sure that it is {}", self.accepted()))
    }
}
