//! The Helm chart has what `policies/` has, and its values are checked as the settings are. `BLESS=1` writes its files anew.

use std::collections::BTreeSet;
use std::path::Path;

use jsonschema::Validator;
use placement_guard::verdict;
use serde_json::{Value, json};
use templates::{chart, reads};

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&std::fs::read_to_string(chart::file(path)).unwrap()).unwrap()
}

fn schema() -> Validator {
    let schema: Value = serde_json::from_str(&templates::chart_values::text().unwrap()).unwrap();
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::validator_for(&schema).unwrap()
}

/// What Helm checks when a user writes these values: the defaults with them on top. Helm removes what is null.
fn with_defaults(values: &Value) -> Value {
    let mut all = yaml("values.yaml");
    put(&mut all, values);
    all
}

fn put(into: &mut Value, values: &Value) {
    match (into, values) {
        (Value::Object(into), Value::Object(values)) => {
            for (key, value) in values {
                if value.is_null() {
                    into.remove(key);
                } else {
                    put(into.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (into, value) => *into = value.clone(),
    }
}

/// The settings of every case that the library accepts, and whether it does.
fn settings() -> Vec<(Value, bool)> {
    let texts: BTreeSet<String> =
        testkit::cases().unwrap().iter().map(|case| String::from_utf8(case.settings()).unwrap()).collect();
    texts
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .map(|settings: Value| {
            let valid = verdict::validate_settings(&settings.to_string()).is_ok();
            (settings, valid)
        })
        .collect()
}

#[test]
fn the_files_of_the_chart_are_what_their_sources_make() {
    for folder in ["files/templates", "files/constraints"] {
        std::fs::create_dir_all(chart::file(folder)).unwrap();
    }
    let files = chart::files().unwrap_or_else(|error| panic!("{error}"));
    for (path, text) in &files {
        testkit::golden::assert_golden(chart::file(path), text);
    }
    let mut found = BTreeSet::new();
    collect(&chart::file("files"), &mut found);
    let expected = files.iter().filter(|(path, _)| path.starts_with("files/")).map(|(path, _)| chart::file(path));
    assert_eq!(found, expected.map(|path| path.display().to_string()).collect());
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, found) } else { _ = found.insert(path.display().to_string()) }
    }
}

#[test]
fn the_chart_has_the_version_of_the_program() {
    let described = yaml("Chart.yaml");
    assert_eq!(described["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(described["appVersion"], env!("CARGO_PKG_VERSION"));
}

/// Each value has a default and a comment, because readers look there first.
#[test]
fn every_value_of_the_schema_has_a_default() {
    let schema: Value = serde_json::from_str(&templates::chart_values::text().unwrap()).unwrap();
    let values = yaml("values.yaml");
    let errors: Vec<String> =
        self::schema().iter_errors(&values).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let mut lacking = Vec::new();
    for (name, value) in schema["properties"].as_object().unwrap() {
        match &values[name] {
            Value::Null if name == "global" => {}
            Value::Null => lacking.push(name.clone()),
            Value::Object(members) => {
                let definition = ["anyOf", "allOf"]
                    .iter()
                    .find_map(|of| value[of][0]["$ref"].as_str()?.strip_prefix("#/definitions/"));
                let Some(definition) = definition else { continue };
                let known = schema["definitions"][definition]["properties"].as_object().unwrap();
                lacking
                    .extend(known.keys().filter(|key| !members.contains_key(*key)).map(|key| format!("{name}.{key}")));
            }
            _ => {}
        }
    }
    assert!(lacking.is_empty(), "values.yaml lacks {lacking:?}");
}

#[test]
fn every_rule_has_a_constraint_in_the_values() {
    let schema: Value = serde_json::from_str(&templates::chart_values::text().unwrap()).unwrap();
    let known: BTreeSet<&str> =
        schema["definitions"]["Constraints"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let rules: BTreeSet<&str> = templates::RULES.iter().map(|rule| rule.section).collect();
    assert_eq!(known, rules);
    let values = yaml("values.yaml");
    let shown: BTreeSet<&str> =
        values["gatekeeper"]["constraints"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(shown, rules);
}

#[test]
fn settings_in_the_values_are_accepted_and_refused_as_they_are_elsewhere() {
    let (schema, settings_alone) = (schema(), jsonschema::validator_for(&templates::schema::value()).unwrap());
    let (mut accepted, mut refused) = (0, 0);
    for (settings, _) in settings() {
        // Empty settings are the shipped ones, and null is what Helm removes.
        if settings.as_object().is_none_or(|sections| sections.values().all(Value::is_null)) {
            continue;
        }
        let expected = settings_alone.is_valid(&settings);
        let values = with_defaults(&json!({"webhook": {"settings": settings}}));
        assert_eq!(schema.is_valid(&values), expected, "webhook.settings: {settings}");
        let sections = settings.as_object().unwrap();
        let known: BTreeSet<&str> = templates::RULES.iter().map(|rule| rule.section).collect();
        if sections.keys().all(|name| known.contains(name.as_str())) {
            let constraints: Value =
                sections.iter().map(|(name, parameters)| (name.clone(), json!({"parameters": parameters}))).collect();
            let values = with_defaults(&json!({"gatekeeper": {"constraints": constraints}}));
            assert_eq!(schema.is_valid(&values), expected, "parameters: {settings}");
        }
        if expected { accepted += 1 } else { refused += 1 }
    }
    assert!(accepted > 100 && refused > 10, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_misspelt_value_is_refused() {
    let schema = schema();
    for values in [
        json!({"webhok": {}}),
        json!({"webhook": {"failurePolicy": "fail"}}),
        json!({"webhook": {"settings": {"toleration": {}}}}),
        json!({"gatekeeper": {"constraints": {"tolerations": {"enforcementAction": "refuse"}}}}),
        json!({"gatekeeper": {"constraints": {"tolerations": {"parameters": {"allow": []}}}}}),
        json!({"image": {"digest": "0123"}}),
        json!({"certificates": {"ca": "ca.crt"}}),
        json!({"readsCluster": ["Nodes"]}),
        json!({"networkPolicy": {"apiServerPort": 0}}),
        json!({"networkPolicy": {"controlPlane": ["10.0.0.1"]}}),
        json!({"fullnameOverride": "Guard_1"}),
    ] {
        assert!(!schema.is_valid(&with_defaults(&values)), "{values}");
    }
    for values in [
        json!({"networkPolicy": {"controlPlane": ["10.0.0.0/28", "fd00::/64"], "registryPort": 5000}}),
        json!({"fullnameOverride": "guard-1"}),
    ] {
        assert!(schema.is_valid(&with_defaults(&values)), "{values}");
    }
}

/// A section with only comments is null, and the templates would read a field of nothing.
#[test]
fn an_empty_section_is_refused() {
    let schema = schema();
    for (section, field) in [
        ("webhook", "failurePolicy"),
        ("gatekeeper", "applyConstraints"),
        ("image", "repository"),
        ("module", ""),
        ("certificates", "certManager"),
        ("serviceAccount", ""),
        ("podDisruptionBudget", "minAvailable"),
        ("networkPolicy", "apiServerPort"),
        ("replicas", ""),
        ("evaluations", ""),
    ] {
        let (mut removed, mut null) = (with_defaults(&json!({section: null})), with_defaults(&json!({})));
        null[section] = Value::Null;
        assert!(!schema.is_valid(&removed) && !schema.is_valid(&null), "{section}");
        if !field.is_empty() {
            removed = with_defaults(&json!({section: {field: null}}));
            null = with_defaults(&json!({}));
            null[section][field] = Value::Null;
            assert!(!schema.is_valid(&removed) && !schema.is_valid(&null), "{section}.{field}");
        }
    }
}

/// The chart grants what the settings need by a table, which lists every setting that reads the cluster.
#[test]
fn the_table_of_what_settings_read_says_what_the_library_says() {
    let mut reading = 0;
    for (settings, valid) in settings() {
        if !valid {
            continue;
        }
        let needs = reads::needs(&settings).unwrap();
        assert_eq!(reads::by_table(&settings).unwrap(), needs, "{settings}");
        reading += usize::from(!needs.is_empty());
    }
    assert!(reading > 20, "only {reading} settings read the cluster");
    let all: BTreeSet<_> =
        chart::files().unwrap().iter().filter(|(path, _)| path == "files/reads.yaml").cloned().collect();
    let table: Value = serde_saphyr::from_str(&all.first().unwrap().1).unwrap();
    let named: BTreeSet<&str> = table["settings"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["kinds"].as_array().unwrap().iter().filter_map(Value::as_str))
        .collect();
    let known: BTreeSet<&str> = table["kinds"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(named, known, "a kind that no setting reads");
}
