//! `nodeTaints`: taints that are meant to be numbers.

#![allow(clippy::restriction)]

mod pods;

use pods::{Answer, ask_settings, finds, passes, refusal, request};
use serde_json::{Value, json};

fn node(taints: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": {"taints": taints}})
}

fn taint(value: &str) -> Value {
    json!({"key": "failure-probability", "value": value, "effect": "NoExecute"})
}

fn ask_node(old: Option<&Value>, new: &Value) -> Answer {
    let section = json!({"nodeTaints": {"numericKeys": ["failure-probability", "gpu"]}});
    ask_settings(&section, &request("", "Node", old, new))
}

#[test]
fn a_taint_that_is_meant_to_be_a_number_must_be_one() {
    for (value, is_number) in [
        ("0", true),
        ("15", true),
        ("9223372036854775807", true),
        ("9223372036854775808", false),
        ("0950", false),
        ("00", false),
        ("1.5", false),
        ("1e3", false),
        ("high", false),
        ("", false),
    ] {
        let answer =
            ask_node(None, &node(&json!([{"key": "other", "value": "word", "effect": "NoSchedule"}, taint(value)])));
        assert_eq!(answer.accepted, is_number, "{value}: {answer:?}");
        if !is_number {
            finds(&answer, &["taint-not-numeric"]);
            assert!(answer.message.contains(&format!("\n  spec.taints[1].value: `{value}`")), "{}", answer.message);
        }
    }
    passes(&ask_node(None, &node(&json!(null))));
    // Every taint that is wrong is told.
    let two = node(&json!([taint("high"), {"key": "gpu", "effect": "NoSchedule"}]));
    let answer = ask_node(None, &two);
    assert_eq!(answer.message.matches("taint not numeric: ").count(), 2, "{}", answer.message);
}

#[test]
fn a_taint_that_stays_is_not_held_against_an_update_of_the_node() {
    let (word, number) = (taint("high"), taint("15"));
    let other_effect = json!({"key": "failure-probability", "value": "high", "effect": "NoSchedule"});
    for (old, new, refused) in [
        (json!([word]), json!([word]), false),
        (json!([word]), json!([number, word]), false),
        (json!([number]), json!([word]), true),
        (json!([number, word]), json!([word, number]), false),
        (json!([word]), json!([taint("higher")]), true),
        (json!([word]), json!([other_effect]), true),
        (json!([]), json!([word]), true),
        (json!([word]), json!([]), false),
    ] {
        let answer = ask_node(Some(&node(&old)), &node(&new));
        assert_eq!(!answer.accepted, refused, "{old} → {new}: {answer:?}");
    }
    // The time when it was added does not change what it says.
    let mut since = word.clone();
    since["timeAdded"] = json!("2026-01-01T00:00:00Z");
    passes(&ask_node(Some(&node(&json!([word]))), &node(&json!([since]))));
    // Sub-resources and deletions carry no taint that is judged.
    let mut status = request("", "Node", Some(&node(&json!([]))), &node(&json!([word])));
    status["subResource"] = json!("status");
    let section = json!({"nodeTaints": {"numericKeys": ["failure-probability"]}});
    passes(&ask_settings(&section, &status));
    // An empty name is not a sub-resource.
    status["subResource"] = json!("");
    finds(&ask_settings(&section, &status), &["taint-not-numeric"]);
}

/// The first ten are shown, and how many more there are. Which of them stayed is known without comparing each with each.
#[test]
fn many_taints_are_judged_and_the_first_are_shown() {
    let taints =
        |count: usize, word: &str| -> Value { (0..count).map(|number| taint(&format!("{word}{number}"))).collect() };
    let answer = ask_node(Some(&node(&taints(3_000, "w"))), &node(&taints(3_001, "w")));
    assert_eq!(answer.message.matches("taint not numeric: ").count(), 1, "{}", answer.message);
    assert!(answer.message.contains("spec.taints[3000].value: `w3000`"), "{}", answer.message);
    let answer = ask_node(Some(&node(&taints(3_000, "w"))), &node(&taints(3_000, "x")));
    assert_eq!(answer.message.matches("taint not numeric: ").count(), 10, "{}", answer.message);
    assert!(
        answer.message.ends_with("taint-not-numeric: the same for 2990 more taints of node `web`"),
        "{}",
        answer.message
    );
    finds(&ask_node(None, &node(&taints(20_000, "w"))), &["request-too-large"]);
}

#[test]
fn node_taints_are_read_strictly() {
    for (section, says) in [
        (json!({"evictions": "yes"}), "nodeTaints.evictions: must be one of `deny`, `warn`, `ignore`"),
        (json!({"maxEvictions": -1}), "nodeTaints.maxEvictions: must be 0 or more"),
        (json!({"numericKeys": "gpu"}), "nodeTaints.numericKeys: must be a list"),
        (json!({"numericKeys": [null]}), "nodeTaints.numericKeys[0]: is missing"),
        (json!({"numericKeys": ["a/b/c"]}), "nodeTaints.numericKeys[0]: must be a valid taint key"),
        (json!({"numeric": []}), "nodeTaints.numeric: is not a known key"),
    ] {
        let said = refusal("nodeTaints", &section).unwrap_or_else(|| panic!("{section} is valid"));
        assert!(said.starts_with(&format!("settings are not valid: {says}")), "{said}");
    }
    for section in [json!({}), json!({"numericKeys": []}), json!({"evictions": "warn", "maxEvictions": 10})] {
        assert_eq!(refusal("nodeTaints", &section), None, "{section}");
    }
    for (pointer, path, wrong) in [
        ("/spec", "spec", json!([])),
        ("/spec/taints", "spec.taints", json!({})),
        ("/spec/taints/0", "spec.taints[0]", json!("high")),
        ("/spec/taints/0/key", "spec.taints[0].key", json!(5)),
        ("/spec/taints/0/value", "spec.taints[0].value", json!(15)),
        ("/spec/taints/0/effect", "spec.taints[0].effect", json!([])),
        ("/spec/taints/0/timeAdded", "spec.taints[0].timeAdded", json!(5)),
    ] {
        let mut broken = node(&json!([{"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": null}]));
        *broken.pointer_mut(pointer).expect("the field is there") = wrong;
        for (answer, root) in
            [(ask_node(None, &broken), "object"), (ask_node(Some(&broken), &node(&json!([]))), "oldObject")]
        {
            assert_eq!(answer.code, Some(422), "{answer:?}");
            assert!(answer.message.starts_with(&format!("unreadable: {root}.{path}: must be ")), "{}", answer.message);
        }
    }
}
