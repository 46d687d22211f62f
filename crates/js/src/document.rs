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
