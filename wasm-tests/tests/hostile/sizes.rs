//! Objects of some megabytes: more than the API server stores, and no more than it sends.

use serde_json::{Value, json};

use crate::{answer, payload, recorded};

/// Terms that each name some nodes of their own, 3 MB in all.
fn terms(count: usize) -> Vec<Value> {
    let names = |term: usize| (0..20).map(|node| format!("node-{term:05}-{node:02}.example.com")).collect::<Vec<_>>();
    let term = |term| json!({"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": names(term)}]});
    (0..count).map(term).collect()
}

fn edit(old: Vec<Value>, new: Vec<Value>) -> Vec<u8> {
    let mut request = recorded("pv-update-zone-to-region");
    request["oldObject"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = old.into();
    request["object"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = new.into();
    payload(request).to_string().into_bytes()
}

fn annotation<'r>(response: &'r wasm_tests::Response, key: &str) -> &'r str {
    response.audit_annotations.as_ref().and_then(|all| all.get(key)).map_or("", String::as_str)
}

#[test]
fn three_megabytes_of_terms_on_either_side_are_refused_as_too_large_and_stay_as_they_are() {
    let (fewer, all) = (terms(5_000), terms(5_001));
    let widening = edit(fewer.clone(), all);
    assert!(widening.len() > 6_000_000, "{}", widening.len());
    let refused = answer(&widening);
    assert_eq!((refused.code, annotation(&refused, "findings")), (Some(403), "request-too-large"), "{refused:?}");
    assert_eq!(annotation(&refused, "relation"), "undecided");
    // A finalizer comes off.
    let same = answer(&edit(fewer.clone(), fewer));
    assert!(same.accepted, "{same:?}");
    assert_eq!(annotation(&same, "relation"), "unchanged");
}

#[test]
fn nine_thousand_host_names_on_either_side_are_judged() {
    let (fewer, all) = (terms(450), terms(451));
    let widening = edit(fewer.clone(), all.clone());
    assert!(widening.len() > 500_000, "{}", widening.len());
    let widened = answer(&widening);
    assert!(widened.accepted, "{widened:?}");
    assert_eq!(annotation(&widened, "relation"), "widened");

    let narrowed = answer(&edit(all, fewer));
    assert_eq!((narrowed.code, annotation(&narrowed, "relation")), (Some(403), "narrowed"), "{narrowed:?}");
    assert!(annotation(&narrowed, "losesNode").contains("node-00450-"), "{narrowed:?}");
}

#[test]
fn three_megabytes_that_nothing_reads_make_no_difference() {
    let request = recorded("pv-update-zone-to-region");
    let mut large = request.clone();
    large["object"]["metadata"]["annotations"] = json!({"example.com/notes": "x".repeat(3_000_000)});
    large["object"]["metadata"]["managedFields"] =
        (0..20_000).map(|field| json!({"manager": field.to_string()})).collect();
    let untouched = answer(payload(request).to_string().as_bytes());
    assert_eq!(answer(payload(large).to_string().as_bytes()), untouched);
}

/// That the answers stay short is checked for every answer.
#[test]
fn strings_of_a_megabyte_are_answered_briefly() {
    let huge = "x".repeat(1_000_000);
    let request = recorded("pv-update-zone-to-region");
    for pointer in [
        "/name",
        "/operation",
        "/kind/kind",
        "/userInfo/username",
        "/object/metadata/name",
        "/object/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/key",
        "/object/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/operator",
        "/object/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0",
        "/oldObject/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/key",
        "/oldObject/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0",
    ] {
        let mut changed = request.clone();
        *changed.pointer_mut(pointer).unwrap() = huge.clone().into();
        answer(payload(changed).to_string().as_bytes());
    }
    let mut labelled = request;
    labelled["object"]["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": huge, (huge.clone()): "x"});
    answer(payload(labelled).to_string().as_bytes());
}

#[test]
fn a_hundred_thousand_terms_that_match_nothing_are_answered_briefly() {
    let dead = json!({"matchExpressions": [{"key": "zone", "operator": "Between", "values": ["a"]}]});
    for (term, count, relation) in [
        (&dead, 5_000, "narrowed"),
        (&dead, 40_000, "undecided"),
        (&json!({"matchExpressions": []}), 50_000, "narrowed"),
        (&json!({}), 50_000, "narrowed"),
    ] {
        let response = answer(&edit(terms(1), vec![term.clone(); count]));
        assert_eq!((response.code, annotation(&response, "relation")), (Some(403), relation), "{response:?}");
    }
}
