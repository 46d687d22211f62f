//! A document by its name, which begins every path in it.

use placement_guard::kubernetes::field::{self, Field, Unreadable};

/// Reads a JSON text as a document of this name.
pub fn read<T>(
    name: &str,
    text: &str,
    read: impl FnOnce(&Field<'_, '_>) -> Result<T, Unreadable>,
) -> Result<T, Unreadable> {
    let document = field::parse(text.as_bytes()).map_err(|broken| Unreadable {
        path: match broken.path.as_str() {
            // What the library calls a document that has no name.
            "payload" => name.to_owned(),
            path if path.starts_with('[') => format!("{name}{path}"),
            path => format!("{name}.{path}"),
        },
        ..broken
    })?;
    read(&Field::root(name, &document))
}

/// Whether a document is a PersistentVolume.
///
/// # Errors
/// When it says that it is of another kind.
pub fn is_volume(document: &Field<'_, '_>) -> Result<(), Unreadable> {
    let kind = document.get("kind")?;
    match kind.string()? {
        // The items of a list carry none.
        None | Some("PersistentVolume") => Ok(()),
        Some(_) => Err(kind.unacceptable("`PersistentVolume`")),
    }
}
