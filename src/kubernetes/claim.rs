//! What claims ask of a volume: PersistentVolumeClaims, the claim templates of a StatefulSet, and the claims of generic
//! ephemeral volumes in pods and in everything that makes pods.

use super::field::{Field, Unreadable};
use super::pod::with_pod;

/// The access modes that a claim or a volume lists: a set, so that neither order nor repetition tell two lists apart.
#[derive(Debug, Clone, Default)]
pub struct AccessModes<'v>(Vec<&'v str>);

/// Says that one node may write, with any number of pods.
pub const ONE_NODE: &str = "ReadWriteOnce";
/// Says that one pod in the whole cluster may write.
pub const ONE_POD: &str = "ReadWriteOncePod";
/// Modes in which several nodes use the volume.
pub const MANY_NODES: [&str; 2] = ["ReadOnlyMany", "ReadWriteMany"];

/// Where a claim stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    Claim,
    Template,
    Ephemeral,
}

/// What a claim asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim<'v> {
    pub kind: ClaimKind,
    /// The claim's name, the template's, or for an ephemeral volume that of the volume.
    pub name: &'v str,
    pub access_modes: AccessModes<'v>,
    /// The StorageClass; empty when none is named.
    pub class: &'v str,
    /// The path of the access modes in the object.
    pub path: String,
}

/// Reads every claim that an object of this kind is or makes.
///
/// # Errors
/// A wrong JSON type in what is read of them.
pub fn read_claims<'v>(object: &Field<'v, '_>, group: &str, kind: &str) -> Result<Vec<Claim<'v>>, Unreadable> {
    let mut claims = Vec::new();
    match (group, kind) {
        ("", "PersistentVolumeClaim") => {
            claims.push(Claim::read(ClaimKind::Claim, object, name(object)?)?);
        }
        ("apps", "StatefulSet") => {
            let spec = object.get("spec")?;
            let templates = spec.get("volumeClaimTemplates")?;
            for template in templates.items()? {
                claims.push(Claim::read(ClaimKind::Template, &template, name(&template)?)?);
            }
        }
        _ => {}
    }
    let ephemeral = with_pod(object, group, kind, |pod| {
        let mut claims = Vec::new();
        let volumes = pod.spec.get("volumes")?;
        for volume in volumes.items()? {
            let ephemeral = volume.get("ephemeral")?;
            let template = ephemeral.get("volumeClaimTemplate")?;
            if template.is_present() {
                let name = volume.string_of("name")?.unwrap_or_default();
                claims.push(Claim::read(ClaimKind::Ephemeral, &template, name)?);
            }
        }
        Ok(claims)
    })?;
    claims.extend(ephemeral.into_iter().flatten());
    Ok(claims)
}

fn name<'v>(object: &Field<'v, '_>) -> Result<&'v str, Unreadable> {
    let metadata = object.get("metadata")?;
    let name = metadata.string_of("name")?;
    let generated = metadata.string_of("generateName")?;
    Ok(name.or(generated).unwrap_or_default())
}

impl<'v> Claim<'v> {
    fn read(kind: ClaimKind, object: &Field<'v, '_>, name: &'v str) -> Result<Self, Unreadable> {
        let spec = object.get("spec")?;
        let modes = spec.get("accessModes")?;
        Ok(Claim {
            kind,
            name,
            access_modes: AccessModes::read(&modes)?,
            class: class(object, &spec)?,
            path: modes.path_in_object(),
        })
    }
}

impl<'v> AccessModes<'v> {
    /// Reads `accessModes`.
    ///
    /// # Errors
    /// Anything but a list of strings.
    pub fn read(modes: &Field<'v, '_>) -> Result<Self, Unreadable> {
        let mut each_once: Vec<&'v str> = Vec::new();
        for mode in modes.strings()? {
            if !each_once.contains(&mode) {
                each_once.push(mode);
            }
        }
        Ok(AccessModes(each_once))
    }

    pub fn contains(&self, mode: &str) -> bool {
        self.0.contains(&mode)
    }

    /// Each mode once, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = &'v str> {
        self.0.iter().copied()
    }
}

impl PartialEq for AccessModes<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.iter().all(|mode| other.contains(mode))
    }
}

impl Eq for AccessModes<'_> {}

/// `GetPersistentVolumeClaimClass` (component-helpers, Kubernetes 1.36): an old annotation still comes before the field.
fn class<'v>(object: &Field<'v, '_>, spec: &Field<'v, '_>) -> Result<&'v str, Unreadable> {
    let metadata = object.get("metadata")?;
    let annotations = metadata.get("annotations")?;
    let annotated = annotations.string_of("volume.beta.kubernetes.io/storage-class")?;
    let named = spec.string_of("storageClassName")?;
    Ok(annotated.or(named).unwrap_or_default())
}
