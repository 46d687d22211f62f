//! The oracle: which objects a list admits, as one bit for each object.
//!
//! What is written here follows Kubernetes' `Requirement.Matches` (node selectors) and `Toleration.ToleratesTaint`. It knows no
//! classes, boxes or search, and reads numbers by itself.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm, Toleration};

/// A set of objects: bit `n` is set for the object number `n`.
pub type Objects = u128;

/// The objects, of `count`, of which something is true.
pub fn objects_that(count: usize, is_true: impl Fn(usize) -> bool) -> Objects {
    assert!(count <= Objects::BITS as usize, "{count} objects do not fit");
    (0..count).filter(|number| is_true(*number)).fold(0, |objects, number| objects | 1 << number)
}

/// A label of a node: `None` where the node does not carry it.
pub type Label<'l> = Option<&'l str>;

/// Whether a node matches a list of terms. `label` gives the node's label for a key.
pub fn node_matches<'l>(terms: &[NodeSelectorTerm], label: impl Fn(&str) -> Label<'l>) -> bool {
    terms.iter().any(|term| node_matches_term(term, &label))
}

/// A term without requirements matches no node.
pub fn node_matches_term<'l>(term: &NodeSelectorTerm, label: impl Fn(&str) -> Label<'l>) -> bool {
    match &term.match_expressions {
        None => false,
        Some(requirements) => requirements.iter().all(|requirement| label_meets(requirement, label(&requirement.key))),
    }
}

/// Every requirement here is well formed: its operator exists, and it has as many values as the operator takes.
pub fn label_meets(requirement: &NodeSelectorRequirement, label: Label<'_>) -> bool {
    let values: &[String] = requirement.values.as_deref().unwrap_or(&[]);
    let is_listed = |label: &str| values.iter().any(|value| value == label);
    match (requirement.operator.as_str(), label) {
        ("In", Some(label)) => is_listed(label),
        ("NotIn", Some(label)) => !is_listed(label),
        ("Exists", Some(_)) => true,
        ("DoesNotExist", Some(_)) => false,
        ("Gt", Some(label)) => number_in_label(label).is_some_and(|number| number > threshold(&values[0])),
        ("Lt", Some(label)) => number_in_label(label).is_some_and(|number| number < threshold(&values[0])),
        ("In" | "Exists" | "Gt" | "Lt", None) => false,
        ("NotIn" | "DoesNotExist", None) => true,
        (other, _) => panic!("`{other}` is not an operator"),
    }
}

/// A taint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taint<'t> {
    pub key: &'t str,
    pub value: &'t str,
    pub effect: &'t str,
}

/// Whether a list of tolerations tolerates a taint.
pub fn tolerate(tolerations: &[Toleration], taint: Taint<'_>) -> bool {
    tolerations.iter().any(|toleration| tolerates(toleration, taint))
}

/// An absent key or effect means every one. An absent operator is `Equal`.
pub fn tolerates(toleration: &Toleration, taint: Taint<'_>) -> bool {
    let is_any_or = |wanted: &Option<String>, is: &str| wanted.is_none() || wanted.as_deref() == Some(is);
    if !is_any_or(&toleration.key, taint.key) || !is_any_or(&toleration.effect, taint.effect) {
        return false;
    }
    let value = toleration.value.as_deref().unwrap_or("");
    let compares = |holds: fn(i128, i128) -> bool| match (canonical_number(taint.value), canonical_number(value)) {
        (Some(taint), Some(threshold)) => holds(taint, threshold),
        _ => false,
    };
    match toleration.operator.as_deref() {
        None | Some("Equal") => taint.value == value,
        Some("Exists") => true,
        Some("Gt") => compares(|taint, threshold| taint > threshold),
        Some("Lt") => compares(|taint, threshold| taint < threshold),
        Some(_) => false,
    }
}

/// A label is a number when it consists of digits and fits in 64 bits. Leading zeros do not matter.
fn number_in_label(label: &str) -> Option<i128> {
    if label.is_empty() || !label.chars().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    let number = label.chars().fold(0_i128, |number, digit| number * 10 + i128::from(digit as u8 - b'0'));
    (number <= i128::from(i64::MAX)).then_some(number)
}

/// A taint's value is a number only when it is written without leading zeros.
fn canonical_number(value: &str) -> Option<i128> {
    let number = number_in_label(value)?;
    (number.to_string() == value).then_some(number)
}

fn threshold(value: &str) -> i128 {
    value.parse().expect("a threshold is a number")
}
