//! Settings in a ConfigMap, which a server mounts as a file.

use placement_guard::rules::settings::section_names;
use serde_json::Value;

use crate::input::{Document, NotJudged, Piece, below, read_text};

/// Whether an object is a ConfigMap.
pub fn is_config_map(object: &Value) -> bool {
    let is = |key: &str, text: &str| object.get(key).and_then(Value::as_str) == Some(text);
    is("apiVersion", "v1") && is("kind", "ConfigMap")
}

/// The settings that a ConfigMap holds: each entry of its `data` that has a section of settings. Where `alone` says that the
/// user named nothing else, a single entry is settings also if no section in it is known, so that its keys are checked.
///
/// # Errors
/// When such a single entry cannot be read.
pub fn settings(document: &Document, object: &Value, alone: bool) -> Result<Vec<Document>, NotJudged> {
    let entries = || object.get("data").and_then(Value::as_object).into_iter().flatten();
    let only = alone && entries().count() == 1;
    let mut found = Vec::new();
    for (name, text) in entries() {
        let (mut documents, mut wrong) = (Vec::new(), None);
        let path = below("data", name);
        let (file, text) = located(document, &path, text.as_str().unwrap_or_default());
        read_text(&file, text.as_bytes(), &mut |piece| match piece {
            Piece::Document(document) => documents.push(document),
            Piece::NotJudged(one) => drop(wrong.get_or_insert(one)),
            Piece::Came(_) => {}
        });
        match (wrong, documents.pop()) {
            (Some(wrong), _) if only => return Err(wrong),
            (None, Some(entry)) if documents.is_empty() && (only || has_section(&entry)) => found.push(entry),
            _ => {}
        }
    }
    Ok(found)
}

fn has_section(document: &Document) -> bool {
    let value: Value = serde_json::from_str(document.json()).unwrap_or_default();
    section_names().any(|section| value.get(section).is_some())
}

/// The name under which an entry is read, and its text. A block of rows (`|`) is read as it is in the file, below as many empty
/// rows, so that lines and columns are those of the file.
fn located(document: &Document, path: &str, text: &str) -> (String, String) {
    match rows_in_file(document, path, text) {
        Some(rows) => (document.file.to_string(), rows),
        None => (format!("{} ({path})", document.file), text.to_owned()),
    }
}

fn rows_in_file(document: &Document, path: &str, text: &str) -> Option<String> {
    let found = document.find(path);
    let before = found.value.line.checked_sub(document.line)?.checked_add(1)?;
    let written: Vec<&str> = document.written.text.lines().skip(before).take(text.lines().count()).collect();
    let first = written.iter().find(|row| !row.trim().is_empty())?;
    let indent = first.len().checked_sub(first.trim_start().len())?;
    let bare = |row: &str| row.get(indent..).unwrap_or_default().to_owned();
    let is_same = written.len() == text.lines().count()
        && written.iter().zip(text.lines()).all(|(row, line)| bare(row) == line || row.trim() == line);
    (found.exact && is_same).then(|| format!("{}{}\n", "\n".repeat(found.value.line), written.join("\n")))
}
