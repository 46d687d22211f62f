//! What claims ask of a volume: PersistentVolumeClaims, the claim templates of a StatefulSet, and the claims of generic
//! ephemeral volumes in pods and in everything that makes pods.

use super::field::{Field, Unreadable};
use super::names::Names;
use super::pod::with_pod;
use super::storage_class::class_of_volume;
use crate::logic::{Budget, Exhausted};

/// The access modes that a claim or a volume lists. They are a set: neither order nor repetition makes two lists differ.
#[derive(Debug, Clone, Default)]
pub struct AccessModes<'v>(Vec<&'v str>);

/// One node may write, with any number of pods.
pub const ONE_NODE: &str = "ReadWriteOnce";
/// One pod in the whole cluster may write.
pub const ONE_POD: &str = "ReadWriteOncePod";
/// Any number of nodes may write.
pub const MANY_WRITERS: &str = "ReadWriteMany";

/// Steps for an access mode of a claim or a volume.
pub const STEPS_FOR_A_MODE: usize = 20;
/// Steps for a volume of a pod that is not ephemeral, and for a claim.
const STEPS_FOR_A_VOLUME: usize = 30;
const STEPS_FOR_A_CLAIM: usize = 200;

/// Where a claim is written.
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
    /// The position of the template or of the volume in its list.
    index: usize,
}

/// The claims that an object is or makes.
#[derive(Debug, Default)]
pub struct Claims<'v> {
    all: Vec<Claim<'v>>,
    /// The claim itself, or the claim templates, by name.
    own: Names<'v>,
    /// The ephemeral volumes, by name.
    ephemeral: Names<'v>,
    /// The path of the list of volumes in the object.
    volumes: String,
}

/// Reads every claim that an object of this kind is or makes, and spends the steps that judging them takes.
///
/// # Errors
/// A wrong JSON type in what is read of them; within the result, more of them than the budget allows.
pub fn read_claims<'v>(
    object: &Field<'v, '_>,
    group: &str,
    kind: &str,
    budget: &mut Budget,
) -> Result<Result<Claims<'v>, Exhausted>, Unreadable> {
    let mut claims = Claims::default();
    match (group, kind) {
        ("", "PersistentVolumeClaim") => claims.push(Claim::read(ClaimKind::Claim, object, name(object)?, 0)?),
        ("apps", "StatefulSet") => {
            let spec = object.get("spec")?;
            let templates = spec.get("volumeClaimTemplates")?;
            let templates = templates.items()?;
            if budget.spend(templates.len().saturating_mul(STEPS_FOR_A_CLAIM)).is_err() {
                return Ok(Err(Exhausted));
            }
            for (index, template) in templates.enumerate() {
                claims.push(Claim::read(ClaimKind::Template, &template, name(&template)?, index)?);
            }
        }
        _ => {}
    }
    let ephemeral = with_pod(object, group, kind, |pod| claims.add_ephemeral(&pod.spec.get("volumes")?, budget))?;
    if ephemeral == Some(Err(Exhausted)) {
        return Ok(Err(Exhausted));
    }
    let modes = claims.all.iter().fold(0_usize, |sum, claim| sum.saturating_add(claim.access_modes.0.len()));
    Ok(budget.spend(modes.saturating_mul(STEPS_FOR_A_MODE)).map(|()| claims))
}

impl<'v> Claims<'v> {
    pub fn iter(&self) -> impl Iterator<Item = &Claim<'v>> {
        self.all.iter()
    }

    /// The claim of the same kind and name.
    pub fn same(&self, claim: &Claim<'_>) -> Option<&Claim<'v>> {
        let names = if claim.kind == ClaimKind::Ephemeral { &self.ephemeral } else { &self.own };
        names.position(claim.name).and_then(|position| self.all.get(position))
    }

    /// The path of the access modes of one of these claims.
    pub fn path(&self, claim: &Claim<'_>) -> String {
        let (index, volumes) = (claim.index, &self.volumes);
        match claim.kind {
            ClaimKind::Claim => String::from("spec.accessModes"),
            ClaimKind::Template => format!("spec.volumeClaimTemplates[{index}].spec.accessModes"),
            ClaimKind::Ephemeral => format!("{volumes}[{index}].ephemeral.volumeClaimTemplate.spec.accessModes"),
        }
    }

    fn push(&mut self, claim: Claim<'v>) {
        let names = if claim.kind == ClaimKind::Ephemeral { &mut self.ephemeral } else { &mut self.own };
        names.add(claim.name, self.all.len());
        self.all.push(claim);
    }

    fn add_ephemeral(
        &mut self,
        volumes: &Field<'v, '_>,
        budget: &mut Budget,
    ) -> Result<Result<(), Exhausted>, Unreadable> {
        self.volumes = volumes.path_in_object();
        for (index, volume) in volumes.items()?.enumerate() {
            let ephemeral = volume.get("ephemeral")?;
            let template = ephemeral.get("volumeClaimTemplate")?;
            let steps = if template.is_present() { STEPS_FOR_A_CLAIM } else { STEPS_FOR_A_VOLUME };
            if budget.spend(steps).is_err() {
                return Ok(Err(Exhausted));
            }
            if template.is_present() {
                let name = volume.string_of("name")?.unwrap_or_default();
                self.push(Claim::read(ClaimKind::Ephemeral, &template, name, index)?);
            }
        }
        Ok(Ok(()))
    }
}

fn name<'v>(object: &Field<'v, '_>) -> Result<&'v str, Unreadable> {
    let metadata = object.get("metadata")?;
    let name = metadata.string_of("name")?;
    let generated = metadata.string_of("generateName")?;
    Ok(name.or(generated).unwrap_or_default())
}

impl<'v> Claim<'v> {
    fn read(kind: ClaimKind, object: &Field<'v, '_>, name: &'v str, index: usize) -> Result<Self, Unreadable> {
        let spec = object.get("spec")?;
        let modes = spec.get("accessModes")?;
        Ok(Claim { kind, name, access_modes: AccessModes::read(&modes)?, class: class_of_claim(object)?, index })
    }
}

impl<'v> AccessModes<'v> {
    /// Reads `accessModes`.
    ///
    /// # Errors
    /// Anything but a list of strings.
    pub fn read(modes: &Field<'v, '_>) -> Result<Self, Unreadable> {
        let mut seen = Names::default();
        let mut modes = modes.strings()?;
        modes.retain(|&mode| seen.add(mode, 0));
        Ok(AccessModes(modes))
    }

    pub fn contains(&self, mode: &str) -> bool {
        self.0.contains(&mode)
    }

    /// Each mode once, in the order of the list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'v str> {
        self.0.iter().copied()
    }
}

impl PartialEq for AccessModes<'_> {
    fn eq(&self, other: &Self) -> bool {
        let others = Names::of(other.iter());
        self.0.len() == other.0.len() && self.iter().all(|mode| others.contains(mode))
    }
}

impl Eq for AccessModes<'_> {}

/// The class of a claim or of a template of claims; empty when none is named. `GetPersistentVolumeClaimClass`
/// (component-helpers, Kubernetes 1.36): the beta annotation still comes before the field.
///
/// # Errors
/// A class that is not a string, in the annotation or in the field.
pub fn class_of_claim<'v>(claim: &Field<'v, '_>) -> Result<&'v str, Unreadable> {
    class_of_volume(&claim.get("metadata")?, &claim.get("spec")?)
}
