//! How a document is written in its file, and where its fields are.

use serde::Serialize;

/// The text of a document in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    pub syntax: Syntax,
    /// The byte of the file at which it begins.
    pub offset: u64,
    /// The column at which its first line begins, from 0: an item of a List stands behind a `-`.
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    Json,
    Yaml,
}

/// The type that a list gives to its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKind {
    pub api_version: String,
    pub kind: String,
}

impl ListKind {
    /// The type of the items of a list, for instance of a `PersistentVolumeList`. A plain `List` gives none.
    pub(super) fn of(api_version: Option<&str>, kind: &str) -> Option<Self> {
        let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(ListKind { api_version: api_version?.to_owned(), kind: kind.to_owned() })
    }
}

/// A key that appears again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The path of its field, as in `spec.tolerations[0].key`.
    pub path: String,
    /// Where it appears again.
    pub place: Place,
}

/// A place in a file, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// Where a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Of its key; of an item in a list, of the item.
    pub key: Place,
    pub value: Place,
    /// Whether it is the field itself, or the nearest one above it that exists.
    pub exact: bool,
}

/// Why a text is not usable YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub place: Option<Place>,
    pub said: String,
}
