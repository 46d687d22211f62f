//! What is found in addition to taints that are not allowed.

use super::for_seconds;
use crate::pods::{ask, create, finds, one, passes, update};
use serde_json::json;

#[test]
fn a_bound_that_is_no_canonical_number_of_64_bits_is_refused() {
    for value in ["", "007", "+5", "-0", "5.0", "1_000", "0x10", "1e3", " 5", "five", "٥"]
        .into_iter()
        .chain(["9223372036854775808", "-9223372036854775809"])
    {
        for operator in ["Gt", "Lt"] {
            // Even where nothing else is judged.
            let answer = ask(&json!({}), &create(&json!([one("k", operator, value, "NoSchedule")])));
            finds(&answer, &["toleration-invalid-number"]);
            assert_eq!((answer.accepted, answer.code), (false, Some(403)));
            assert!(
                answer.message.contains(&format!("`{value}` is not a canonical 64-bit integer")),
                "{}",
                answer.message
            );
            assert!(answer.message.contains("spec.tolerations[0]: "), "{}", answer.message);
        }
    }
    // A value that is not compared may be any label value.
    passes(&ask(&json!({}), &create(&json!([one("k", "Equal", "007", "NoSchedule")]))));
    // What stood there before is not held against an update, a change of its seconds included.
    let (old, new) = (json!([for_seconds("Gt", "007", None)]), json!([for_seconds("Gt", "007", Some(5))]));
    passes(&ask(&json!({}), &update(&old, &new)));
}

#[test]
fn a_toleration_that_no_taint_can_meet_is_told_and_allowed_everywhere() {
    for (toleration, why) in [
        (one("k", "Lt", "0", "NoSchedule"), "a taint's number is never negative"),
        (one("k", "Lt", "-7", ""), "a taint's number is never negative"),
        (one("k", "Gt", "9223372036854775807", "NoExecute"), "there is no larger number"),
        (one("k", "Equal", "-5", "NoSchedule"), "not a label value"),
        (one("k", "Ge", "5", "NoSchedule"), "no such operator"),
        (one("k", "exists", "", "NoSchedule"), "no such operator"),
        (one("k", "Exists", "", "NoEntry"), "no such effect"),
        (one("a/b/c", "Exists", "", "NoSchedule"), "not a label key"),
    ] {
        let answer = ask(&json!({"allowed": [], "denied": [{"operator": "Exists"}]}), &create(&json!([toleration])));
        finds(&answer, &["toleration-matches-nothing"]);
        assert!(answer.accepted && answer.taint.is_none(), "{why}: {answer:?}");
        assert!(answer.warnings[0].starts_with("toleration matches nothing: no taint can match `"), "{answer:?}");
    }
    for toleration in [
        one("k", "Lt", "1", "NoSchedule"),
        one("k", "Gt", "9223372036854775806", "NoSchedule"),
        one("k", "Gt", "-7", "NoSchedule"),
        one("k", "Equal", "", "NoSchedule"),
    ] {
        let answer = ask(&json!({}), &create(&json!([toleration])));
        assert!(!answer.found("toleration-matches-nothing"), "{answer:?}");
    }
}

#[test]
fn a_union_that_leaves_nothing_out_is_said_to_admit_everything() {
    const EVERYTHING: &str = "tolerations admit everything: together they tolerate every taint";
    const NUMBERS: &str =
        "tolerations admit everything numeric: together they tolerate every numeric value of `k` with";
    let exists = |effect: &str| json!({"operator": "Exists", "effect": effect});
    let k = |operator: &str, value: &str, effect: &str| one("k", operator, value, effect);
    let largest = "9223372036854775807";
    for (tolerations, says) in [
        (json!([{"operator": "Exists"}]), Some(format!("{EVERYTHING} there is"))),
        (json!([exists("NoSchedule")]), Some(format!("{EVERYTHING} with effect NoSchedule"))),
        (
            json!([exists("NoSchedule"), exists("NoExecute")]),
            Some(format!("{EVERYTHING} with effect NoSchedule or NoExecute")),
        ),
        (
            json!([exists("NoSchedule"), exists("NoExecute"), exists("PreferNoSchedule")]),
            Some(format!("{EVERYTHING} there is")),
        ),
        // Every number, which is not everything: words are not tolerated.
        (
            json!([k("Gt", "5", ""), k("Lt", "10", "")]),
            Some(format!("{NUMBERS} NoSchedule or PreferNoSchedule or NoExecute")),
        ),
        (json!([k("Gt", "5", "NoSchedule"), k("Lt", "6", "NoSchedule")]), Some(format!("{NUMBERS} NoSchedule"))),
        (json!([k("Gt", "5", "NoSchedule"), k("Lt", "5", "NoSchedule")]), None),
        (
            json!([k("Gt", "5", "NoSchedule"), k("Lt", "5", "NoSchedule"), k("", "5", "")]),
            Some(format!("{NUMBERS} NoSchedule")),
        ),
        (json!([k("Gt", "5", "NoSchedule"), k("Lt", "10", "NoExecute")]), None),
        (json!([k("Gt", "5", ""), k("Lt", "10", "NoExecute")]), Some(format!("{NUMBERS} NoExecute"))),
        (json!([k("Gt", "-1", "NoSchedule")]), Some(format!("{NUMBERS} NoSchedule"))),
        (json!([k("Gt", "0", "NoSchedule")]), None),
        (json!([k("Lt", largest, "NoSchedule")]), None),
        (json!([k("Lt", largest, "NoSchedule"), k("Equal", largest, "")]), Some(format!("{NUMBERS} NoSchedule"))),
        (json!([k("Gt", "5", "NoSchedule"), one("other", "Lt", "10", "NoSchedule")]), None),
        // A key that exists says itself that it means every value.
        (json!([k("Exists", "", "NoSchedule")]), None),
        (json!([k("Exists", "", "NoSchedule"), k("Gt", "-1", "NoSchedule")]), None),
    ] {
        let answer = ask(&json!({}), &create(&tolerations));
        assert!(answer.accepted, "it only warns: {answer:?}");
        match says {
            None => passes(&answer),
            Some(says) => {
                finds(&answer, &["toleration-admits-everything"]);
                let (headline, details) = answer.warnings[0].split_once("; spec.tolerations").expect("where it is");
                assert_eq!(headline, says);
                assert_eq!(details.contains("this is not `Exists`"), headline.contains("numeric"));
            }
        }
    }
}

#[test]
fn comparisons_are_refused_where_the_cluster_may_not_understand_them() {
    let section = json!({"numericOperators": "deny"});
    for (operator, value, refused) in
        [("Gt", "5", true), ("Lt", "5", true), ("Equal", "5", false), ("Exists", "", false)]
    {
        let tolerations = json!([one("k", operator, value, "NoSchedule")]);
        let answer = ask(&section, &create(&tolerations));
        assert_eq!(answer.found("numeric-operator-disabled"), refused, "{answer:?}");
        assert_eq!(answer.accepted, !refused);
        passes(&ask(&json!({"numericOperators": "allow"}), &create(&tolerations)));
    }
    // What is in the old list stays; what is added is refused.
    let (old, added) = (for_seconds("Gt", "5", Some(30)), one("k", "Gt", "6", ""));
    passes(&ask(&section, &update(&json!([old]), &json!([for_seconds("Gt", "5", Some(60))]))));
    finds(&ask(&section, &update(&json!([old]), &json!([old, added]))), &["numeric-operator-disabled"]);
}
