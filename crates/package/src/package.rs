//! A module made ready for Kubewarden in one step, from what is in two files.

use crate::{InvalidMetadata, Metadata, NotAModule, annotate};

/// Why a module cannot be packaged, and which of the two files is at fault.
#[derive(Debug, thiserror::Error)]
pub enum NotPackaged {
    #[error(transparent)]
    Metadata(#[from] InvalidMetadata),
    #[error(transparent)]
    Module(#[from] NotAModule),
}

/// Gives the module with the metadata in it that a `metadata.yml` states, as the policy server wants it.
///
/// # Errors
/// Metadata that are not understood to the last key, and bytes that are not a core module.
pub fn package(metadata: &str, module: &[u8]) -> Result<Vec<u8>, NotPackaged> {
    let metadata = Metadata::parse(metadata)?;
    Ok(annotate(module, &metadata)?)
}
