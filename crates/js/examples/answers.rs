//! Every case with what the library answers natively, as JSON: what the package must answer to the last byte.

#![allow(clippy::restriction)]

use placement_guard::objects::Objects;
use placement_guard::{kubewarden, verdict};
use placement_guard_js::relation;
use serde_json::{Value, json};

fn main() -> Result<(), String> {
    let answers: Result<Vec<Value>, String> = testkit::cases()?.iter().map(answer).collect();
    println!("{}", Value::Array(answers?));
    Ok(())
}

fn answer(case: &testkit::Case) -> Result<Value, String> {
    let settings = String::from_utf8(case.settings()).map_err(|error| error.to_string())?;
    let valid =
        String::from_utf8(kubewarden::validate_settings(settings.as_bytes())).map_err(|error| error.to_string())?;
    let request = case.request().map(Value::to_string);
    // In JavaScript objects are given or not; it has no way to give a kind that cannot be read.
    let can_be_given = !case.has_unreadable_kinds();
    let cluster = case.cluster().filter(|_| can_be_given).map(|objects| json!(objects).to_string());
    let verdict = request.as_ref().map(|request| match &cluster {
        None => Ok(verdict::check(&settings, request)),
        Some(objects) => Objects::read(objects).map(|objects| verdict::check_in(&settings, request, &objects)),
    });
    let verdict = verdict.transpose().map_err(|unreadable| unreadable.to_string())?;
    let verdict =
        verdict.map(|verdict| serde_json::to_string(&verdict)).transpose().map_err(|error| error.to_string())?;
    let edit = case.request().and_then(|request| edit(&settings, request));
    Ok(json!({
        "name": case.name, "settings": settings, "valid": valid, "request": request, "cluster": cluster,
        "canBeGiven": can_be_given, "verdict": verdict, "edit": edit,
    }))
}

/// The two states of an edited PersistentVolume, the topology facts, and how the states relate.
fn edit(settings: &str, request: &Value) -> Option<Value> {
    let is_edit = request["operation"] == "UPDATE" && request["kind"]["kind"] == "PersistentVolume";
    let state = |member: &str| Some(&request[member]).filter(|state| state.is_object()).map(Value::to_string);
    let (before, after) = (state("oldObject")?, state("object")?);
    let settings: Value = serde_json::from_str(settings).ok()?;
    let topology = Some(&settings["volumeNodeAffinity"]["topology"]).filter(|facts| !facts.is_null());
    let topology = topology.map_or_else(|| String::from("{}"), Value::to_string);
    let related = relation(&before, &after, &topology);
    is_edit.then(|| json!({"before": before, "after": after, "topology": topology, "relation": related}))
}
