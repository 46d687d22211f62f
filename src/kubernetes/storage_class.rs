//! What decides when a claim is bound to a volume: the StorageClass, or that a volume has none.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use super::affinity::Affinity;
use super::field::{Field, Unreadable};

/// The provisioner of classes whose volumes a person makes by hand, or a program that no claim asks.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The binding mode in which the scheduler chooses node and volume together.
pub const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";

/// The annotation that names a class in place of the field.
pub const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// What is judged of a StorageClass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageClass<'v> {
    pub provisioner: &'v str,
    /// Absent is `Immediate`.
    pub binding_mode: Option<&'v str>,
}

impl<'v> StorageClass<'v> {
    /// Reads what is judged of a StorageClass.
    ///
    /// # Errors
    /// A wrong JSON type in the fragment.
    pub fn read(object: &Field<'v, '_>) -> Result<Self, Unreadable> {
        Ok(StorageClass {
            provisioner: object.string_of("provisioner")?.unwrap_or_default(),
            binding_mode: object.string_of("volumeBindingMode")?,
        })
    }

    /// Whether a claim gets its volume only when it is known on which node its pod will run.
    pub fn waits(&self) -> bool {
        self.binding_mode == Some(WAIT_FOR_FIRST_CONSUMER)
    }
}

/// The nodes for whose pods volumes of a class are made: `allowedTopologies`, which is written in another way than node
/// selectors and means the same (`MatchTopologySelectorTerms`, component-helpers, Kubernetes 1.36). An empty list means every
/// node. A volume that exists already is not limited by it.
///
/// # Errors
/// A wrong JSON type.
pub fn allowed_topologies(class: &Field<'_, '_>) -> Result<Affinity, Unreadable> {
    let terms = class.get("allowedTopologies")?.each(|term| {
        let requirements = term.get("matchLabelExpressions")?.each(|requirement| {
            Ok(NodeSelectorRequirement {
                key: requirement.string_of("key")?.unwrap_or_default().to_owned(),
                operator: String::from("In"),
                values: Some(requirement.get("values")?.strings()?.into_iter().map(str::to_owned).collect()),
            })
        })?;
        let match_expressions = Some(requirements).filter(|requirements| !requirements.is_empty());
        Ok(NodeSelectorTerm { match_expressions, match_fields: None })
    })?;
    Ok(if terms.is_empty() { Affinity::Absent } else { Affinity::Required(terms) })
}

/// The class of a PersistentVolume, which claims name in the same way; empty when it has none. Claims without a class are bound to such volumes at once
/// (`IsDelayBindingMode`). The annotation comes before the field (`GetPersistentVolumeClass`, component-helpers, Kubernetes
/// 1.36).
///
/// # Errors
/// A class that is not a string, in the annotation or in the field.
pub fn class_of_volume<'v>(metadata: &Field<'v, '_>, spec: &Field<'v, '_>) -> Result<&'v str, Unreadable> {
    let annotations = metadata.get("annotations")?;
    let annotated = annotations.string_of(BETA_CLASS)?;
    let named = spec.string_of("storageClassName")?;
    Ok(annotated.or(named).unwrap_or_default())
}
