//! The oracle: every node of a small world, asked one by one.
//!
//! The world of an update has the label keys that the update mentions, each with the values that it mentions, numbers
//! around the thresholds in several spellings, another word, and absence: no selector can tell a node outside this world
//! from every node in it.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::kubernetes::node_selector::Labels;

use super::generate::{Fact, GENERATION, Pv, REGION, Requirement, SUCCESSORS, Term, Update, ZONE, ZONE_LABELS};
use super::judge::Answer;

/// Whether a fact is true of a node: the tiny evaluator that the module's is held against.
pub fn holds(fact: &Fact, node: &Labels) -> bool {
    let value = |key: &str| node.get(key).map(String::as_str);
    let meets = |requirement: &Requirement| {
        let value = value(requirement.key);
        let number = value.and_then(|text| text.parse::<i64>().ok());
        let bound = || requirement.values[0].parse::<i64>().expect("a fact parses");
        match requirement.operator {
            "In" => value.is_some_and(|value| requirement.values.contains(&value)),
            "NotIn" => value.is_none_or(|value| !requirement.values.contains(&value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => number.is_some_and(|number| number > bound()),
            _ => number.is_some_and(|number| number < bound()),
        }
    };
    match fact {
        Fact::Zone { zone, region } => value(ZONE) != Some(zone) || value(REGION) == Some(region),
        Fact::Alias { old, new } => value(old).is_none() || value(old) == value(new),
        Fact::Implies { when, then } => when.as_ref().is_some_and(|when| !meets(when)) || meets(then),
    }
}

/// Whether the built-in aliases allow a node like this: the beta label comes with its successor.
pub fn may_exist(node: &Labels) -> bool {
    SUCCESSORS.iter().all(|(beta, successor)| !node.contains_key(*beta) || node.get(*beta) == node.get(*successor))
}

/// The node with the beta label of each successor that it carries alone.
fn twin(node: &Labels) -> Labels {
    let mut twin = node.clone();
    for (beta, successor) in SUCCESSORS {
        if let Some(value) = node.get(successor) {
            twin.entry(beta.to_owned()).or_insert_with(|| value.clone());
        }
    }
    twin
}

pub fn is_label_value(text: &str) -> bool {
    let alphanumeric = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    text.is_empty()
        || text.len() <= 63
            && alphanumeric(text.chars().next())
            && alphanumeric(text.chars().last())
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

/// Every node of the world of an update.
pub fn world(pvs: &[&Pv], facts: &[Fact]) -> Vec<Labels> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut mention = |requirement: &Requirement| {
        let known = values.entry(requirement.key).or_default();
        for value in &requirement.values {
            known.insert((*value).to_owned());
            if let (GENERATION, Ok(number)) = (requirement.key, value.parse::<i64>()) {
                let around = [Some(0), number.checked_sub(1), Some(number), number.checked_add(1)];
                for number in around.into_iter().flatten().filter(|number| *number >= 0) {
                    known.extend([format!("{number}"), format!("0{number}"), format!("00{number}")]);
                }
            }
        }
    };
    let terms = pvs.iter().flat_map(|pv| pv.terms.iter().flatten());
    terms.flat_map(|term| &term.expressions).for_each(&mut mention);
    for fact in facts {
        match fact {
            Fact::Zone { zone, region } => {
                mention(&Requirement { key: ZONE, operator: "In", values: vec![zone] });
                mention(&Requirement { key: REGION, operator: "In", values: vec![region] });
            }
            Fact::Alias { old, new } => {
                mention(&Requirement { key: old, operator: "Exists", values: vec![] });
                mention(&Requirement { key: new, operator: "Exists", values: vec![] });
            }
            Fact::Implies { when, then } => when.iter().chain([then]).for_each(&mut mention),
        }
    }
    if pvs.iter().any(|pv| !pv.labels.is_empty()) {
        for key in ZONE_LABELS {
            mention(&Requirement { key, operator: "Exists", values: vec![] });
        }
    }
    for (key, value) in pvs.iter().flat_map(|pv| &pv.labels) {
        values.entry(key).or_default().extend(value.split("__").map(str::to_owned));
    }
    // A node with the beta label has its successor too.
    for (beta, successor) in SUCCESSORS {
        if values.contains_key(beta) {
            values.entry(successor).or_default();
        }
    }
    // Where an alias or the scheduler treats one key as another, both know each other's values.
    for (beta, successor) in SUCCESSORS {
        if let (Some(old), Some(new)) = (values.get(beta).cloned(), values.get(successor).cloned()) {
            let both: BTreeSet<String> = old.union(&new).cloned().collect();
            values.extend([(beta, both.clone()), (successor, both)]);
        }
    }
    let mut nodes = vec![Labels::new()];
    for (key, mut values) in values {
        values.insert("another".to_owned());
        values.retain(|value| is_label_value(value));
        let carrying = |node: &Labels| {
            let with = |value: &String| {
                let mut node = node.clone();
                node.insert(key.to_owned(), value.clone());
                node
            };
            values.iter().map(with).chain([node.clone()]).collect::<Vec<_>>()
        };
        nodes = nodes.iter().flat_map(carrying).collect();
    }
    nodes
}

/// What the nodes of the world say about an update.
pub fn oracle(update: &Update) -> Answer {
    let (old, new) = (update.before.volume(), update.after.volume());
    let world = world(&[&update.before, &update.after], &update.facts);
    if old == new {
        let relation = String::from("unchanged");
        return Answer { relation, ..Answer::default() };
    }
    let mut findings: BTreeSet<&str> = BTreeSet::new();
    let allowed: Vec<&Labels> = world.iter().filter(|node| update.facts.iter().all(|fact| holds(fact, node))).collect();
    let possible: Vec<&Labels> = allowed.iter().copied().filter(|node| may_exist(node)).collect();
    let contradicted = world.iter().any(|node| old.admits(node)) && !possible.iter().any(|node| old.admits(node));
    let possible = if contradicted { world.iter().collect() } else { possible };
    if contradicted {
        findings.insert("facts-contradict-volume");
    }
    let loses = possible.iter().find(|node| old.admits(node) && !new.admits(node));
    // Rewriting a beta label to its successor does not gain nodes that carry the successor alone.
    let admitted = |node: &Labels| old.admits(node) || !contradicted && old.admits(&twin(node));
    let gains = possible.iter().find(|node| new.admits(node) && !admitted(node));
    let relation = match (loses, gains) {
        (None, None) => "equivalent",
        (None, Some(_)) => "widened",
        (Some(_), None) => "narrowed",
        (Some(_), Some(_)) => "shifted",
    };
    findings.extend(match relation {
        "narrowed" => Some("node-affinity-narrowed"),
        "shifted" => Some("node-affinity-shifted"),
        "widened" => Some("node-affinity-widened"),
        _ => None,
    });
    let binds =
        |node: &&&Labels| new.affinity.admits(node) && !old.affinity.admits(node) && !new.zone_labels.admits(node);
    if possible.iter().any(|node| binds(&node)) {
        findings.insert("zone-label-binds");
    }
    findings.extend(misleading_terms(&update.after, &world));
    let node = |node: Option<&&Labels>| node.map(|node| (*node).clone());
    Answer {
        relation: relation.to_owned(),
        loses: node(loses),
        gains: node(gains),
        facts: BTreeSet::new(),
        findings: findings.into_iter().map(str::to_owned).collect(),
        ..Answer::default()
    }
}

/// What is odd about the terms of a volume by themselves.
fn misleading_terms(pv: &Pv, world: &[Labels]) -> BTreeSet<&'static str> {
    let mut findings = BTreeSet::new();
    let terms = pv.terms.iter().flatten();
    let one = |term: &Term| Pv { terms: Some(vec![term.clone()]), labels: BTreeMap::new() }.volume();
    let matched: Vec<BTreeSet<usize>> = terms
        .map(|term| {
            let volume = one(term);
            let nodes: BTreeSet<usize> =
                world.iter().enumerate().filter(|(_, node)| volume.admits(node)).map(|(at, _)| at).collect();
            if nodes.is_empty() {
                findings.insert("dead-term");
            } else if term.field.is_some() {
                findings.insert("match-fields-ignored");
            }
            nodes
        })
        .collect();
    for (at, inner) in matched.iter().enumerate().filter(|(_, nodes)| !nodes.is_empty()) {
        if matched.iter().enumerate().any(|(other, outer)| other != at && inner.is_subset(outer)) {
            findings.insert("redundant-term");
        }
    }
    findings
}
