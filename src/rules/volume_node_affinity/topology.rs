//! Topology facts: what is true of the nodes of this cluster and cannot be read from a selector. The settings declare most
//! of them; the aliases of beta labels are built in.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use super::AFFINITY;
use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::names::Names;
use crate::kubernetes::node_selector::{self, Labels, read_term, term_matches, to_term};
use crate::kubernetes::volume::Volume;
use crate::kubernetes::zone_labels::{BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_LABELS};
use crate::logic::{
    Axis, Budget, Containment, Domain, Exhausted, Facts, Implication, Outline, Space, Union, contained,
};
use crate::rules::SETTINGS_STEPS;
use crate::rules::finding::{Code, Finding};
use crate::rules::live_nodes::LiveNode;

/// The beta labels and their GA successors that upstream treats as one: `betaToGALabel` (`validatePvNodeAffinity`,
/// Kubernetes 1.36). Rewriting the first to the second is the only edit of node affinity that the API server allows while
/// the feature gate `MutablePVNodeAffinity` is off.
const BETA_TO_GA: [(&str, &str); 5] = [
    (BETA_ZONE, ZONE),
    (BETA_REGION, REGION),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

/// Facts about nodes, in a fixed order: those that are declared, then those that are built in.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    declared: Vec<Fact>,
    built_in: Vec<Fact>,
    /// The region of each zone that is declared.
    region_of: Labels,
    /// Whether the zones of the nodes of this cluster are facts, too.
    pub from_live_nodes: bool,
}

/// One fact, with the name under which a decision cites it.
#[derive(Debug, Clone)]
pub struct Fact {
    pub name: String,
    says: Says,
}

#[derive(Debug, Clone)]
enum Says {
    /// A node that matches the first term, or every node, matches the second.
    Implies(Option<NodeSelectorTerm>, NodeSelectorTerm),
    /// A node that carries the first label carries the second with the same value.
    Alias(String, String),
    /// The same of a beta label and its successor. The kubelet, the node lifecycle controller and cloud controllers see to it
    /// (`labelReconcileInfo`). They also give a node with a successor the beta label, but on clusters without a cloud
    /// provider nothing does this for zone, region and instance type. So a node with the successor alone exists.
    Successor(&'static str, &'static str),
}

impl Topology {
    /// Reads the settings' `topology`. Declaring a built-in alias once more changes nothing.
    ///
    /// # Errors
    /// What is not exactly understood, a zone under two regions, and facts that no node could satisfy together.
    pub fn read(field: &Field<'_, '_>, budget: &mut Budget) -> Result<Self, Unreadable> {
        field.only(&["zones", "aliases", "implications", "fromLiveNodes"])?;
        let from_live_nodes = field.boolean_of("fromLiveNodes")?.unwrap_or(false);
        let region_of = read_zones(&field.get("zones")?)?;
        let mut declared: Vec<Fact> = region_of
            .iter()
            .map(|(zone, region)| lies_in(zone, region, format!("zone {zone} lies in region {region}")))
            .collect();
        read_aliases(&field.get("aliases")?, &mut declared)?;
        read_implications(&field.get("implications")?, &mut declared)?;
        let built_in = BETA_TO_GA
            .map(|(beta, ga)| Fact { name: format!("{beta} is an alias of {ga}"), says: Says::Successor(beta, ga) });
        let topology = Topology { built_in: built_in.into(), declared, region_of, from_live_nodes };
        topology.check_possible(field, budget)?;
        Ok(topology)
    }

