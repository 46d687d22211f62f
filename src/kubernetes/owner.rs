//! To which object an object belongs.

use super::field::{Field, Unreadable};

/// Whether the metadata of an object name a controller of this API version and kind.
///
/// Everyone may write owner references, so by themselves they prove nothing about who made an object that somebody asks to
/// store. In the metadata of a pod template they prove nothing at all: ask this of the metadata of the object itself.
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

/// Whether the metadata of an object name the object with this UID as its controller.
///
/// # Errors
/// A wrong JSON type in the references.
pub fn is_controlled_by(metadata: &Field<'_, '_>, uid: &str) -> Result<bool, Unreadable> {
    for owner in metadata.get("ownerReferences")?.items()? {
        if owner.boolean_of("controller")? == Some(true) && owner.string_of("uid")? == Some(uid) {
            return Ok(true);
        }
    }
    Ok(false)
}
