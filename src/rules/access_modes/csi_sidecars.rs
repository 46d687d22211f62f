//! Part of `accessModes`: CSI sidecars that know `ReadWriteOncePod`. Older ones pass the claim on as if it said
//! `ReadWriteOnce`, and nobody is told.

use semver::Version;

use crate::kubernetes::field::{Field, Unreadable, short};
use crate::kubernetes::image::ImageReference;
use crate::kubernetes::pod::{CONTAINER_LISTS, with_pod};
use crate::kubernetes::request::Request;
use crate::kubernetes::version::{Age, TagVersion};
use crate::logic::Budget;
use crate::rules::decision::Report;
use crate::rules::finding::{Code, Few, Finding};
use crate::rules::rule::Stopped;

/// The sidecars by the last part of their image's name, each with the first version that knows the mode (KEP-2485).
static SIDECARS: [(&str, Version); 3] = [
    ("csi-provisioner", Version::new(3, 0, 0)),
    ("csi-attacher", Version::new(3, 3, 0)),
    ("csi-resizer", Version::new(1, 3, 0)),
];

/// A larger major version than the sidecars will have for long: the tag begins with a date.
const LATEST_MAJOR: u64 = 999;

fn written(version: &Version) -> String {
    format!("{}.{}.{}", version.major, version.minor, version.patch)
}

/// A container of a pod, as far as it is judged here.
#[derive(Debug, PartialEq, Eq)]
struct Container<'v> {
    name: &'v str,
    image: &'v str,
    path: String,
}

/// Finds sidecars that are too old, or of which nobody can say, in a pod or in what makes pods. A container that an
/// UPDATE leaves with its image is not judged.
///
/// # Errors
/// A wrong JSON type in names and images.
pub fn judge(request: &Request<'_, '_>, _budget: &mut Budget, report: &mut Report) -> Result<(), Stopped> {
    let new = read(request, request.new_state()?)?;
    let old = match request.old_state()? {
        Some(object) => read(request, object)?,
        None => Vec::new(),
    };
    let mut too_old = Few::new(Code::SidecarTooOld, "containers");
    let mut unknown = Few::new(Code::SidecarVersionUnknown, "containers");
    for container in &new {
        if old.iter().any(|old| (old.name, old.image) == (container.name, container.image)) {
            continue;
        }
        let Some(image) = ImageReference::parse(container.image) else { continue };
        let Some((_, minimum)) = SIDECARS.iter().find(|(name, _)| *name == image.short_name()) else { continue };
        let version = image.tag.and_then(TagVersion::read).filter(|version| version.major() <= LATEST_MAJOR);
        match version.map(|version| version.compare(minimum)) {
            Some(Age::Enough) => {}
            Some(Age::TooOld) => too_old.push(container.too_old(&image, minimum)),
            Some(Age::Unknown) | None => unknown.push(container.unknown(&image, minimum)),
        }
    }
    report.find_few(too_old);
    report.find_few(unknown);
    Ok(())
}

fn read<'v>(request: &Request<'_, '_>, object: &Field<'v, '_>) -> Result<Vec<Container<'v>>, Unreadable> {
    let containers = with_pod(object, request.group, request.kind, |pod| {
        let mut containers = Vec::new();
        for list in CONTAINER_LISTS {
            let list = pod.spec.get(list)?;
            for container in list.items()? {
                let image = container.get("image")?;
                containers.push(Container {
                    name: container.string_of("name")?.unwrap_or_default(),
                    image: image.string()?.unwrap_or_default(),
                    path: image.path_in_object(),
                });
            }
        }
        Ok(containers)
    })?;
    Ok(containers.unwrap_or_default())
}

impl Container<'_> {
    fn too_old(&self, image: &ImageReference<'_>, minimum: &Version) -> Finding {
        let headline = format!(
            "sidecar too old: `{}` of version `{}` does not know `ReadWriteOncePod`",
            image.short_name(),
            short(image.tag.unwrap_or_default(), 128)
        );
        Finding::new(Code::SidecarTooOld, headline)
            .detail(format!("{}: `{}`", self.path, short(self.image, 300)))
            .detail(format!("accepted: {} {} or later", image.short_name(), written(minimum)))
    }

    fn unknown(&self, image: &ImageReference<'_>, minimum: &Version) -> Finding {
        let headline = format!(
            "sidecar version unknown: whether `{}` knows `ReadWriteOncePod` cannot be read from its image",
            image.short_name()
        );
        Finding::new(Code::SidecarVersionUnknown, headline)
            .detail(format!("{}: `{}`", self.path, short(self.image, 300)))
            .detail(format!("wanted: {} {} or later, and a tag that says so", image.short_name(), written(minimum)))
    }
}
