//! What Gatekeeper makes of an admission request before a template sees it: `input.review`.

use serde_json::{Map, Value, json};

/// As at admission: the request as it came; on a DELETE the old object takes the place of the new.
pub fn at_admission(request: &Value) -> Value {
    let mut review = request.clone();
    if review["operation"] == "DELETE" {
        review["object"] = review["oldObject"].clone();
    }
    review["namespaceObject"] = Value::Null;
    floats(&mut review);
    review
}

/// As in an audit: the object alone, with the fields of a request that say nothing.
pub fn in_audit(object: &Value) -> Value {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let api_version = text("/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let mut review = json!({
        "uid": "",
        "kind": {"group": group, "version": version, "kind": text("/kind")},
        "resource": {"group": "", "version": "", "resource": ""},
        "operation": "",
        "userInfo": {},
        "object": object,
        "oldObject": null,
        "options": null,
        "namespaceObject": null,
    });
    for member in ["name", "namespace"] {
        let value = text(&format!("/metadata/{member}"));
        if !value.is_empty() {
            review[member] = json!(value);
        }
    }
    floats(&mut review);
    review
}

/// Numbers pass through a floating-point type.
fn floats(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_i64().is_some_and(|number| number.unsigned_abs() >= 1_000_000) => {
            *value = json!(number.as_f64());
        }
        Value::Array(items) => items.iter_mut().for_each(floats),
        Value::Object(members) => Map::values_mut(members).for_each(floats),
        _ => {}
    }
}
