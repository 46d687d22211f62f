//! The findings as SARIF 2.1.0, which code scanning of GitHub and other services reads. The rules of the tool are the table of
//! findings.

use serde_json::{Map, Value, json};
use templates::findings::{self, Explained};

use super::baseline::key;
use super::fields::block;
use super::{Effect, Found, Judged, Report};

/// A log with one run.
pub fn of(report: &Report) -> Value {
    let rules: Vec<Value> = findings::all().map(rule).collect();
    let results = report.objects.iter().flat_map(|judged| judged.findings.iter().map(move |found| (judged, found)));
    let results: Vec<Value> = results.map(|(judged, found)| result(judged, found)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "placement-guard",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": "https://github.com/placement-guard/placement-guard",
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(explained: &Explained) -> Value {
    json!({
        "id": explained.name,
        "shortDescription": {"text": explained.title()},
        "fullDescription": {"text": explained.means},
        "help": {"text": format!("{} {}", explained.means, explained.mend)},
        "helpUri": explained.link(),
        "defaultConfiguration": {"level": level(explained.severity.into())},
    })
}

fn level(effect: Effect) -> &'static str {
    match effect {
        Effect::Refuses => "error",
        Effect::Warns => "warning",
    }
}

fn result(judged: &Judged, found: &Found) -> Value {
    let object = judged.name();
    let name = found.field.iter().fold(object.clone(), |object, field| format!("{object} {field}"));
    let mut location = Map::new();
    location.insert(String::from("logicalLocations"), json!([{"fullyQualifiedName": name, "kind": "object"}]));
    // Standard input and an API server are no files.
    if judged.subject.file != "-" && found.line > 0 {
        let region = json!({"startLine": found.line.max(1), "startColumn": found.column.max(1)});
        let file = json!({"artifactLocation": {"uri": uri(&judged.subject.file)}, "region": region});
        location.insert(String::from("physicalLocation"), file);
    }
    let (code, object_key, said) = key(judged, found);
    let suppressed = match (&found.silenced, found.in_baseline) {
        (Some(reason), _) => Some(json!([{"kind": "inSource", "justification": reason}])),
        (None, true) => Some(json!([{"kind": "external", "justification": "in the baseline"}])),
        (None, false) => None,
    };
    let index = findings::all().position(|explained| explained.name == found.code);
    let always = [
        ("ruleId", json!(found.code)),
        ("level", json!(level(found.effect))),
        ("message", json!({"text": format!("{object}: {}", block(found))})),
        ("locations", json!([location])),
        ("partialFingerprints", json!({"placementGuardFinding/v1": format!("{code} {object_key} {said}")})),
    ];
    let sometimes = [("ruleIndex", index.map(|index| json!(index))), ("suppressions", suppressed)];
    let sometimes = sometimes.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Value::Object(always.into_iter().chain(sometimes).map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A path as a reference of a URI: relative to the folder of the run, as it was given.
fn uri(path: &str) -> String {
    let (scheme, path) = if path.starts_with('/') { ("file://", path) } else { ("", path) };
    let path = path.strip_prefix("./").unwrap_or(path).replace('\\', "/");
    let mut encoded = String::from(scheme);
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("./a b/ü#.yaml"), "a%20b/%C3%BC%23.yaml");
        assert_eq!(uri("/tmp/a.yaml"), "file:///tmp/a.yaml");
        assert_eq!(uri("../a.yaml"), "../a.yaml");
    }
}
