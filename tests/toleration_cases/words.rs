//! What the messages say.

use super::for_seconds;
use crate::pods::{ask, create, one};
use serde_json::json;

/// `Lt 5` tolerates taints below 5: every operator is put into words that say which taint values it admits.
#[test]
fn the_message_says_which_taint_values_are_tolerated() {
    for (toleration, says) in [
        (one("k", "Lt", "5", "NoSchedule"), "`k < 5, effect NoSchedule` admits taint values below 5"),
        (one("k", "Gt", "5", "NoSchedule"), "`k > 5, effect NoSchedule` admits taint values 6 and up"),
        (one("k", "Gt", "-5", "NoSchedule"), "`k > -5, effect NoSchedule` admits taint values 0 and up"),
        (one("k", "Equal", "5", ""), "`k = 5, every effect` admits the taint value `5`"),
        (one("k", "Exists", "", ""), "`k exists, every effect` admits every taint value"),
        (one("", "Exists", "", "NoExecute"), "`every key, effect NoExecute` admits every taint value"),
        (one("", "Exists", "", ""), "`every taint` admits every taint value"),
    ] {
        let answer = ask(&json!({"allowed": []}), &create(&json!([toleration])));
        let detail = answer.message.lines().nth(1).expect("the line that says where").trim();
        assert_eq!(detail, format!("spec.tolerations[0]: {says}"));
    }
}

#[test]
fn the_first_120_characters_carry_the_sense() {
    let longest = format!("{}/{}", ["a"; 126].join("."), "b".repeat(63));
    for (section, tolerations, says) in [
        (json!({"allowed": []}), json!([one("k", "Gt", "5", "")]), "toleration not allowed: tolerates `k=6:"),
        (
            json!({"denied": [{"operator": "Exists"}]}),
            json!([one("k", "Gt", "5", "")]),
            "toleration denied: tolerates `k=6:",
        ),
        (
            json!({"allowed": [{"key": "k", "operator": "Exists", "maxTolerationSeconds": 5}]}),
            json!([for_seconds("Gt", "5", None)]),
            "toleration seconds exceeded: the pod stays forever on a node with `k=6:NoExecute`, allowed: 5 s",
        ),
        (
            json!({}),
            json!([one("k", "Gt", "05", "")]),
            "toleration with an invalid number: `05` is not a canonical 64-bit integer",
        ),
        (
            json!({"numericOperators": "deny"}),
            json!([one("k", "Gt", "5", "")]),
            "numeric operator disabled: `Gt` in a toleration of `k`",
        ),
        // A key of 315 bytes, the longest there is, comes after what is wrong with it.
        (json!({"allowed": []}), json!([one(&longest, "Exists", "", "")]), "toleration not allowed: tolerates `a.a.a"),
    ] {
        let answer = ask(&section, &create(&tolerations));
        let first: String = answer.message.chars().take(120).collect();
        assert!(first.contains(says), "{first}");
    }
}
