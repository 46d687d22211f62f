//! Puts generated updates to the module's face, and reads the answer.

use std::collections::{BTreeMap, BTreeSet};

use placement_guard::kubernetes::node_selector::Labels;
use placement_guard::kubewarden;
use placement_guard::objects::Objects;
use placement_guard::rules::cluster::{Cluster, NoCluster};
use placement_guard::verdict;
use serde_json::{Value, json};

use super::generate::{Fact, Pv, Requirement, Update};

/// The names under which a decision cites the facts.
pub fn names(facts: &[Fact]) -> Vec<String> {
    let mut implications = 0..;
    let mut name = |fact: &Fact| match fact {
        Fact::Zone { zone, region } => format!("zone {zone} lies in region {region}"),
        Fact::Alias { old, new } => format!("{old} is an alias of {new}"),
        Fact::Implies { .. } => format!("implications[{}]", implications.next().unwrap_or_default()),
    };
    facts.iter().map(&mut name).collect()
}

fn topology(facts: &[Fact]) -> Value {
    let (mut zones, mut aliases, mut implications) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::new(), Vec::new());
    for fact in facts {
        match fact {
            Fact::Zone { zone, region } => zones.entry(region).or_default().push(zone),
            Fact::Alias { old, new } => drop(aliases.insert(old, new)),
            Fact::Implies { when, then } => {
                let term = |requirement: &Requirement| json!({"matchExpressions": [requirement.json()]});
                implications.push(json!({"if": when.as_ref().map(term), "then": term(then)}));
            }
        }
    }
    json!({"zones": zones, "aliases": aliases, "implications": implications})
}

pub fn are_valid(facts: &[Fact]) -> bool {
    let settings = json!({"volumeNodeAffinity": {"topology": topology(facts)}}).to_string();
    json_of(&kubewarden::validate_settings(settings.as_bytes()))["valid"] == true
}

fn json_of(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).expect("an answer is JSON")
}

/// A decision, as far as these tests read it.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    pub relation: String,
    pub loses: Option<Labels>,
    pub gains: Option<Labels>,
    pub facts: BTreeSet<String>,
    pub findings: BTreeSet<String>,
    pub loses_live: BTreeSet<String>,
    pub gains_live: BTreeSet<String>,
}

pub fn judge(before: Option<&Pv>, after: &Pv, facts: &[Fact]) -> Answer {
    judge_in(&NoCluster, "anyNode", before, after, facts)
}

fn judge_in(cluster: &dyn Cluster, judge_by: &str, before: Option<&Pv>, after: &Pv, facts: &[Fact]) -> Answer {
    let settings = json!({"volumeNodeAffinity": {"allow": [], "judgeBy": judge_by, "topology": topology(facts)}});
    let request = json!({
        "kind": {"kind": "PersistentVolume"},
        "operation": if before.is_some() { "UPDATE" } else { "CREATE" },
        "object": after.manifest(),
        "oldObject": before.map(Pv::manifest),
    });
    let answer = verdict::check_in(&settings.to_string(), &request.to_string(), cluster);
    let annotation = |key: &str| answer.annotations.get(key).map(String::as_str);
    let node = |key: &str| annotation(key).map(|node| serde_json::from_str(node).expect("a node is a mapping"));
    let list = |key: &str, separator: &str| {
        annotation(key).map(|text| text.split(separator).map(str::to_owned).collect()).unwrap_or_default()
    };
    Answer {
        relation: annotation("relation").unwrap_or_default().to_owned(),
        loses: node("losesNode"),
        gains: node("gainsNode"),
        facts: list("facts", "; "),
        loses_live: list("losesLiveNodes", ","),
        gains_live: list("gainsLiveNodes", ","),
        findings: list("findings", ","),
    }
}

impl Update {
    /// Judged in a cluster of these nodes, which are named by their position.
    pub fn judge_among(&self, nodes: &[Labels], judge_by: &str) -> Answer {
        let nodes: Vec<Value> = (0..)
            .zip(nodes)
            .map(|(name, labels): (usize, _)| {
                json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{name}"), "labels": labels}})
            })
            .collect();
        let cluster = Objects::read(&json!(nodes).to_string()).expect("nodes are objects");
        judge_in(&cluster, judge_by, Some(&self.before), &self.after, &self.facts)
    }

    pub fn judge(&self) -> Answer {
        judge(Some(&self.before), &self.after, &self.facts)
    }

    pub fn swapped(&self) -> Update {
        Update { before: self.after.clone(), after: self.before.clone(), facts: self.facts.clone() }
    }
}
