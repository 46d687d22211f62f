//! The demonstration: recorded requests, judged by the built module, as a table.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::table::Table;
use crate::{Module, Response};

/// A recorded request and the settings under which it is judged. One more row of the table is one more entry.
struct Row {
    /// The name of a file in `tests/requests/`.
    recorded: &'static str,
    /// The settings in a few words.
    under: &'static str,
    settings: fn() -> Value,
}

const ROWS: &[Row] = &[
    Row { recorded: "pv-update-zone-to-region", under: "defaults", settings: defaults },
    Row { recorded: "pv-update-zone-to-region", under: "zones declared", settings: with_zones },
    Row { recorded: "pv-update-region-to-zone", under: "zones declared", settings: with_zones },
    Row { recorded: "pv-update-gen1-to-gen2", under: "defaults", settings: defaults },
    Row { recorded: "pv-update-zone-added", under: "defaults", settings: defaults },
    Row { recorded: "pv-update-terms-for-values", under: "defaults", settings: defaults },
    Row { recorded: "pv-update-matchfields", under: "defaults", settings: defaults },
    Row { recorded: "pv-update-labels-only", under: "defaults", settings: defaults },
    Row { recorded: "pod-create-payment-lt5", under: "spot below 20", settings: with_spot },
    Row { recorded: "pod-create-gpu-gt800", under: "spot below 20", settings: with_spot },
    Row { recorded: "pod-create-tolerates-everything", under: "spot below 20", settings: with_spot },
];

fn defaults() -> Value {
    json!({"volumeNodeAffinity": {}})
}

fn with_spot() -> Value {
    let spot = json!({
        "key": "failure-probability", "operator": "Lt", "value": "20", "effect": "NoExecute", "maxTolerationSeconds": 300
    });
    json!({"tolerations": {"allowed": [spot]}})
}

fn with_zones() -> Value {
    let zones = json!({"us-east1": ["us-east1-b", "us-east1-c", "us-east1-d"]});
    json!({"volumeNodeAffinity": {"topology": {"zones": zones}}})
}

/// What the demonstration shows.
pub struct Demo {
    pub table: String,
    pub requests: usize,
    /// How long the module took for all requests, each in a fresh instance.
    pub took: Duration,
}

/// Has every row judged.
pub fn run(module: &Module) -> Demo {
    let columns = [("edit", 34), ("settings", 14), ("verdict", 22), ("example", 34)];
    let mut table = Table::new(&columns);
    let mut took = Duration::ZERO;
    for row in ROWS {
        let request = testkit::recorded(row.recorded).unwrap_or_else(|error| panic!("{error}"));
        let settings = (row.settings)();
        let begin = Instant::now();
        let response = module.validate(&settings, &request);
        took += begin.elapsed();
        table.row(&[edit(&request), row.under.to_owned(), verdict(&response), example(&response)]);
    }
    Demo { table: table.finish(), requests: ROWS.len(), took }
}

/// What the request changes, in the words of the two objects.
fn edit(request: &Value) -> String {
    let (before, after) = (&request["oldObject"], &request["object"]);
    if after["kind"] == "Pod" {
        return format!("new pod: {}", tolerations(&after["spec"]["tolerations"]));
    }
    let affinity = |object: &Value| affinity(&object["spec"]["nodeAffinity"]["required"]);
    if before.is_null() {
        return format!("new: {}", affinity(after));
    }
    if affinity(before) != affinity(after) {
        return format!("{}\n→ {}", affinity(before), affinity(after));
    }
    format!("{}\n→ the same; {}", affinity(before), labels_added(before, after))
}

/// The tolerations of a pod in short words; what the API server adds to every pod is left out.
fn tolerations(tolerations: &Value) -> String {
    let own = list(tolerations).filter(|toleration| !text(&toleration["key"]).starts_with("node.kubernetes.io/"));
    let shown = own.map(|toleration| {
        let key = if toleration["key"].is_null() { "every taint" } else { short(text(&toleration["key"])) };
        let condition = match text(&toleration["operator"]) {
            "Gt" => format!(" > {}", text(&toleration["value"])),
            "Lt" => format!(" < {}", text(&toleration["value"])),
            "Exists" => String::new(),
            _ => format!(" = {}", text(&toleration["value"])),
        };
        let seconds = toleration["tolerationSeconds"].as_i64().map(|seconds| format!(" for {seconds} s"));
        format!("{key}{condition}{}", seconds.unwrap_or_default())
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn labels_added(before: &Value, after: &Value) -> String {
    let labels = after["metadata"]["labels"].as_object();
    let added =
        labels.into_iter().flatten().filter(|(key, value)| before["metadata"]["labels"][key.as_str()] != **value);
    let added: Vec<String> = added.map(|(key, value)| format!("label {}={}", short(key), text(value))).collect();
    if added.is_empty() { String::from("nothing that is judged") } else { format!("{} added", added.join(", ")) }
}

/// A required node selector in short words: `zone in (us-east1-b) or region exists`.
fn affinity(required: &Value) -> String {
    if required.is_null() {
        return String::from("every node");
    }
    let terms: Vec<String> = list(&required["nodeSelectorTerms"]).map(term).collect();
    if terms.is_empty() { String::from("no node") } else { terms.join(" or ") }
}

fn term(term: &Value) -> String {
    let expressions = list(&term["matchExpressions"]).map(|requirement| condition("", requirement));
    let fields = list(&term["matchFields"]).map(|requirement| condition("field ", requirement));
    expressions.chain(fields).collect::<Vec<_>>().join(" and ")
}

fn condition(kind: &str, requirement: &Value) -> String {
    let values = list(&requirement["values"]).map(text).collect::<Vec<_>>().join(", ");
    let key = format!("{kind}{}", short(text(&requirement["key"])));
    match text(&requirement["operator"]) {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} not in ({values})"),
        "Exists" => format!("{key} exists"),
        "DoesNotExist" => format!("{key} does not exist"),
        "Gt" => format!("{key} > {values}"),
        "Lt" => format!("{key} < {values}"),
        other => format!("{key} {other} ({values})"),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A label key without the domain before it.
fn short(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// Whether the request passes, how the new set of nodes relates to the old, and what was found.
fn verdict(response: &Response) -> String {
    let word = if response.accepted { "accepted" } else { "refused" };
    let relation = annotation(response, "relation").map(|relation| format!(": {relation}")).unwrap_or_default();
    let findings = annotation(response, "findings").unwrap_or_default().replace(',', "\n");
    format!("{word}{relation}\n{findings}")
}

/// What the module cites as evidence.
fn example(response: &Response) -> String {
    let cited = [("losesNode", "loses"), ("gainsNode", "gains")].into_iter().filter_map(|(key, verb)| {
        let node: Value = serde_json::from_str(annotation(response, key)?).ok()?;
        let labels = node.as_object().into_iter().flatten();
        let labels: Vec<String> = labels.map(|(key, value)| format!("{}={}", short(key), text(value))).collect();
        let node = if labels.is_empty() { String::from("a node without labels") } else { labels.join(", ") };
        Some(format!("{verb} {node}"))
    });
    cited.chain(annotation(response, "taint").map(|taint| format!("taint {taint}"))).collect::<Vec<_>>().join("\n")
}

fn annotation<'r>(response: &'r Response, key: &str) -> Option<&'r str> {
    response.audit_annotations.as_ref()?.get(key).map(String::as_str)
}
