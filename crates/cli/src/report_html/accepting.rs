//! Settings that would accept a change that is refused: simple ones are tried, and those that accept it are shown.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::kubernetes::reach::Reach;
use placement_guard::rules::cluster::Cluster;
use placement_guard::verdict;
use serde_json::{Map, Value, json};

use super::map::Node;
use crate::output;

/// The section of the settings that judges volumes.
const SECTION: &str = "volumeNodeAffinity";

/// Settings that accept the change, and what they mean.
#[derive(Debug)]
pub struct Choice {
    pub yaml: String,
    pub means: String,
}

/// What was refused.
pub struct Refused<'r> {
    pub settings: &'r str,
    /// The request, as JSON.
    pub request: &'r str,
    pub relation: &'r str,
    pub before: &'r str,
    pub after: &'r str,
    pub nodes: Option<&'r [Node]>,
}

/// Tries settings, from those that promise most to those that promise least.
pub fn choices(refused: &Refused<'_>, cluster: &dyn Cluster) -> Vec<Choice> {
    let Ok(Value::Object(settings)) = serde_json::from_str(refused.settings) else { return Vec::new() };
    let accepts = |settings: &Value| verdict::check_in(&settings.to_string(), refused.request, cluster).allowed;
    // The other sections stay as they are.
    let shown = |settings: &Value| output::yaml(&json!({SECTION: settings.get(SECTION)}));
    let tried = candidates(&settings, refused).into_iter().filter(|(settings, _)| accepts(settings));
    tried.filter_map(|(settings, means)| shown(&settings).ok().map(|yaml| Choice { yaml, means })).collect()
}

fn candidates(settings: &Map<String, Value>, refused: &Refused<'_>) -> Vec<(Value, String)> {
    let rule = settings.get(SECTION).and_then(Value::as_object).cloned().unwrap_or_default();
    let with = |key: &str, value: Value| {
        let (mut settings, mut rule) = (settings.clone(), rule.clone());
        rule.insert(key.to_owned(), value);
        settings.insert(SECTION.to_owned(), Value::Object(rule));
        Value::Object(settings)
    };
    let facts = rule.get("topology").and_then(Value::as_object).cloned().unwrap_or_default();
    let with_fact = |key: &str, value: Value| {
        let mut facts = facts.clone();
        facts.insert(key.to_owned(), value);
        with("topology", Value::Object(facts))
    };
    let mut all = Vec::new();
    let mut offer = |settings: Value, means: &str| all.push((settings, means.to_owned()));
    if let Some(zones) = refused.nodes.map(zones).filter(|zones| !zones.is_empty()) {
        let means = "The policy reads from your nodes in which region each zone lies.";
        offer(with_fact("fromLiveNodes", Value::Bool(true)), means);
        let means = "You state in which region each zone lies. The policy then does not need to read nodes.";
        offer(with_fact("zones", json!(zones)), means);
    }
    // Where a node that is there loses the volume, the statement is false.
    let contradicted = refused.nodes.into_iter().flatten().any(|node| node.reach == Reach::Loses);
    let terms = only_term(refused.before).zip(only_term(refused.after));
    if let Some((before, after)) = terms.filter(|(before, after)| !contradicted && !share_a_key(before, after)) {
        let means = "You state that every node of the first kind is one of the second kind. Check that this is true.";
        let mut stated = facts.get("implications").and_then(Value::as_array).cloned().unwrap_or_default();
        stated.push(json!({"if": before, "then": after}));
        offer(with_fact("implications", Value::Array(stated)), means);
    }
    if refused.nodes.is_some_and(|nodes| !nodes.is_empty()) {
        let means =
            "Only the nodes count that are in the cluster now. A node that joins later may still lose the volume.";
        offer(with("judgeBy", Value::from("liveNodes")), means);
    }
    let allowed = rule.get("allow").and_then(Value::as_array).cloned();
    let mut allowed = allowed.unwrap_or_else(|| vec![Value::from("widened")]);
    allowed.push(Value::from(refused.relation));
    let relation = refused.relation;
    let means = format!("Every change that is `{relation}` is accepted, whatever nodes it takes the volume from.");
    offer(with("allow", Value::Array(allowed)), &means);
    all
}

/// The zones of each region, as the nodes have them.
fn zones(nodes: &[Node]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut regions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.zone.is_empty() && !node.region.is_empty()) {
        regions.entry(&node.region).or_default().insert(&node.zone);
    }
    regions
}

/// The requirements of an affinity that has one term.
fn only_term(volume: &str) -> Option<Value> {
    let volume: Value = serde_json::from_str(volume).ok()?;
    let terms = volume.pointer("/spec/nodeAffinity/required/nodeSelectorTerms")?.as_array()?;
    let [term] = terms.as_slice() else { return None };
    let expressions =
        term.get("matchExpressions").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()))?;
    Some(json!({"matchExpressions": expressions}))
}

fn share_a_key(one: &Value, other: &Value) -> bool {
    let keys = |term: &Value| -> Vec<Value> {
        let expressions = term.get("matchExpressions").and_then(Value::as_array);
        expressions.into_iter().flatten().filter_map(|expression| expression.get("key").cloned()).collect()
    };
    let others = keys(other);
    keys(one).iter().any(|key| others.contains(key))
}
