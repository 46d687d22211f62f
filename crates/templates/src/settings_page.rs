//! `docs/settings.md`: every setting and every finding, by rule, from the schema and the table of findings.

use placement_guard::rules::finding::Code;
use serde_json::Value;

use crate::findings::{Explained, FINDINGS};
use crate::findings_page::effect;
use crate::{RULES, schema};

/// The whole page.
pub fn text() -> String {
    let schema = schema::value();
    let mut page = String::from(
        "# Settings\n\n\
         <!-- `make bless` writes this page from the schema of the settings and the table of findings. -->\n\n\
         Settings are one document, YAML or JSON, with one section per rule. A rule is off when its section is absent. At least one\n\
         section must be present. Unknown keys are errors. Everywhere, `null` means absent.\n",
    );
    page.push_str("\n## In every section\n\n");
    let first = RULES.first().map(|rule| rule.section).unwrap_or_default();
    page.push_str(&keys(&schema, of_section(&schema, first), &|key| SHARED.contains(&key)));
    for rule in RULES {
        let section = of_section(&schema, rule.section);
        page.push_str(&format!("\n## `{}`\n\n{}\n\n", rule.section, rule.description));
        page.push_str(&format!("```yaml\n{}```\n\n", example(rule.section)));
        page.push_str(&keys(&schema, section, &|key| !SHARED.contains(&key)));
        page.push_str("\n| finding | effect | means | accepted |\n|---|---|---|---|\n");
        for found in FINDINGS.iter().filter(|found| found.code.and_then(Code::section) == Some(rule.section)) {
            page.push_str(&row(found));
        }
    }
    page.push_str("\n## From every rule\n\n| finding | effect | means | accepted |\n|---|---|---|---|\n");
    for found in FINDINGS.iter().filter(|found| found.code.and_then(Code::section).is_none()) {
        page.push_str(&row(found));
    }
    page
}

/// The keys that every section has.
const SHARED: [&str; 2] = ["enforcement", "exempt"];

fn row(found: &Explained) -> String {
    let Explained { name, means, mend, severity, .. } = found;
    format!("| [`{name}`](findings.md#{name}) | {} | {means} | {mend} |\n", effect(*severity))
}

/// The example of a section, taken from `docs/examples/settings.yaml`.
fn example(section: &str) -> String {
    let all = include_str!("../../../docs/examples/settings.yaml");
    let mut inside = false;
    let lines = all.lines().filter(|line| {
        if !line.starts_with([' ', '#']) {
            inside = line.strip_prefix(section).is_some_and(|rest| rest.starts_with(':'));
        }
        inside && !line.starts_with('#')
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// The object that describes a section.
fn of_section<'s>(schema: &'s Value, section: &str) -> &'s Value {
    resolve(schema, &schema["properties"][section])
}

/// Follows `$ref`, and leaves out the alternative `null`.
fn resolve<'s>(schema: &'s Value, of: &'s Value) -> &'s Value {
    // The alternatives of an object with members are conditions on these members.
    let alternatives = of["anyOf"].as_array().filter(|_| !of["properties"].is_object()).into_iter().flatten();
    let of = alternatives.into_iter().find(|one| one["type"] != "null").unwrap_or(of);
    match of["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        Some(name) => resolve(schema, &schema["$defs"][name]),
        None => of,
    }
}

/// A table of the keys of an object and of the objects below it.
fn keys(schema: &Value, object: &Value, shown: &dyn Fn(&str) -> bool) -> String {
    let mut table = String::from("| key | value | |\n|---|---|---|\n");
    rows(schema, object, "", shown, &mut table);
    table
}

fn rows(schema: &Value, object: &Value, path: &str, shown: &dyn Fn(&str) -> bool, table: &mut String) {
    for (key, property) in object["properties"].as_object().into_iter().flatten() {
        if path.is_empty() && !shown(key) {
            continue;
        }
        let resolved = resolve(schema, property);
        let described = [property, resolved].into_iter().find_map(|one| one["description"].as_str());
        let described = described.unwrap_or_default().replace('\n', " ");
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        table.push_str(&format!("| `{path}` | {} | {described} |\n", value(schema, resolved)));
        let below = if resolved["items"].is_object() { resolve(schema, &resolved["items"]) } else { resolved };
        let suffix = if resolved["items"].is_object() { "[]" } else { "" };
        rows(schema, below, &format!("{path}{suffix}"), shown, table);
    }
}

/// The values that a key takes, in a few words.
fn value(schema: &Value, of: &Value) -> String {
    let words: Vec<String> = words(of).into_iter().map(|word| format!("`{word}`")).collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    let kind = match &of["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default(),
        kind => kind.as_str().unwrap_or_default(),
    };
    match kind {
        "array" => {
            let items = value(schema, resolve(schema, &of["items"]));
            if items.starts_with('`') { format!("list of {items}") } else { format!("list of {items}s") }
        }
        "object" if of["properties"].is_object() => String::from("object"),
        "object" => String::from("map"),
        other => other.to_owned(),
    }
}

/// The constants that a schema accepts, without null and the empty string.
fn words(of: &Value) -> Vec<String> {
    let one = of["enum"].as_array().into_iter().flatten().chain([&of["const"]]);
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let here = one.filter(|value| !value.is_null() && *value != "").map(plain);
    let below = of["oneOf"].as_array().into_iter().flatten().flat_map(words);
    here.chain(below).collect()
}
