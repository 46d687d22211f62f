//! What the engine begins with: the requests that a real API server sent, the cases, and the committed corpus.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Settings and a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents {
    pub settings: Value,
    pub request: Value,
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The settings with every section.
pub fn all_rules() -> Value {
    let file = repository().join("docs/examples/settings.yaml");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Every recorded request under all rules, and every case.
pub fn documents() -> Vec<Documents> {
    let folder = repository().join("tests/requests");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    let recorded = names.iter().map(|name| Documents {
        settings: all_rules(),
        request: slim(testkit::recorded(name).unwrap_or_else(|error| panic!("{error}"))),
    });
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    let cases = cases.iter().filter_map(|case| {
        let settings = serde_json::from_slice(&case.settings()).ok()?;
        Some(Documents { settings, request: slim(case.request()?.clone()) })
    });
    recorded.chain(cases).collect()
}

/// A request without what no rule reads and that only takes time.
fn slim(mut request: Value) -> Value {
    for object in ["object", "oldObject"] {
        if let Some(metadata) = request.pointer_mut(&format!("/{object}/metadata")).and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
    }
    request
}
