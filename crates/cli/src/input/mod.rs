//! What comes in: files and standard input, YAML or JSON, with one document or several.

mod json;
mod located;
mod yaml;
mod yaml_chunks;
mod yaml_document;
mod yaml_json;

use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

use crate::complaint::Complaint;

pub use json::Members;
pub use located::{Located, locate};

/// The text of a file.
#[derive(Debug)]
pub struct Source {
    /// The path as it was given; `-` is standard input.
    pub name: String,
    text: String,
}

/// One document, or one item of a List.
#[derive(Debug)]
pub struct Document<'t> {
    /// As JSON. What was written as JSON is the text as it was written.
    pub json: Cow<'t, str>,
    /// The line on which it begins.
    pub line: usize,
    /// What its items are where a typed list (`PersistentVolumeList`) leaves it out of them.
    pub of_list: Option<ListKind>,
}

/// The type that a list gives to its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKind {
    pub api_version: String,
    pub kind: String,
}

impl ListKind {
    /// The type of the items of a list, for instance of a `PersistentVolumeList`. A plain `List` gives none.
    fn of(api_version: Option<&str>, kind: &str) -> Option<Self> {
        let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(ListKind { api_version: api_version?.to_owned(), kind: kind.to_owned() })
    }
}

impl Source {
    /// Reads a file, or standard input where the path is `-`.
    ///
    /// # Errors
    /// When it cannot be read, or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        Self::read_seen(path, &|_| {})
    }

    /// The same; `seen` hears how many bytes have come from standard input, which may take its time.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn read_seen(path: &Path, seen: &dyn Fn(u64)) -> Result<Self, Complaint> {
        let name = path.display().to_string();
        let mut bytes = Vec::new();
        let read =
            if name == "-" { read_stdin(&mut bytes, seen) } else { std::fs::read(path).map(|read| bytes = read) };
        let location = shown(&name);
        read.map_err(|error| Complaint::new(location, format!("cannot be read: {error}"), "name a file, or `-`"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Complaint::new(location, format!("is not UTF-8 at byte {at}"), "save it as UTF-8")
        })?;
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Source { name, text })
    }

    /// A text that comes from no file.
    pub fn of(name: &str, text: &str) -> Self {
        Source { name: name.to_owned(), text: text.to_owned() }
    }

    /// The name in words.
    pub fn shown(&self) -> &str {
        shown(&self.name)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every document, Lists taken apart; `None` where there are only comments. A List without items is not nothing.
    ///
    /// # Errors
    /// The location at which the text is neither JSON nor YAML.
    pub fn documents(&self) -> Result<Option<Vec<Document<'_>>>, Complaint> {
        self.documents_seen(&|_| {})
    }

    /// The same; `seen` hears how many bytes have been read, now and then.
    ///
    /// # Errors
    /// As [`Source::documents`].
    pub fn documents_seen(&self, seen: &dyn Fn(u64)) -> Result<Option<Vec<Document<'_>>>, Complaint> {
        if !self.text.trim_start().starts_with(['{', '[']) {
            return yaml::documents(self, seen);
        }
        // Every JSON text is YAML too, but a reader of YAML would not leave it as it is.
        let json = json::documents(self);
        if json.is_err() && !self.name.ends_with(".json") { yaml::documents(self, seen).or(json) } else { json }
    }

    /// The one document that the text must hold.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn only_document(&self, what: &str) -> Result<Document<'_>, Complaint> {
        let mut documents = self.documents()?.unwrap_or_default();
        match (documents.pop(), documents.len()) {
            (Some(document), 0) => Ok(document),
            (None, _) => Err(Complaint::new(self.shown(), "holds no document", format!("write {what}, into it"))),
            (Some(second), _) => Err(Complaint::new(
                format!("{}:{}", self.shown(), second.line),
                "is another document",
                format!("leave one: {what}"),
            )),
        }
    }
}

fn read_stdin(bytes: &mut Vec<u8>, seen: &dyn Fn(u64)) -> std::io::Result<()> {
    let mut stdin = std::io::stdin().lock();
    loop {
        let some = stdin.fill_buf()?;
        let length = some.len();
        if length == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(some);
        stdin.consume(length);
        seen(bytes.len() as u64);
    }
}

fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}
