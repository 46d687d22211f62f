//! Node selectors: their requirements, the nodes that they match, and their meaning as terms of the algebra.
//!
//! Follows `nodeaffinity.go` (component-helpers) and `labels.NewRequirement` (apimachinery), Kubernetes 1.36: a term
//! whose requirements do not all parse matches nothing, and so does a term without any requirement.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use super::field::{Field, Unreadable, short};
use super::listing::{first_few, first_few_of};
use crate::logic::{Condition, Domain, Outline, Point, Space, Term};

/// The labels of a node.
pub type Labels = BTreeMap<String, String>;

/// Reads `nodeSelectorTerms`, or any list of terms. An empty list and an absent one come out alike.
///
/// # Errors
/// A wrong JSON type. What a requirement says is not checked here: a requirement that does not parse makes its term dead.
pub fn read_terms(terms: &Field<'_, '_>) -> Result<Vec<NodeSelectorTerm>, Unreadable> {
    terms.items()?.map(|term| read_term(&term)).collect()
}

/// The steps that [`read_terms`] takes, found out without reading: by the number of terms, requirements and values.
///
/// # Errors
/// A wrong JSON type above the values.
pub fn steps_to_read(terms: &Field<'_, '_>) -> Result<usize, Unreadable> {
    const TERM: usize = 8;
    const REQUIREMENT: usize = 18;
    const VALUE: usize = 6;
    let mut steps = 0_usize;
    for term in terms.items()? {
        steps = steps.saturating_add(TERM);
        for list in ["matchExpressions", "matchFields"] {
            for requirement in term.get(list)?.items()? {
                let values = requirement.get("values")?.items()?.len();
                steps = steps.saturating_add(REQUIREMENT).saturating_add(values.saturating_mul(VALUE));
            }
        }
    }
    Ok(steps)
}

/// Reads one node selector term.
///
/// # Errors
/// A wrong JSON type.
pub fn read_term(term: &Field<'_, '_>) -> Result<NodeSelectorTerm, Unreadable> {
    Ok(NodeSelectorTerm {
        match_expressions: read_requirements(&term.get("matchExpressions")?)?,
        match_fields: read_requirements(&term.get("matchFields")?)?,
    })
}

fn read_requirements(list: &Field<'_, '_>) -> Result<Option<Vec<NodeSelectorRequirement>>, Unreadable> {
    let requirements: Vec<_> = list.items()?.map(|item| read_requirement(&item)).collect::<Result<_, _>>()?;
    Ok(Some(requirements).filter(|requirements| !requirements.is_empty()))
}

fn read_requirement(item: &Field<'_, '_>) -> Result<NodeSelectorRequirement, Unreadable> {
    let values: Vec<String> = item.get("values")?.strings()?.into_iter().map(str::to_owned).collect();
    Ok(NodeSelectorRequirement {
        key: item.get("key")?.string()?.unwrap_or_default().to_owned(),
        operator: item.get("operator")?.string()?.unwrap_or_default().to_owned(),
        values: Some(values).filter(|values| !values.is_empty()),
    })
}

/// The requirements on labels in a list of terms.
pub fn requirements(terms: &[NodeSelectorTerm]) -> impl Iterator<Item = &NodeSelectorRequirement> {
    terms.iter().flat_map(|term| term.match_expressions.iter().flatten())
}

/// Why a term, or a requirement in it, can match nothing whatever the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dead {
    /// The field below the term, for instance `matchExpressions[1].values[0]`; empty for the term itself.
    pub field: String,
    pub reason: String,
}

/// The conditions of a term, by label key.
pub type Conditions<'t> = Vec<(&'t str, Condition<'t>)>;

