//! What the engine begins with: the requests that a real API server sent, the cases, and the committed corpus.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bodies;
use super::document::Document;
use super::targets::{Input, Target};
use crate::random::Random;

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The settings with every section.
pub fn all_rules() -> Value {
    let file = repository().join("docs/examples/settings.yaml");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What a target begins with, without the committed corpus.
pub fn of(target: Target) -> Vec<Input> {
    let mut random = Random::from_seed(7);
    let bytes = |random: &mut Random| (0..60).map(|_| random.number() as u8).collect();
    match target {
        Target::Algebra => (0..50).map(|_| Input::Selectors(bytes(&mut random))).collect(),
        Target::Settings | Target::Both => {
            let of = |(settings, request): (Value, Value)| Input::Documents(Some(settings.into()), request.into());
            documents().into_iter().map(of).collect()
        }
        Target::Request => {
            documents().into_iter().map(|(_, request)| Input::Documents(None, Document::from(request))).collect()
        }
        Target::Bodies => {
            let of = |(settings, request): (Value, Value)| {
                [true, false].map(|is_review| Input::Body(bodies::seed(&settings, &request, is_review).into()))
            };
            documents().into_iter().flat_map(of).collect()
        }
    }
}

/// Settings and a request: every recorded request under all rules, and every case.
fn documents() -> Vec<(Value, Value)> {
    let folder = repository().join("tests/requests");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    let all_rules = all_rules();
    let recorded = names
        .iter()
        .map(|name| (all_rules.clone(), slim(testkit::recorded(name).unwrap_or_else(|error| panic!("{error}")))));
    let cases = testkit::cases().unwrap_or_else(|complaints| panic!("cases that cannot be read:\n{complaints}"));
    let cases = cases.iter().filter_map(|case| {
        let settings = serde_json::from_slice(&case.settings()).ok()?;
        Some((settings, slim(case.request()?.clone())))
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
