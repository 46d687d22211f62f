//! One budget for the whole request: what it pays for, and that it is spent in proportion to the input.

#![allow(clippy::restriction)]

use placement_guard::kubernetes::field::{self, Field};
use placement_guard::kubernetes::request::Request;
use placement_guard::rules::cluster::NoCluster;
use placement_guard::rules::decision::Decision;
use placement_guard::rules::{STEPS, judge_counted, read_settings};
use placement_guard::verdict;
use serde_json::{Value, json};

fn counted(settings: &Value, request: &Value) -> (Decision, u64) {
    let (settings, request) = (settings.to_string(), request.to_string());
    let (settings, request) = (field::parse(settings.as_bytes()).unwrap(), field::parse(request.as_bytes()).unwrap());
    let settings = read_settings(&Field::root("settings", &settings)).unwrap();
    let root = Field::root("", &request);
    judge_counted(&settings, &Request::read(&root).unwrap(), &NoCluster)
}

fn has(key: &str, values: &[String]) -> Value {
    json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]})
}

fn update(old: Vec<Value>, new: Vec<Value>) -> Value {
    let mut request = testkit::recorded("pv-update-zone-to-region").unwrap();
    for (object, terms) in [("oldObject", old), ("object", new)] {
        request[object]["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
    }
    request
}

/// Facts that a node without labels does not meet, so that reading them is a search: each of so many keys has one of so
/// many values, and is an alias of the next.
fn facts(keys: usize, values: usize) -> Value {
    let aliases: serde_json::Map<String, Value> =
        (1..keys).map(|key| (format!("k{}", key - 1), json!(format!("k{key}")))).collect();
    let values: Vec<String> = (0..values).map(|value| format!("v{value}")).collect();
    let topology = json!({"aliases": aliases, "implications": [{"then": has("k0", &values)}]});
    json!({"volumeNodeAffinity": {"topology": topology}})
}

#[test]
fn a_request_pays_for_reading_the_settings() {
    let mut request = update(vec![has("zone", &[String::from("a")])], vec![has("zone", &[String::from("b")])]);
    request["operation"] = json!("DELETE");
    let (_, nothing) = counted(&json!({"volumeNodeAffinity": {}}), &request);
    assert_eq!(nothing, 0, "nothing is judged, and no fact is checked");
    let (_, few) = counted(&facts(3, 3), &request);
    let (_, more) = counted(&facts(30, 3), &request);
    assert!(0 < few && few < more, "{few} and {more} steps");
}

#[test]
fn settings_may_not_take_more_than_half_of_the_steps() {
    let refused = verdict::validate_settings(&facts(400, 200).to_string()).unwrap_err().to_string();
    assert!(refused.contains(&format!("could not decide within {} steps", STEPS / 2)), "{refused}");
}

#[test]
fn twice_the_terms_take_about_twice_the_steps() {
    let settings = json!({"volumeNodeAffinity": {}});
    let steps = |count: usize, values: usize| {
        let term = |number: usize| {
            let values: Vec<String> = (0..values).map(|value| format!("node-{}", number * values + value)).collect();
            has("kubernetes.io/hostname", &values)
        };
        let terms: Vec<Value> = (0..count).map(term).collect();
        counted(&settings, &update(terms.iter().rev().cloned().collect(), terms)).1
    };
    for values in [1, 7] {
        let (once, twice) = (steps(500, values), steps(1_000, values));
        assert!(twice < STEPS && twice < once * 5 / 2, "{values} values: {once} and {twice} steps");
        assert!(twice > 20 * 1_000, "{twice} steps for 2,000 terms");
    }
}

#[test]
fn a_list_of_zones_that_meets_a_list_of_terms_is_paid_for_pair_by_pair() {
    let zones: Vec<String> = (0..1_000).map(|zone| format!("zone-{zone}")).collect();
    let terms: Vec<Value> =
        zones.iter().map(|zone| has("topology.kubernetes.io/zone", std::slice::from_ref(zone))).collect();
    let steps = |labels: Value| {
        let mut request = update(terms[1..].to_vec(), terms.clone());
        for object in ["object", "oldObject"] {
            request[object]["metadata"]["labels"] = labels.clone();
        }
        counted(&json!({"volumeNodeAffinity": {}}), &request).1
    };
    let (without, with) = (steps(json!({})), steps(json!({"topology.kubernetes.io/zone": zones.join("__")})));
    assert!(with > without + 2 * 1_000 * 10, "{without} steps without labels, {with} with them");
}
