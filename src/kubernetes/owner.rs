//! To which object an object belongs.

use super::field::{Field, Unreadable};

/// Whether the metadata name a controller of this API version and kind. Owner references alone prove nothing where
/// somebody asks: everyone may write them.
///
/// # Errors
/// A wrong JSON type in the references.
pub fn is_owned_by(metadata: &Field<'_, '_>, version: &str, kind: &str) -> Result<bool, Unreadable> {
    let owners = metadata.get("ownerReferences")?;
    for owner in owners.items()? {
        let matches = owner.string_of("apiVersion")? == Some(version) && owner.string_of("kind")? == Some(kind);
        if matches && owner.boolean_of("controller")? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}