    /// These facts, and for each zone that the volumes name the region in which the nodes of this cluster have it. A zone that
    /// nodes have in two regions is left out. Where the settings declare another region, theirs counts, and it is found.
    ///
    /// `nodes` are in order of their names, with their zone and region labels.
    pub fn with_learned(&self, nodes: &[LiveNode], volumes: &[&Volume]) -> (Topology, Vec<Finding>) {
        let mut named = Names::default();
        for zone in volumes.iter().flat_map(|volume| volume.values(&[ZONE, BETA_ZONE])) {
            named.add(zone, 0);
        }
        // The region of each zone, and a node that has it there; none when there are two.
        let mut learned: BTreeMap<&str, Option<(&str, &str)>> = BTreeMap::new();
        for node in nodes {
            let (Some(zone), Some(region)) = (node.labels.get(ZONE), node.labels.get(REGION)) else { continue };
            if named.contains(zone) {
                let seen = learned.entry(zone).or_insert(Some((region, &node.name)));
                if seen.is_some_and(|(other, _)| other != region) {
                    *seen = None;
                }
            }
        }
        let (mut topology, mut contradictions) = (self.clone(), Vec::new());
        for (zone, seen) in learned {
            let Some((region, node)) = seen else { continue };
            match self.region_of.get(zone) {
                None => topology.declared.push(lies_in(zone, region, format!("nodes have zone {zone} in region {region}"))),
                Some(declared) if declared == region => {}
                Some(declared) => contradictions.push(
                    Finding::new(
                        Code::FactsContradictNodes,
                        format!("topology facts contradict node `{node}`: its zone `{zone}` is declared in region `{declared}`, but its label says `{region}`"),
                    )
                    .at(AFFINITY, "")
                    .detail("judged by what is declared; correct `volumeNodeAffinity.topology.zones`, or the labels of the node"),
                ),
            }
        }
        (topology, contradictions)
    }

    /// The facts that may matter to these volumes: all declared ones, and the built-in aliases whose beta label the volumes
    /// or declared facts ask about. Where none of them asks about the beta label, the alias cannot change an answer.
    pub fn facts_about(&self, volumes: &[&Volume]) -> Vec<&Fact> {
        let mut asked = [false; BETA_TO_GA.len()];
        let mut ask = |key: &str| {
            for (asked, (beta, _)) in asked.iter_mut().zip(BETA_TO_GA) {
                *asked |= key == beta;
            }
        };
        for volume in volumes {
            volume.keys().for_each(&mut ask);
            // Whether a zone label of a volume counts depends on all four labels of the node.
            if volume.zone_labels.iter().next().is_some() {
                ZONE_LABELS.iter().for_each(|(key, _)| ask(key));
            }
        }
        self.declared.iter().flat_map(Fact::keys).for_each(&mut ask);
        let is_asked = |fact: &&Fact| match &fact.says {
            Says::Successor(beta, _) => BETA_TO_GA.iter().zip(asked).any(|((key, _), asked)| asked && key == beta),
            Says::Implies(..) | Says::Alias(..) => true,
        };
        self.declared.iter().chain(self.built_in.iter().filter(is_asked)).collect()
    }

    /// Refuses facts that no node can satisfy: under them every volume would be contained in every other.
    fn check_possible(&self, field: &Field<'_, '_>, budget: &mut Budget) -> Result<(), Unreadable> {
        let facts = self.facts_about(&[]);
        // Most facts ask for a label before they say anything: a node without labels is then possible.
        if facts.iter().all(|fact| fact.holds(&Labels::new())) {
            return Ok(());
        }
        let mut outline = Outline::default();
        facts.iter().for_each(|fact| fact.share(&mut outline));
        let written: Vec<Written<'_>> = facts.iter().map(|fact| fact.write(&mut outline)).collect();
        let possible = || -> Result<Containment, Exhausted> {
            let space = outline.cut(budget)?;
            let facts = Written::cut(&written, &space, budget)?;
            Ok(contained(&space, &Union::everything(), &Union::default(), &facts, budget))
        };
        match possible().unwrap_or(Containment::Undecided) {
            Containment::Escapes(_) => Ok(()),
            Containment::Contained => {
                Err(field.unreadable("no node could satisfy all of these facts together; remove one of them"))
            }
            Containment::Undecided => Err(field.unreadable(format!(
                "could not decide within {SETTINGS_STEPS} steps whether any node could satisfy all of these facts together; declare fewer"
            ))),
        }
    }
}