/// What a term asks of a node's labels. For volumes the matcher does not know the node's name, so `matchFields` must parse
/// and then asks nothing. No condition means every node.
///
/// # Errors
/// When the term is dead.
pub fn conditions(term: &NodeSelectorTerm) -> Result<Conditions<'_>, Dead> {
    let fields = term.match_fields.iter().flatten().enumerate();
    for (index, requirement) in fields {
        check_field_requirement(requirement)
            .map_err(|reason| Dead { field: format!("matchFields[{index}]"), reason })?;
    }
    if term.match_expressions.is_none() && term.match_fields.is_none() {
        let reason = String::from("an empty term matches no node");
        return Err(Dead { field: String::new(), reason });
    }
    let expressions = term.match_expressions.iter().flatten().enumerate();
    expressions
        .map(|(index, requirement)| {
            let condition = condition(requirement)
                .map_err(|(field, reason)| Dead { field: format!("matchExpressions[{index}].{field}"), reason })?;
            Ok((requirement.key.as_str(), condition))
        })
        .collect()
}

/// `labels.NewRequirement`. The error is the field below the requirement and the reason.
fn condition(requirement: &NodeSelectorRequirement) -> Result<Condition<'_>, (String, String)> {
    let values: Vec<&str> = requirement.values.iter().flatten().map(String::as_str).collect();
    let complain = |field: &str, reason: String| (field.to_owned(), reason);
    let count = |accepted: &str| {
        complain("values", format!("`{}` must have {accepted}, but has {}", requirement.operator, values.len()))
    };
    if !Domain::Name.contains(&requirement.key) {
        return Err(complain("key", format!("`{}` is not a valid label key", short(&requirement.key, 80))));
    }
    let condition = match requirement.operator.as_str() {
        "In" | "NotIn" if values.is_empty() => return Err(count("at least one value")),
        "In" => Condition::In(values.clone()),
        "NotIn" => Condition::NotIn(values.clone()),
        "Exists" | "DoesNotExist" if !values.is_empty() => return Err(count("no value")),
        "Exists" => Condition::Present,
        "DoesNotExist" => Condition::Absent,
        "Gt" | "Lt" => match values.as_slice() {
            [text] => {
                let number = text
                    .parse()
                    .map_err(|_| complain("values[0]", format!("`{}` is not a 64-bit integer", short(text, 80))))?;
                if requirement.operator == "Gt" { Condition::Above(number) } else { Condition::Below(number) }
            }
            _ => return Err(count("exactly one value")),
        },
        other => {
            let known = "`In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`";
            return Err(complain("operator", format!("`{}` is not an operator; must be {known}", short(other, 40))));
        }
    };
    match values.iter().position(|value| !Domain::OptionalText.contains(value)) {
        Some(index) => {
            let value = values.get(index).copied().unwrap_or_default();
            Err(complain(&format!("values[{index}]"), format!("`{}` is not a valid label value", short(value, 80))))
        }
        None => Ok(condition),
    }
}

/// What upstream checks of a `matchFields` requirement before it matches. It does not check the key there.
fn check_field_requirement(requirement: &NodeSelectorRequirement) -> Result<(), String> {
    let values = requirement.values.as_deref().unwrap_or_default();
    match (requirement.operator.as_str(), values) {
        ("In" | "NotIn", [_]) => Ok(()),
        ("In" | "NotIn", _) => {
            Err(format!("`{}` on a field must have exactly one value, but has {}", requirement.operator, values.len()))
        }
        (other, _) => Err(format!("`{}` is not an operator on fields; must be `In` or `NotIn`", short(other, 40))),
    }
}

/// Whether a node with these labels, and no known name, matches a list of terms: the plain matcher.
pub fn matches(terms: &[NodeSelectorTerm], labels: &Labels) -> bool {
    terms.iter().any(|term| term_matches(term, labels))
}

/// Whether a node with these labels, and no known name, matches a term.
pub fn term_matches(term: &NodeSelectorTerm, labels: &Labels) -> bool {
    match conditions(term) {
        Err(_) => false,
        Ok(conditions) => {
            conditions.iter().all(|(key, condition)| value_meets(condition, labels.get(*key).map(String::as_str)))
        }
    }
}

