//! The JSON Schema of the settings accepts and refuses what the library does, as far as a schema can say it.

use std::collections::BTreeSet;

use jsonschema::Validator;
use placement_guard::verdict;
use serde_json::{Value, json};

fn schema() -> Validator {
    let schema = templates::schema::value();
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::validator_for(&schema).unwrap()
}

/// What a schema cannot say, each in the library's words.
const BEYOND: [&str; 3] =
    ["is more than `max`", "no node could satisfy all of these facts together", "is listed under two regions"];

fn disagreement(schema: &Validator, settings: &str) -> Option<String> {
    // A validator sees a duplicate key only once, so this test does not ask about it.
    let value: Value = serde_json::from_str(settings).ok()?;
    let library = verdict::validate_settings(&value.to_string()).err();
    match (library, schema.is_valid(&value)) {
        (Some(unreadable), true) if BEYOND.iter().any(|beyond| unreadable.problem.contains(beyond)) => None,
        (Some(unreadable), true) => Some(format!("only the library refuses {settings}\n  {unreadable}")),
        (None, false) => {
            let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
            Some(format!("only the schema refuses {settings}\n  {}", errors.join("\n  ")))
        }
        _ => None,
    }
}

#[test]
fn the_settings_of_every_case_are_judged_alike() {
    let schema = schema();
    let cases = testkit::cases().unwrap();
    let settings: Vec<String> = cases.iter().map(|case| String::from_utf8(case.settings()).unwrap()).collect();
    let differing: Vec<String> = settings.iter().filter_map(|settings| disagreement(&schema, settings)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn settings_that_have_a_sentence_of_their_own_against_them_are_refused() {
    let schema = schema();
    // The settings begin at the first column, headings with `#`; what the library says against them is indented.
    let table =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/settings_messages.txt"))
            .unwrap();
    let settings: Vec<&str> = table.lines().filter(|line| line.starts_with(['{', '[', '"', 'n'])).collect();
    assert!(settings.len() > 70, "only {}", settings.len());
    let differing: Vec<String> = settings.iter().filter_map(|settings| disagreement(&schema, settings)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Every value in every case's settings replaced by each of these, removed, or joined by an unknown key.
#[test]
fn settings_with_one_value_changed_are_judged_alike() {
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(700),
        json!(1.5),
        json!(""),
        json!("x"),
        json!("not ok!"),
        json!("*"),
        json!("/a/../b"),
        json!("ignore"),
        json!([]),
        json!([""]),
        json!(["x", "-5"]),
        json!([null]),
        json!({}),
        json!({"key": "x"}),
    ];
    let schema = schema();
    let mut differing = BTreeSet::new();
    let all: BTreeSet<String> =
        testkit::cases().unwrap().iter().map(|case| String::from_utf8(case.settings()).unwrap()).collect();
    for settings in all {
        let settings: Value = serde_json::from_str(&settings).unwrap();
        for pointer in pointers(&settings) {
            let mut changed: Vec<Value> =
                others.iter().map(|other| with(&settings, &pointer, |value| *value = other.clone())).collect();
            changed.push(with(&settings, &pointer, |value| {
                if let Some(object) = value.as_object_mut() {
                    object.insert(String::from("unknown"), json!(1));
                }
            }));
            changed.push(with(&settings, &pointer, |value| {
                if let Some(object) = value.as_object_mut() {
                    let first = object.keys().next().cloned();
                    first.map(|key| object.remove(&key));
                }
            }));
            changed.push(with(&settings, &pointer, |value| {
                if let Some(list) = value.as_array_mut() {
                    list.extend(list.first().cloned());
                }
            }));
            differing.extend(changed.iter().filter_map(|changed| disagreement(&schema, &changed.to_string())));
        }
    }
    let differing: Vec<String> = differing.into_iter().collect();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

/// JSON Pointers of everything in a value.
fn pointers(value: &Value) -> Vec<String> {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let below =
        members.iter().flat_map(|(key, value)| pointers(value).into_iter().map(move |rest| format!("/{key}{rest}")));
    std::iter::once(String::new()).chain(below).collect()
}

fn with(settings: &Value, pointer: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut changed = settings.clone();
    change(changed.pointer_mut(pointer).unwrap());
    changed
}
