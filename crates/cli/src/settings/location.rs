//! From the path of a field to its line and column.

use placement_guard::kubernetes::field::Unreadable;

use crate::input::{Document, shown};

/// Where in the file the complaint is about: the value, the key where it is the key that is wrong (the second of two), and
/// where nothing is what is wrong, what should hold it.
pub fn of(document: &Document, unreadable: &Unreadable) -> String {
    let about_the_key = ["is not a known key", "appears twice"].iter().any(|key| unreadable.problem.starts_with(key));
    let found = document.find(&unreadable.path);
    let place = if about_the_key && found.exact { found.key } else { found.value };
    format!("{}:{}:{}", shown(&document.file), place.line, place.column)
}