/// Whether a node matches a list of terms, as far as these labels of it tell; `None` when labels that are not known decide.
/// Of a label that is not listed it is not known whether the node carries it.
pub fn known_to_match(terms: &[NodeSelectorTerm], known: &Labels) -> Option<bool> {
    let mut answer = Some(false);
    for term in terms {
        match term_known_to_match(term, known) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => answer = None,
        }
    }
    answer
}

fn term_known_to_match(term: &NodeSelectorTerm, known: &Labels) -> Option<bool> {
    let Ok(conditions) = conditions(term) else { return Some(false) };
    let mut answer = Some(true);
    for (key, condition) in &conditions {
        match known.get(*key).map(|value| value_meets(condition, Some(value))) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => answer = None,
        }
    }
    answer
}

/// `Requirement.Matches` on the value of one label.
fn value_meets(condition: &Condition<'_>, value: Option<&str>) -> bool {
    let number = || value.and_then(|text| text.parse::<i64>().ok());
    match condition {
        Condition::In(values) => value.is_some_and(|value| values.contains(&value)),
        Condition::NotIn(values) => !value.is_some_and(|value| values.contains(&value)),
        Condition::Present => value.is_some(),
        Condition::Absent => value.is_none(),
        Condition::Above(bound) => number().is_some_and(|number| number > *bound),
        Condition::Below(bound) => number().is_some_and(|number| number < *bound),
    }
}

/// The conditions as a term of a space whose axes are label keys.
pub fn to_term<'t>(conditions: &Conditions<'t>, outline: &mut Outline<'t>) -> Term<'t> {
    conditions.iter().map(|(key, condition)| (outline.axis(key, Domain::OptionalText), condition.clone())).collect()
}

/// The labels of a node at this point of such a space.
pub fn node_at(space: &Space<'_>, point: &Point) -> Labels {
    let mut labels = Labels::new();
    let values =
        space.axes().filter_map(|axis| Some((space.name(axis).to_owned(), space.value(axis, point)?.to_owned())));
    labels.extend(values);
    labels
}

/// A list of terms in words: `zone in (a, b) or disk > 5`. Terms that match no node come last. An empty list matches no node.
pub fn describe(terms: &[NodeSelectorTerm]) -> String {
    const MOST: usize = 4;
    let alive: Vec<&NodeSelectorTerm> = terms.iter().filter(|term| conditions(term).is_ok()).collect();
    let dead = match terms.len().saturating_sub(alive.len()) {
        0 => None,
        1 => Some(String::from("a term that matches no node")),
        dead => Some(format!("{dead} terms that match no node")),
    };
    let shown = first_few_of(alive.iter().map(|term| describe_term(term)), MOST, " or ", "terms");
    match dead {
        None if alive.is_empty() => String::from("no node"),
        None => shown,
        Some(dead) if alive.is_empty() => dead,
        Some(dead) => format!("{shown} or {dead}"),
    }
}

fn describe_term(term: &NodeSelectorTerm) -> String {
    const MOST: usize = 6;
    let requirements: Vec<_> = term.match_expressions.iter().chain(&term.match_fields).flatten().collect();
    if requirements.is_empty() {
        return String::from("every node");
    }
    first_few_of(requirements.into_iter().map(describe_requirement), MOST, " and ", "requirements")
}

fn describe_requirement(requirement: &NodeSelectorRequirement) -> String {
    const MOST: usize = 8;
    let values = requirement.values.as_deref().unwrap_or_default();
    let (key, values) =
        (short(&requirement.key, 120), first_few(values.iter().map(|value| short(value, 63)), MOST, ", "));
    match requirement.operator.as_str() {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} not in ({values})"),
        "Exists" => format!("{key} exists"),
        "DoesNotExist" => format!("{key} does not exist"),
        "Gt" => format!("{key} > {values}"),
        _ => format!("{key} < {values}"),
    }
}
