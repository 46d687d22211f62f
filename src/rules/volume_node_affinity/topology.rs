//! Topology facts: what the settings say of the nodes of this cluster, that no selector says.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};

use crate::kubernetes::field::{Field, Unreadable};
use crate::kubernetes::node_selector::{self, Labels, read_term, term_matches, to_term};
use crate::logic::{
    Axis, Budget, Containment, Domain, Exhausted, Facts, Implication, Outline, Space, Union, contained,
};
use crate::rules::SETTINGS_STEPS;
use crate::rules::section::NEEDS_CLUSTER;

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";

/// Facts about nodes, in a fixed order.
#[derive(Debug, Default)]
pub struct Topology {
    facts: Vec<Fact>,
}

/// One fact, with the name under which a decision cites it.
#[derive(Debug)]
pub struct Fact {
    pub name: String,
    says: Says,
}

#[derive(Debug)]
enum Says {
    /// A node that matches the first term, or every node, matches the second.
    Implies(Option<NodeSelectorTerm>, NodeSelectorTerm),
    /// A node that carries the first label carries the second with the same value.
    Alias(String, String),
}

impl Topology {
    /// Reads the settings' `topology`.
    ///
    /// # Errors
    /// What is not exactly understood, a zone under two regions, and facts that no node could satisfy together.
    pub fn read(field: &Field<'_, '_>, budget: &mut Budget) -> Result<Self, Unreadable> {
        field.only(&["zones", "aliases", "implications", "fromLiveNodes"])?;
        let from_live_nodes = field.get("fromLiveNodes")?;
        if from_live_nodes.boolean()? == Some(true) {
            return Err(from_live_nodes.unreadable(format!("`true` {NEEDS_CLUSTER}; accepted: false")));
        }
        let mut facts = Vec::new();
        read_zones(&field.get("zones")?, &mut facts)?;
        read_aliases(&field.get("aliases")?, &mut facts)?;
        read_implications(&field.get("implications")?, &mut facts)?;
        let topology = Topology { facts };
        topology.check_possible(field, budget)?;
        Ok(topology)
    }

    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Refuses facts under which there is no node at all: every volume would be contained in every other.
    fn check_possible(&self, field: &Field<'_, '_>, budget: &mut Budget) -> Result<(), Unreadable> {
        // Most facts ask for a label before they say anything: a node without labels is then possible.
        if self.facts.iter().all(|fact| fact.holds(&Labels::new())) {
            return Ok(());
        }
        let mut outline = Outline::default();
        self.share(&mut outline);
        let written: Vec<Written<'_>> = self.facts.iter().map(|fact| fact.write(&mut outline)).collect();
        let possible = || -> Result<Containment, Exhausted> {
            let space = outline.cut(budget)?;
            let facts = Written::cut(&written, &space, budget)?;
            Ok(contained(&space, &Union::everything(), &Union::default(), &facts, budget))
        };
        match possible().unwrap_or(Containment::Undecided) {
            Containment::Escapes(_) => Ok(()),
            Containment::Contained => {
                Err(field.unreadable("no node could satisfy all of these facts together; take one of them back"))
            }
            Containment::Undecided => Err(field.unreadable(format!(
                "whether any node could satisfy all of these facts together is not decided within {SETTINGS_STEPS} steps; declare fewer"
            ))),
        }
    }

    /// Makes the axes of aliases share their classes; before anything else is said to the outline.
    pub fn share<'t>(&'t self, outline: &mut Outline<'t>) {
        for fact in &self.facts {
            if let Says::Alias(from, to) = &fact.says {
                let from = outline.axis(from, Domain::OptionalText);
                let to = outline.axis(to, Domain::OptionalText);
                outline.share(from, to);
            }
        }
    }
}

impl Fact {
    /// Whether the fact is true of a node with these labels, by the plain matcher.
    pub fn holds(&self, labels: &Labels) -> bool {
        match &self.says {
            Says::Implies(when, then) => {
                !when.as_ref().is_none_or(|when| term_matches(when, labels)) || term_matches(then, labels)
            }
            Says::Alias(from, to) => labels.get(from).is_none_or(|value| labels.get(to) == Some(value)),
        }
    }

    /// Writes the fact as terms and mentions them to the outline.
    pub fn write<'t>(&'t self, outline: &mut Outline<'t>) -> Written<'t> {
        // Settings with a term that does not parse were refused.
        let mut to_term = |term: &'t NodeSelectorTerm| {
            let conditions = node_selector::conditions(term).unwrap_or_default();
            let term = to_term(&conditions, outline);
            outline.mention(&term);
            term
        };
        match &self.says {
            Says::Implies(when, then) => Written::Implication(Implication {
                when: when.as_ref().map(&mut to_term).unwrap_or_default(),
                then: to_term(then),
            }),
            Says::Alias(from, to) => {
                let from = outline.axis(from, Domain::OptionalText);
                Written::Tie(from, outline.axis(to, Domain::OptionalText))
            }
        }
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

fn read_zones(field: &Field<'_, '_>, facts: &mut Vec<Fact>) -> Result<(), Unreadable> {
    let (mut region_of, mut seen) = (Labels::new(), Labels::new());
    for (region, zones) in field.members()? {
        once(&mut seen, region, &zones)?;
        for item in zones.items()? {
            let zone = item.required_string()?;
            if zone.is_empty() || !Domain::OptionalText.contains(zone) {
                return Err(item.unacceptable("a zone, as a node's label spells it"));
            }
            if region.is_empty() || !Domain::OptionalText.contains(region) {
                return Err(zones.unreadable(format!("`{region}` is no region, as a node's label spells it")));
            }
            match region_of.insert(zone.to_owned(), region.to_owned()) {
                Some(other) if other != region => {
                    return Err(
                        item.unreadable(format!("zone `{zone}` stands under two regions: `{other}` and `{region}`"))
                    );
                }
                _ => {}
            }
        }
    }
    for (zone, region) in region_of {
        let name = format!("zone {zone} lies in region {region}");
        facts.push(Fact { name, says: Says::Implies(Some(one_of(ZONE, &zone)), one_of(REGION, &region)) });
    }
    Ok(())
}

fn one_of(key: &str, value: &str) -> NodeSelectorTerm {
    let requirement = NodeSelectorRequirement {
        key: key.to_owned(),
        operator: String::from("In"),
        values: Some(vec![value.to_owned()]),
    };
    NodeSelectorTerm { match_expressions: Some(vec![requirement]), match_fields: None }
}

/// A name that stands twice is refused, as everywhere.
fn once(seen: &mut Labels, name: &str, field: &Field<'_, '_>) -> Result<(), Unreadable> {
    let twice = seen.insert(name.to_owned(), String::new()).is_some();
    if twice { Err(field.unreadable("stands here twice")) } else { Ok(()) }
}

fn read_aliases(field: &Field<'_, '_>, facts: &mut Vec<Fact>) -> Result<(), Unreadable> {
    let mut seen = Labels::new();
    for (old, new) in field.members()? {
        once(&mut seen, old, &new)?;
        let target = new.required_string()?;
        if !Domain::Name.contains(target) {
            return Err(new.unacceptable("a label key"));
        }
        if !Domain::Name.contains(old) {
            return Err(new.unreadable(format!("`{old}` is no label key")));
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