impl Fact {
    /// Whether the fact holds whatever the settings declare.
    pub fn is_built_in(&self) -> bool {
        matches!(self.says, Says::Successor(..))
    }

    /// Whether the fact is true of a node with these labels, by the plain matcher.
    pub fn holds(&self, labels: &Labels) -> bool {
        match &self.says {
            Says::Implies(when, then) => {
                !when.as_ref().is_none_or(|when| term_matches(when, labels)) || term_matches(then, labels)
            }
            Says::Alias(from, to) => labels.get(from).is_none_or(|value| labels.get(to) == Some(value)),
            Says::Successor(beta, ga) => labels.get(*beta).is_none_or(|value| labels.get(*ga) == Some(value)),
        }
    }

    /// Gives a node the beta label that goes with a successor which it carries alone.
    pub fn complete(&self, labels: &mut Labels) {
        if let Says::Successor(beta, ga) = &self.says
            && let Some(value) = labels.get(*ga).cloned()
        {
            labels.entry((*beta).to_owned()).or_insert(value);
        }
    }

    /// The label keys that a declared fact asks about.
    fn keys(&self) -> impl Iterator<Item = &str> {
        let (terms, names) = match &self.says {
            Says::Implies(when, then) => ([when.as_ref(), Some(then)], [None, None]),
            Says::Alias(from, to) => ([None, None], [Some(from.as_str()), Some(to.as_str())]),
            Says::Successor(..) => ([None, None], [None, None]),
        };
        let requirements = terms.into_iter().flatten().flat_map(|term| term.match_expressions.iter().flatten());
        requirements.map(|requirement| requirement.key.as_str()).chain(names.into_iter().flatten())
    }

    /// Makes the axes of an alias share their classes; before anything else is said to the outline.
    pub fn share<'t>(&'t self, outline: &mut Outline<'t>) {
        if let Some((from, to)) = self.axes(outline) {
            outline.share(from, to);
        }
    }

    /// The axes of a beta label and its successor, of a built-in alias.
    pub fn successor_axes<'t>(&'t self, outline: &mut Outline<'t>) -> Option<(Axis, Axis)> {
        if self.is_built_in() { self.axes(outline) } else { None }
    }

    fn axes<'t>(&'t self, outline: &mut Outline<'t>) -> Option<(Axis, Axis)> {
        let (from, to) = match &self.says {
            Says::Implies(..) => return None,
            Says::Alias(from, to) => (from.as_str(), to.as_str()),
            Says::Successor(beta, ga) => (*beta, *ga),
        };
        Some((outline.axis(from, Domain::OptionalText), outline.axis(to, Domain::OptionalText)))
    }

    /// Writes the fact as terms and mentions them to the outline.
    pub fn write<'t>(&'t self, outline: &mut Outline<'t>) -> Written<'t> {
        if let Some((from, to)) = self.axes(outline) {
            return Written::Tie(from, to);
        }
        // Settings with a term that does not parse were refused.
        let mut to_term = |term: &'t NodeSelectorTerm| {
            let conditions = node_selector::conditions(term).unwrap_or_default();
            let term = to_term(&conditions, outline);
            outline.mention(&term);
            term
        };
        let (when, then) = match &self.says {
            Says::Implies(when, then) => (when.as_ref().map(&mut to_term), to_term(then)),
            Says::Alias(..) | Says::Successor(..) => Default::default(),
        };
        Written::Implication(Implication { when: when.unwrap_or_default(), then })
    }
}

/// A fact as terms of a space.
#[derive(Debug)]
pub enum Written<'t> {
    Implication(Implication<'t>),
    Tie(Axis, Axis),
}

