//! A StorageClass, as far as it decides when a claim is bound.

use super::field::{Field, Unreadable};

/// The provisioner of classes whose volumes somebody makes by hand, or a program that no claim asks.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The binding mode in which the scheduler chooses node and volume together.
pub const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";

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

    /// Whether claims are bound to volumes that exist already before anybody knows on which node their pods will run.
    pub fn binds_blindly(&self) -> bool {
        self.provisioner == NO_PROVISIONER && self.binding_mode != Some(WAIT_FOR_FIRST_CONSUMER)
    }
}
