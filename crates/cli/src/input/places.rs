//! From the path of a field to its line and column.

use super::document::{Document, Found, Place};

/// The place of a field in a document.
pub fn find(document: &Document, _path: &str) -> Found {
    let start = Place { line: document.line, column: document.written.column.saturating_add(1) };
    Found { key: start, value: start, exact: false }
}