impl Written<'_> {
    /// The facts, once the space that has heard of them is cut.
    ///
    /// # Errors
    /// When the budget is spent first.
    pub fn cut<'w, 't: 'w>(
        facts: impl IntoIterator<Item = &'w Written<'t>>,
        space: &Space<'_>,
        budget: &mut Budget,
    ) -> Result<Facts, Exhausted> {
        let (mut implications, mut ties) = (Vec::new(), Vec::new());
        for fact in facts {
            match fact {
                Written::Implication(implication) => implications.push(implication),
                Written::Tie(from, to) => ties.push((*from, *to)),
            }
        }
        Facts::new(space, implications, ties, budget)
    }
}

/// The region of each zone.
fn read_zones(field: &Field<'_, '_>) -> Result<Labels, Unreadable> {
    let mut region_of = Labels::new();
    for (region, zones) in field.members()? {
        for item in zones.items()? {
            let zone = item.required_string()?;
            if zone.is_empty() {
                return Err(item.unreadable("must not be empty; name a zone"));
            }
            if !Domain::OptionalText.contains(zone) {
                return Err(item.unacceptable("a valid label value"));
            }
            if region.is_empty() || !Domain::OptionalText.contains(region) {
                return Err(zones.unreadable(format!("`{region}` is not a valid label value for a region")));
            }
            match region_of.insert(zone.to_owned(), region.to_owned()) {
                Some(other) if other != region => {
                    return Err(
                        item.unreadable(format!("zone `{zone}` is listed under two regions: `{other}` and `{region}`"))
                    );
                }
                _ => {}
            }
        }
    }
    Ok(region_of)
}

fn lies_in(zone: &str, region: &str, name: String) -> Fact {
    Fact { name, says: Says::Implies(Some(one_of(ZONE, zone)), one_of(REGION, region)) }
}

fn one_of(key: &str, value: &str) -> NodeSelectorTerm {
    let requirement = NodeSelectorRequirement {
        key: key.to_owned(),
        operator: String::from("In"),
        values: Some(vec![value.to_owned()]),
    };
    NodeSelectorTerm { match_expressions: Some(vec![requirement]), match_fields: None }
}

fn read_aliases(field: &Field<'_, '_>, facts: &mut Vec<Fact>) -> Result<(), Unreadable> {
    for (old, new) in field.members()? {
        let target = new.required_string()?;
        if !Domain::Name.contains(target) {
            return Err(new.unacceptable("a valid label key"));
        }
        if !Domain::Name.contains(old) {
            return Err(new.unreadable(format!("`{old}` is not a valid label key")));
        }
        if BETA_TO_GA.contains(&(old, target)) {
            continue;
        }
        let name = format!("{old} is an alias of {target}");
        facts.push(Fact { name, says: Says::Alias(old.to_owned(), target.to_owned()) });
    }
    Ok(())
}

fn read_implications(field: &Field<'_, '_>, facts: &mut Vec<Fact>) -> Result<(), Unreadable> {
    for (index, item) in field.items()?.enumerate() {
        item.only(&["if", "then"])?;
        let when = item.get("if")?;
        let then = item.get("then")?;
        if !then.is_present() {
            return Err(then.unreadable("is missing; must be a node selector term"));
        }
        let when = if when.is_present() { Some(read_fact_term(&when)?) } else { None };
        let then = read_fact_term(&then)?;
        facts.push(Fact { name: format!("implications[{index}]"), says: Says::Implies(when, then) });
    }
    Ok(())
}

/// A term of a fact. Unlike a volume's, it must mean what it says.
fn read_fact_term(field: &Field<'_, '_>) -> Result<NodeSelectorTerm, Unreadable> {
    field.only(&["matchExpressions"])?;
    let expressions = field.get("matchExpressions")?;
    for item in expressions.items()? {
        item.only(&["key", "operator", "values"])?;
    }
    let term = read_term(field)?;
    if let Err(dead) = node_selector::conditions(&term) {
        let separator = if dead.field.is_empty() { "" } else { "." };
        return Err(Unreadable { path: format!("{}{separator}{}", field.path(), dead.field), problem: dead.reason });
    }
    Ok(term)
}
